#pragma once
/// Where the points of the other ranks lie, roughly: the upper boxes of their trees. What is found with their help.
#include <vector>

#include "merganser/comm/collectives.hpp"
#include "merganser/msf/forest.hpp"
#include "src/msf/euclidean/state.hpp"

namespace merganser::msf::euclidean {

template <std::size_t D>
class RemoteBoxes {
 public:
  RemoteBoxes() = default;
  /// Collective. At most 1024 boxes of 16 D + 8 bytes come from each rank.
  RemoteBoxes(const PointTree<D>& tree, comm::Transport& transport);

  /// Tells each rank which of the others' boxes are of one component. Needs the marks of the nodes. Collective.
  void mark(const State<D>& state, comm::Transport& transport);

  /// Lower bound of the squared distance from a box to the points of a rank; any number above `most` if it is above.
  /// Boxes marked as of `component` do not count.
  [[nodiscard]] double distance2(const Bounds<D>& from, std::size_t rank, double most,
                                 std::uint32_t component = kNone) const;
  /// The least over the other ranks.
  [[nodiscard]] double distance2(const Bounds<D>& from, std::uint32_t component = kNone) const;
  /// Lower bounds for every point, exact (as far as the boxes tell) where one of its list may be farther.
  [[nodiscard]] std::vector<double> bounds(const State<D>& state) const;
  [[nodiscard]] std::size_t ranks() const { return boxes_.size(); }

 private:
  struct Node {
    Bounds<D> box;
    std::uint32_t right;  ///< 0: none below
    std::uint32_t node;   ///< of its rank's tree
  };
  static std::vector<std::uint8_t> choose(const PointTree<D>& tree);
  static void copy(const PointTree<D>& tree, const std::vector<std::uint8_t>& opened, std::uint32_t node,
                   std::vector<Node>& to);

  Metric<D> metric_;
  std::size_t mine_ = 0;
  std::vector<std::uint32_t> told_;                    ///< nodes of this rank that others know of
  std::vector<std::vector<std::uint32_t>> component_;  ///< by rank and box
  comm::Received<Node> boxes_;                         ///< by rank; of this rank none
  mutable std::vector<Visit> todo_;
};

/// Puts questions to ranks: there answer(question, answers) appends to what the asker gets. @return answers by rank. Collective.
template <class Answer, class Question>
[[nodiscard]] comm::Received<Answer> ask_ranks(comm::Transport& transport, std::vector<std::vector<Question>> to,
                                               const auto& answer) {
  const auto questions = comm::all_to_all(transport, std::move(to));
  std::vector<std::vector<Answer>> back(questions.size());
  for (std::size_t r = 0; r < questions.size(); ++r)
    for (const Question& q : questions[r]) answer(q, back[r]);
  return comm::all_to_all(transport, std::move(back));
}

/// Squared core distances (to the k-th nearest point, a point itself being the first) of the points of this rank's tree, which
/// folds `k` and more equal points; 16 zeros behind them. `others` is null on one rank. Collective.
template <std::size_t D>
[[nodiscard]] std::vector<double> core_squares(const PointTree<D>& tree, std::uint32_t k, int threads,
                                               const RemoteBoxes<D>* others, comm::Transport& transport);

/// Boruvka's rounds over all ranks, for the components that no rank can contract alone, until there is one; the edges found
/// come to the ranks that hold an end. Every rank knows the least edge of every component that is left: memory of the cuts
/// between ranks. Collective.
/// @param remote_bounds  as local_rounds() had it
template <std::size_t D>
void global_rounds(State<D>& state, RemoteBoxes<D>& others, std::vector<double> remote_bounds,
                   comm::Transport& transport, Report& report);

}  // namespace merganser::msf::euclidean
