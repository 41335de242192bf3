// Friends of friends and levelling thinning in the serial oracle of merge policies.
#include "src/cluster/policy_reference_groups.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <limits>
#include <map>

#include "merganser/base/exact_sum.hpp"
#include "merganser/parcels/detail/merge_epic.hpp"
#include "merganser/parcels/limits.hpp"
#include "src/cluster/policy_split.hpp"

namespace merganser {
namespace reference {
namespace {

/// Periods by which a member of a group is away from the centre along each axis, when positions are continued over
/// periodic faces.
using Periods = std::array<int, 3>;

/// Group of friends of friends of the oracle: its members by index, the centre first, and their periods.
struct Group {
  std::vector<std::size_t> members;
  std::vector<Periods> periods;
  bool winds = false;  ///< two ways along its edges differ in periods
};

/// Returns a coordinate of a site.
double coordinate(const Site& s, std::size_t axis) { return axis == 0 ? s.x : axis == 1 ? s.y : s.z; }

/// Returns by how many periods b moves relative to a along an edge, so that the two are near: x_b + k L near x_a.
Periods edge_periods(const Box& box, const Site& a, const Site& b) {
  Periods k{0, 0, 0};
  for (std::size_t axis = 0; axis < 3; ++axis) {
    if (!box.periodic[axis]) continue;
    const double d = coordinate(b, axis) - coordinate(a, axis);
    if (d > 0.5 * box.extent[axis]) k[axis] = -1;
    if (d < -0.5 * box.extent[axis]) k[axis] = 1;
  }
  return k;
}

/// Returns whether two parcels are friends.
bool are_friends(const Parcels& p, const Box& box, const cluster::PolicyColumns& columns, double length2, std::size_t i,
                 std::size_t j) {
  for (const std::size_t column : columns.same)
    if (columns.value(p.row(i), column) != columns.value(p.row(j), column)) return false;
  const Site& a = p.site(i);
  const Site& b = p.site(j);
  return box.distance2({a.x, a.y, a.z}, {b.x, b.y, b.z}) <= length2;
}

/// Finds all groups: from each parcel, by ascending id, everything that its edges reach.
std::vector<Group> find_groups(const Parcels& p, const Grid& grid, const MergePolicy& policy) {
  const cluster::PolicyColumns columns(policy, p.schema());
  for (const auto& [offset, is_signed] : columns.integers)
    for (std::size_t i = 0; i < p.size(); ++i)
      cluster::check_integer(p.row(i)[offset], is_signed, p.id(i), "a column in which friends are equal");
  const double length = policy.linking.in_box_units(grid, static_cast<std::int64_t>(p.size()));
  std::vector<std::size_t> by_id(p.size());
  for (std::size_t i = 0; i < by_id.size(); ++i) by_id[i] = i;
  std::sort(by_id.begin(), by_id.end(), [&](std::size_t a, std::size_t b) { return p.id(a) < p.id(b); });
  std::map<std::size_t, Periods> seen;
  std::vector<Group> groups;
  for (const std::size_t first : by_id) {
    if (seen.count(first) > 0) continue;
    Group group{{first}, {{0, 0, 0}}};
    seen[first] = {0, 0, 0};
    for (std::size_t at = 0; at < group.members.size(); ++at) {
      const std::size_t i = group.members[at];
      for (const std::size_t j : by_id) {
        if (j == i || !are_friends(p, grid.box, columns, length * length, i, j)) continue;
        Periods k = edge_periods(grid.box, p.site(i), p.site(j));
        for (std::size_t axis = 0; axis < 3; ++axis) k[axis] += seen[i][axis];
        const auto [found, is_new] = seen.emplace(j, k);
        if (!is_new) {
          group.winds = group.winds || found->second != k;
          continue;
        }
        group.members.push_back(j);
        group.periods.push_back(k);
      }
    }
    groups.push_back(group);
  }
  return groups;
}

/// Merges one attribute of a group by its rule, with exact sums. @param v  volumes of the members
double merge_component(const Parcels& p, const Group& g, Rule rule, std::size_t column) {
  if (rule == Rule::centre) return p.row(g.members[0])[column];
  if (rule == Rule::largest) {
    const std::size_t best = *std::max_element(g.members.begin(), g.members.end(), [&](std::size_t a, std::size_t b) {
      return std::pair(p.site(a).volume, -p.id(a)) < std::pair(p.site(b).volume, -p.id(b));
    });
    return p.row(best)[column];
  }
  const bool weighted = rule == Rule::mean || rule == Rule::mean_present;
  ExactSum sum;
  ExactSum volume;
  bool any = false;
  for (const std::size_t i : g.members) {
    const double value = p.row(i)[column];
    if (is_of_present(rule) && std::isnan(value)) continue;
    any = true;
    sum.add(weighted ? p.site(i).volume * value : value);
    volume.add(p.site(i).volume);
  }
  if (!any) return std::numeric_limits<double>::quiet_NaN();
  return weighted ? sum.value() * (1 / volume.value()) : sum.value();
}

/// Returns the parcel into which a group merges.
Remaining merge_group(const Parcels& p, const Grid& grid, const MergePolicy& policy, const Group& g) {
  const Box& box = grid.box;
  const Site& c = p.site(g.members[0]);
  Remaining out{c, {p.row(g.members[0]), p.row(g.members[0]) + p.schema().width()}};
  ExactSum volume;
  for (const std::size_t i : g.members) volume.add(p.site(i).volume);
  const double w = 1 / volume.value();
  Vec3 x{};
  for (std::size_t axis = 0; axis < 3; ++axis) {
    ExactSum sum;
    for (std::size_t m = 0; m < g.members.size(); ++m) {
      const Site& s = p.site(g.members[m]);
      sum.add(s.volume * ((coordinate(s, axis) - coordinate(c, axis)) +
                          static_cast<double>(g.periods[m][axis]) * box.extent[axis]));
    }
    x[axis] = detail::wrap_or_clamp(box, static_cast<int>(axis), coordinate(c, axis) + sum.value() * w);
  }
  out.site = {x[0], x[1], x[2], volume.value()};
  std::size_t column = 1;
  for (const Attribute& a : p.schema().attributes())
    for (int k = 0; k < a.components; ++k, ++column) out.row[column] = merge_component(p, g, a.rule, column);
  std::vector<PlaceMember> places;
  for (const std::size_t i : g.members) places.push_back({p.site(i), p.id(i)});
  set_place(policy, {policy.seed, policy.step, 0}, places, out.site);
  return out;
}

}  // namespace

Parcels to_parcels(const Schema& schema, std::vector<Remaining> remaining) {
  std::sort(remaining.begin(), remaining.end(), [](const Remaining& a, const Remaining& b) {
    return std::bit_cast<std::int64_t>(a.row[0]) < std::bit_cast<std::int64_t>(b.row[0]);
  });
  Parcels out(schema);
  for (const Remaining& r : remaining) out.append(r.site, r.row.data());
  return out;
}

void set_place(const MergePolicy& policy, const cluster::DrawKey& key, std::span<const PlaceMember> members,
               Site& site) {
  if (policy.place == Placement::centroid) return;
  const PlaceMember* best = &members[0];
  const auto precedes = [&](const PlaceMember& a, const PlaceMember& b) {
    const double x =
        policy.place == Placement::heaviest ? -a.site.volume : cluster::draw_place(key, a.id, a.site.volume);
    const double y =
        policy.place == Placement::heaviest ? -b.site.volume : cluster::draw_place(key, b.id, b.site.volume);
    return std::pair(x, a.id) < std::pair(y, b.id);
  };
  if (policy.place != Placement::centre)
    for (const PlaceMember& m : members)
      if (precedes(m, *best)) best = &m;
  site = {best->site.x, best->site.y, best->site.z, site.volume};
}

void scale_sums(const Schema& schema, double factor, double* row) {
  std::size_t column = 1;
  for (const Attribute& a : schema.attributes())
    for (int k = 0; k < a.components; ++k, ++column)
      if (a.rule == Rule::sum || a.rule == Rule::sum_present) row[column] *= factor;
}

Parcels merge_friends(const Parcels& before, const Grid& grid, const MergePolicy& policy, PolicyOutcome& out) {
  out.rounds = 1;
  out.report.small = static_cast<std::int64_t>(before.size());
  std::vector<Remaining> remaining;
  for (const Group& g : find_groups(before, grid, policy)) {
    const std::int64_t id = before.id(g.members[0]);
    for (const std::size_t i : g.members) out.groups[before.id(i)] = id;
    if (g.winds) out.winding.push_back(id);
    if (g.members.size() > 1 && !g.winds) {
      remaining.push_back(merge_group(before, grid, policy, g));
      ++out.report.clusters[static_cast<int>(g.members.size())];
      for (std::size_t m = 1; m < g.members.size(); ++m) out.report.lineage.push_back({before.id(g.members[m]), id});
      continue;
    }
    for (const std::size_t i : g.members)
      remaining.push_back({before.site(i), {before.row(i), before.row(i) + before.schema().width()}});
  }
  return to_parcels(before.schema(), std::move(remaining));
}

Parcels level(const Parcels& before, const Grid& grid, const MergePolicy& policy) {
  std::map<std::array<std::int64_t, 3>, std::vector<std::size_t>> cells;
  for (std::size_t i = 0; i < before.size(); ++i) {
    const Site& s = before.site(i);
    cells[{grid.cell(0, s.x), grid.cell(1, s.y), grid.cell(2, s.z)}].push_back(i);
  }
  std::vector<Remaining> remaining;
  for (const auto& [cell, members] : cells) {
    ExactSum sum;
    for (const std::size_t i : members) sum.add(before.site(i).volume);
    const double level = policy.level_ratio * (sum.value() / static_cast<double>(members.size()));
    const bool thinned = static_cast<std::int64_t>(members.size()) >= policy.level_least;
    for (const std::size_t i : members) {
      Remaining r{before.site(i), {before.row(i), before.row(i) + before.schema().width()}};
      const double volume = r.site.volume;
      if (thinned && volume <= level) {
        const cluster::DrawKey key{policy.seed, policy.step, 0};
        if (!(cluster::draw_uniform(key, cluster::Draw::level, before.id(i)) < volume / level)) continue;
        r.site.volume = level;
        scale_sums(before.schema(), level / volume, r.row.data());
      }
      remaining.push_back(std::move(r));
    }
  }
  return to_parcels(before.schema(), std::move(remaining));
}

void split(Parcels& parcels, const Grid& grid, const MergePolicy& policy, PolicyOutcome& out) {
  const Grid cells = cluster::crowd_grid(policy, grid);
  const cluster::PolicyColumns columns(policy, parcels.schema());
  const std::int64_t first = cluster::first_new_id(policy, cells);
  // Places before any split: those of children count in the next step.
  std::map<std::array<std::int64_t, 3>, std::vector<std::size_t>> before;
  for (std::size_t i = 0; i < parcels.size(); ++i) {
    const Site& s = parcels.site(i);
    before[{cells.cell(0, s.x), cells.cell(1, s.y), cells.cell(2, s.z)}].push_back(i);
  }
  std::int64_t cell = 0;
  for (std::int64_t x = 0; x < cells.cells[0]; ++x)
    for (std::int64_t y = 0; y < cells.cells[1]; ++y)
      for (std::int64_t z = 0; z < cells.cells[2]; ++z, ++cell) {
        std::vector<std::size_t> members = before[{x, y, z}];
        std::int64_t child = first + cell * (policy.split_below - 1);
        while (!members.empty() && static_cast<std::int64_t>(members.size()) < policy.split_below) {
          std::size_t best = members[0];
          for (const std::size_t i : members)
            if (std::pair(parcels.site(i).volume, -parcels.id(i)) >
                std::pair(parcels.site(best).volume, -parcels.id(best)))
              best = i;
          if (!is_volume(0.5 * parcels.site(best).volume)) break;
          out.report.splits.push_back({child, parcels.id(best)});
          members.push_back(parcels.size());
          cluster::split_parcel(policy, columns, cells, parcels, best, child++);
          ++out.report.policy.split;
        }
      }
}

}  // namespace reference
}  // namespace merganser
