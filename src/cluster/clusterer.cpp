#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstring>
#include <limits>
#include <numeric>
#include <string>

#include "merganser/base/error.hpp"
#include "merganser/cluster/cluster.hpp"
#include "merganser/parcels/packed.hpp"
#include "src/cluster/distributed_search.hpp"
#include "src/cluster/home.hpp"
#include "src/cluster/pack.hpp"

namespace merganser {
namespace {

constexpr std::size_t kMostParcels = std::size_t{1} << 31;  // of one rank

/// Up to this many ranks everybody is a neighbour of everybody: as many arcs as a block has neighbours in 3D.
constexpr int kSmallWorld = 27;

std::vector<int> everybody_but(int rank, int ranks) {
  std::vector<int> others(static_cast<std::size_t>(ranks));
  std::iota(others.begin(), others.end(), 0);
  others.erase(others.begin() + rank);
  return others;
}

/// The ranks that this one may ask.
std::vector<int> askable(comm::Transport& t, const Decomposition& d, const Parcels* parcels) {
  if (d.ranks() <= kSmallWorld) return everybody_but(t.rank(), d.ranks());
  if (parcels == nullptr) return d.neighbours(t.rank());
  double distance = cluster::largest_gap(*parcels, d, t.rank());
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
        graph(comm::Graph::symmetric(askable(t, d, parcels))),
        mailbox(t.mailbox(graph)),
        stream(t.stream(graph, {})),
        search(*mailbox, decomposition, t.rank(), sight2(d, t.rank(), graph.out), options),
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
  void count_links(StepReport& report);

  comm::Transport& transport;
  Decomposition decomposition;
  Schema schema;
  ClusterOptions options;
  comm::Graph graph;
  std::unique_ptr<comm::Mailbox> mailbox;
  std::unique_ptr<comm::Stream> stream;
  cluster::DistributedSearch search;
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
  const auto count = cluster::rehome(parcels, impl_->decomposition, impl_->transport.rank(), *impl_->mailbox);
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
  const bool busy = search.ask(parcels, sites, spare_rows.data(), report);
  laps.to(report.seconds.search);
  // Algorithm 1 and the cutting of long cycles are collective: there every rank takes part in every step.
  const bool collective =
      transport.size() > 1 && (options.prune == Prune::iterative || options.search == Search::cells8);
  if (!busy && !collective) {
    report.counters = transport.counters() - counted;
    return report;
  }
  if (busy) {
    search.answer(parcels, report);
    laps.to(report.seconds.exchange);
    search.announce(parcels, report);
  }
  count_links(report);
  laps.to(report.seconds.graph);
  prune(parcels, report);
  laps.to(report.seconds.prune);
  if (busy) {
    migrate(parcels);
    laps.to(report.seconds.migrate);
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
}

void Clusterer::Impl::prune(const Parcels& parcels, StepReport& report) {
  auto& l = search.links();
  const links::Channels channels{transport, *mailbox, *stream};
  const links::Ids ids = search.ids(parcels);
  if (options.search == Search::cells8) {
    const std::int64_t cut = links::cut_long_cycles(l, ids, search.distance2(), channels);
    if (transport.rank() == 0) report.long_cycles = cut;
  }
  if (options.prune == Prune::iterative) {
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
  for (const auto& link : l.out) active_out[link.arc] = 1;
  for (const auto& link : l.in) active_in[link.arc] = 1;
  const std::size_t row_bytes = schema.width() * sizeof(double);
  const Site* const sites = search.cells().sites();
  const std::uint32_t* const order = search.cells().order();
  for (std::size_t i = 0; i < l.out.size(); ++i) {
    if (!stars->out_kept[i]) continue;
    const auto& link = l.out[i];
    append_parcel(mailbox->outbox(link.arc), sites[link.vertex], parcels.row(order[link.vertex]), schema.width());
  }
  mailbox->step(active_out, active_in);
  std::size_t i = 0;
  for (std::uint32_t arc = 0; arc < graph.in.size(); ++arc) {
    const auto bytes = mailbox->inbox(arc);
    std::size_t at = 0;
    for (; i < l.in.size() && l.in[i].arc == arc; ++i) {
      if (!stars->in_kept[i]) continue;
      if (at + sizeof(Site) + row_bytes > bytes.size())
        throw CommError("rank " + std::to_string(graph.in[arc]) + " sent fewer parcels than it announced");
      arrivals.target.push_back(l.in[i].vertex);
      Site site;
      std::memcpy(&site, bytes.data() + at, sizeof site);
      arrivals.site.push_back(site);
      arrivals.rows.resize(arrivals.rows.size() + schema.width());
      std::memcpy(arrivals.rows.data() + arrivals.rows.size() - schema.width(), bytes.data() + at + sizeof site,
                  row_bytes);
      at += sizeof site + row_bytes;
    }
  }
}

}  // namespace merganser
