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
  /// Gathers the upper boxes of all ranks' trees. Collective. Each rank contributes at most 1023 boxes of 16 D + 8
  /// bytes.
  RemoteBoxes(const PointTree<D>& tree, comm::Transport& transport);

  /// Exchanges, for every box that was sent, the component of its points or that there are several. Collective. Uses
  /// State::node_component.
  void mark(const State<D>& state, comm::Transport& transport);

  /// Returns a lower bound of the squared distance from a box to the points of a rank; any number above `most` if it is above.
  /// Boxes whose points are all of `component` are ignored.
  [[nodiscard]] double distance2(const Bounds<D>& from, std::size_t rank, double most,
                                 std::uint32_t component = kNone) const;
  /// Returns a lower bound of the squared distance from a box to the points of all other ranks; boxes of `component` are ignored.
  [[nodiscard]] double distance2(const Bounds<D>& from, std::uint32_t component = kNone) const;
  /// Returns for every point a lower bound of the squared distance to points of other ranks: that of the point itself where it
  /// may be small compared to its neighbour list, else that of its leaf's box.
  [[nodiscard]] std::vector<double> bounds(const State<D>& state) const;
  [[nodiscard]] std::size_t ranks() const { return boxes_.size(); }

 private:
  /// Box of another rank's tree, as sent.
  struct Node {
    Bounds<D> box;
    std::uint32_t right;  ///< 0: none below
    std::uint32_t node;   ///< number of the node in its rank's tree
  };
  // The nodes whose children are sent, and the copy of the part of the tree that they make.
  static std::vector<std::uint8_t> choose_opened(const PointTree<D>& tree);
  static void copy_nodes(const PointTree<D>& tree, const std::vector<std::uint8_t>& opened, std::uint32_t node,
                         std::vector<Node>& to);

  Metric<D> metric_;
  std::size_t mine_ = 0;
  std::vector<std::uint32_t> told_;                    ///< nodes of this rank whose boxes were sent
  std::vector<std::vector<std::uint32_t>> component_;  ///< by rank and box
  comm::Received<Node> boxes_;                         ///< by rank; of this rank none
  mutable std::vector<Visit> todo_;
};

/// Sends queries to ranks, where answer(query, replies) appends to the replies of the sender. Collective: one exchange of queries,
/// one of replies. @return replies by rank, in the order of the queries
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
/// @return by point of the tree, followed by 16 zeros
template <std::size_t D>
[[nodiscard]] std::vector<double> core_squares(const PointTree<D>& tree, std::uint32_t k, int threads,
                                               const RemoteBoxes<D>* others, comm::Transport& transport);

/// Performs Boruvka's rounds over all ranks, for the components that no rank can contract alone, until one is left. Collective.
/// Edges are stored by the ranks that found them, which hold an end. Every rank holds the least edge of every component that is
/// left: memory proportional to the boundaries between ranks.
/// @param remote_bounds  by point: lower bounds of the squared distance to points of other ranks, as in local_rounds()
template <std::size_t D>
void global_rounds(State<D>& state, RemoteBoxes<D>& others, std::vector<double> remote_bounds,
                   comm::Transport& transport, Report& report);

}  // namespace merganser::msf::euclidean
