// Star search that Clusterer and StarFinder share: search, far search, pruning, and migration of leaves to their centres.
#include "src/cluster/star_core.hpp"

#include <algorithm>
#include <string>

#include "merganser/base/error.hpp"
#include "merganser/base/simulated.hpp"

namespace merganser::cluster {

// Checks the enumerations among the options of a star search (StarFinder, Clusterer), which a caller in C or Fortran may have passed
// as any integer. Local.
void check(const StarOptions& o) {
  const auto check_value = [](const char* name, int value, int most) {
    if (value <= most) return;
    throw UsageError(std::string(name) + ": " + std::to_string(value) + "; allowed: a value of its enumeration, 0 to " +
                     std::to_string(most));
  };
  check_value("search", static_cast<int>(o.search.search), static_cast<int>(Search::cells8));
  check_value("prune", static_cast<int>(o.prune), static_cast<int>(Prune::iterative));
  check_value("epoch", static_cast<int>(o.iterative.epoch), static_cast<int>(comm::Epoch::per_operation));
}

// Options of the star search that all ranks must pass alike, as text for the comparison.
std::vector<comm::UniformValue> uniform_values(const StarOptions& o) {
  return {{"search", std::to_string(static_cast<int>(o.search.search))},
          {"prune", std::to_string(static_cast<int>(o.prune))},
          {"sub-communicator of the iterative pruning", std::to_string(o.iterative.sub_communicator)},
          {"epoch of the iterative pruning", std::to_string(static_cast<int>(o.iterative.epoch))}};
}

// Makes the communication objects of the star search: candidate ranks, their process graph, a mailbox and a stream over
// it. Collective.
StarCore::StarCore(comm::Transport& transport, const Decomposition& decomposition, const StarOptions& options,
                   const nearest::PointSet* sample)
    : transport_(transport),
      decomposition_(decomposition),
      options_(options),
      candidates_(transport, decomposition, sample),
      graph_(comm::Graph::symmetric(candidates_.compute(transport.rank()))),
      mailbox_(transport.mailbox(graph_)),
      stream_(transport.stream(graph_, {})),
      search_(*mailbox_, decomposition_, transport.rank(), {candidates_.cutoff2(), candidates_.min_cutoff()},
              options.search),
      far_(*mailbox_, decomposition_, candidates_, transport.rank(), options.search.search == Search::exact),
      iterative_(options.iterative),
      active_out_(graph_.out.size()),
      active_in_(graph_.out.size()) {}

// Start of a star search: the stars and far links of the step before are dropped.
void StarCore::clear() {
  stars_ = &nothing_;
  busy_ = false;
  far_.clear();
}

// The stages of a merge step from search to pruning, in their order: see docs/architecture.md, "One step, in the order
// of the code".
bool StarCore::find(const nearest::PointSet& points, Site* sorted, RawBuffer& scratch, StepNumbers& numbers,
                    Laps& laps) {
  clear();
  bool busy = search_.send_queries(points, sorted, scratch, numbers);
  laps.add_to(numbers.seconds.search);
  // Algorithm 1 and the cutting of long cycles are collective: with them no rank may return early.
  const bool collective =
      transport_.size() > 1 && (options_.prune == Prune::iterative || options_.search.search == Search::cells8);
  if (busy) search_.exchange_replies();
  far_.find(search_, sorted, scratch);
  busy = busy || far_.has_link_ends();
  laps.add_to(numbers.seconds.exchange);
  if (!busy && !collective && !far_.has_links()) return false;
  if (busy) search_.announce(numbers);
  if (far_.has_links()) far_.number_links(search_.links());
  count_links(numbers);
  spend(Work::graph, points.size());
  laps.add_to(numbers.seconds.graph);
  prune(numbers);
  laps.add_to(numbers.seconds.prune);
  busy_ = busy;
  return busy;
}

/// Counts for the report of the step, before the pruning, the links whose target is small and those that leave this rank.
void StarCore::count_links(StepNumbers& numbers) {
  const auto& l = search_.links();
  std::int64_t to_small = 0;
  if (options_.search.search == Search::cells8)
    for (const std::uint32_t t : l.target)
      if (t < l.target.size()) to_small += std::int64_t{search_.cells().is_small(t)};
  for (const auto& in : l.in) to_small += std::int64_t{search_.cells().is_small(in.vertex)};
  numbers.links_to_small = to_small;
  numbers.cross_links = static_cast<std::int64_t>(l.out.size());
}

/// Stage `prune` of a merge step: cuts the nearest-neighbour links into stars by the pruning method of the options.
void StarCore::prune(StepNumbers& numbers) {
  auto& l = search_.links();
  const links::Channels channels{transport_, *mailbox_, *stream_};
  const links::Ids ids = search_.ids();
  if (options_.search.search == Search::cells8) {
    const std::int64_t cut = links::cut_long_cycles(l, ids, search_.distance2(), channels);
    if (transport_.rank() == 0) numbers.long_cycles = cut;
  }
  // The published pruning writes to ranks that share an arc only: where any rank has far links, all use the single pass
  // instead.
  const bool far_links = options_.prune == Prune::iterative && far_.is_possible() &&
                         transport_.all_reduce(far_.has_links(), comm::Op::max) != 0;
  const bool iterative = options_.prune == Prune::iterative && !far_links;
  spend(iterative ? Work::prune_iterative : Work::prune, l.target.size());
  if (iterative) {
    iterative_stars_ = iterative_.prune(l, ids, channels, &numbers.pruning);
    stars_ = &iterative_stars_;
  } else {
    stars_ = &single_pass_.prune(l, ids, channels, &numbers.pruning);
  }
  // In the exact search a target with a link of its own is small; a small target always has one, since the source is a
  // candidate.
  if (options_.search.search == Search::exact) numbers.links_to_small += stars_->linked_targets;
}

// Stage `migrate` of a merge step: rows of leaves go to the ranks of their centres, first along the routes of far
// links, then over arcs.
void StarCore::migrate(std::size_t row_bytes, const PackRow& pack, std::vector<std::byte>& received) {
  const auto& l = search_.links();
  if (graph_.out.empty()) return;
  std::vector<std::vector<std::byte>> far_rows(l.in.size());  // of far links
  if (far_.has_links()) {
    FarSearch::Payload payload;
    payload.bytes = row_bytes;
    payload.pack = [&](std::uint32_t vertex, std::vector<std::byte>& to) {
      to.resize(to.size() + row_bytes);
      pack(vertex, to.data() + to.size() - row_bytes);
    };
    payload.unpack = [&](std::size_t in, std::span<const std::byte> row) {
      far_rows[in].assign(row.begin(), row.end());
    };
    far_.migrate(*stars_, payload);
  }
  if (!busy_) return;
  migrate_near(row_bytes, pack);
  std::vector<std::size_t> read(graph_.in.size(), 0);
  for (std::size_t i = 0; i < l.in.size(); ++i) {
    if (!stars_->in_kept[i]) continue;
    const std::uint32_t arc = l.in[i].arc;
    const auto message =
        far_.is_far_in(i) ? std::span<const std::byte>(far_rows[i]) : mailbox_->inbox(arc).subspan(read[arc]);
    if (message.size() < row_bytes)
      throw CommError("rank " + std::to_string(l.in[i].remote_rank) + " sent fewer rows of " +
                      std::to_string(row_bytes) + " bytes than it announced; ranks must give rows of the same length");
    received.insert(received.end(), message.begin(), message.begin() + static_cast<std::ptrdiff_t>(row_bytes));
    if (!far_.is_far_in(i)) read[arc] += row_bytes;
  }
  for (std::size_t arc = 0; arc < read.size(); ++arc)
    if (read[arc] != mailbox_->inbox(arc).size())
      throw CommError("rank " + std::to_string(graph_.in[arc]) + " sent " +
                      std::to_string(mailbox_->inbox(arc).size()) + " bytes where " + std::to_string(read[arc]) +
                      " were expected; ranks must give rows of the same length");
}

/// Sends the rows of this rank's leaves along kept links to ranks that share an arc with it: one wave over arcs with such links.
void StarCore::migrate_near(std::size_t row_bytes, const PackRow& pack) {
  const auto& l = search_.links();
  std::fill(active_out_.begin(), active_out_.end(), 0);
  std::fill(active_in_.begin(), active_in_.end(), 0);
  for (std::size_t k = 0; k < l.out.size(); ++k)
    if (!far_.is_far_out(k)) active_out_[l.out[k].arc] = 1;
  for (std::size_t i = 0; i < l.in.size(); ++i)
    if (!far_.is_far_in(i)) active_in_[l.in[i].arc] = 1;
  for (std::size_t k = 0; k < l.out.size(); ++k) {
    if (!stars_->out_kept[k] || far_.is_far_out(k)) continue;
    auto& box = mailbox_->outbox(l.out[k].arc);
    box.resize(box.size() + row_bytes);
    pack(l.out[k].vertex, box.data() + box.size() - row_bytes);
  }
  spend(Work::migrate, l.out.size());
  mailbox_->step(active_out_, active_in_);
  spend(Work::migrate, l.in.size());
}

}  // namespace merganser::cluster
