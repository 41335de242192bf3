// Shapes of merged parcels, and B33, where double precision cancels: the same formulas with a mantissa as wide as
// necessary, and a few operations on doubles at the end. The same bits on every CPU.
#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <limits>
#include <numbers>
#include <optional>

#include "merganser/parcels/detail/merge_epic.hpp"
#include "src/parcels/wide_float.hpp"

namespace merganser {
namespace detail {
namespace {

constexpr std::int64_t kGuard = 64;  // significant bits that the shape of a merged parcel must keep

/// Entry B33 of the ellipsoid of one member of a star as a fraction over / under, from its five stored entries.
template <class W>
struct B33Fraction {
  W over;
  W under;
  W unsure;               // part of `over` whose quotient depends on the minor
  bool rounding = false;  // the minor is within its rounding of 0
  std::int64_t loss = 0;  // bits lost by cancellation in the minor
};

/// Computes, for one member of a star, B33 = (u^2 + B13^2 m + B11 (abc)^2) / (B11 m) with m = B11 B22 - B12^2, u = B11 B23 - B12
/// B13: only m and u cancel.
/// @return nothing if the entries are not those of an ellipsoid
template <class W>
std::optional<B33Fraction<W>> compute_b33(const double* b5, double volume) {
  const W b11(b5[0]);
  const W b13(b5[2]);
  const W product = b11 * W(b5[3]);
  W minor = product - W(b5[1]) * W(b5[1]);
  B33Fraction<W> out;
  const W limit = W(kMinMinor) * product;
  if (!product.is_positive() || !(minor + limit).is_positive()) return {};
  out.rounding = !(minor - limit).is_positive();
  if (out.rounding) minor = limit;
  out.loss = product.exponent() - minor.exponent();
  const W u = b11 * W(b5[4]) - W(b5[1]) * b13;
  const W abc = W(volume) * W(0.75 / std::numbers::pi);
  out.unsure = u * u + b11 * (abc * abc);
  out.over = out.unsure + b13 * b13 * minor;
  out.under = b11 * minor;
  return out;
}

/// Returns the quotient of two wide numbers rounded to a double. Exponents are cut far outside the range of doubles, so that ldexp
/// gives 0 or infinity.
template <class W>
double quotient(const W& a, const W& b) {
  if (a.is_zero()) return 0;
  const std::int64_t e = std::clamp<std::int64_t>(a.exponent() - b.exponent(), -3000, 3000);
  return std::ldexp(a.fraction() / b.fraction(), static_cast<int>(e));
}

// Row and column in the shape matrix of the five stored entries B11 B12 B13 B22 B23.
constexpr std::array<std::array<std::size_t, 2>, 5> kEntry{{{0, 0}, {0, 1}, {0, 2}, {1, 1}, {1, 2}}};

/// Second moment of a star of parcels in wide numbers, times the square of its volume; entry 33 is a fraction over33 / under33.
template <class W>
struct StarMoment {
  std::array<W, 5> entry;  // entries 11 12 13 22 23 of the moment
  W over33;
  W under33;
  W volume;               // volume of the star
  std::int64_t loss = 0;  // bits lost in the members' B33
};

/// Returns the displacement of two parcels along an axis as a wide number, exact. The image is chosen by the rounded difference, as
/// Images::along does.
template <class W>
W displacement(const Images& images, int axis, double a, double b) {
  const double d = a - b;
  const W exact = W(a) - W(b);
  if (d > images.half[axis]) return exact - W(images.box.extent[axis]);
  if (d < -images.half[axis]) return exact + W(images.box.extent[axis]);
  return exact;
}

/// Computes the second moment of a star from the sums over V_i d_i d_i^T and V_i d_i, with d_i from the largest member:
/// their difference loses no more bits than the number of members has.
/// @return nothing if some member is no ellipsoid
template <class W>
std::optional<StarMoment<W>> compute_moment(const Images& images, std::span<const ShapeMember> members) {
  const auto coordinates = [](const Site& s) { return Vec3{s.x, s.y, s.z}; };
  const Vec3 centre = coordinates(members[0].site);
  const auto from_centre = [&](const ShapeMember& m, std::size_t a) {
    return displacement<W>(images, static_cast<int>(a), coordinates(m.site)[a], centre[a]);
  };
  const auto largest = std::max_element(members.begin(), members.end(), [](const ShapeMember& a, const ShapeMember& b) {
    return a.site.volume < b.site.volume;
  });
  const std::array<W, 3> origin{from_centre(*largest, 0), from_centre(*largest, 1), from_centre(*largest, 2)};
  StarMoment<W> out;
  std::array<W, 5> squares;
  std::array<W, 3> first;
  W square33;
  out.under33 = W(1);
  for (const ShapeMember& m : members) {
    const auto rest = compute_b33<W>(m.b5, m.site.volume);
    if (!rest) return {};
    const W v(m.site.volume);
    std::array<W, 3> d;
    std::array<W, 3> vd;
    for (std::size_t a = 0; a < 3; ++a) {
      d[a] = from_centre(m, a) - origin[a];
      vd[a] = v * d[a];
      first[a] += vd[a];
    }
    for (std::size_t k = 0; k < 5; ++k) {
      out.entry[k] += v * W(m.b5[k]);
      squares[k] += vd[kEntry[k][0]] * d[kEntry[k][1]];
    }
    square33 += vd[2] * d[2];
    out.over33 = out.over33 * rest->under + v * rest->over * out.under33;
    out.under33 = out.under33 * rest->under;
    out.volume += v;
    out.loss = std::max(out.loss, rest->loss);
  }
  const W five(5);
  for (std::size_t k = 0; k < 5; ++k)
    out.entry[k] = out.volume * (out.entry[k] + five * squares[k]) - five * (first[kEntry[k][0]] * first[kEntry[k][1]]);
  out.over33 = out.volume * out.over33 + five * (out.volume * square33 - first[2] * first[2]) * out.under33;
  return out;
}

/// Result of one attempt to compute a merged parcel's shape; too_narrow: the mantissa has lost too many bits.
enum class Outcome { done, too_narrow, no_ellipsoid };

/// Computes the shape of a star's merged parcel with a mantissa of 64 * kLimbs bits, and checks that enough of them are left.
template <int kLimbs>
Outcome compute_shape(const Images& images, std::span<const ShapeMember> members, double* b5) {
  using W = WideFloat<kLimbs>;
  const auto moment = compute_moment<W>(images, members);
  if (!moment) return Outcome::no_ellipsoid;
  const auto& [s11, s12, s13, s22, s23] = moment->entry;
  const W two(2);
  const W rest = s23 * (s11 * s23 - two * (s12 * s13)) + s13 * (s13 * s22);
  const W det = moment->over33 * (s11 * s22 - s12 * s12) - rest * moment->under33;
  const W bound = moment->over33 * s11 * s22;  // product of the diagonal: the largest term of det
  const auto count_bits = static_cast<std::int64_t>(std::bit_width(members.size()));
  if (!det.is_positive()) return Outcome::too_narrow;
  const std::int64_t loss = moment->loss + bound.exponent() - det.exponent() + 2 * count_bits;
  if (W::kBits - loss < kGuard) return Outcome::too_narrow;
  // The factor is the cube root of abc^2 / det. Its exponent is split into 3 * third and a rest of 0 to 2, so that the
  // cube root is taken of a number near 1 and nothing overflows.
  const W abc = moment->volume * W(0.75 / std::numbers::pi);
  const W over = abc * abc * moment->under33;
  const std::int64_t e = over.exponent() - det.exponent();
  const std::int64_t third = (e - (e % 3 + 3) % 3) / 3;
  const double root = cube_root(std::ldexp(over.fraction() / det.fraction(), static_cast<int>(e - 3 * third)));
  for (std::size_t k = 0; k < 5; ++k) {
    const W& s = moment->entry[k];
    const std::int64_t power = s.is_zero() ? 0 : std::clamp<std::int64_t>(s.exponent() + third, -3000, 3000);
    b5[k] = std::ldexp(root * s.fraction(), static_cast<int>(power));
  }
  return Outcome::done;
}

/// Returns whether all numbers of a member of a star are finite, as WideFloat requires.
bool is_finite(const ShapeMember& m) {
  return std::isfinite(m.site.x) && std::isfinite(m.site.y) && std::isfinite(m.site.z) &&
         std::isfinite(m.site.volume) && std::all_of(m.b5, m.b5 + 5, [](double b) { return std::isfinite(b); });
}

/// Returns whether the five stored entries of a star member's ellipsoid are 0: no shape is given.
bool has_no_shape(const ShapeMember& m) {
  return std::all_of(m.b5, m.b5 + 5, [](double b) { return b == 0; });
}

}  // namespace

// Computes the shape of a star's merged parcel with the narrowest of three mantissas that keeps enough bits.
bool wide_shape(const Images& images, std::span<const ShapeMember> members, double* b5) {
  if (!std::all_of(members.begin(), members.end(), is_finite)) return false;
  if (std::all_of(members.begin(), members.end(), has_no_shape)) {
    std::fill_n(b5, 5, 0.0);
    return true;
  }
  Outcome outcome = compute_shape<4>(images, members, b5);
  if (outcome == Outcome::too_narrow) outcome = compute_shape<8>(images, members, b5);
  if (outcome == Outcome::too_narrow) outcome = compute_shape<32>(images, members, b5);
  return outcome == Outcome::done;
}

// Returns B33 of a parcel's ellipsoid with a mantissa of 256 bits; in double precision if the entries are no ellipsoid.
double b33_wide(const double* b5, double volume) {
  const auto finite = [](double x) { return std::isfinite(x); };
  if (finite(volume) && std::all_of(b5, b5 + 5, finite))
    if (const auto rest = compute_b33<WideFloat<4>>(b5, volume)) return quotient(rest->over, rest->under);
  return b33_plain(b5, volume, minor33(b5[0], b5[1], b5[3]));
}

}  // namespace detail

// Tests the five stored entries of a parcel's ellipsoid; the wide evaluation decides where the minor cancels.
bool is_singular(const double* b5, double volume) {
  for (int i = 0; i < 5; ++i)
    if (!std::isfinite(b5[i])) return true;
  const double product = b5[0] * b5[3];
  if (!(b5[0] > 0) || !(b5[3] > 0) || !(volume > 0) || !std::isfinite(volume) || !std::isfinite(product)) return true;
  if (product <= detail::kMaxCancellation * detail::minor33(b5[0], b5[1], b5[3])) return false;
  const auto rest = detail::compute_b33<detail::WideFloat<4>>(b5, volume);
  if (!rest) return true;
  // A needle: the part of B33 that depends on the digits that the minor has lost is negligible beside the longest axis.
  const double longest = std::max({b5[0], b5[3], b5[2] / b5[0] * b5[2]});
  return rest->rounding && detail::quotient(rest->unsure, rest->under) > 1e-12 * longest;
}

}  // namespace merganser
