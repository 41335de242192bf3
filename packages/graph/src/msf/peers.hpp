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
  /// Default of the largest number of ranks that exchange messages directly, without bundles over a grid of ranks.
  static constexpr int kMaxDirectRanks = 32;

  /// Opens the mailbox of the exchange between all ranks. Collective. @param most_direct  largest number of ranks that exchange
  /// messages directly
  explicit Peers(comm::Transport& transport, int most_direct = kMaxDirectRanks) : transport_(transport) {
    const int size = transport.size();
    if (size > most_direct)
      mailbox_ = std::make_unique<comm::RoutedMailbox>(transport);
    else
      mailbox_ = transport.mailbox(comm::RoutedMailbox::complete(transport.rank(), size));
  }

  /// Appends a trivially copyable record to this rank's next message to a rank, which may be itself.
  void post(int rank, const auto& record) {
    if (rank == transport_.rank()) return post_all(rank, std::span(&record, 1));
    mailbox_->post(arc(rank), record);
  }
  /// Appends trivially copyable records to this rank's next message to a rank, which may be itself.
  template <class T>
  void post_all(int rank, std::span<const T> records) {
    if (rank != transport_.rank()) return mailbox_->post_all(arc(rank), records);
    const auto bytes = std::as_bytes(records);
    own_out_.insert(own_out_.end(), bytes.begin(), bytes.end());
  }
  /// Sends the posted records to all ranks and receives those for this rank, in one step. Called by every rank.
  void step() {
    mailbox_->step();
    own_in_.swap(own_out_);
    own_out_.clear();
  }
  /// Returns the records that this rank received from `rank` in the last step; all that it sent must be of type T.
  template <class T>
  [[nodiscard]] std::span<const T> records(int rank) const {
    if (rank != transport_.rank()) return mailbox_->records<T>(arc(rank));
    return {reinterpret_cast<const T*>(own_in_.data()), own_in_.size() / sizeof(T)};
  }
  /// Returns the mailbox of the complete process graph, over which records are exchanged.
  [[nodiscard]] comm::Mailbox& mailbox() noexcept { return *mailbox_; }
  /// Returns whether messages are sent directly between all pairs of ranks, without bundles over a grid of ranks.
  [[nodiscard]] bool is_direct() const noexcept {
    return dynamic_cast<const comm::RoutedMailbox*>(mailbox_.get()) == nullptr;
  }
  /// Returns the transport over which the ranks of a spanning forest's computation exchange records.
  [[nodiscard]] comm::Transport& transport() noexcept { return transport_; }
  /// Returns the number of the arc to (and from) another rank in the complete process graph of the mailbox.
  [[nodiscard]] std::uint32_t arc(int rank) const {
    const int size = transport_.size();
    return static_cast<std::uint32_t>((rank - transport_.rank() + size) % size - 1);
  }

 private:
  comm::Transport& transport_;
  std::unique_ptr<comm::Mailbox> mailbox_;
  std::vector<std::byte> own_out_;  ///< records that this rank has posted to itself
  std::vector<std::byte> own_in_;   ///< records that this rank has received from itself in the last step
};

}  // namespace merganser::msf
