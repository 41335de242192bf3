#pragma once
/// All-to-all Mailbox whose messages take two hops over a two-dimensional grid of ranks (row, then column).
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "merganser/comm/transport.hpp"

namespace merganser::comm {

/// Near-square grid of ranks by which RoutedMailbox routes messages (row, then column): ranks are numbered row by row, only the
/// last row may be shorter. All calls are local.
class RankGrid {
 public:
  /// Makes the routing grid of `ranks` ranks, >= 1.
  explicit RankGrid(int ranks);

  /// Returns the number of columns of the routing grid: the square root of the number of ranks, rounded up.
  [[nodiscard]] int columns() const noexcept { return columns_; }
  /// Returns the number of rows of the routing grid, including a last one that may be shorter.
  [[nodiscard]] int rows() const noexcept { return (ranks_ + columns_ - 1) / columns_; }
  /// Returns the row of a rank in the grid of ranks over which messages are routed, 0 to rows() - 1.
  [[nodiscard]] int row(int rank) const noexcept { return rank / columns_; }
  /// Returns the column of a rank in the routing grid, 0 to columns() - 1.
  [[nodiscard]] int column(int rank) const noexcept { return rank % columns_; }
  /// Returns the rank of `column` to which `rank` sends its messages for ranks of that column in the first hop of a
  /// RoutedMailbox; `rank` itself if it is in `column`. That is the one in the row of `rank`. Where the last row has none in
  /// `column`, ranks of the last row use other rows, each a different one as far as there are rows, so that no rank relays for
  /// all of them.
  [[nodiscard]] int first_hop(int rank, int column) const noexcept;
  /// Returns the ranks whose first hop of routed messages leads to `rank`, without `rank` itself, ascending.
  [[nodiscard]] std::vector<int> first_hop_senders(int rank) const;
  /// Returns the other ranks in the column of `rank`, with which it exchanges bundles in the second hop, ascending.
  [[nodiscard]] std::vector<int> column_mates(int rank) const;

 private:
  int ranks_;
  int columns_;
};

/// All-to-all Mailbox with message aggregation, for thousands of ranks. A step is two waves: messages for ranks of one column
/// are sent, in one bundle, to a rank of that column in the sender's row, which forwards them, bundled with those from the
/// rest of the row, to their receivers. So a rank sends about 2 sqrt(ranks) messages a step instead of ranks - 1, and every
/// byte is sent twice, with a heading of 8 bytes for each pair of ranks.
///
/// The graph is that of `complete(rank, ranks)`; the inboxes are those of the transport's own mailbox on that graph. A step
/// frees the memory of inboxes and outboxes, since there are as many as ranks. A step along some arcs only is not available,
/// since ranks without active arcs would have to forward.
class RoutedMailbox final : public Mailbox {
 public:
  /// Largest piece of a message behind one heading, in bytes; longer messages are cut, so that a length fits in 32 bits.
  static constexpr std::uint32_t kMaxPieceBytes = std::uint32_t{1} << 30;

  /// Makes the mailboxes of the row hop and of the column hop. Collective; `transport` must outlive the object.
  /// @param max_piece_bytes  largest piece of a message behind one heading, 1 to kMaxPieceBytes; the same on every rank
  explicit RoutedMailbox(Transport& transport, std::uint32_t max_piece_bytes = kMaxPieceBytes);

  /// Returns the arcs of `rank` in the complete graph without self-loops: the i-th out-neighbour and the i-th in-neighbour are both rank
  /// (rank + i + 1) modulo `ranks`. Local.
  [[nodiscard]] static Graph complete(int rank, int ranks);

  /// Checks that this two-hop mailbox may still be used. Local. @throws CommError if the transport of its two hops has ended
  void check_usable() const override;

 protected:
  /// Implements step() by two waves: bundles along the row, regrouped by receiver, then bundles along the column.
  void step_all() override;
  /// Refuses a step of the two-hop mailbox along some arcs, which ranks without active arcs could not forward.
  /// @throws CommError always
  void step_some(std::span<const std::uint8_t> active_out, std::span<const std::uint8_t> active_in) override;

 private:
  /// Heading of one piece of a message in a bundle of messages: the rank at the piece's other end, and the piece's length.
  struct Heading {
    std::uint32_t rank;   // receiver of the message in the first hop, its sender in the second
    std::uint32_t bytes;  // length of the piece behind the heading
  };

  /// Returns the arc of the complete graph that leads to, and comes from, another rank.
  [[nodiscard]] std::size_t arc(int rank) const;
  /// Frees the messages of the last step in all inboxes.
  void empty_inboxes();
  /// Bundles this rank's outboxes by the column of their receivers, for the first hop (along the row), and frees them.
  void send_first();
  /// Regroups the bundles received in the first hop by receiver, for the second hop (along the column).
  void forward();
  /// Unpacks the bundles received in the second hop into the inboxes of their senders.
  void deliver();
  /// Appends a message to a bundle, in pieces of at most max_piece_bytes_ bytes, each behind a Heading with `rank`.
  void append(std::vector<std::byte>& bundle, int rank, std::span<const std::byte> message) const;
  /// Returns the bundle of the second hop to `receiver`, a rank of this rank's column.
  [[nodiscard]] std::vector<std::byte>& second_hop_bundle(int receiver);
  /// Appends one received piece of a message to the inbox of the message's sender.
  void append_to_inbox(int sender, std::span<const std::byte> piece);

  int rank_;
  int ranks_;
  std::uint32_t max_piece_bytes_;
  RankGrid grid_;
  std::vector<std::size_t> first_arc_;  // per column: out-arc of first_, or kHere for this rank's own column
  std::unique_ptr<Mailbox> first_;      // of the first hop: along the row
  std::unique_ptr<Mailbox> second_;     // of the second hop: along the column
};

}  // namespace merganser::comm
