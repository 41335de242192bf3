#pragma once
/// Exact minimum spanning trees of points distributed over ranks (EMST), also of mutual reachability distances, and core
/// distances.
///
/// The edges of the complete graph on the points compare by (squared distance, lower id, higher id): a strict order, so
/// there is one tree, whatever the number of ranks, the model, the threads and the order of the points.
#include <cstdint>
#include <functional>
#include <memory>
#include <vector>

#include "merganser/comm/transport.hpp"
#include "merganser/msf/forest.hpp"
#include "merganser/msf/points.hpp"

namespace merganser::msf {
/// Implementation of spanning trees of points; forward declarations only.
namespace euclidean {
class CoreNeighbours;
/// Points within the core distances of others, which euclidean_forest() finds and grow() uses; opaque.
using NeighboursPointer = std::shared_ptr<const CoreNeighbours>;
}  // namespace euclidean

/// Largest dimension that is searched with a tree of boxes; in higher ones every pair of points is compared.
inline constexpr int kMaxTreeDimension = 16;

/// Predicted cost of a spanning tree or core distances by comparing every pair of points, for EuclideanOptions::forecast.
struct PairsForecast {
  std::uint64_t points = 0;  ///< points on all ranks
  int dimension = 0;         ///< coordinates of a point that are compared
  double distances = 0;      ///< number of distances: n (n - 1) / 2 for the tree, n n for core distances
  double seconds = 0;        ///< approximate upper bound of the wall time, from a short measurement
  double rank_bytes = 0;     ///< memory in bytes of the rank with most points, besides the caller's points
};

/// Parameters of euclidean_forest() and core_distances(), for spanning trees of points; the same on every rank.
struct EuclideanOptions {
  int threads = 1;  ///< threads of each rank in the construction of the tree of boxes and in searches, 1 to 1024
  int leaf = 0;     ///< most points in a leaf of the tree of boxes, 4 to 64; 0: 48 to 6 dimensions, 64 beyond
  /// Nearest neighbours of each point that are listed beforehand, 1 to 32. With core distances, whose search keeps up to 14 nearest
  /// points, 8 and more list all of these.
  int neighbours = 8;
  /// Above 1: weights are mutual reachability distances, max(d(p, q), core(p), core(q)), where the core distance of a
  /// point is that to its min_samples-th nearest, itself being the first (as scikit-learn counts; hdbscan counts one less).
  int min_samples = 1;
  /// Distances are divided by it in mutual reachability distances, max(d(p, q) / alpha, core(p), core(q)), and so are the weights of a
  /// tree of plain distances; core distances are not. From 0.001 to 1000.
  double alpha = 1;
  std::int64_t most_distances =
      20'000'000'000;  ///< beyond kMaxTreeDimension: largest number of distances that is computed
  /// Beyond kMaxTreeDimension: called on rank 0 before the work begins; an Error that it throws is thrown on every rank.
  std::function<void(const PairsForecast&)> forecast = {};
};
/// Computes the (Euclidean) minimum spanning tree of all ranks' points. Collective.
///
/// Weights are float64: distances (or mutual reachability distances), the square roots of the squares that are compared. Two
/// squares may have one root: the tree is the minimum one in the order of the squares, and also a minimum one by weight.
/// With Distance::cosine and Distance::correlation rows are divided by their length (each coordinate rounded once or twice), and
/// weights are exactly half the squares of their chords, or 0 for squares below 2^-80 (nearest::kEqualDirections); with Distance::hamming they are numbers of differing bits divided by the
/// dimension, rounded once. With an `alpha` other than 1 a weight is alpha times its value, divided by alpha: a weight that is a core
/// distance is within 2^-51 of it, relatively, or, of cosine and correlation, 0 where alpha times it is below 2^-81.
/// @return this rank's share of the edges; which rank holds which edge is unspecified
/// @param cores   receives the core distances of this rank's points in the order given, as core_distances() returns them (zeros
///                without mutual reachability), at the cost of sending them back; null on all ranks: they are not needed
/// @param neighbours  receives what grow() would search again, for gather_points(): about 5 bytes per point and 2 for each of min_samples,
///                and up to three dimensions 8 for each weight of which other edges than those of the forest may be in a minimum spanning tree;
///                null where it is not known: on more than one rank, with an alpha other than 1, with min_samples 1 or above 14, in more
///                than kMaxTreeDimension dimensions
/// @param report  phases "distribute", "tree", "neighbours", "local rounds", "global rounds"; facts "euclidean_*"
/// @throws InputError on every rank for a coordinate that is not finite or beyond +-1e150, a bad period, ids not below n, and
///         min_samples above the number of points, and core distances that alpha multiplies out of range (beyond pi on a sphere);
///         UsageError for options out of range
/// Beyond kMaxTreeDimension dimensions every pair is compared (Prim's algorithm): O(n n d / P) time, O(d n / P) memory and n
/// small collective calls; facts "pairs_*", phases "neighbours" and "pairs". UsageError where that is more than
/// `most_distances`, with the forecast.
/// Cost: O((n / P + c) log n) time, O(n / P + c) memory, for c points near the boundaries of ranks, which take few rounds of
/// queries. Points are partitioned into boxes of equal numbers of points. Source: Boruvka's algorithm with the halting rule of
/// [panja2018], applied to points.
[[nodiscard]] Forest euclidean_forest(const PointSet& points, comm::Transport& transport,
                                      const EuclideanOptions& options, Report& report,
                                      std::vector<double>* cores = nullptr,
                                      euclidean::NeighboursPointer* neighbours = nullptr);

/// Computes the core distance of each point: that to the k-th nearest of all ranks' points, itself being the first (k = 1: 0).
/// Collective.
/// @param options  min_samples and alpha are not used
/// @return core distances of this rank's points, in the order given
/// @throws as euclidean_forest(), with k in the place of min_samples
[[nodiscard]] std::vector<double> core_distances(const PointSet& points, int k, comm::Transport& transport,
                                                 const EuclideanOptions& options, Report& report);

}  // namespace merganser::msf
