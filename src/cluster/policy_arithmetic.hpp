#pragma once
/// Arithmetic of merge policies that the merge step and its serial reference share, as they share merge_star(): metric,
/// random draws, kinetic energy, and the two parcels that remain of N. Local; no function of the mathematical library
/// but sqrt, so that every processor gives the same bits.
#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "merganser/cluster/merge_policy.hpp"
#include "merganser/parcels/parcels.hpp"

namespace merganser::cluster {

/// Purpose of a random number of a merge policy, part of its key.
enum class Draw : std::uint8_t { place = 1, direction = 2, level = 3, split = 4 };

/// Key of the random numbers of a merge policy in one round of a step, beside the purpose and the id of a parcel.
struct DrawKey {
  std::uint64_t seed = 0;   ///< MergePolicy::seed
  std::uint64_t step = 0;   ///< MergePolicy::step
  std::uint32_t round = 0;  ///< round of the step, from 0
};

/// Returns a random number of (key, purpose, id), exponentially distributed with mean 1, >= 0, by the comparisons of
/// von Neumann's method.
[[nodiscard]] double draw_exponential(const DrawKey& key, Draw purpose, std::int64_t id);
/// Returns a random number of (key, purpose, id), uniform in [0, 1).
[[nodiscard]] double draw_uniform(const DrawKey& key, Draw purpose, std::int64_t id);
/// Returns three random numbers of (key, purpose, id), uniform in [0, 1).
[[nodiscard]] Vec3 draw_uniform3(const DrawKey& key, Draw purpose, std::int64_t id);

/// Returns the number by which members of a group compete for the place of the merged parcel: the least, of the lowest
/// id among equals, wins, with probability volume / sum of volumes. It depends on the member alone.
[[nodiscard]] inline double draw_place(const DrawKey& key, std::int64_t id, double volume) {
  return draw_exponential(key, Draw::place, id) / volume;
}

/// Returns the three columns of momentum of a policy: those that it names, else the components of an attribute `momentum` (as in
/// openPMD files), else ux, uy, uz.
[[nodiscard]] std::vector<std::string> momentum_columns(const MergePolicy& policy, const Schema& schema);

/// Offsets in a payload row of the columns that a merge policy names, for one schema.
struct PolicyColumns {
  /// Finds the columns of a policy in a schema. @throws UsageError as check()
  PolicyColumns(const MergePolicy& policy, const Schema& schema);

  std::vector<std::size_t> phase;         ///< columns of the metric beside the position
  std::vector<double> factors;            ///< their factors
  std::vector<std::size_t> same;          ///< columns in which partners are equal, the rest mass included
  std::array<std::size_t, 3> momentum{};  ///< columns of momentum; 0 where nothing reads it
  std::size_t mass = 0;                   ///< column of the rest mass; 0: it is 1
  std::size_t mask = 0;                   ///< column of the mask; 0: none

  /// Column of integers: its offset, and whether they have a sign.
  struct Integers {
    std::size_t offset;
    bool is_signed;
  };
  std::vector<Integers> integers;  ///< of these columns, those that hold bits of integers in place of doubles

  /// Returns the number in a column of a payload row.
  [[nodiscard]] double value(const double* row, std::size_t column) const {
    if (integers.empty()) return row[column];
    return value_of_bits(row, column);
  }
  /// Checks that the columns of a payload row hold what a policy allows: integers of magnitude up to 2^53 where they hold bits; in
  /// `phase` finite numbers, times their factors up to 1e150, so that sums of squares are finite; in `same` integers, and positive rest
  /// masses. @throws InputError naming the parcel
  void check_row(const double* row) const;
  /// Checks the rows of parcels, each `width` numbers, as check_row(). @throws InputError naming the first that fails
  void check_rows(const double* rows, std::size_t width, std::size_t count) const;

 private:
  [[nodiscard]] double value_of_bits(const double* row, std::size_t column) const;
};

/// Returns an integer whose bits a double has.
[[nodiscard]] double integer_of_bits(double bits, bool is_signed);
/// Checks that a double represents the integer whose bits another one has. @param name  of the column, for the message
/// @throws InputError beyond 2^53
void check_integer(double bits, bool is_signed, std::int64_t id, const std::string& name);

/// Returns the squared distance of two parcels in a policy's metric: Box::distance2 of the positions, then for each
/// column in order + s * s with s = |a * factor - b * factor|, a and b as PolicyColumns::value(). Exchanging the parcels gives the same bits.
[[nodiscard]] double metric2(const Box& box, const PolicyColumns& columns, const Site& a, const double* row_a,
                             const Site& b, const double* row_b);

/// Returns the kinetic energy of a parcel per unit of weight, with v = p / m and s = (vx vx + vy vy) + vz vz:
/// m (0.5 s), or with a speed of light c  m (s / (1 + sqrt(1 + s / (c c)))).
[[nodiscard]] double kinetic_energy(const MergePolicy& policy, const PolicyColumns& columns, const double* row);

/// Computes the momenta of the two parcels of equal weight that have the mean momentum p of a group and its mean
/// kinetic energy: p + d e and p - d e. e is a unit vector perpendicular to p, of random direction by the key and `id`;
/// where p is 0, of any direction. d is 0 if the energy is, by rounding, less than that of the mean.
/// @param mean    components of p
/// @param energy  mean kinetic energy per unit of weight
/// @param mass    rest mass
/// @param id      lowest id of the group
[[nodiscard]] std::array<Vec3, 2> two_momenta(const MergePolicy& policy, const DrawKey& key, const Vec3& mean,
                                              double energy, double mass, std::int64_t id);

/// Returns the grid of cells in which a policy counts parcels: that of the domain, or with Looker::crowded the coarsest one whose
/// cells are no longer than MergePolicy::crowded_cell. @throws UsageError for more cells than can be numbered
[[nodiscard]] Grid crowd_grid(const MergePolicy& policy, const Grid& grid);

}  // namespace merganser::cluster
