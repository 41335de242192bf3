// Core distances of all points: k nearest neighbours in the tree of this rank, then queries to the ranks that can have nearer
// points.
#include <mutex>

#include "merganser/comm/collectives.hpp"
#include "src/msf/euclidean/remote_boxes.hpp"
#include "src/msf/euclidean/search_names.hpp"

namespace merganser::msf::euclidean {
namespace {

/// Query of the core distance search to another rank: for the squared distances of its points to a place that are below `most`.
template <std::size_t D>
struct CoreQuestion {
  Place<D> at;        ///< coordinates of the querying rank's point
  double most;        ///< squared distance of its k-th nearest point found so far
  std::uint64_t row;  ///< position of the point in open_ of the querying rank
};

/// Search for the squared core distances of this rank's points: those to the k-th nearest point over all ranks, a point itself
/// being the first.
template <std::size_t D>
class CoreDistanceSearch {
 public:
  /// Prepares the search for core distances of the points of a tree. Local. @param others  boxes of other ranks' points; null on
  /// one rank
  /// @param near  receives `near->keep` nearest points of each point, at least k - 1; null: they are not needed
  CoreDistanceSearch(const PointTree<D>& tree, std::uint32_t k, const RemoteBoxes<D>* others, NearPoints* near)
      : tree_(tree), keep_(k - 1), others_(others), near_(near), folded_(tree.size(), 0), cores_(tree.size() + 16, 0) {
    if (near_ != nullptr) near_->point.resize(static_cast<std::size_t>(tree.size()) * near_->keep);
    for (const auto v : tree.representatives()) folded_[v] = 1;
  }

  /// Computes core distances among the points of this rank, and collects in open_ the points that may have nearer ones on other
  /// ranks. Local.
  void search(int threads) {
    const auto wanted = near_ != nullptr ? near_->keep : static_cast<std::uint32_t>(keep_);
    find_neighbours(tree_, {wanted, nullptr, threads}, [this](const LeafResult& found) {
      if (near_ != nullptr) store_points(found);
      store_distances(found);
    });
  }

  /// Improves the core distances of the collected points by squared distances to points of other ranks. Collective.
  void query_others(comm::Transport& transport) {
    std::vector<std::vector<CoreQuestion<D>>> to(others_->ranks());
    for (std::size_t row = 0; row < open_.size(); ++row) {
      const Place<D> at = tree_.at(open_[row]);
      const double most = cores_[open_[row]];
      for (std::size_t r = 0; r < to.size(); ++r)
        if (others_->distance2(Bounds<D>{at, at}, r, most) < most) to[r].push_back({at, most, row});
    }
    // Replies are in the order of the queries, `keep_` squared distances each.
    std::vector<std::vector<std::uint64_t>> rows(to.size());
    for (std::size_t r = 0; r < to.size(); ++r)
      for (const auto& q : to[r]) rows[r].push_back(q.row);
    const auto answers =
        query_ranks<double>(transport, std::move(to), [this](const auto& q, auto& back) { append_nearest(q, back); });
    for (std::size_t r = 0; r < answers.size(); ++r)
      for (std::size_t i = 0; i < rows[r].size(); ++i) merge(rows[r][i], answers[r].data() + i * keep_);
  }

  /// Returns the squared core distances, by point of this rank's tree, followed by 16 zeros.
  [[nodiscard]] std::vector<double> result() && { return std::move(cores_); }

 private:
  /// Stores the nearest points of the points of a leaf of this rank's tree for find_reach_lists(). Called by several threads, each
  /// for other leaves.
  void store_points(const LeafResult& found) {
    for (std::uint32_t q = 0; q < found.count; ++q) {
      const std::size_t from = static_cast<std::size_t>(q) * found.row;
      const std::size_t to = (static_cast<std::size_t>(found.first) + q) * near_->keep;
      for (std::uint32_t i = 0; i < near_->keep; ++i)
        near_->point[to + i] =
            found.distance2[from + i] < kInfinity ? static_cast<std::uint32_t>(found.point[from + i]) : kNone;
    }
  }

