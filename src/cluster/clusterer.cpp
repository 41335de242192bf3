#include <algorithm>
#include <chrono>
#include <cmath>
#include <string>

#include "merganser/base/error.hpp"
#include "merganser/cluster/cluster.hpp"
#include "merganser/parcels/packed.hpp"
#include "src/cluster/distributed_search.hpp"
#include "src/cluster/far_search.hpp"
#include "src/cluster/home.hpp"
#include "src/cluster/pack.hpp"
#include "src/cluster/process_graph.hpp"

namespace merganser {
namespace {

constexpr std::size_t kMostParcels = std::size_t{1} << 31;  // of one rank

/// Adds the time since the last lap to a stage.
class Laps {
 public:
  void to(double& stage) {
    const auto now = std::chrono::steady_clock::now();
    stage += std::chrono::duration<double>(now - last_).count();
    last_ = now;
  }

 private:
  std::chrono::steady_clock::time_point last_ = std::chrono::steady_clock::now();
};

void check(const ClusterOptions& o, const Schema& schema) {
  if (!(o.min_volume_ratio > 0) || !std::isfinite(o.min_volume_ratio))
    throw UsageError("min-volume-ratio: " + std::to_string(o.min_volume_ratio) + "; must be positive and finite");
  const auto check_value = [](const char* name, int value, int most) {
    if (value <= most) return;
    throw UsageError(std::string(name) + ": " + std::to_string(value) + "; allowed: a value of its enumeration, 0 to " +
                     std::to_string(most));
  };
  check_value("search", static_cast<int>(o.search), static_cast<int>(Search::cells8));
  check_value("prune", static_cast<int>(o.prune), static_cast<int>(Prune::iterative));
  check_value("epoch", static_cast<int>(o.iterative.epoch), static_cast<int>(comm::Epoch::per_operation));
  for (std::size_t i = 0; i < schema.attributes().size(); ++i)
    if (schema.attributes()[i].rule == Rule::callback && (i >= o.callbacks.size() || !o.callbacks[i]))
      throw UsageError("attribute " + schema.attributes()[i].name + " is merged by a callback, but none is given");
}

/// What ranks that merge together are given alike.
std::vector<comm::Same> same_of(const ClusterOptions& o, const Schema& schema, const Decomposition& d, bool parcels) {
  std::string callbacks;
  for (const auto& c : o.callbacks) callbacks += c ? '1' : '0';
  auto same = cluster::same_of(schema, d);
  same.push_back({"min-volume-ratio", cluster::exact_text(o.min_volume_ratio)});
  same.push_back({"search", std::to_string(static_cast<int>(o.search))});
  same.push_back({"prune", std::to_string(static_cast<int>(o.prune))});
  same.push_back({"sub-communicator of the iterative pruning", std::to_string(o.iterative.sub_communicator)});
  same.push_back({"epoch of the iterative pruning", std::to_string(static_cast<int>(o.iterative.epoch))});
  same.push_back({"the list of callbacks given", "'" + callbacks + "'"});
  same.push_back({"the argument `parcels`", parcels ? "given" : "null"});
  return same;
}

}  // namespace

struct Clusterer::Impl {
  Impl(comm::Transport& t, const Decomposition& d, const Schema& s, const ClusterOptions& o, const Parcels* parcels)
      : transport(t),
        decomposition(d),
        schema(s),
        options(o),
        reach(t, decomposition, parcels),
        graph(comm::Graph::symmetric(reach.of(t.rank()))),
        mailbox(t.mailbox(graph)),
        stream(t.stream(graph, {})),
        search(*mailbox, decomposition, t.rank(), {reach.sight2(), reach.least_sight()}, options),
        far(*mailbox, decomposition, reach, t.rank(), o.search == Search::exact),
        rules(schema, d.grid().box),
        iterative(o.iterative),
        checked(t.capabilities().checked) {
    rules.callbacks = o.callbacks;
    active_out.resize(graph.out.size());
    active_in.resize(graph.out.size());
  }

  StepReport step(Parcels& parcels);
  void make_room(const Parcels& parcels);
  void prune(const Parcels& parcels, StepReport& report);
  void migrate(const Parcels& parcels);
  void carry_far(const Parcels& parcels);
  void count_links(StepReport& report);

