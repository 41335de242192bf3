#pragma once
/// Points of too many axes for a tree of boxes: every pair is compared, with vectors.
#include <span>
#include <vector>

#include "merganser/comm/transport.hpp"
#include "merganser/msf/euclidean.hpp"
#include "merganser/nearest/pair_scan.hpp"
#include "src/msf/euclidean/given.hpp"
#include "src/msf/euclidean/state.hpp"

namespace merganser::msf::euclidean {

/// A rank's points as pair_distances() takes them.
class Slab {
 public:
  /// The first `most` points.
  explicit Slab(const Given& given, std::size_t most = ~std::size_t{0});

  [[nodiscard]] std::size_t size() const { return ids_.size(); }
  /// Room for points, a multiple of nearest::kPairGroup.
  [[nodiscard]] std::size_t room() const { return data_.size() / axes_; }
  [[nodiscard]] std::size_t axes() const { return axes_; }
  [[nodiscard]] std::uint64_t id(std::size_t i) const { return ids_[i]; }
  void place(std::size_t i, double* to) const;
  /// Puts the last point into the place of point i.
  void remove(std::size_t i);
  [[nodiscard]] nearest::PairPoints points() const;

 private:
  [[nodiscard]] std::size_t at(std::size_t i) const { return i / 8 * 8 * axes_ + i % 8; }

  std::size_t axes_;
  std::vector<double> periods_;  ///< empty: none
  Norm norm_;
  std::vector<double> data_;
  std::vector<std::uint64_t> ids_;
};

/// A point and what is compared to it; order: that, then the id.
struct Near {
  double d2 = kInfinity;
  std::uint64_t id = ~std::uint64_t{0};
  friend bool operator<(const Near& a, const Near& b) { return a.d2 != b.d2 ? a.d2 < b.d2 : a.id < b.id; }
};
/// Puts one into a sorted row of k, if it is among the best.
void insert_near(Near* row, std::size_t k, const Near& near);

/// Points from all ranks' slabs that are nearest to places of this rank.
/// @param rows  places, `axes` numbers each
/// @return `k` for each, in order; those that are not there are infinite. Collective. Cost: rows of all ranks times points
[[nodiscard]] std::vector<Near> nearest_by_pairs(const Slab& slab, std::span<const double> rows, std::size_t k,
                                                 int threads, comm::Transport& transport,
                                                 const std::function<void(double)>& progress = {});

/// Says what all pairs cost, and refuses what is not allowed. Collective. @throws UsageError on every rank
void forecast_pairs(const Given& given, comm::Transport& transport, const EuclideanOptions& options, double distances,
                    Report& report);

/// Squared core distances of this rank's points, in their order. Collective.
[[nodiscard]] std::vector<double> cores_by_pairs(const Given& given, const Slab& slab, int k, int threads,
                                                 comm::Transport& transport, Report& report);

/// euclidean_forest() and core_distances() by all pairs.
[[nodiscard]] Forest forest_by_pairs(const Given& given, comm::Transport& transport, const EuclideanOptions& options,
                                     Report& report);
[[nodiscard]] std::vector<double> core_distances_by_pairs(const Given& given, comm::Transport& transport,
                                                          const EuclideanOptions& options, Report& report);

}  // namespace merganser::msf::euclidean
