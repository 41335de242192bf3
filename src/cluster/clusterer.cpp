// Merge step of the Clusterer (cluster.hpp): validation, star search by StarCore, migration of leaves, merge and
// packing.
#include <algorithm>
#include <cmath>
#include <cstring>
#include <optional>
#include <string>

#include "merganser/base/error.hpp"
#include "merganser/base/exact_sum.hpp"
#include "merganser/base/log.hpp"
#include "merganser/base/simulated.hpp"
#include "merganser/base/text.hpp"
#include "merganser/cluster/cluster.hpp"
#include "merganser/cluster/friends.hpp"
#include "src/cluster/distinct_ids.hpp"
#include "src/cluster/owner_checks.hpp"
#include "src/cluster/pack.hpp"
#include "src/cluster/policy_step.hpp"
#include "src/cluster/rank_agreement.hpp"
#include "src/cluster/redistribution_wave.hpp"
#include "src/cluster/spare_buffers.hpp"
#include "src/cluster/star_core.hpp"

namespace merganser {
namespace {

constexpr std::size_t kMaxParcels = std::size_t{1} << 31;  // of one rank

/// Returns the options of the star search (search rule and pruning) that a Clusterer's merge step uses.
cluster::StarOptions star_options(const ClusterOptions& o) { return {{o.search, false}, o.prune, o.iterative}; }

/// Validates the options of a Clusterer and the merge callbacks that its schema requires. Local. @throws UsageError
void check(const ClusterOptions& o, const Schema& schema) {
  if (!o.policy.is_default()) cluster::check_policy(o, schema);
  if (!(o.min_volume_ratio > 0) || !std::isfinite(o.min_volume_ratio))
    throw UsageError("min-volume-ratio: " + number_text(o.min_volume_ratio) + "; must be positive and finite");
  cluster::check(star_options(o));
  for (std::size_t i = 0; i < schema.attributes().size(); ++i)
    if (schema.attributes()[i].rule == Rule::callback && (i >= o.callbacks.size() || !o.callbacks[i]))
      throw UsageError("attribute " + schema.attributes()[i].name + " is merged by a callback, but none is given");
}

/// Returns the sum of the volumes of this rank's parcels, rounded once. Local.
double total_volume(const Parcels& parcels) {
  ExactSum sum;
  for (std::size_t i = 0; i < parcels.size(); ++i) sum.add(parcels.site(i).volume);
  return sum.value();
}

/// Returns the arguments of Clusterer's constructor that must be equal on all ranks, as texts to compare.
std::vector<comm::UniformValue> uniform_values(const ClusterOptions& o, const Schema& schema, const Decomposition& d,
                                               bool parcels) {
  std::string callbacks;
  for (const auto& c : o.callbacks) callbacks += c ? '1' : '0';
  auto uniform = cluster::uniform_values(schema, d);
  uniform.push_back({"min-volume-ratio", number_text(o.min_volume_ratio)});
  for (auto& star_value : cluster::uniform_values(star_options(o))) uniform.push_back(std::move(star_value));
  uniform.push_back({"the list of callbacks given", "'" + callbacks + "'"});
  uniform.push_back({"the argument `parcels`", parcels ? "given" : "null"});
  if (!o.policy.is_default())
    uniform.push_back({"policy, number of its step, predicate and lineage",
                       "'" + policy_text(o.policy) + "', " + std::to_string(o.policy.step) + ", " +
                           (o.policy.allowed ? "given" : "none") + ", " + (o.lineage ? "yes" : "no")});
  else
    uniform.push_back({"policy", "default"});
  return uniform;
}

}  // namespace

/// State of a Clusterer on one rank: its copies of the arguments, the star search, and the buffers that merge steps reuse.
struct Clusterer::Impl {
  Impl(comm::Transport& t, const Decomposition& d, const Schema& s, const ClusterOptions& o,
       const nearest::PointSet* sample)
      : transport(t),
        decomposition(d),
        schema(s),
        options(o),
        core(t, decomposition, star_options(o), sample),
        rules(schema, d.grid().box),
        checked(t.capabilities().checked) {
    rules.callbacks = o.callbacks;
    if (o.policy.is_friends())
      friends = std::make_unique<FriendsOfFriends>(t, decomposition, friends_options(o.policy));
    else if (!o.policy.is_default())
      policy = std::make_unique<cluster::PolicyStep>(t, decomposition, schema, options, core);
  }

