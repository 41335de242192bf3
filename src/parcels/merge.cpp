// Merge of the parcels of a star by the rules of their schema, in the canonical order of operations (merge.hpp).
#include "merganser/parcels/merge.hpp"

#include <cmath>
#include <cstring>
#include <limits>
#include <vector>

#include "merganser/base/error.hpp"
#include "merganser/parcels/detail/merge_epic.hpp"

namespace merganser {
namespace {

/// Temporary payload row of the merged parcel: the output may alias the centre's row, which later rules still read.
class MergedRow {
 public:
  /// Makes room for a row of `width` doubles, on the stack for usual schemas.
  explicit MergedRow(std::size_t width) : large_(width > kSmall ? width : 0) {}
  /// Returns the temporary payload row of the merged parcel, uninitialised at first.
  [[nodiscard]] double* data() { return large_.empty() ? small_ : large_.data(); }

 private:
  static constexpr std::size_t kSmall = 64;  // doubles of a row that need no allocation
  double small_[kSmall];
  std::vector<double> large_;  // used for longer rows
};

/// Members of a star of parcels, with the sums that every merge rule needs; sum_star() fills it.
struct Star {
  std::span<const Member> members;  ///< centre, then sources by ascending id
  Box box;                          ///< domain, for displacements and wrapping
  double volume;                    ///< sum of the volumes of the star's members
  double w;                         ///< 1 / volume, the factor of weighted means
  Vec3 shift;                       ///< from the centre to the merged position
};

/// Returns the displacement of a member of a star from the centre, to the nearest periodic image.
Vec3 displacement(const Box& box, const Site& from, const Site& centre) {
  return {box.displacement(0, from.x, centre.x), box.displacement(1, from.y, centre.y),
          box.displacement(2, from.z, centre.z)};
}

/// Computes volume and shift of the parcel that a star merges into, in the canonical order: centre, then sources by id.
Star sum_star(std::span<const Member> members, const Box& box) {
  const Site& centre = *members[0].site;
  Star star{members, box, centre.volume, 0, {}};
  for (std::size_t i = 1; i < members.size(); ++i) {
    const Site& s = *members[i].site;
    const Vec3 d = displacement(box, s, centre);
    star.volume += s.volume;
    for (int a = 0; a < 3; ++a) star.shift[a] = i == 1 ? s.volume * d[a] : star.shift[a] + s.volume * d[a];
  }
  star.w = 1 / star.volume;
  for (double& x : star.shift) x *= star.w;
  return star;
}

/// Merges the ellipsoids of a star's members by second moments into `out`; the attribute begins at `offset` of a payload row.
void merge_ellipsoid(const Star& star, std::size_t offset, double* out) {
  const Site& centre = *star.members[0].site;
  const detail::Images images(star.box);
  detail::ShapeSum sum;
  for (std::size_t i = 0; i < star.members.size(); ++i) {
    const Member& m = star.members[i];
    // Position of the member relative to the merged parcel, of which the second moment is taken.
    Vec3 r = i == 0 ? Vec3{} : displacement(star.box, *m.site, centre);
    for (int a = 0; a < 3; ++a) r[a] = i == 0 ? -star.shift[a] : r[a] - star.shift[a];
    sum.add_distance(*m.site, centre);
    sum.add(m.site->volume * star.w, m.row + offset, m.site->volume, r);
  }
  const auto members = [&] {
    std::vector<detail::ShapeMember> all;
    for (const Member& m : star.members) all.push_back({*m.site, m.row + offset});
    return all;
  };
  detail::store_shape(images, sum, star.shift, star.members.size() - 1, star.volume, out, members);
}

/// Returns the member of a star of largest volume, for the rule `largest`; among equals that of the lowest id.
const Member& largest_member(std::span<const Member> members) {
  const Member* best = &members[0];
  const auto id = [](const Member& m) { return std::bit_cast<std::int64_t>(m.row[0]); };
  for (const Member& m : members.subspan(1))
    if (m.site->volume > best->site->volume || (m.site->volume == best->site->volume && id(m) < id(*best))) best = &m;
  return *best;
}

/// Returns the mean by volume, or the sum, over a star's members whose value in a column of the row is present (not NaN); NaN if
/// none is.
double merge_present(const Star& star, std::size_t column, bool weighted) {
  double sum = 0;
  double volume = 0;
  bool any = false;
  for (const Member& m : star.members) {
    const double value = m.row[column];
    if (std::isnan(value)) continue;
    const double term = weighted ? m.site->volume * value : value;
    // Not 0 + term, which would lose the sign of a zero.
    sum = any ? sum + term : term;
    volume += m.site->volume;
    any = true;
  }
  if (!any) return std::numeric_limits<double>::quiet_NaN();
  return weighted ? sum * (1 / volume) : sum;
}

/// Merges one attribute of a star by its rule into `out`. @throws UsageError without the callback that the rule needs
void merge_attribute(const MergeRules& rules, std::size_t index, std::size_t offset, const Star& star, double* out) {
  const Attribute& attribute = rules.schema->attributes()[index];
  const auto components = static_cast<std::size_t>(attribute.components);
  const Member& centre = star.members[0];
  switch (attribute.rule) {
    case Rule::mean:
      for (std::size_t c = 0; c < components; ++c) {
        double sum = centre.site->volume * centre.row[offset + c];
        for (const Member& m : star.members.subspan(1)) sum += m.site->volume * m.row[offset + c];
        out[c] = sum * star.w;
      }
      return;
    case Rule::sum:
      for (std::size_t c = 0; c < components; ++c) {
        double sum = centre.row[offset + c];
        for (const Member& m : star.members.subspan(1)) sum += m.row[offset + c];
        out[c] = sum;
      }
      return;
    case Rule::mean_present:
    case Rule::sum_present:
      for (std::size_t c = 0; c < components; ++c)
        out[c] = merge_present(star, offset + c, attribute.rule == Rule::mean_present);
      return;
    case Rule::centre:
      std::memcpy(out, centre.row + offset, components * sizeof(double));
      return;
    case Rule::largest:
      std::memcpy(out, largest_member(star.members).row + offset, components * sizeof(double));
      return;
    case Rule::ellipsoid:
      merge_ellipsoid(star, offset, out);
      return;
    case Rule::callback:
      if (index >= rules.callbacks.size() || !rules.callbacks[index])
        throw UsageError("attribute " + attribute.name +
                         " is merged by a callback, but none is given; allowed: one for each such attribute");
      std::memcpy(out, centre.row + offset, components * sizeof(double));
      rules.callbacks[index](star.members, star.volume, out);
      return;
  }
}

/// Returns whether a schema has the layout and rules of EPIC's, whatever the names: merge_epic() applies.
bool is_epic(const Schema& schema) {
  if (&schema == &Schema::epic()) return true;
  const auto& a = schema.attributes();
  return a.size() == 3 && a[0].rule == Rule::mean && a[0].components == 3 && a[1].rule == Rule::mean &&
         a[1].components == 1 && a[2].rule == Rule::ellipsoid;
}

}  // namespace

// Merges a star of any schema: EPIC's by straight-line code, others attribute by attribute into a temporary row.
void merge_star(const MergeRules& rules, std::span<const Member> members, Site& site, double* row) {
  const Schema& schema = *rules.schema;
  const std::size_t width = schema.width();
  const Member& centre = members[0];
  // EPIC's schema takes the straight-line code, with the same bits; a centre without sources is left as it is.
  if (is_epic(schema) || members.size() == 1) {
    if (&site != centre.site) site = *centre.site;
    if (row != centre.row) std::memcpy(row, centre.row, width * sizeof(double));
    if (members.size() == 1) return;
    detail::merge_epic(
        detail::Images(rules.box), site, row, members.size() - 1,
        [&](std::size_t i) -> const Site& { return *members[i + 1].site; },
        [&](std::size_t i) { return members[i + 1].row; });
    return;
  }
  const Star star = sum_star(members, rules.box);
  MergedRow draft(width);
  std::memcpy(draft.data(), centre.row, width * sizeof(double));
  std::size_t offset = 1;
  for (std::size_t i = 0; i < schema.attributes().size(); ++i) {
    merge_attribute(rules, i, offset, star, draft.data() + offset);
    offset += static_cast<std::size_t>(schema.attributes()[i].components);
  }
  const Site c = *centre.site;
  site = {detail::wrap_or_clamp(star.box, 0, c.x + star.shift[0]),
          detail::wrap_or_clamp(star.box, 1, c.y + star.shift[1]),
          detail::wrap_or_clamp(star.box, 2, c.z + star.shift[2]), star.volume};
  std::memcpy(row, draft.data(), width * sizeof(double));
}

}  // namespace merganser