  /// Stores the squared core distances of the points of a leaf of this rank's tree from their neighbour lists. A neighbour that
  /// stands for k or more equal points fills the rest of a list with its distance. Points that may have nearer ones on other ranks
  /// are added to open_. Called by several threads, each for other leaves.
  void store_distances(const LeafResult& found) {
    // The neighbour list has k - 1 entries, as the point itself is the first of the k.
    std::vector<double> row(keep_);
    for (std::uint32_t q = 0; q < found.count; ++q) {
      const std::uint32_t v = found.first + q;
      if (folded_[v] != 0) continue;
      const std::size_t at = static_cast<std::size_t>(q) * found.row;
      if (others_ == nullptr && tree_.representatives().empty()) {
        cores_[v] = found.distance2[at + keep_ - 1];
        continue;
      }
      std::copy_n(found.distance2 + at, keep_, row.begin());
      for (std::size_t i = 0; i < keep_ && row[i] < kInfinity; ++i)
        if (folded_[found.point[at + i]] != 0)
          std::fill(row.begin() + static_cast<std::ptrdiff_t>(i), row.end(), row[i]);
      cores_[v] = row.back();
      if (others_ == nullptr) continue;
      const std::lock_guard lock(guard_);
      const Place<D> place = tree_.at(v);
      if (others_->distance2(Bounds<D>{place, place}) >= cores_[v]) continue;
      open_.push_back(v);
      rows_.insert(rows_.end(), row.begin(), row.end());
    }
  }

  /// Appends the reply to a query of another rank's core distance search: the `keep_` smallest squared distances to points of this
  /// rank (all of those below the query's limit), infinite ones where there are fewer.
  void append_nearest(const CoreQuestion<D>& q, std::vector<double>& to) const {
    // Depth-first search of this rank's tree; boxes at or beyond the k-th distance known on either side are skipped.
    const auto& nodes = tree_.nodes();
    const std::size_t here = to.size();
    to.resize(here + keep_, kInfinity);
    double* const row = to.data() + here;
    std::vector<std::uint32_t> todo;
    if (!nodes.empty()) todo.push_back(0);
    while (!todo.empty()) {
      const std::uint32_t next = todo.back();
      todo.pop_back();
      const auto& node = nodes[next];
      if (tree_.metric().distance2(q.at, node.box) >= std::min(q.most, row[keep_ - 1])) continue;
      if (node.right != 0) {
        todo.push_back(node.right);
        todo.push_back(next + 1);
        continue;
      }
      for (std::uint32_t u = node.begin; u < node.end; ++u) insert(row, tree_.metric().distance2(q.at, tree_.at(u)), u);
    }
  }
  /// Inserts the squared distance of a point into an ascending row of `keep_`; that of a point that stands for k or more equal ones
  /// fills the rest of the row.
  void insert(double* row, double d2, std::uint32_t point) const {
    double* const end = row + keep_;
    double* const at = std::upper_bound(row, end, d2);
    if (at == end) return;
    if (folded_[point] != 0) {
      std::fill(at, end, d2);
      return;
    }
    std::copy_backward(at, end - 1, end);
    *at = d2;
  }

  /// Merges the squared distances that another rank has sent into those of an open point, and updates its core distance.
  /// @param number  position of the point in open_
  void merge(std::uint64_t number, const double* theirs) {
    double* const row = rows_.data() + number * keep_;
    std::vector<double> both(2 * static_cast<std::size_t>(keep_));
    std::merge(row, row + keep_, theirs, theirs + keep_, both.begin());
    std::copy_n(both.begin(), keep_, row);
    cores_[open_[number]] = row[keep_ - 1];
  }

  const PointTree<D>& tree_;          ///< this rank's points
  std::size_t keep_;                  ///< neighbours per point: k - 1, without the point itself
  const RemoteBoxes<D>* others_;      ///< boxes of other ranks' points; null on one rank
  NearPoints* near_;                  ///< receives the nearest points of each point; null: they are not needed
  std::vector<std::uint8_t> folded_;  ///< by point: 1: stands for k or more equal points
  std::vector<double> cores_;         ///< by point: squared core distance, followed by 16 zeros
  std::mutex guard_;                  ///< protects open_ and rows_
  std::vector<std::uint32_t> open_;   ///< points whose k-th nearest point may be on another rank
  std::vector<double> rows_;          ///< per open point: the `keep_` smallest squared distances found so far
};

}  // namespace

template <std::size_t D>
std::vector<double> core_squares(const PointTree<D>& tree, std::uint32_t k, int threads, const RemoteBoxes<D>* others,
                                 comm::Transport& transport, NearPoints* near) {
  CoreDistanceSearch<D> cores(tree, k, others, near);
  if (k > 1) {
    cores.search(threads);
    if (others != nullptr) cores.query_others(transport);
  }
  return std::move(cores).result();
}

MERGANSER_FOR_AXES(MERGANSER_FUNCTION, core_squares)

}  // namespace merganser::msf::euclidean
