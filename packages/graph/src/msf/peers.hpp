#pragma once
/// Sparse all-to-all exchange of records with any ranks, this one included, over one mailbox of the complete graph. Beyond
/// `kMaxDirectRanks` ranks that mailbox sends bundles over a grid of ranks (two hops).
#include <memory>
#include <span>
#include <vector>

#include "merganser/comm/routed_mailbox.hpp"

namespace merganser::msf {

/// Sparse all-to-all exchange of records for spanning forests, in steps: post records, step, then read the records
/// received.
class Peers {
 public:
  /// Default of the largest number of ranks that exchange messages directly.
  static constexpr int kMaxDirectRanks = 32;

  /// Opens the mailbox. Collective. @param most_direct  largest number of ranks that exchange messages directly
  explicit Peers(comm::Transport& transport, int most_direct = kMaxDirectRanks) : transport_(transport) {
    const int size = transport.size();
    if (size > most_direct)
      mailbox_ = std::make_unique<comm::RoutedMailbox>(transport);
    else
      mailbox_ = transport.mailbox(comm::RoutedMailbox::complete(transport.rank(), size));
  }

  /// Adds a record to the next message to a rank.
  void post(int rank, const auto& record) {
    if (rank == transport_.rank()) return post_all(rank, std::span(&record, 1));
    mailbox_->post(arc(rank), record);
  }
  /// Adds records to the next message to a rank.
  template <class T>
  void post_all(int rank, std::span<const T> records) {
    if (rank != transport_.rank()) return mailbox_->post_all(arc(rank), records);
    const auto bytes = std::as_bytes(records);
    own_out_.insert(own_out_.end(), bytes.begin(), bytes.end());
  }
  /// Sends the posted records and receives those for this rank. Called by every rank.
  void step() {
    mailbox_->step();
    own_in_.swap(own_out_);
    own_out_.clear();
  }
  /// Returns the records received from `rank` in the last step; all it sent must be of type T.
  template <class T>
  [[nodiscard]] std::span<const T> records(int rank) const {
    if (rank != transport_.rank()) return mailbox_->records<T>(arc(rank));
    return {reinterpret_cast<const T*>(own_in_.data()), own_in_.size() / sizeof(T)};
  }
  [[nodiscard]] comm::Mailbox& mailbox() noexcept { return *mailbox_; }
  /// Returns whether messages are sent directly, without bundles.
  [[nodiscard]] bool is_direct() const noexcept {
    return dynamic_cast<const comm::RoutedMailbox*>(mailbox_.get()) == nullptr;
  }
  [[nodiscard]] comm::Transport& transport() noexcept { return transport_; }
  /// Returns the arc of the mailbox's graph to (and from) another rank.
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
