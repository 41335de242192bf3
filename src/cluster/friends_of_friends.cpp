// Friends of friends for programs (merganser/cluster/friends.hpp): checks, then the search and the sums of friends.hpp.
#include "merganser/cluster/friends.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <string>
#include <utility>

#include "merganser/base/error.hpp"
#include "merganser/base/text.hpp"
#include "merganser/geometry/box_checks.hpp"
#include "src/cluster/distinct_ids.hpp"
#include "src/cluster/friends.hpp"
#include "src/cluster/owner_checks.hpp"
#include "src/cluster/rank_agreement.hpp"
#include "src/cluster/remove_parcels.hpp"
#include "src/cluster/star_core.hpp"

namespace merganser {
namespace {

constexpr std::size_t kMaxFriendPoints = std::size_t{1} << 31;  // of one rank, ghosts included
constexpr int kIdBitsOfRank = 40;                               // ids of points without ids: rank * 2^40 + position

/// Returns the merge policy whose parts the options name.
MergePolicy policy_of(const FriendsOptions& o) {
  MergePolicy policy;
  policy.linking = o.linking;
  policy.same = o.same;
  policy.place = o.place;
  policy.seed = o.seed;
  policy.step = o.step;
  policy.integers = o.integers;
  return policy;
}

/// Validates options. Local. @throws UsageError
void check_options(const FriendsOptions& o) {
  if (!(o.linking.value > 0) || !std::isfinite(o.linking.value))
    throw UsageError("friends: linking length " + number_text(o.linking.value) + "; allowed: positive and finite");
  check(policy_of(o));
  if (!o.velocity.empty() && o.velocity.size() != 3)
    throw UsageError("friends: velocity: " + std::to_string(o.velocity.size()) + " columns; allowed: three, or none");
  if (o.least_members < 1)
    throw UsageError("friends: least members " + std::to_string(o.least_members) + "; allowed: 1 and more");
}

/// Returns the options as texts that must be equal on all ranks.
std::vector<comm::UniformValue> uniform_values(const FriendsOptions& o) {
  std::string velocity;
  for (const std::string& column : o.velocity) velocity += " " + column;
  return {{"the options of friends", "'" + policy_text(policy_of(o)) + "'"},
          {"the step", std::to_string(o.step)},
          {"the columns of the velocity", "'" + velocity + "'"},
          {"the least members", std::to_string(o.least_members)}};
}

/// Validates a linking length against the periodic extents. The same on every rank. @throws UsageError
void check_length(const Box& box, double length) {
  for (std::size_t a = 0; a < 3; ++a)
    if (box.periodic[a] && !(2 * length < box.extent[a]))
      throw UsageError("friends: linking length " + number_text(length) + " along " + "xyz"[a] + " of extent " +
                       number_text(box.extent[a]) + "; allowed: below half of a periodic extent");
}

/// Validates the points of a rank: in the box and in its block, their columns numbers. Local. @throws InputError
void check_points(const cluster::FriendPoints& input, const Decomposition& decomposition, int rank) {
  const auto block = decomposition.block(rank);
  const Box& box = decomposition.grid().box;
  Vec3 slack;
  for (std::size_t a = 0; a < 3; ++a) slack[a] = cluster::rounding_bound(box, static_cast<int>(a));
  if (input.points.size > kMaxFriendPoints)
    throw InputError("friends: " + std::to_string(input.points.size) + " points on one rank; allowed: up to " +
                     std::to_string(kMaxFriendPoints) + "; use more ranks");
  for (std::uint32_t v = 0; v < input.points.size; ++v) {
    const std::size_t at = v * input.points.stride;
    const Vec3 p{input.points.x[at], input.points.y[at], input.points.z[at]};
    bool inside = box.contains(p);
    for (std::size_t a = 0; a < 3; ++a)
      inside = inside && p[a] >= block.lower[a] - slack[a] && p[a] <= block.upper[a] + slack[a];
    if (!inside)
      throw InputError("friends: point id " + std::to_string(input.ids[v]) + " at " + point_text(p) +
                       " is not in the block of rank " + std::to_string(rank) + ", from " + point_text(block.lower) +
                       " to " + point_text(block.upper) + "; allowed: points of the block, wrapped into the box");
    for (const ConstColumn& c : input.same)
      if (std::isnan(c[v]))
        throw InputError("friends: id " + std::to_string(input.ids[v]) +
                         ": a column in which friends are equal is nan; allowed: a number");
  }
}

/// Numbers of a column that holds bits of integers.
using Converted = std::vector<std::vector<double>>;

/// Returns a column of parcels as numbers: itself, or if it holds bits of integers a copy, which is appended to `converted`.
/// @throws UsageError for a column that is not there; InputError for an integer that no double represents
ConstColumn number_column(const Parcels& parcels, const std::string& name, const FriendsOptions& o,
                          Converted& converted) {
  const Schema& schema = parcels.schema();
  const ConstColumn column = parcels.column(name);
  const std::size_t offset = schema.component_offset(name, 0);
  for (const IntegerColumn& c : o.integers) {
    if (schema.component_offset(c.column, c.component) != offset) continue;
    std::vector<double>& to = converted.emplace_back(parcels.size());
    for (std::size_t i = 0; i < parcels.size(); ++i) {
      cluster::check_integer(column[i], c.is_signed, parcels.id(i), "column " + name);
      to[i] = cluster::integer_of_bits(column[i], c.is_signed);
    }
    return {to.data(), 1};
  }
  return column;
}

/// Returns the points of a container as the search reads them. @param converted  receives copies of columns, which must live as long
/// @throws UsageError and InputError as number_column()
cluster::FriendPoints friend_points(const Parcels& parcels, const FriendsOptions& o, Converted& converted) {
  static constexpr Site kNoSite{};
  static constexpr double kNoRow = 0;
  const double* const x = parcels.size() == 0 ? &kNoSite.x : &parcels.sites()->x;
  const std::size_t stride = sizeof(Site) / sizeof(double);
  const auto* const ids = reinterpret_cast<const std::byte*>(parcels.size() == 0 ? &kNoRow : parcels.rows());
  const std::size_t width = parcels.schema().width();
  cluster::FriendPoints points;
  points.points = {x, x + 1, x + 2, stride, parcels.size()};
  points.ids = {ids, width * sizeof(double), nullptr, 0};
  points.weight = {x + 3, stride};
  for (const std::string& column : o.same) points.same.push_back(number_column(parcels, column, o, converted));
  return points;
}

/// Returns the columns of a schema's components with their merge rules.
std::vector<cluster::FriendColumn> merged_columns(const Parcels& parcels) {
  std::vector<cluster::FriendColumn> columns;
  std::size_t at = 1;
  for (const Attribute& a : parcels.schema().attributes())
    for (int k = 0; k < a.components; ++k, ++at)
      columns.push_back({{parcels.size() == 0 ? nullptr : parcels.rows() + at, parcels.schema().width()}, a.rule});
  return columns;
}

/// Validates that all ranks with points have as many columns, on which the lengths of messages and the sums depend, and gives ranks
/// without points as many, without numbers. Collective. @throws UsageError on every rank alike
void match_columns(FriendColumns& columns, std::size_t points, comm::Transport& transport) {
  constexpr std::int64_t kAny = std::numeric_limits<std::int64_t>::max();
  const auto same = static_cast<std::int64_t>(columns.same.size());
  const auto velocity = static_cast<std::int64_t>(columns.velocity.size());
  const std::int64_t mass = columns.mass.data != nullptr ? 1 : 0;
  // The least numbers, and the greatest ones with the other sign.
  std::vector<std::int64_t> least{same, velocity, mass, -same, -velocity, -mass};
  if (points == 0) least.assign(least.size(), kAny);
  transport.all_reduce(least, comm::Op::min);
  if (least[0] == kAny) least.assign(least.size(), 0);
  const char* const names[] = {"columns in which friends are equal", "columns of the velocity", "columns of the mass"};
  for (std::size_t k = 0; k < 3; ++k)
    if (least[k] != -least[k + 3])
      throw UsageError("friends: from " + std::to_string(least[k]) + " to " + std::to_string(-least[k + 3]) + " " +
                       names[k] + " on ranks with points; allowed: as many on every rank");
  columns.same.resize(static_cast<std::size_t>(least[0]));
  columns.velocity.resize(static_cast<std::size_t>(least[1]));
}

}  // namespace

/// State of a FriendsOfFriends on one rank.
struct FriendsOfFriends::Impl {
  Impl(comm::Transport& t, const Decomposition& d, FriendsOptions o)
      : transport(t), decomposition(d), options(std::move(o)), search(t, decomposition) {}

