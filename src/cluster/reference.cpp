// Serial oracle of the merge step (reference.hpp): slow search, pruning and merge, written without the algorithms of
// the fast path, that tests and `merganser verify` compare with.
#include "merganser/cluster/reference.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <iterator>
#include <limits>
#include <map>

#include "merganser/base/error.hpp"
#include "merganser/parcels/detail/merge_epic.hpp"
#include "src/cluster/reference_stages.hpp"

namespace merganser {
namespace reference {
namespace {

/// Cell of the grid by its numbers along the axes, from 0.
using CellIndex = std::array<std::int64_t, 3>;

/// Returns the position of parcel i, for the serial oracle of the merge step.
Vec3 position(const Parcels& parcels, std::size_t i) {
  const Site& s = parcels.site(i);
  return {s.x, s.y, s.z};
}

/// Search result of the serial oracle for one parcel: the nearest of the parcels considered so far, in the canonical order
/// (squared distance, lower id, higher id).
class NearestSoFar {
 public:
  NearestSoFar(const Parcels& parcels, const Box& box, std::size_t i) : parcels_(parcels), box_(box), i_(i) {}

  /// Replaces the nearest parcel so far by parcel j if that comes earlier in the canonical order of links.
  void consider(std::size_t j) {
    if (j == i_) return;
    const std::int64_t mine = parcels_.id(i_);
    const std::int64_t other = parcels_.id(j);
    const links::Key key{box_.distance2(position(parcels_, i_), position(parcels_, j)), std::min(mine, other),
                         std::max(mine, other)};
    if (target < 0 || key < best) {
      target = static_cast<std::int64_t>(j);
      best = key;
    }
  }

  std::int64_t target = -1;
  links::Key best;

 private:
  const Parcels& parcels_;
  const Box& box_;
  std::size_t i_;
};

/// Map from grid cells to the parcels that they hold, in which the serial oracle of the merge step searches.
class CellMap {
 public:
  CellMap(const Parcels& parcels, const Grid& grid) : grid_(grid) {
    for (std::size_t i = 0; i < parcels.size(); ++i) members_[locate(position(parcels, i))].push_back(i);
  }
  /// Returns the grid cell that contains a position.
  [[nodiscard]] CellIndex locate(const Vec3& p) const {
    return {grid_.cell(0, p[0]), grid_.cell(1, p[1]), grid_.cell(2, p[2])};
  }
  /// Considers all parcels of the grid cells first .. last as the nearest one, each cell once: periodic axes wrap, wall axes
  /// are clipped.
  void consider(NearestSoFar& nearest, const CellIndex& first, const CellIndex& last) const {
    std::array<std::vector<std::int64_t>, 3> along;
    for (int a = 0; a < 3; ++a) {
      const std::int64_t n = grid_.cells[a];
      for (std::int64_t c = first[a]; c <= last[a]; ++c) {
        const bool inside = c >= 0 && c < n;
        if (inside || grid_.box.periodic[a]) along[a].push_back(((c % n) + n) % n);
      }
      std::sort(along[a].begin(), along[a].end());
      along[a].erase(std::unique(along[a].begin(), along[a].end()), along[a].end());
    }
    for (const std::int64_t x : along[0])
      for (const std::int64_t y : along[1])
        for (const std::int64_t z : along[2])
          if (const auto found = members_.find({x, y, z}); found != members_.end())
            for (const std::size_t j : found->second) nearest.consider(j);
  }

