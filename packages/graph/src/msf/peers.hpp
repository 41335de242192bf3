#pragma once
/// Typed messages to any rank, oneself included, over one mailbox of the complete graph.
/// Beyond `kMaxDirectRanks` ranks that mailbox sends bundles over a grid of ranks.
#include <memory>
#include <span>
#include <vector>

#include "merganser/comm/routed_mailbox.hpp"

namespace merganser::msf {

class Peers {
 public:
  /// The most ranks of which each sends to every other one itself, unless told otherwise.
  static constexpr int kMaxDirectRanks = 32;

  /// Collective.
  explicit Peers(comm::Transport& transport, int most_direct = kMaxDirectRanks) : transport_(transport) {
    const int size = transport.size();
    if (size > most_direct)
      mailbox_ = std::make_unique<comm::RoutedMailbox>(transport);
    else
      mailbox_ = transport.mailbox(comm::RoutedMailbox::complete(transport.rank(), size));
  }

  void post(int rank, const auto& record) {
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
  /// What `rank` sent in the last step.
  template <class T>
  [[nodiscard]] std::span<const T> records(int rank) const {
    if (rank != transport_.rank()) return mailbox_->records<T>(arc(rank));
    return {reinterpret_cast<const T*>(own_in_.data()), own_in_.size() / sizeof(T)};
  }
  [[nodiscard]] comm::Mailbox& mailbox() noexcept { return *mailbox_; }
  /// Do messages to other ranks go straight to them?
  [[nodiscard]] bool direct() const noexcept {
    return dynamic_cast<const comm::RoutedMailbox*>(mailbox_.get()) == nullptr;
  }
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
