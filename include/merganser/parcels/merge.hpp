#pragma once
/// Merge of a star: its members become one parcel, the centre. The arithmetic is canonical: the same members give the
/// same bits in any order of arrival, on any rank and CPU.
///
/// Centre c, sources s in ascending global id, all sums accumulated in the order c, s1, s2, ...:
///
///     V = V_c + V_s1 + ...;  w = 1 / V
///     d_i = Box::displacement(x_i, x_c) per axis (d_c = 0);  D = (V_s1 d_s1 + V_s2 d_s2 + ...) * w
///     x = Box::wrap(x_c + D), on a wall axis clamped into [lower, lower + extent]
///     mean: a = (V_c a_c + V_s1 a_s1 + ...) * w;  sum: a = a_c + a_s1 + ...
///     ellipsoid: r_i = d_i - D;  S_jk = sum_i (V_i * w) * (B_i,jk + (5 * r_ij) * r_ik),
///       the six entries 11 12 13 22 23 33,  B_i,33 = b33(B_i, V_i);
///       f = cube_root(square(V (0.75 / pi)) / det3(S));  B_jk = f * S_jk
///
/// det3(S) cancels where members are flat, long, or small compared with their distances, and so does b33. Where more
/// than detail::kMaxCancellation is lost, the shape is evaluated with a mantissa as wide as necessary
/// (detail::wide_shape): it is accurate to 1e-12 of the axes for any members. Where the entries of all members are 0,
/// no shape is given: they stay 0.
///
/// Each sum S_jk starts from 0, the others from their first term. A centre without sources is left as it is, bit for
/// bit. The id of the centre stays. Sources: [frey2025]; EPIC 0.14.3 for the factor 5 (exact second moment of an
/// ellipsoid).
#include <functional>
#include <span>
#include <vector>

#include "merganser/geometry/box.hpp"
#include "merganser/parcels/detail/ellipsoid.hpp"
#include "merganser/parcels/parcels.hpp"

namespace merganser {

// Shape, cube_root, det3, b33 and singular: parcels/detail/ellipsoid.hpp, inline.

/// Member of a star of parcels that merge: the centre or a source.
struct Member {
  const Site* site;   ///< position and volume of the member
  const double* row;  ///< its payload row: id and attributes, as the schema places them
};

/// Callback that computes the components of one attribute of a merged parcel from the members (centre first, then by
/// id) and the merged volume, and writes them to `out`.
using MergeCallback = std::function<void(std::span<const Member>, double volume, double* out)>;

/// Rules that determine the attributes of a merged parcel from those of its members: one for each attribute of a schema, and the
/// domain, which may be periodic. Refers to the schema, which must outlive the rules.
struct MergeRules {
  /// Makes the rules by which parcels of a schema merge in a box, without callbacks.
  MergeRules(const Schema& schema, const Box& box) : schema(&schema), box(box) {}
  const Schema* schema;                  ///< attributes and the rule by which each merges
  Box box;                               ///< domain, for displacements and wrapping
  std::vector<MergeCallback> callbacks;  ///< by attribute index; required where the rule is `callback`
};

/// Merges the parcels of a star into one: members[0] (the centre) with the others, given in ascending id, into `site` and `row`
/// (which may be the centre's own). Local. The serial oracle of this function is merge_reference() in cluster/reference.hpp. Hot
/// loops over EPIC's schema may call detail::merge_epic (parcels/detail/merge_epic.hpp), which gives the same bits.
/// @param members  at least one
/// @throws UsageError where the schema needs a callback that `rules` does not hold
void merge_star(const MergeRules& rules, std::span<const Member> members, Site& site, double* row);

}  // namespace merganser