  /// Merge step of Clusterer::step after validation: stars are found, leaves migrate to the ranks of their centres,
  /// stars are merged and the container packed.
  StepReport step(Parcels& parcels) {
    StepReport report;
    const comm::Counters counted = transport.counters();
    cluster::Laps laps;
    report.before = static_cast<std::int64_t>(parcels.size());
    report.after = report.before;
    if constexpr (!kSimulated) reserve_buffers(parcels);
    const nearest::PointSet points = kSimulated ? copy_sites(parcels) : nearest::PointSet(parcels, small_volume());
    auto* const sites = kSimulated ? parcels.sites() : reinterpret_cast<Site*>(sorted.data());
    const bool busy = core.find(points, sites, spare_rows, report, laps);
    migrate(parcels);
    laps.add_to(report.seconds.migrate);
    if constexpr (kSimulated) copy_sorted(parcels, points, busy);
    if (busy) {
      cluster::pack({.parcels = &parcels,
                     .spare_rows = &spare_rows,
                     .sorted = reinterpret_cast<const Site*>(sorted.data()),
                     .order = core.search().cells().order(),
                     .target = core.search().links().target.data(),
                     .received_parcels = &received_parcels,
                     .departed = &core.stars().out_kept,
                     .rules = &rules,
                     .small_volume = points.small_volume(),
                     .lineage = options.lineage},
                    report);
      if constexpr (kSimulated) {
        cluster::SpareBuffers::give_back(sorted);
        cluster::SpareBuffers::give_back(spare_rows);
      }
      spend(Work::merge, parcels.size());
      laps.add_to(report.seconds.merge);
    }
    report.counters = transport.counters() - counted;
    return report;
  }

  /// Merge step of a policy of friends of friends. Collective: groups may span all ranks.
  StepReport merge_friends(Parcels& parcels) {
    constexpr std::size_t kNamed = 10;  // groups that are named in the log
    PolicyNumbers numbers;
    // Agreed on, since a volume that is not finite is refused: other ranks must not wait for this one.
    comm::agree(transport, [&] { numbers.weight_before = total_volume(parcels); });
    FriendsReport report = friends->merge(parcels, options.lineage);
    ++options.policy.step;
    numbers.weight_after = total_volume(parcels);
    numbers.rounds = report.friends.rounds;
    numbers.winding = static_cast<std::int64_t>(report.winding.size());
    for (std::size_t i = 0; i < std::min(kNamed, report.winding.size()); ++i)
      log(Level::warning, transport.rank(),
          "friends: the group of id " + std::to_string(report.winding[i]) +
              " winds round the box through a periodic face: it has no centre and is not merged");
    report.policy = numbers;
    return report;
  }

  /// Grows the buffers of a merge step for this rank's parcels. The scratch of the search and the next payload table share
  /// one buffer: the search is over before pack() writes.
  void reserve_buffers(const Parcels& parcels) {
    const std::size_t n = parcels.capacity();
    const std::size_t rows =
        std::max(n * schema.width() * sizeof(double), nearest::CellList::scratch_bytes(parcels.size()));
    if (sorted.bytes() < n * sizeof(Site)) sorted = RawBuffer(), sorted = RawBuffer(n * sizeof(Site));
    if (spare_rows.bytes() < rows) spare_rows = RawBuffer(), spare_rows = RawBuffer(rows);
  }

  /// On a simulated rank, before the search: copies the sites of this rank's parcels to the scratch of the search, which frees it
  /// before the rank waits, so that the search can sort into the container. Simulated ranks share one memory, run one after the
  /// other, and wait for each other in the middle of a step: what a step needs between waits only is held by one of them. An error
  /// in the step, which ends a simulation, may leave the sites sorted and the rows not.
  /// @return the parcels, read from the copy
  nearest::PointSet copy_sites(const Parcels& parcels) {
    const std::size_t own = (nearest::CellList::scratch_bytes(parcels.size()) + sizeof(Site) - 1) / sizeof(Site);
    spare_rows = cluster::SpareBuffers::take((own + parcels.size()) * sizeof(Site));
    Site* const copy = reinterpret_cast<Site*>(spare_rows.data()) + own;
    std::copy_n(parcels.sites(), parcels.size(), copy);
    return nearest::PointSet(parcels, small_volume()).with_sites(copy);
  }
  /// On a simulated rank, after the last wait: copies the sites, which the search has sorted in the container, to where pack() reads
  /// them, and allocates the next payload table; or, in a step without a merge on this rank, where the search has kept its scratch,
  /// copies the sites of `points` back, for a far search may have sorted them.
  void copy_sorted(Parcels& parcels, const nearest::PointSet& points, bool busy) {
    if (!busy) std::copy_n(points.sites(), parcels.size(), parcels.sites());
    cluster::SpareBuffers::give_back(spare_rows);
    if (!busy) return;
    sorted = cluster::SpareBuffers::take(parcels.size() * sizeof(Site));
    std::copy_n(parcels.sites(), parcels.size(), reinterpret_cast<Site*>(sorted.data()));
    spare_rows = cluster::SpareBuffers::take(parcels.capacity() * schema.width() * sizeof(double));
  }

  /// With the decorator `checked`, before a merge step: checks that the parcels of every rank are on their owners with valid
  /// volumes and ids distinct over all ranks. Collective. @throws InputError on every rank
  void check(const Parcels& parcels) {
    comm::agree(transport, [&] { cluster::check_parcels(parcels, decomposition, transport.rank()); });
    cluster::check_distinct_over_ranks("parcel id", nearest::PointSet(parcels, 0).ids(nullptr), parcels.size(),
                                       transport);
  }

