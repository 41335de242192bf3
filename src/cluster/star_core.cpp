#include "src/cluster/star_core.hpp"

#include <algorithm>
#include <cstring>
#include <limits>
#include <numeric>
#include <string>

#include "merganser/base/error.hpp"

namespace merganser::cluster {
namespace {

/// Up to this many ranks everybody is a neighbour of everybody: as many arcs as a block has neighbours in 3D.
constexpr int kSmallWorld = 27;

std::vector<int> everybody_but(int rank, int ranks) {
  std::vector<int> others(static_cast<std::size_t>(ranks));
  std::iota(others.begin(), others.end(), 0);
  others.erase(others.begin() + rank);
  return others;
}

/// The ranks that this one may ask.
std::vector<int> askable(comm::Transport& t, const Decomposition& d, const nearest::PointSet* sample) {
  if (d.ranks() <= kSmallWorld) return everybody_but(t.rank(), d.ranks());
  if (sample == nullptr) return d.neighbours(t.rank());
  double distance = largest_gap(*sample, d, t.rank());
  t.all_reduce({&distance, 1}, comm::Op::max);
  return d.within(t.rank(), 2 * distance);
}

/// How far this rank sees: no point of a rank that it cannot ask is nearer, squared.
double sight2(const Decomposition& d, int rank, const std::vector<int>& askable) {
  double least = std::numeric_limits<double>::infinity();
  for (int r = 0; r < d.ranks(); ++r)
    if (r != rank && !std::binary_search(askable.begin(), askable.end(), r))
      least = std::min(least, d.distance2_between(rank, r));
  return least;
}

}  // namespace

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

std::vector<comm::Same> same_of(const StarOptions& o) {
  return {{"search", std::to_string(static_cast<int>(o.search.search))},
          {"prune", std::to_string(static_cast<int>(o.prune))},
          {"sub-communicator of the iterative pruning", std::to_string(o.iterative.sub_communicator)},
          {"epoch of the iterative pruning", std::to_string(static_cast<int>(o.iterative.epoch))}};
}

StarCore::StarCore(comm::Transport& transport, const Decomposition& decomposition, const StarOptions& options,
                   const nearest::PointSet* sample)
    : transport_(transport),
      decomposition_(decomposition),
      options_(options),
      graph_(comm::Graph::symmetric(askable(transport, decomposition, sample))),
      mailbox_(transport.mailbox(graph_)),
      stream_(transport.stream(graph_, {})),
      search_(*mailbox_, decomposition_, transport.rank(), sight2(decomposition, transport.rank(), graph_.out),
              options.search),
      iterative_(options.iterative),
      active_out_(graph_.out.size()),
      active_in_(graph_.out.size()) {}

bool StarCore::find(const nearest::PointSet& points, Site* sorted, std::byte* scratch, StepNumbers& numbers,
                    Laps& laps) {
  stars_ = &nothing_;
  const bool busy = search_.ask(points, sorted, scratch, numbers);
  laps.to(numbers.seconds.search);
  // Algorithm 1 and the cutting of long cycles are collective: there every rank takes part in every step.
  const bool collective =
      transport_.size() > 1 && (options_.prune == Prune::iterative || options_.search.search == Search::cells8);
  if (!busy && !collective) return false;
  if (busy) {
    search_.answer(numbers);
    laps.to(numbers.seconds.exchange);
    search_.announce(numbers);
  }
  count_links(numbers);
  laps.to(numbers.seconds.graph);
  prune(numbers);
  laps.to(numbers.seconds.prune);
  return busy;
}

/// Links whose target is small, before pruning.
void StarCore::count_links(StepNumbers& numbers) {
  const auto& l = search_.links();
  std::int64_t to_small = 0;
  if (options_.search.search == Search::cells8)
    for (const std::uint32_t t : l.target)
      if (t < l.target.size()) to_small += std::int64_t{search_.cells().is_small(t)};
  for (const auto& in : l.in) to_small += std::int64_t{search_.cells().is_small(in.vertex)};
  numbers.links_to_small = to_small;
}

void StarCore::prune(StepNumbers& numbers) {
  auto& l = search_.links();
  const links::Channels channels{transport_, *mailbox_, *stream_};
  const links::Ids ids = search_.ids();
  if (options_.search.search == Search::cells8) {
    const std::int64_t cut = links::cut_long_cycles(l, ids, search_.distance2(), channels);
    if (transport_.rank() == 0) numbers.long_cycles = cut;
  }
  if (options_.prune == Prune::iterative) {
    iterative_stars_ = iterative_.prune(l, ids, channels, &numbers.pruning);
    stars_ = &iterative_stars_;
  } else {
    stars_ = &single_pass_.prune(l, ids, channels, &numbers.pruning);
  }
  // In the exact search a target with a link of its own is small; a small target always has one, for the source is a
  // candidate.
  if (options_.search.search == Search::exact) numbers.links_to_small += stars_->linked_targets;
}

void StarCore::migrate(std::size_t row_bytes, const PackRow& pack, std::vector<std::byte>& arrived) {
  if (graph_.out.empty()) return;
  const auto& l = search_.links();
  std::fill(active_out_.begin(), active_out_.end(), 0);
  std::fill(active_in_.begin(), active_in_.end(), 0);
  for (const auto& link : l.out) active_out_[link.arc] = 1;
  for (const auto& link : l.in) active_in_[link.arc] = 1;
  for (std::size_t i = 0; i < l.out.size(); ++i) {
    if (!stars_->out_kept[i]) continue;
    auto& box = mailbox_->outbox(l.out[i].arc);
    box.resize(box.size() + row_bytes);
    pack(l.out[i].vertex, box.data() + box.size() - row_bytes);
  }
  mailbox_->step(active_out_, active_in_);
  std::size_t i = 0;
  for (std::uint32_t arc = 0; arc < graph_.in.size(); ++arc) {
    std::size_t kept = 0;
    for (; i < l.in.size() && l.in[i].arc == arc; ++i) kept += stars_->in_kept[i];
    const auto rows = mailbox_->inbox(arc);
    if (rows.size() != kept * row_bytes)
      throw CommError("rank " + std::to_string(graph_.in[arc]) + " sent " + std::to_string(rows.size()) +
                      " bytes for " + std::to_string(kept) + " rows of " + std::to_string(row_bytes) +
                      "; ranks must give rows of the same length");
    arrived.insert(arrived.end(), rows.begin(), rows.end());
  }
}

}  // namespace merganser::cluster
