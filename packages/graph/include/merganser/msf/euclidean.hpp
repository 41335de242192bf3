#pragma once
/// Exact minimum spanning trees of points spread over ranks.
///
/// The edges of the complete graph on the points compare by (squared distance, lower id, higher id): a strict order, so
/// there is one tree, whatever the number of ranks, the model, the threads and the order of the points.
#include <cstdint>
#include <functional>
#include <vector>

#include "merganser/comm/transport.hpp"
#include "merganser/msf/forest.hpp"
#include "merganser/msf/points.hpp"

namespace merganser::msf {

/// Points of up to so many dimensions are found in a tree of boxes; of those beyond every pair is compared.
inline constexpr int kMaxTreeDimension = 16;

/// What comparing every pair will cost.
struct PairsForecast {
  std::uint64_t points = 0;  ///< on all ranks
  int dimension = 0;
  double distances = 0;   ///< n (n - 1) / 2 for the tree, n n for core distances
  double seconds = 0;     ///< at most about so many, as a short measurement tells
  double rank_bytes = 0;  ///< on the rank with most points, besides those given
};

/// How the tree of points is found, and of which distances; the same on every rank.
struct EuclideanOptions {
  int threads = 1;     ///< of each rank, in the search for neighbours
  int leaf = 0;        ///< most points in a leaf of the tree, 4 to 64; 0: 24 up to 3 dimensions, 48 up to 6, 64 beyond
  int neighbours = 8;  ///< nearest neighbours kept of each point, 1 to 32
  /// Above 1: weights are mutual reachability distances, max(d(p, q), core(p), core(q)), where the core distance of a
  /// point is that to its min_samples-th nearest, itself being the first (as scikit-learn counts; hdbscan counts one less).
  int min_samples = 1;
  std::int64_t most_distances = 20'000'000'000;  ///< beyond kMaxTreeDimension: what would compute more is refused
  /// Beyond kMaxTreeDimension: called on rank 0 before the work begins; an Error that it throws refuses it, on every rank.
  std::function<void(const PairsForecast&)> forecast = {};
};
/// The minimum spanning tree of points. Collective.
///
/// Edges lie on any rank; weights are float64: distances (or mutual reachability distances), the square root of the
/// squares that are compared. Two squares may have one root: sorted by (weight, low, high) the edges are still a minimum
/// spanning tree, and one of the least in the order of the squares.
/// @param report  phases "distribute", "tree", "neighbours", "local rounds", "global rounds"; facts "euclidean_*"
/// @throws InputError on every rank for a coordinate that is not finite or beyond +-1e150, a bad period, ids not below n, and
///         min_samples above the number of points; UsageError for options out of range
/// Beyond kMaxTreeDimension dimensions every pair is compared (Prim's algorithm): O(n n d / P) time, O(d n / P) memory and n
/// small collective calls; facts "pairs_*", phases "neighbours" and "pairs". UsageError where that is more than
/// `most_distances`, with the forecast.
/// Cost: O((n / P + c) log n) time, O(n / P + c) memory; c points near the cuts between ranks, which make few rounds of
/// questions. Points are dealt to ranks in boxes of equal numbers. Source: Boruvka's algorithm with the halting rule of
/// [panja2018], carried over to points.
[[nodiscard]] Forest euclidean_forest(const PointSet& points, comm::Transport& transport,
                                      const EuclideanOptions& options, Report& report);

/// Distance of each point of this rank, in the order given, to the k-th nearest of all ranks' points, itself being the
/// first (k = 1: 0). Collective. @throws as euclidean_forest()
[[nodiscard]] std::vector<double> core_distances(const PointSet& points, int k, comm::Transport& transport,
                                                 const EuclideanOptions& options, Report& report);

}  // namespace merganser::msf
