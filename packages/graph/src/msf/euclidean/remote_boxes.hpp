#pragma once
/// Top-level tree over ranks: the upper boxes of all ranks' trees, replicated, as lower bounds of distances to points of other
/// ranks; and the stages of spanning trees that use them.
#include <vector>

#include "merganser/comm/collectives.hpp"
#include "merganser/msf/forest.hpp"
#include "src/msf/euclidean/state.hpp"

namespace merganser::msf::euclidean {

/// Upper boxes of the other ranks' trees of points, which bound distances to their points from below.
template <std::size_t D>
class RemoteBoxes {
 public:
  RemoteBoxes() = default;
  /// Gathers the upper boxes of all ranks' trees of points on every rank. Collective. Each rank contributes at most 1023 boxes of
  /// 16 D + 8 bytes, on up to eight ranks at most 8200 together: from the root on it opens, greedily, the box with most points, those of boxes
  /// that are short compared to the distance to other ranks counting less.
  RemoteBoxes(const PointTree<D>& tree, comm::Transport& transport);

  /// Updates the components of all ranks' boxes before the queries of a global round: exchanges, for every box that was sent, the
  /// component of its points, or that there are several, from node_component of the state. Collective.
  void mark(const BoruvkaState<D>& state, comm::Transport& transport);

  /// Returns a lower bound of the squared distance from a box to the points of another rank; any number above `most` if it is
  /// above. Boxes whose points are all of `component` are ignored. Local.
  [[nodiscard]] double distance2(const Bounds<D>& from, std::size_t rank, double most,
                                 std::uint32_t component = kNone) const;
  /// Returns a lower bound of the squared distance from a box to the points of all other ranks; any number above `most` if it is above.
  /// Boxes whose points are all of `component` are ignored. Local.
  [[nodiscard]] double distance2(const Bounds<D>& from, std::uint32_t component = kNone, double most = kInfinity) const;
  /// Prepares bound_within(): collects the boxes of other ranks within the squared distance `most` of a box. Local.
  void gather_near(const Bounds<D>& from, double most) const;
  /// Returns a lower bound of the squared distance from a place in the box of the last gather_near() to the points of all other ranks;
  /// any number above its `most` if it is above. Boxes whose points are all of `component` are ignored. Local.
  [[nodiscard]] double bound_within(const Place<D>& at, std::uint32_t component = kNone) const;
  /// Returns for every point of this rank a lower bound of the squared distance to points of other ranks: that of the point itself
  /// where it may be small compared to its neighbour list, else that of the box of a node that it is in. Local.
  [[nodiscard]] std::vector<double> bounds(const BoruvkaState<D>& state) const;
  /// Returns the number of ranks, this one included.
  [[nodiscard]] std::size_t ranks() const { return boxes_.size(); }

 private:
  /// Upper node of a rank's tree of points, as sent to all ranks.
  struct Node {
    Bounds<D> box;        ///< bounding box of the points of the node
    std::uint32_t right;  ///< position of the second child among the nodes sent; 0: no children are sent
    std::uint32_t node;   ///< number of the node in its rank's tree
  };
  /// Box of another rank, by its position in boxes_.
  struct NearBox {
    std::size_t rank;
    std::uint32_t node;
  };
  /// Sets the bounds of the points of a node of this rank's tree, and of those below it (bounds()).
  /// @param greatest  by node: greatest bound in the state of a point below it
  void set_bounds(const BoruvkaState<D>& state, const std::vector<double>& greatest, std::uint32_t node,
                  std::vector<double>& out) const;
  [[nodiscard]] std::vector<std::uint8_t> choose_opened(const PointTree<D>& tree,
                                                        const std::vector<Bounds<D>>& bounds) const;
  static void copy_nodes(const PointTree<D>& tree, const std::vector<std::uint8_t>& opened, std::uint32_t node,
                         std::vector<Node>& to);

  Metric<D> metric_;
  std::size_t mine_ = 0;                               ///< number of this rank
  std::vector<std::uint32_t> told_;                    ///< nodes of this rank's tree whose boxes were sent
  std::vector<std::vector<std::uint32_t>> component_;  ///< by rank and box: component of all its points, or several
  comm::Received<Node> boxes_;                         ///< by rank: upper boxes of its tree; of this rank none
  mutable std::vector<Visit> todo_;                    ///< stack of traversals
  mutable std::vector<NearBox> near_;                  ///< boxes that gather_near() has collected
  mutable double reach_ = 0;  ///< its `most`; negative: there are too many boxes, near_ lacks some
};

/// Sends this rank's queries about points to other ranks, where answer(query, replies) appends to the replies of the sender.
/// Collective: one exchange of queries, one of replies. @param to  queries by rank @return replies by rank, in the order of the
/// queries
template <class Answer, class Question>
[[nodiscard]] comm::Received<Answer> query_ranks(comm::Transport& transport, std::vector<std::vector<Question>> to,
                                                 const auto& answer) {
  const auto questions = comm::all_to_all(transport, std::move(to));
  std::vector<std::vector<Answer>> back(questions.size());
  for (std::size_t r = 0; r < questions.size(); ++r)
    for (const Question& q : questions[r]) answer(q, back[r]);
  return comm::all_to_all(transport, std::move(back));
}

/// Computes the squared core distances (to the k-th nearest point, a point itself being the first) of the points of this rank's
/// tree, which folds `k` and more equal points. Collective. @param others  null on one rank
/// @param near  receives the nearest points of every point of this rank that the search has found, for find_reach_lists(); its
/// `keep` is their number, at least k - 1. Null: they are not needed
/// @return by point of the tree, followed by 16 zeros
template <std::size_t D>
[[nodiscard]] std::vector<double> core_squares(const PointTree<D>& tree, std::uint32_t k, int threads,
                                               const RemoteBoxes<D>* others, comm::Transport& transport,
                                               NearPoints* near = nullptr);

/// Performs the rounds of Boruvka's algorithm on points over all ranks, for the components that no rank can contract alone, until
/// one is left. Collective. Edges of the spanning tree are stored by the ranks that found them, which hold an end. Every rank holds
/// the least edge of every component that the sure edges leave: along the cuts between ranks.
/// @param edges  of find_open_edges()
/// @param remote_bounds  by point: lower bounds of the squared distance to points of other ranks, as in local_rounds()
template <std::size_t D>
void global_rounds(BoruvkaState<D>& state, std::vector<OpenEdge> edges, RemoteBoxes<D>& others,
                   std::vector<double> remote_bounds, comm::Transport& transport, Report& report);

}  // namespace merganser::msf::euclidean
