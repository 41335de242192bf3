#pragma once
/// Prediction of the HDBSCAN* clusters of new points from a model that is built once, kept, and written to a file.
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "merganser/msf/hdbscan.hpp"
#include "merganser/msf/points.hpp"

namespace merganser::msf {

/// Input of a PredictionModel: a clustering of points that are all on this rank.
struct FittedClusters {
  PointSet points;                ///< fitted points; ids as in PointSet
  std::span<const double> cores;  ///< core distance of each point, in their order, as core_distances() returns them
  int min_samples = 1;            ///< k of the core distances, that of new points too
  const CondensedTree& tree;      ///< condensed tree of the points, by id
  std::span<const std::uint32_t> selected;  ///< selected cluster by label, as Hdbscan::selected
};

/// Cluster labels, strengths of membership and outlier scores that PredictionModel::predict() returns for new points, one entry per
/// point in their order.
struct Predictions {
  std::vector<std::int64_t> labels;  ///< cluster, -1 for noise
  std::vector<double> strengths;     ///< strength of membership, 0 to 1
  std::vector<std::int64_t> joined;  ///< id of the fitted point of least mutual reachability distance
  std::vector<double> lambdas;       ///< 1 / that distance; infinite at distance 0
  std::vector<double> scores;        ///< outlier score, as approximate_predict_scores of hdbscan: up to 1
  std::vector<std::uint32_t>
      cluster_of;  ///< cluster of the condensed tree that the joined point leaves last, for memberships
  std::vector<double> joined_lambdas;  ///< lambda at which the joined point leaves that cluster
};

/// Model of a clustering by HDBSCAN* for the prediction of new points' clusters: the fitted points in a tree of boxes with their core
/// distances, and the clusters by height. Built once; queries are local, concurrent, and the same bits as join_points() with the
/// search of the condensed tree.
///
/// A new point is joined to the fitted point of least mutual reachability distance, exactly, and gets the label of the cluster that
/// is there at that distance. Beyond kMaxTreeDimension dimensions every fitted point is compared.
class PredictionModel {
 public:
  /// Builds the model. Local; the fitted points are copied. @throws InputError for bad points, core distances and trees that do not
  /// fit, UsageError for min_samples out of range. Cost: O(n log n) time, 8 (d + 3) bytes per point and the boxes
  explicit PredictionModel(const FittedClusters& fitted);
  ~PredictionModel();
  PredictionModel(PredictionModel&&) noexcept;
  PredictionModel& operator=(PredictionModel&&) noexcept;

  /// Predicts clusters, strengths and outlier scores of new points of the same space. Local, thread-safe.
  /// @param threads  threads that share the new points @throws InputError for bad points, UsageError for another dimension
  /// Cost: that of two searches for nearest neighbours per point, mostly of one
  [[nodiscard]] Predictions predict(std::span<const double> coordinates, int threads = 1) const;

  /// Returns the space of the fitted points.
  [[nodiscard]] const PointSpace& space() const noexcept;
  /// Returns the number of fitted points.
  [[nodiscard]] std::uint64_t points() const noexcept;
  /// Returns the number of clusters, the labels of which are below it.
  [[nodiscard]] std::uint32_t clusters() const noexcept;
  /// Returns the rank of the neighbour whose distance is a point's core distance, the point itself being the first.
  [[nodiscard]] int min_samples() const noexcept;

  /// Writes the model to a file, which read() reads on any machine of the same byte order: it appears whole or not at all. Local.
  /// @throws InputError if it cannot be written. Size: 8 (axes + 2) + 4 bytes per point
  void write(const std::string& path) const;
  /// Reads a model that write() wrote, and builds its tree of boxes. Local. Its predictions have the bits of the one that was written.
  /// @throws InputError for a file that cannot be read, is no model, is damaged, or is of another version or byte order
  [[nodiscard]] static PredictionModel read(const std::string& path);

 private:
  class State;
  explicit PredictionModel(std::unique_ptr<const State> state);
  std::unique_ptr<const State> state_;
};

}  // namespace merganser::msf