  /// Finds the groups after checking the points. Collective. @throws as FriendsOfFriends::label(), on every rank
  void find(const cluster::FriendPoints& input, const nearest::PointSet& set, FriendNumbers& numbers) {
    comm::agree(transport, [&] {
      check_points(input, decomposition, transport.rank());
      own_ids.assign(set);
    });
    if (transport.capabilities().checked)
      cluster::check_distinct_over_ranks("id", input.ids, input.points.size, transport);
    double length = options.linking.value;
    if (options.linking.unit != Length::Unit::box) {
      const auto all = transport.all_reduce(static_cast<std::int64_t>(input.points.size), comm::Op::sum);
      length = options.linking.in_box_units(decomposition.grid(), std::max<std::int64_t>(all, 1));
    }
    check_length(decomposition.grid().box, length);
    search.find(input, length, numbers);
  }

  /// Labels the points of the last find() and lists the groups. Collective.
  void list(const std::vector<ConstColumn>& velocity, FriendLabels& out) {
    cluster::Laps laps;
    const cluster::FriendPoints& input = search.input();
    const auto n = static_cast<std::uint32_t>(input.points.size);
    out.group.resize(n);
    std::vector<std::uint8_t> alone(n, 1);
    for (std::uint32_t v = 0; v < n; ++v) {
      const std::uint32_t vertex = search.part_of(v);
      const cluster::FriendPart* const part = search.find_part(vertex);
      out.group[v] = part != nullptr ? part->label.id : input.ids[vertex];
      if (vertex != v || part != nullptr) alone[v] = alone[vertex] = 0;
    }
    std::vector<cluster::FriendColumn> columns;
    for (const ConstColumn& c : velocity) columns.push_back({c, Rule::mean});
    cluster::sum_groups(search, columns, {}, [&](const cluster::FriendTotal& total) { add_group(total, out); });
    if (options.least_members == 1)
      for (std::uint32_t v = 0; v < n; ++v)
        if (alone[v]) add_single(v, velocity, out);
    std::sort(out.groups.begin(), out.groups.end(),
              [](const FriendGroup& a, const FriendGroup& b) { return a.id < b.id; });
    laps.add_to(out.numbers.sum_seconds);
  }

