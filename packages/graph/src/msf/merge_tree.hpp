#pragma once
/// Lists of all ranks made one on rank 0, along a binomial tree.
#include <algorithm>
#include <memory>
#include <vector>

#include "merganser/comm/transport.hpp"

namespace merganser::msf {

class MergeTree {
 public:
  /// Collective.
  explicit MergeTree(comm::Transport& transport) : rank_(transport.rank()), ranks_(transport.size()) {
    comm::Graph graph;
    if (rank_ > 0) graph.out.push_back(rank_ & (rank_ - 1));
    for (int step = 1; joins(step); step *= 2) graph.in.push_back(rank_ + step);
    mailbox_ = transport.mailbox(std::move(graph));
  }

  /// Brings the lists of all ranks to rank 0, which leaves the others empty. Where two lists meet, merge(mine, theirs) makes one of
  /// them: `mine` is of the lower ranks. Called by every rank; a rank takes part in at most log2(ranks) + 1 waves.
  template <class T, class Merge>
  void merge_to_first(std::vector<T>& mine, const Merge& merge) {
    const std::size_t lists = mailbox_->graph().in.size();
    for (std::size_t arc = 0; arc < lists; ++arc) {
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
  /// Does this rank take what rank + step has?
  [[nodiscard]] bool joins(int step) const { return rank_ % (2 * step) == 0 && rank_ + step < ranks_; }

  int rank_;
  int ranks_;
  std::unique_ptr<comm::Mailbox> mailbox_;
};

}  // namespace merganser::msf
