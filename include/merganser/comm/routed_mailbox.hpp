#pragma once
/// All-to-all Mailbox whose messages take two hops over a two-dimensional grid of ranks (row, then column).
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "merganser/comm/transport.hpp"

namespace merganser::comm {

/// Near-square grid of ranks, numbered row by row; only the last row may be shorter. All calls are local.
class RankGrid {
 public:
  /// Makes the grid of `ranks` ranks, >= 1.
  explicit RankGrid(int ranks);

  /// Returns the number of columns: the square root of the number of ranks, rounded up.
  [[nodiscard]] int columns() const noexcept { return columns_; }
  /// Returns the number of rows, including a last one that may be shorter.
  [[nodiscard]] int rows() const noexcept { return (ranks_ + columns_ - 1) / columns_; }
  /// Returns the row of a rank, 0 to rows() - 1.
  [[nodiscard]] int row(int rank) const noexcept { return rank / columns_; }
  /// Returns the column of a rank, 0 to columns() - 1.
  [[nodiscard]] int column(int rank) const noexcept { return rank % columns_; }
  /// Returns the rank of `column` to which `rank` sends messages for ranks of that column; `rank` itself if it is in it.
  /// That is the one in the row of `rank`. Where the last row has none in `column`, ranks of the last row use other rows,
  /// each a different one as far as there are rows, so that no rank relays for all of them.
  [[nodiscard]] int first_hop(int rank, int column) const noexcept;
  /// Returns the ranks whose first hop leads to `rank`, without `rank` itself, ascending.
  [[nodiscard]] std::vector<int> first_hop_senders(int rank) const;
  /// Returns the other ranks of the column of `rank`, ascending.
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

  /// Makes the mailboxes of the two hops. Collective; `transport` must outlive it.
  /// @param max_piece_bytes  largest piece of a message behind one heading, 1 to kMaxPieceBytes; the same on every rank
  explicit RoutedMailbox(Transport& transport, std::uint32_t max_piece_bytes = kMaxPieceBytes);

  /// Returns the complete graph without self-arcs as `rank` holds it: arc i leads to and comes from rank
  /// (rank + i + 1) modulo `ranks`. Local.
  [[nodiscard]] static Graph complete(int rank, int ranks);

  /// Throws once the transport has ended. Local. @throws CommError if the transport of the two hops has ended
  void check_usable() const override;

 protected:
  void step_all() override;
  /// Refuses a step along some arcs. @throws CommError always
  void step_some(std::span<const std::uint8_t> active_out, std::span<const std::uint8_t> active_in) override;

 private:
  struct Heading {
    std::uint32_t rank;  // receiver in the first hop, sender in the second
    std::uint32_t bytes;
  };

  [[nodiscard]] std::size_t arc(int rank) const;
  void empty_inboxes();
  void send_first();
  void forward();
  void deliver();
  void append(std::vector<std::byte>& bundle, int rank, std::span<const std::byte> message) const;
  [[nodiscard]] std::vector<std::byte>& second_hop_bundle(int receiver);
  void append_to_inbox(int sender, std::span<const std::byte> piece);

  int rank_;
  int ranks_;
  std::uint32_t max_piece_bytes_;
  RankGrid grid_;
  std::vector<std::size_t> first_arc_;  // per column: out-arc of first_, or kHere for this rank's own column
  std::unique_ptr<Mailbox> first_;
  std::unique_ptr<Mailbox> second_;
};

}  // namespace merganser::comm