  /// Appends a group to the list.
  void add_group(const cluster::FriendTotal& total, FriendLabels& out) const {
    if (total.members < options.least_members) return;
    FriendGroup g{search.input().ids[total.vertex], total.members, total.weight, total.centre, {}, total.winds};
    const double nan = std::numeric_limits<double>::quiet_NaN();
    if (total.winds) g.centre = {nan, nan, nan};
    for (std::size_t a = 0; a < total.columns.size(); ++a) g.velocity[a] = total.columns[a];
    out.groups.push_back(g);
  }

  /// Appends a point without friends to the list: its own numbers.
  void add_single(std::uint32_t v, const std::vector<ConstColumn>& velocity, FriendLabels& out) const {
    const ConstColumn& weight = search.input().weight;
    const double mass = weight.data != nullptr ? weight[v] : 1;
    FriendGroup g{search.input().ids[v], 1, mass, search.position(v), {}, false};
    for (std::size_t a = 0; a < velocity.size(); ++a) g.velocity[a] = velocity[a][v];
    out.groups.push_back(g);
  }

  comm::Transport& transport;
  Decomposition decomposition;
  FriendsOptions options;
  cluster::FriendSearch search;
  cluster::IdSet own_ids;
};

FriendsOptions friends_options(const MergePolicy& policy) {
  check(policy);
  if (!policy.is_friends()) throw UsageError("friends: a policy without friends; allowed: one with friends:LENGTH");
  FriendsOptions o;
  o.linking = policy.linking;
  o.same = policy.same;
  o.place = policy.place;
  o.seed = policy.seed;
  o.step = policy.step;
  o.integers = policy.integers;
  return o;
}

// Validates the options on every rank and compares them over ranks. Collective.
FriendsOfFriends::FriendsOfFriends(comm::Transport& transport, const Decomposition& decomposition,
                                   const FriendsOptions& options) {
  comm::agree(transport, [&] {
    check_options(options);
    cluster::check_ranks(decomposition, transport);
  });
  auto uniform = cluster::uniform_values(decomposition);
  for (auto& value : uniform_values(options)) uniform.push_back(std::move(value));
  comm::check_uniform_across_ranks(transport, "FriendsOfFriends", uniform);
  impl_ = std::make_unique<Impl>(transport, decomposition, options);
}
FriendsOfFriends::~FriendsOfFriends() = default;
FriendsOfFriends::FriendsOfFriends(FriendsOfFriends&&) noexcept = default;

// Labels of points in arrays.
FriendLabels FriendsOfFriends::label(const PointView& points, std::span<const std::int64_t> ids,
                                     const FriendColumns& columns) {
  comm::Transport& transport = impl_->transport;
  const comm::Counters counted = transport.counters();
  const std::int64_t first_id = static_cast<std::int64_t>(transport.rank()) << kIdBitsOfRank;
  comm::agree(transport, [&] {
    if (!ids.empty() && ids.size() != points.size)
      throw UsageError("friends: " + std::to_string(ids.size()) + " ids for " + std::to_string(points.size) +
                       " points; allowed: as many, or none");
    if (!columns.velocity.empty() && columns.velocity.size() != 3)
      throw UsageError("friends: " + std::to_string(columns.velocity.size()) +
                       " columns of the velocity; allowed: three, or none");
    if (columns.mass.data == nullptr) return;
    for (std::size_t i = 0; i < points.size; ++i)
      if (!(columns.mass[i] > 0) || !std::isfinite(columns.mass[i]))
        throw InputError("friends: point " + std::to_string(i) + ": mass " + number_text(columns.mass[i]) +
                         "; allowed: positive and finite");
  });
  FriendColumns matched = columns;
  match_columns(matched, points.size, transport);
  FriendLabels out;
  cluster::FriendPoints input;
  input.points = points;
  std::vector<double> floor;  // z of points in two dimensions
  if (points.z == nullptr && points.size > 0) {
    floor.assign((points.size - 1) * points.stride + 1, impl_->decomposition.grid().box.lower[2]);
    input.points.z = floor.data();
  }
  const auto* const base = ids.empty() ? nullptr : reinterpret_cast<const std::byte*>(ids.data());
  input.ids = {base, sizeof(std::int64_t), nullptr, first_id};
  input.weight = matched.mass;
  input.same = matched.same;
  impl_->find(input, {input.points, nullptr, ids.empty() ? nullptr : ids.data(), first_id, 0}, out.numbers);
  impl_->list(matched.velocity, out);
  out.numbers.counters = transport.counters() - counted;
  return out;
}

// Labels of parcels in a container.
FriendLabels FriendsOfFriends::label(const Parcels& parcels) {
  comm::Transport& transport = impl_->transport;
  const comm::Counters counted = transport.counters();
  FriendLabels out;
  cluster::FriendPoints input;
  Converted converted;
  std::vector<ConstColumn> velocity;
  comm::agree(transport, [&] {
    const FriendsOptions& o = impl_->options;
    input = friend_points(parcels, o, converted);
    for (const std::string& column : o.velocity) velocity.push_back(number_column(parcels, column, o, converted));
    for (std::size_t i = 0; i < parcels.size(); ++i) cluster::check_volume(parcels, i);
  });
  impl_->find(input, nearest::PointSet(parcels, 0), out.numbers);
  impl_->list(velocity, out);
  out.numbers.counters = transport.counters() - counted;
  return out;
}

// Merge: sums of all groups first, so that an error leaves the parcels as they are; then roots become the merged parcels.
FriendsReport FriendsOfFriends::merge(Parcels& parcels, bool lineage) {
  comm::Transport& transport = impl_->transport;
  const cluster::FriendSearch& search = impl_->search;
  const FriendsOptions& o = impl_->options;
  const comm::Counters counted = transport.counters();
  FriendsReport report;
  cluster::FriendPoints input;
  Converted converted;
  comm::agree(transport, [&] {
    check(policy_of(o), parcels.schema());
    input = friend_points(parcels, o, converted);
    for (std::size_t i = 0; i < parcels.size(); ++i) cluster::check_volume(parcels, i);
  });
  report.before = report.small = static_cast<std::int64_t>(parcels.size());
  impl_->find(input, nearest::PointSet(parcels, 0), report.friends);
  cluster::Laps laps;
  const std::vector<cluster::FriendColumn> columns = merged_columns(parcels);
  const cluster::DrawKey key{o.seed, o.step, 0};
  Parcels merged(parcels.schema());
  std::vector<std::uint32_t> roots;
  std::vector<double> row(parcels.schema().width());
  cluster::sum_groups(search, columns, {o.place, key, false}, [&](const cluster::FriendTotal& total) {
    const Site& centre = parcels.site(total.vertex);
    std::memcpy(row.data(), parcels.row(total.vertex), row.size() * sizeof(double));
    for (std::size_t c = 0; c < columns.size(); ++c)
      if (columns[c].rule != Rule::centre) row[1 + c] = total.columns[c];
    const Vec3 x = o.place == Placement::centroid ? total.centre
                   : o.place == Placement::centre ? Vec3{centre.x, centre.y, centre.z}
                                                  : total.place;
    merged.append({x[0], x[1], x[2], total.weight}, row.data());
    roots.push_back(total.vertex);
    report.merged += total.members - 1;
    ++report.clusters[static_cast<int>(total.members)];
  });
  std::vector<std::uint8_t> gone(parcels.size(), 0);
  for (std::uint32_t v = 0; v < parcels.size(); ++v) {
    const std::uint32_t vertex = search.part_of(v);
    const cluster::FriendPart* const part = search.find_part(vertex);
    if (part != nullptr && part->winds) {
      if (part->label.rank == transport.rank() && part->label.vertex == v) report.winding.push_back(part->label.id);
      continue;
    }
    const std::int64_t id = part != nullptr ? part->label.id : input.ids[vertex];
    gone[v] = input.ids[v] != id ? 1 : 0;
    if (gone[v] && lineage) report.lineage.push_back({input.ids[v], id});
  }
  std::sort(report.winding.begin(), report.winding.end());
  for (std::size_t i = 0; i < roots.size(); ++i) {
    parcels.site(roots[i]) = merged.site(i);
    std::memcpy(parcels.row(roots[i]), merged.row(i), row.size() * sizeof(double));
  }
  cluster::remove_parcels(parcels, gone);
  ++impl_->options.step;
  report.after = static_cast<std::int64_t>(parcels.size());
  laps.add_to(report.friends.sum_seconds);
  report.seconds.search = report.friends.local_seconds;
  report.seconds.exchange = report.friends.exchange_seconds;
  report.seconds.merge = report.friends.sum_seconds;
  report.counters = report.friends.counters = transport.counters() - counted;
  return report;
}

}  // namespace merganser
