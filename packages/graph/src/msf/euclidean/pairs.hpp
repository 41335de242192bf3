#pragma once
/// Points of too many axes for a tree of boxes: all pairs are compared, with vector instructions.
#include <span>
#include <vector>

#include "merganser/comm/transport.hpp"
#include "merganser/msf/euclidean.hpp"
#include "merganser/nearest/pair_scan.hpp"
#include "src/msf/euclidean/given.hpp"
#include "src/msf/euclidean/state.hpp"

namespace merganser::msf::euclidean {

/// This rank's points in the layout of nearest::pair_distances(): groups of 8 points, axis by axis, padded.
class Slab {
 public:
  /// Copies the first `most` of this rank's points.
  explicit Slab(const Given& given, std::size_t most = ~std::size_t{0});

  [[nodiscard]] std::size_t size() const { return ids_.size(); }
  /// Returns the number of points with padding, a multiple of nearest::kPairGroup.
  [[nodiscard]] std::size_t capacity() const { return data_.size() / axes_; }
  [[nodiscard]] std::size_t axes() const { return axes_; }
  [[nodiscard]] std::uint64_t id(std::size_t i) const { return ids_[i]; }
  /// Writes the coordinates of point i to `to`.
  void write_coordinates(std::size_t i, double* to) const;
  /// Removes point i by moving the last point to its position.
  void remove(std::size_t i);
  /// Returns a view of the points for nearest::pair_distances().
  [[nodiscard]] nearest::PairPoints points() const;

 private:
  /// Returns the position of the first coordinate of point i; those of further axes follow at strides of 8.
  [[nodiscard]] std::size_t at(std::size_t i) const { return i / 8 * 8 * axes_ + i % 8; }

  std::size_t axes_;
  std::vector<double> periods_;  ///< empty: none
  Norm norm_;
  std::vector<double> data_;
  std::vector<std::uint64_t> ids_;
};

/// Neighbour of a place: its compared value and id, ordered by value, then id.
struct Near {
  double d2 = kInfinity;
  std::uint64_t id = ~std::uint64_t{0};
  friend bool operator<(const Near& a, const Near& b) { return a.d2 != b.d2 ? a.d2 < b.d2 : a.id < b.id; }
};
/// Inserts a neighbour into a sorted row of k, if it is among the k least.
void insert_near(Near* row, std::size_t k, const Near& near);

/// Finds the k nearest points of all ranks to places of this rank, by comparing all pairs. Collective.
/// @param rows  places of this rank, `axes` numbers each
/// @return k neighbours for each place, in order; missing ones are infinite
/// Cost: O(places of all ranks * points of this rank * axes)
[[nodiscard]] std::vector<Near> nearest_by_pairs(const Slab& slab, std::span<const double> rows, std::size_t k,
                                                 int threads, comm::Transport& transport,
                                                 const std::function<void(double)>& progress = {});

/// Predicts the cost of comparing all pairs, and calls options.forecast. Collective.
/// @throws UsageError on every rank for more distances than options.most_distances, and errors of options.forecast
void forecast_pairs(const Given& given, comm::Transport& transport, const EuclideanOptions& options, double distances,
                    Report& report);

/// Computes the core distances of this rank's points, as compared, in the order given, from all pairs. Collective.
[[nodiscard]] std::vector<double> cores_by_pairs(const Given& given, const Slab& slab, int k, int threads,
                                                 comm::Transport& transport, Report& report);

/// Computes euclidean_forest() from all pairs. Collective.
[[nodiscard]] Forest forest_by_pairs(const Given& given, comm::Transport& transport, const EuclideanOptions& options,
                                     Report& report);
/// Computes core_distances() from all pairs. Collective.
[[nodiscard]] std::vector<double> core_distances_by_pairs(const Given& given, comm::Transport& transport,
                                                          const EuclideanOptions& options, Report& report);

}  // namespace merganser::msf::euclidean