  /// Sends the leaves of this rank's stars (site and payload row) to the ranks of their centres and stores those that arrive,
  /// in the order of Links::in.
  void migrate(const Parcels& parcels) {
    const std::size_t row_bytes = schema.width() * sizeof(double);
    const Site* const sites = core.search().cells().sites();
    const std::uint32_t* const order = core.search().cells().order();
    received_bytes.clear();
    core.migrate(
        sizeof(Site) + row_bytes,
        [&](std::uint32_t v, std::byte* row) {
          std::memcpy(row, &sites[v], sizeof(Site));
          std::memcpy(row + sizeof(Site), parcels.row(order[v]), row_bytes);
        },
        received_bytes);
    received_parcels.clear();
    const auto& in = core.search().links().in;
    for (std::size_t i = 0; i < in.size(); ++i)
      if (core.stars().in_kept[i]) received_parcels.target.push_back(in[i].vertex);
    received_parcels.site.resize(received_parcels.target.size());
    received_parcels.rows.resize(received_parcels.target.size() * schema.width());
    const std::byte* from = received_bytes.data();
    for (std::size_t k = 0; k < received_parcels.target.size(); ++k, from += sizeof(Site) + row_bytes) {
      std::memcpy(&received_parcels.site[k], from, sizeof(Site));
      std::memcpy(&received_parcels.rows[k * schema.width()], from + sizeof(Site), row_bytes);
    }
  }

  /// Returns the volume below which a parcel is small and merges: cell volume / min_volume_ratio.
  [[nodiscard]] double small_volume() const { return decomposition.grid().cell_volume() / options.min_volume_ratio; }

  comm::Transport& transport;
  Decomposition decomposition;
  Schema schema;
  ClusterOptions options;
  cluster::StarCore core;
  MergeRules rules;
  bool checked;
  std::unique_ptr<cluster::PolicyStep> policy;  // null for the default policy and for friends of friends
  std::unique_ptr<FriendsOfFriends> friends;    // null but for friends of friends
  std::int64_t in_transit = 0;  // parcels that the last redistribute sent to a rank that is not their owner
  RawBuffer sorted;             // sites in the order of cells
  RawBuffer spare_rows;         // the next payload table; scratch of the search before
  cluster::ReceivedParcels received_parcels;
  std::vector<std::byte> received_bytes;
};

// Validates the arguments on every rank and makes the communication objects that all merge steps use. Collective.
Clusterer::Clusterer(comm::Transport& transport, const Decomposition& decomposition, const Schema& schema,
                     const ClusterOptions& options, const Parcels* parcels) {
  comm::agree(transport, [&] {
    check(options, schema);
    cluster::check_ranks(decomposition, transport);
    if (options.search == Search::cells8) decomposition.require_cells("search cells8");
  });
  comm::check_uniform_across_ranks(transport, "Clusterer",
                                   uniform_values(options, schema, decomposition, parcels != nullptr));
  std::optional<nearest::PointSet> sample;
  if (parcels != nullptr) sample.emplace(*parcels, 0);
  impl_ = std::make_unique<Impl>(transport, decomposition, schema, options, sample ? &*sample : nullptr);
}
Clusterer::~Clusterer() = default;
Clusterer::Clusterer(Clusterer&&) noexcept = default;

std::uint64_t Clusterer::policy_step() const {
  return impl_->policy ? impl_->policy->next_step() : impl_->options.policy.step;
}

const Decomposition& Clusterer::decomposition() const { return impl_->decomposition; }

// One redistribution wave between merge steps. The component around holes serves one redistribution only.
std::int64_t Clusterer::redistribute(Parcels& parcels) {
  impl_->core.mailbox().check_usable();
  const auto count = cluster::redistribute(parcels, impl_->decomposition, impl_->transport.rank(),
                                           impl_->core.mailbox(), impl_->core.far().component());
  impl_->core.far().release_component();
  impl_->in_transit = count.in_transit;
  return count.sent;
}

std::int64_t Clusterer::in_transit() const { return impl_->in_transit; }

// True if all ranks are candidate ranks, or these are the ranks whose blocks touch: then a merged parcel's owner is one.
bool Clusterer::redistributes_in_one_wave() const {
  const auto& out = impl_->core.graph().out;
  const auto& d = impl_->decomposition;
  return out.size() + 1 == static_cast<std::size_t>(d.ranks()) || out == d.neighbours(impl_->transport.rank());
}

// Validation of the arguments of one merge step; Impl::step makes the step.
StepReport Clusterer::step(Parcels& parcels) {
  impl_->core.mailbox().check_usable();
  const auto check_table = [&] {
    if (!(parcels.schema() == impl_->schema))
      throw UsageError("step: the parcels have another schema than the Clusterer");
    if (parcels.size() > kMaxParcels)
      throw InputError("step: " + std::to_string(parcels.size()) + " parcels on one rank; allowed: up to " +
                       std::to_string(kMaxParcels) + "; use more ranks");
  };
  if (impl_->friends)
    comm::agree(impl_->transport,
                check_table);  // a step with friends is collective: the other ranks would wait for ever
  else
    check_table();
  if (impl_->checked) impl_->check(parcels);
  if (impl_->friends) return impl_->merge_friends(parcels);
  return impl_->policy ? impl_->policy->step(parcels) : impl_->step(parcels);
}

}  // namespace merganser
