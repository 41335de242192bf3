#pragma once
/// Reduction of lists of edges to rank 0 along a binomial tree of ranks, with a merge function: for spanning forests, which shrink
/// when they are merged.
#include <algorithm>
#include <memory>
#include <vector>

#include "merganser/comm/transport.hpp"

namespace merganser::msf {

/// Binomial tree of ranks along which the ranks' spanning forests (lists of edges) are reduced to rank 0. The parent of a rank is
/// the rank with the lowest set bit cleared.
class MergeTree {
 public:
  /// Opens the mailbox along the arcs of the binomial tree of ranks. Collective.
  explicit MergeTree(comm::Transport& transport) : rank_(transport.rank()), ranks_(transport.size()) {
    comm::Graph graph;
    if (rank_ > 0) graph.out.push_back(rank_ & (rank_ - 1));
    for (int step = 1; has_child(step); step *= 2) graph.in.push_back(rank_ + step);
    mailbox_ = transport.mailbox(std::move(graph));
  }

  /// Reduces the lists of all ranks to one list on rank 0; the lists of the other ranks become empty. merge(mine,
  /// theirs) merges a received list into `mine`, which is from lower ranks. Called by every rank; a rank takes part in
  /// at most log2(ranks) + 1 waves.
  template <class T, class Merge>
  void merge_to_first(std::vector<T>& mine, const Merge& merge) {
    const std::size_t lists = mailbox_->graph().in.size();
    for (std::size_t arc = 0; arc < lists; ++arc) {
      // One child per wave: a rank holds at most one received list, and merges it while the next child still works.
      std::vector<std::uint8_t> in(lists, 0);
      in[arc] = 1;
      mailbox_->step(std::vector<std::uint8_t>(mailbox_->graph().out.size(), 0), in);
      merge(mine, mailbox_->records<T>(arc));
    }
    if (rank_ == 0) return;
    mailbox_->post_all<T>(0, mine);
    mine = std::vector<T>();
    mailbox_->step(std::vector<std::uint8_t>{1}, std::vector<std::uint8_t>(lists, 0));
  }

 private:
  /// Returns whether rank + step is a child of this rank in the binomial tree. @param step  power of two
  [[nodiscard]] bool has_child(int step) const { return rank_ % (2 * step) == 0 && rank_ + step < ranks_; }

  int rank_;
  int ranks_;
  std::unique_ptr<comm::Mailbox> mailbox_;
};

}  // namespace merganser::msf
