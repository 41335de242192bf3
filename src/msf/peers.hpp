#pragma once
/// Typed messages to any rank, oneself included, over one mailbox of the complete graph.
#include <memory>
#include <span>
#include <vector>

#include "merganser/base/error.hpp"
#include "merganser/comm/transport.hpp"

namespace merganser::msf {

class Peers {
 public:
  /// Collective.
  explicit Peers(comm::Transport& transport) : transport_(transport) {
    const int size = transport.size();
    std::vector<int> others;
    for (int i = 1; i < size; ++i) others.push_back((transport.rank() + i) % size);
    mailbox_ = transport.mailbox(comm::Graph::symmetric(std::move(others)));
  }

  template <class T>
  void post(int rank, const T& record) {
    if (rank == transport_.rank()) return post_all(rank, std::span(&record, 1));
    mailbox_->post(arc(rank), record);
  }
  template <class T>
  void post_all(int rank, std::span<const T> records) {
    if (rank != transport_.rank()) return mailbox_->post_all(arc(rank), records);
    const auto bytes = std::as_bytes(records);
    own_out_.insert(own_out_.end(), bytes.begin(), bytes.end());
  }
  /// Called by every rank.
  void step() {
    mailbox_->step();
    own_in_.swap(own_out_);
    own_out_.clear();
  }
  /// The same between two ranks: one sends to `to`, the other takes from `from`; -1: nobody.
  void step_with(int to, int from) {
    const std::size_t arcs = mailbox_->graph().out.size();
    std::vector<std::uint8_t> out(arcs, 0);
    std::vector<std::uint8_t> in(arcs, 0);
    if (to >= 0) out[arc(to)] = 1;
    if (from >= 0) in[arc(from)] = 1;
    mailbox_->step(out, in);
  }
  /// Brings the lists of all ranks to rank 0 along a binomial tree, which leaves the others empty. Where two lists meet,
  /// merge(mine, theirs) makes one of them: `mine` is of the lower ranks. Called by every rank; a rank takes part in at most
  /// log2(ranks) + 1 waves.
  template <class T, class Merge>
  void merge_to_first(std::vector<T>& mine, const Merge& merge) {
    const int rank = transport_.rank();
    for (int step = 1; step < transport_.size(); step *= 2) {
      const bool sends = rank % (2 * step) == step;
      const bool takes = rank % (2 * step) == 0 && rank + step < transport_.size();
      if (!sends && !takes) continue;
      if (sends) post_all<T>(rank - step, mine);
      if (sends) mine = std::vector<T>();
      step_with(sends ? rank - step : -1, takes ? rank + step : -1);
      if (takes) merge(mine, records<T>(rank + step));
    }
  }
  /// What `rank` sent in the last step.
  template <class T>
  [[nodiscard]] std::span<const T> records(int rank) const {
    if (rank != transport_.rank()) return mailbox_->records<T>(arc(rank));
    return {reinterpret_cast<const T*>(own_in_.data()), own_in_.size() / sizeof(T)};
  }
  [[nodiscard]] comm::Mailbox& mailbox() noexcept { return *mailbox_; }
  [[nodiscard]] comm::Transport& transport() noexcept { return transport_; }
  /// Of the mailbox's graph.
  [[nodiscard]] std::uint32_t arc(int rank) const {
    const int size = transport_.size();
    return static_cast<std::uint32_t>((rank - transport_.rank() + size) % size - 1);
  }

 private:
  comm::Transport& transport_;
  std::unique_ptr<comm::Mailbox> mailbox_;
  std::vector<std::byte> own_out_;
  std::vector<std::byte> own_in_;
};

}  // namespace merganser::msf