  comm::Transport& transport;
  Decomposition decomposition;
  Schema schema;
  ClusterOptions options;
  cluster::ProcessGraph reach;
  comm::Graph graph;
  std::unique_ptr<comm::Mailbox> mailbox;
  std::unique_ptr<comm::Stream> stream;
  cluster::DistributedSearch search;
  cluster::FarSearch far;
  MergeRules rules;
  links::SinglePass single_pass;
  links::IterativePruner iterative;
  bool checked;
  const links::Stars* stars = nullptr;
  links::Stars iterative_stars;
  std::int64_t travelling = 0;  // sent by the last rehome to a rank that is not their owner
  RawBuffer sorted;             // sites in the order of cells
  RawBuffer spare_rows;         // the next payload table; scratch of the search before
  cluster::Arrivals arrivals;
  cluster::Arcs active_out;
  cluster::Arcs active_in;
};

Clusterer::Clusterer(comm::Transport& transport, const Decomposition& decomposition, const Schema& schema,
                     const ClusterOptions& options, const Parcels* parcels) {
  comm::agree(transport, [&] {
    check(options, schema);
    cluster::check_ranks(decomposition, transport);
  });
  comm::check_same(transport, "Clusterer", same_of(options, schema, decomposition, parcels != nullptr));
  impl_ = std::make_unique<Impl>(transport, decomposition, schema, options, parcels);
}
Clusterer::~Clusterer() = default;
Clusterer::Clusterer(Clusterer&&) noexcept = default;

const Decomposition& Clusterer::decomposition() const { return impl_->decomposition; }

std::int64_t Clusterer::rehome(Parcels& parcels) {
  impl_->mailbox->check_usable();
  const auto count =
      cluster::rehome(parcels, impl_->decomposition, impl_->transport.rank(), *impl_->mailbox, impl_->far.component());
  impl_->far.forget();
  impl_->travelling = count.travelling;
  return count.sent;
}

std::int64_t Clusterer::travelling() const { return impl_->travelling; }

bool Clusterer::home_in_one_wave() const {
  const auto& out = impl_->graph.out;
  const auto& d = impl_->decomposition;
  return out.size() + 1 == static_cast<std::size_t>(d.ranks()) || out == d.neighbours(impl_->transport.rank());
}

StepReport Clusterer::step(Parcels& parcels) {
  if (!(parcels.schema() == impl_->schema))
    throw UsageError("step: the parcels have another schema than the Clusterer");
  impl_->mailbox->check_usable();
  if (parcels.size() > kMostParcels)
    throw InputError("step: " + std::to_string(parcels.size()) + " parcels on one rank; allowed: up to " +
                     std::to_string(kMostParcels) + "; use more ranks");
  if (impl_->checked) cluster::check_parcels(parcels, impl_->decomposition, impl_->transport.rank());
  return impl_->step(parcels);
}

StepReport Clusterer::Impl::step(Parcels& parcels) {
  StepReport report;
  const comm::Counters counted = transport.counters();
  Laps laps;
  report.before = static_cast<std::int64_t>(parcels.size());
  report.after = report.before;
  make_room(parcels);
  auto* const sites = reinterpret_cast<Site*>(sorted.data());
  bool busy = search.ask(parcels, sites, spare_rows.data(), report);
  laps.to(report.seconds.search);
  // Algorithm 1 and the cutting of long cycles are collective: there every rank takes part in every step.
  const bool collective =
      transport.size() > 1 && (options.prune == Prune::iterative || options.search == Search::cells8);
  if (busy) search.answer(parcels);
  far.find(search, parcels, sites, spare_rows.data());
  busy = busy || far.ends_here();
  laps.to(report.seconds.exchange);
  if (!busy && !collective && !far.passes_here()) {
    report.counters = transport.counters() - counted;
    return report;
  }
  if (busy) search.announce(parcels, report);
  if (far.passes_here()) far.number(search.links());
  count_links(report);
  laps.to(report.seconds.graph);
  prune(parcels, report);
  laps.to(report.seconds.prune);
  if (busy) migrate(parcels);
  if (far.passes_here()) carry_far(parcels);
  laps.to(report.seconds.migrate);
  if (busy) {
    cluster::PackInput in{};
    in.parcels = &parcels;
    in.spare_rows = &spare_rows;
    in.sorted = sites;
    in.order = search.cells().order();
    in.target = search.links().target.data();
    in.arrivals = &arrivals;
    in.departed = &stars->out_kept;
    in.rules = &rules;
    in.small_volume = search.small_volume();
    in.lineage = options.lineage;
    cluster::pack(in, report);
    laps.to(report.seconds.merge);
  }
  report.counters = transport.counters() - counted;
  return report;
}

void Clusterer::Impl::make_room(const Parcels& parcels) {
  const std::size_t n = parcels.capacity();
  const std::size_t rows =
      std::max(n * schema.width() * sizeof(double), nearest::CellList::scratch_bytes(parcels.size()));
  if (sorted.bytes() < n * sizeof(Site)) sorted = RawBuffer(), sorted = RawBuffer(n * sizeof(Site));
  if (spare_rows.bytes() < rows) spare_rows = RawBuffer(), spare_rows = RawBuffer(rows);
}

/// Links whose target is small, before pruning.
void Clusterer::Impl::count_links(StepReport& report) {
  const Site* const sites = search.cells().sites();
  const auto& l = search.links();
  const double small_volume = search.small_volume();
  std::int64_t to_small = 0;
  if (options.search == Search::cells8)
    for (const std::uint32_t t : l.target)
      if (t < l.target.size()) to_small += sites[t].volume < small_volume;
  for (const auto& in : l.in) to_small += sites[in.vertex].volume < small_volume;
  report.links_to_small = to_small;
  report.cross_links = static_cast<std::int64_t>(l.out.size());
}

void Clusterer::Impl::prune(const Parcels& parcels, StepReport& report) {
  auto& l = search.links();
  const links::Channels channels{transport, *mailbox, *stream};
  const links::Ids ids = search.ids(parcels);
  if (options.search == Search::cells8) {
    const std::int64_t cut = links::cut_long_cycles(l, ids, search.distance2(), channels);
    if (transport.rank() == 0) report.long_cycles = cut;
  }
  // The published pruning writes into the memory of ranks that share an arc: it cannot settle far links.
  const bool far_links = options.prune == Prune::iterative && far.possible() &&
                         transport.all_reduce(far.passes_here(), comm::Op::max) != 0;
  if (options.prune == Prune::iterative && !far_links) {
    iterative_stars = iterative.prune(l, ids, channels, &report.pruning);
    stars = &iterative_stars;
  } else {
    stars = &single_pass.prune(l, ids, channels, &report.pruning);
  }
  // In the exact search a target with a link of its own is small; a small target always has one, for the source is a
  // candidate.
  if (options.search == Search::exact) report.links_to_small += stars->linked_targets;
}

void Clusterer::Impl::migrate(const Parcels& parcels) {
  arrivals.clear();
  if (graph.out.empty()) return;
  std::fill(active_out.begin(), active_out.end(), 0);
  std::fill(active_in.begin(), active_in.end(), 0);
  const auto& l = search.links();
  for (std::size_t k = 0; k < l.out.size(); ++k)
    if (!far.out_is_far(k)) active_out[l.out[k].arc] = 1;
  for (std::size_t i = 0; i < l.in.size(); ++i)
    if (!far.in_is_far(i)) active_in[l.in[i].arc] = 1;
  const std::size_t row_bytes = schema.width() * sizeof(double);
  const Site* const sites = search.cells().sites();
  const std::uint32_t* const order = search.cells().order();
  for (std::size_t i = 0; i < l.out.size(); ++i) {
    if (!stars->out_kept[i] || far.out_is_far(i)) continue;
    const auto& link = l.out[i];
    append_parcel(mailbox->outbox(link.arc), sites[link.vertex], parcels.row(order[link.vertex]), schema.width());
  }
  mailbox->step(active_out, active_in);
  std::size_t i = 0;
  for (std::uint32_t arc = 0; arc < graph.in.size(); ++arc) {
    const auto bytes = mailbox->inbox(arc);
    std::size_t at = 0;
    for (; i < l.in.size() && l.in[i].arc == arc; ++i) {
      if (!stars->in_kept[i] || far.in_is_far(i)) continue;
      if (at + sizeof(Site) + row_bytes > bytes.size())
        throw CommError("rank " + std::to_string(graph.in[arc]) + " sent fewer parcels than it announced");
      arrivals.add(l.in[i].vertex, bytes.subspan(at, sizeof(Site) + row_bytes));
      at += sizeof(Site) + row_bytes;
    }
  }
}

/// The same for far links.
void Clusterer::Impl::carry_far(const Parcels& parcels) {
  const Site* const sites = search.cells().sites();
  const std::uint32_t* const order = search.cells().order();
  cluster::FarSearch::Cargo cargo;
  cargo.bytes = sizeof(Site) + schema.width() * sizeof(double);
  cargo.load = [&](std::uint32_t vertex, std::vector<std::byte>& to) {
    append_parcel(to, sites[vertex], parcels.row(order[vertex]), schema.width());
  };
  cargo.take = [&](std::uint32_t vertex, std::span<const std::byte> parcel) { arrivals.add(vertex, parcel); };
  far.carry(*stars, cargo);
}

}  // namespace merganser