 private:
  const Grid& grid_;
  std::map<CellIndex, std::vector<std::size_t>> members_;
};

/// Exact search of the oracle: widens the cube of cells around parcel i until no parcel outside of it can be nearer.
void search_rings(const CellMap& bins, const Parcels& parcels, const Grid& grid, std::size_t i, NearestSoFar& nearest) {
  const CellIndex home = bins.locate(position(parcels, i));
  const double spacing = std::min({grid.spacing(0), grid.spacing(1), grid.spacing(2)});
  const std::int64_t widest = *std::max_element(grid.cells.begin(), grid.cells.end());
  for (std::int64_t ring = 1;; ++ring) {
    const bool all = ring >= widest || static_cast<double>(2 * ring + 1) * static_cast<double>(2 * ring + 1) *
                                               static_cast<double>(2 * ring + 1) >
                                           static_cast<double>(parcels.size());
    if (all) {
      for (std::size_t j = 0; j < parcels.size(); ++j) nearest.consider(j);
      return;
    }
    bins.consider(nearest, {home[0] - ring, home[1] - ring, home[2] - ring},
                  {home[0] + ring, home[1] + ring, home[2] + ring});
    const double safe = (1 - 1e-9) * static_cast<double>(ring) * spacing;
    if (nearest.target >= 0 && nearest.best.distance2 < safe * safe) return;
  }
}

/// Search rule cells8 of the oracle: considers the parcels of the 2x2x2 cells around the grid node nearest to parcel i.
void search_node(const CellMap& bins, const Parcels& parcels, const Grid& grid, std::size_t i, NearestSoFar& nearest) {
  const Vec3 p = position(parcels, i);
  const CellIndex node{grid.node(0, p[0]), grid.node(1, p[1]), grid.node(2, p[2])};
  bins.consider(nearest, {node[0] - 1, node[1] - 1, node[2] - 1}, node);
}

/// Oracle of the cutting of cycles: follows links from `start` and returns the parcels of the cycle that they lead into; empty
/// if there is no cycle or an earlier call has found it. `seen_by` holds per vertex the start of the first call that reached it.
std::vector<std::size_t> find_cycle(const LinkGraph& graph, std::size_t start, std::vector<std::size_t>& seen_by) {
  std::vector<std::size_t> path;
  std::size_t v = start;
  for (;;) {
    if (seen_by[v] == start) break;  // back on this walk
    if (seen_by[v] != graph.target.size()) return {};
    seen_by[v] = start;
    path.push_back(v);
    if (graph.target[v] < 0) return {};
    v = static_cast<std::size_t>(graph.target[v]);
  }
  path.erase(path.begin(), std::find(path.begin(), path.end(), v));
  return path;
}

}  // namespace

// Search of the oracle: each small parcel's nearest other parcel; every pair is compared where parcels are few.
LinkGraph nearest(const Parcels& parcels, const Grid& grid, const std::vector<char>& is_small, Search search) {
  const std::size_t n = parcels.size();
  LinkGraph graph{std::vector<std::int64_t>(n, -1), std::vector<links::Key>(n)};
  const bool quadratic = search == Search::exact && n <= 4096;
  const CellMap bins(parcels, grid);
  for (std::size_t i = 0; i < n; ++i) {
    if (!is_small[i]) continue;
    NearestSoFar best(parcels, grid.box, i);
    if (quadratic) {
      for (std::size_t j = 0; j < n; ++j) best.consider(j);
    } else if (search == Search::exact) {
      search_rings(bins, parcels, grid, i, best);
    } else {
      search_node(bins, parcels, grid, i, best);
    }
    graph.target[i] = best.target;
    graph.key[i] = best.best;
  }
  return graph;
}

// Oracle of the cutting of cycles of three and more links, which cells8 alone can yield: the greatest link of each is
// dropped.
std::int64_t cut_long_cycles(LinkGraph& graph) {
  const std::size_t n = graph.target.size();
  std::vector<std::size_t> seen_by(n, n);
  std::int64_t cut = 0;
  for (std::size_t start = 0; start < n; ++start) {
    const std::vector<std::size_t> cycle = find_cycle(graph, start, seen_by);
    if (cycle.size() < 3) continue;
    const std::size_t worst = *std::max_element(
        cycle.begin(), cycle.end(), [&](std::size_t a, std::size_t b) { return graph.key[a] < graph.key[b]; });
    graph.target[worst] = -1;
    ++cut;
  }
  return cut;
}

// Oracle of the pruning: the published iterative algorithm in serial, its steps A to G in their order.
void prune(LinkGraph& graph, const Parcels& parcels) {
  const std::size_t n = graph.target.size();
  std::vector<char> leaf(n, 0);
  std::vector<char> available(n, 0);
  std::vector<char> merged(n, 0);
  std::vector<std::size_t> sources;
  for (std::size_t s = 0; s < n; ++s)
    if (graph.target[s] >= 0) sources.push_back(s);
  const auto to = [&](std::size_t s) { return static_cast<std::size_t>(graph.target[s]); };

  for (bool again = true; again;) {
    again = false;
    for (const std::size_t s : sources)  // A
      if (!merged[s]) leaf[s] = available[to(s)] = 1;
    for (const std::size_t s : sources)  // B
      if (!merged[s]) leaf[to(s)] = 0;
    for (const std::size_t s : sources)  // C
      if (!merged[s] && !leaf[s]) available[to(s)] = 0;
    for (const std::size_t s : sources)  // D
      if (!merged[s] && leaf[s] && available[to(s)]) merged[s] = merged[to(s)] = again = true;
  }
  for (const std::size_t s : sources)  // E
    if (!merged[s] && leaf[s]) available[to(s)] = 1;

  std::vector<char> keep(n, 0);
  std::vector<std::size_t> undecided;
  for (const std::size_t s : sources) {  // F
    if (merged[s]) {
      keep[s] = leaf[s];
    } else if (leaf[s]) {
      keep[s] = 1;
    } else if (!available[s]) {
      keep[s] = available[to(s)];
      if (!keep[s]) undecided.push_back(s);
    }
  }
  for (const std::size_t s : undecided)
    if (parcels.id(s) < parcels.id(to(s))) available[s] = 1;
  for (const std::size_t s : undecided) keep[s] = available[to(s)];  // G
  for (const std::size_t s : sources)
    if (!keep[s]) graph.target[s] = -1;
}

}  // namespace reference

namespace {

/// Geometric sums of a star in the serial oracle of the merge: displacements of the members from the centre, merged volume and
/// its reciprocal, shift of the merged position; compute_geometry() fills it.
struct StarGeometry {
  std::vector<Vec3> d;
  double volume = 0;
  double w = 0;
  Vec3 shift{0, 0, 0};
};

/// Computes the geometric sums of a star (merged volume, volume-weighted mean displacement) relative to its centre, members in
/// the order given, which defines the bits.
StarGeometry compute_geometry(const Box& box, std::span<const Member> members) {
  StarGeometry g;
  const Site& c = *members[0].site;
  g.volume = c.volume;
  g.d.push_back({0, 0, 0});
  for (std::size_t i = 1; i < members.size(); ++i) {
    const Site& s = *members[i].site;
    g.volume = g.volume + s.volume;
    g.d.push_back({box.displacement(0, s.x, c.x), box.displacement(1, s.y, c.y), box.displacement(2, s.z, c.z)});
  }
  g.w = 1.0 / g.volume;
  for (std::size_t a = 0; a < 3; ++a) {
    double sum = members[1].site->volume * g.d[1][a];
    for (std::size_t i = 2; i < members.size(); ++i) sum = sum + members[i].site->volume * g.d[i][a];
    g.shift[a] = sum * g.w;
  }
  return g;
}

/// Returns true if sums of doubles give the merged shape of a star (ellipsoid B11 to B33) to 1e-12 (detail::ShapeSum); else
/// detail::wide_shape computes it.
bool is_plain(const Box& box, std::span<const Member> members, const StarGeometry& g, std::size_t offset,
              const Shape& s) {
  bool plain = members.size() <= 1 + detail::kMaxPlainSources;
  for (const Member& m : members) {
    const double* b = m.row + offset;
    plain = plain && b[0] * b[3] <= detail::kMaxCancellation * (b[0] * b[3] - b[1] * b[1]);
  }
  const double bound = (s.b11 * s.b22) * s.b33;
  plain = plain && bound <= detail::kMaxCancellation * det3(s);
  plain = plain && bound >= detail::kMinDeterminant && bound <= detail::kMaxDeterminant;
  const std::array<double, 3> spread{s.b11, s.b22, s.b33};
  const auto coordinate = [](const Member& m, std::size_t a) {
    return a == 0 ? m.site->x : a == 1 ? m.site->y : m.site->z;
  };
  for (std::size_t a = 0; a < 3; ++a) {
    plain = plain && g.shift[a] * g.shift[a] <= detail::kMaxSpreadSquared * spread[a];
    for (const Member& m : members) {
      const double far = std::fabs(coordinate(m, a) - coordinate(members[0], a));
      const bool across = box.periodic[a] && far > 0.5 * box.extent[a];
      plain = plain && !(across && far * far > detail::kMaxSpreadSquared * spread[a]);
    }
  }
  return plain;
}

/// Oracle of the merge rule ellipsoid: computes the merged shape of a star, B11 to B23, from those at `offset` of the members'
/// payload rows.
void ellipsoid_reference(const Box& box, std::span<const Member> members, const StarGeometry& g, std::size_t offset,
                         double* out) {
  double s11 = 0, s12 = 0, s13 = 0, s22 = 0, s23 = 0, s33 = 0;
  for (std::size_t i = 0; i < members.size(); ++i) {
    const double* b = members[i].row + offset;
    const double volume = members[i].site->volume;
    const double share = volume * g.w;
    const double x = g.d[i][0] - g.shift[0];
    const double y = g.d[i][1] - g.shift[1];
    const double z = g.d[i][2] - g.shift[2];
    s11 = s11 + share * (b[0] + (5 * x) * x);
    s12 = s12 + share * (b[1] + (5 * x) * y);
    s13 = s13 + share * (b[2] + (5 * x) * z);
    s22 = s22 + share * (b[3] + (5 * y) * y);
    s23 = s23 + share * (b[4] + (5 * y) * z);
    s33 = s33 + share * (detail::b33_plain(b, volume, b[0] * b[3] - b[1] * b[1]) + (5 * z) * z);
  }
  if (!is_plain(box, members, g, offset, {s11, s12, s13, s22, s23, s33})) {
    std::vector<detail::ShapeMember> all;
    for (const Member& m : members) all.push_back({*m.site, m.row + offset});
    if (detail::wide_shape(detail::Images(box), all, out)) return;
  }
  const double abc = g.volume * (0.75 / std::numbers::pi);
  const double f = cube_root((abc * abc) / det3(Shape{s11, s12, s13, s22, s23, s33}));
  const std::array<double, 5> s{s11, s12, s13, s22, s23};
  for (std::size_t i = 0; i < 5; ++i) out[i] = f * s[i];
}

/// Returns the id of a member of a star, which stands first in its payload row.
std::int64_t member_id(const Member& m) { return std::bit_cast<std::int64_t>(m.row[0]); }

/// Oracle of the merge rules mean_present and sum_present: returns the mean, weighted by volume, or the sum of an attribute over
/// the members of a star that have a value; NaN if none has.
double present_reference(std::span<const Member> members, std::size_t column, bool weighted) {
  std::vector<Member> with_value;
  std::copy_if(members.begin(), members.end(), std::back_inserter(with_value),
               [&](const Member& m) { return !std::isnan(m.row[column]); });
  if (with_value.empty()) return std::numeric_limits<double>::quiet_NaN();
  const auto term = [&](const Member& m) { return (weighted ? m.site->volume : 1) * m.row[column]; };
  double sum = term(with_value[0]);
  double volume = with_value[0].site->volume;
  for (std::size_t i = 1; i < with_value.size(); ++i) {
    sum = sum + term(with_value[i]);
    volume = volume + with_value[i].site->volume;
  }
  return weighted ? sum * (1.0 / volume) : sum;
}

/// Oracle of the merge of one attribute of a star by its rule (ellipsoid, mean, sum, largest, centre, ...), except for callbacks.
void attribute_reference(const Box& box, const Attribute& attribute, std::span<const Member> members,
                         const StarGeometry& g, std::size_t offset, double* out) {
  if (attribute.rule == Rule::ellipsoid) return ellipsoid_reference(box, members, g, offset, out);
  for (std::size_t c = offset; c < offset + static_cast<std::size_t>(attribute.components); ++c, ++out) {
    if (attribute.rule == Rule::mean) {
      double sum = members[0].site->volume * members[0].row[c];
      for (std::size_t i = 1; i < members.size(); ++i) sum = sum + members[i].site->volume * members[i].row[c];
      *out = sum * g.w;
    } else if (attribute.rule == Rule::sum) {
      double sum = members[0].row[c];
      for (std::size_t i = 1; i < members.size(); ++i) sum = sum + members[i].row[c];
      *out = sum;
    } else if (attribute.rule == Rule::mean_present || attribute.rule == Rule::sum_present) {
      *out = present_reference(members, c, attribute.rule == Rule::mean_present);
    } else if (attribute.rule == Rule::largest) {
      *out = std::max_element(members.begin(), members.end(), [](const Member& a, const Member& b) {
               if (a.site->volume != b.site->volume) return a.site->volume < b.site->volume;
               return member_id(a) > member_id(b);
             })->row[c];
    } else {
      *out = members[0].row[c];
    }
  }
}

/// Returns a coordinate of a merged parcel wrapped on a periodic axis, else clamped onto the walls of the box.
double wrap_or_clamp(const Box& box, int axis, double x) {
  if (box.periodic[axis]) return box.wrap(axis, x);
  return std::clamp(x, box.lower[axis], box.lower[axis] + box.extent[axis]);
}

/// Last stage of the serial oracle: merges every star of the pruned link graph into its centre, removes the sources from the
/// container, and adds the sizes of stars to the report.
void merge_stars(Parcels& parcels, const MergeRules& rules, const reference::LinkGraph& graph, StepReport& report) {
  const Parcels before = parcels;
  std::map<std::size_t, std::vector<std::size_t>> sources;
  for (std::size_t s = 0; s < graph.target.size(); ++s)
    if (graph.target[s] >= 0) sources[static_cast<std::size_t>(graph.target[s])].push_back(s);
  for (auto& [centre, list] : sources) {
    std::sort(list.begin(), list.end(), [&](std::size_t a, std::size_t b) { return before.id(a) < before.id(b); });
    std::vector<Member> members{{&before.site(centre), before.row(centre)}};
    for (const std::size_t s : list) members.push_back({&before.site(s), before.row(s)});
    merge_reference(rules, members, parcels.site(centre), parcels.row(centre));
    ++report.clusters[static_cast<int>(members.size())];
  }
  std::size_t kept = 0;
  for (std::size_t i = 0; i < before.size(); ++i) {
    if (graph.target[i] >= 0) continue;
    parcels.site(kept) = parcels.site(i);
    if (kept != i) std::copy_n(parcels.row(i), parcels.schema().width(), parcels.row(kept));
    ++kept;
  }
  parcels.resize(kept);
}

}  // namespace

// Oracle of the merge of one star: each attribute by its rule, in plain sums whose order defines the bits of the
// result.
void merge_reference(const MergeRules& rules, std::span<const Member> members, Site& site, double* row) {
  const Site centre = *members[0].site;
  const std::size_t width = rules.schema->width();
  std::vector<double> merged(members[0].row, members[0].row + width);
  Site merged_site = centre;
  if (members.size() > 1) {
    const StarGeometry g = compute_geometry(rules.box, members);
    std::size_t offset = 1;
    for (std::size_t i = 0; i < rules.schema->attributes().size(); ++i) {
      const Attribute& attribute = rules.schema->attributes()[i];
      if (attribute.rule == Rule::callback) {
        if (i >= rules.callbacks.size() || !rules.callbacks[i])
          throw UsageError("attribute " + attribute.name + " is merged by a callback, but none is given");
        rules.callbacks[i](members, g.volume, merged.data() + offset);
      } else {
        attribute_reference(rules.box, attribute, members, g, offset, merged.data() + offset);
      }
      offset += static_cast<std::size_t>(attribute.components);
    }
    merged_site = {wrap_or_clamp(rules.box, 0, centre.x + g.shift[0]),
                   wrap_or_clamp(rules.box, 1, centre.y + g.shift[1]),
                   wrap_or_clamp(rules.box, 2, centre.z + g.shift[2]), g.volume};
  }
  site = merged_site;
  std::copy(merged.begin(), merged.end(), row);
}

// Oracle of a whole merge step on one rank: search, cutting of long cycles, pruning, merge.
StepReport cluster_reference(Parcels& parcels, const Grid& grid, const ClusterOptions& options) {
  StepReport report;
  const std::size_t n = parcels.size();
  const double small_volume = grid.cell_volume() / options.min_volume_ratio;
  std::vector<char> is_small(n);
  for (std::size_t i = 0; i < n; ++i) is_small[i] = parcels.site(i).volume < small_volume;
  report.before = static_cast<std::int64_t>(n);
  report.small = std::count(is_small.begin(), is_small.end(), 1);

  reference::LinkGraph graph = reference::nearest(parcels, grid, is_small, options.search);
  for (std::size_t i = 0; i < n; ++i) {
    if (is_small[i] && graph.target[i] < 0) ++report.unmatched;
    if (graph.target[i] >= 0 && is_small[static_cast<std::size_t>(graph.target[i])]) ++report.links_to_small;
  }
  report.long_cycles = reference::cut_long_cycles(graph);
  reference::prune(graph, parcels);
  for (std::size_t i = 0; i < n; ++i) {
    if (graph.target[i] < 0) continue;
    ++report.merged;
    if (!is_small[static_cast<std::size_t>(graph.target[i])]) ++report.merged_into_big;
  }
  MergeRules rules(parcels.schema(), grid.box);
  rules.callbacks = options.callbacks;
  merge_stars(parcels, rules, graph, report);
  report.after = static_cast<std::int64_t>(parcels.size());
  return report;
}

}  // namespace merganser
