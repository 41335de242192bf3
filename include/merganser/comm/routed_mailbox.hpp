#pragma once
/// A Mailbox of all ranks with all others whose messages go in two hops over a grid of ranks.
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "merganser/comm/transport.hpp"

namespace merganser::comm {

/// Ranks stand in rows of `columns`, one after the other; only the last row may be shorter.
class RankGrid {
 public:
  explicit RankGrid(int ranks);

  /// Number of columns: the least whole number from the square root of the number of ranks on.
  [[nodiscard]] int columns() const noexcept { return columns_; }
  /// Number of rows, with a last one that may be shorter.
  [[nodiscard]] int rows() const noexcept { return (ranks_ + columns_ - 1) / columns_; }
  /// The row of a rank, from 0.
  [[nodiscard]] int row(int rank) const noexcept { return rank / columns_; }
  /// The column of a rank, from 0.
  [[nodiscard]] int column(int rank) const noexcept { return rank % columns_; }
  /// Where `rank` sends what is for ranks of `column`: one of that column, `rank` itself if it is there. It is of the same row,
  /// but for columns that the last row does not reach: these the ranks of the last row find in the rows above, each in another one.
  [[nodiscard]] int first_hop(int rank, int column) const noexcept;
  /// The ranks that send to `rank` in the first hop, without `rank` itself, ascending.
  [[nodiscard]] std::vector<int> before(int rank) const;
  /// The other ranks of the column of `rank`, ascending.
  [[nodiscard]] std::vector<int> column_mates(int rank) const;

 private:
  int ranks_;
  int columns_;
};

/// For thousands of ranks. A step is two waves: what is for ranks of one column goes, as one message, to a rank of that column
/// in the sender's row, and from there, with what came from the rest of the row, to its receiver. So a rank sends about
/// 2 sqrt(ranks) messages a step instead of ranks - 1, and every byte travels twice, with 8 bytes of heading for each pair.
///
/// The graph is that of `complete(rank, ranks)`; what arrives is what the transport's own mailbox on that graph delivers. A step
/// leaves inboxes and outboxes without the memory that they had, since there are as many as ranks. Ranks cannot step along some
/// arcs only: on the way others would have to take part.
class RoutedMailbox final : public Mailbox {
 public:
  /// A longer message of one rank to another travels in pieces, of which a heading tells the length.
  static constexpr std::uint32_t kMaxPieceBytes = std::uint32_t{1} << 30;

  /// Collective. `transport` must outlive it.
  explicit RoutedMailbox(Transport& transport, std::uint32_t most_piece = kMaxPieceBytes);

  /// All other ranks: arc i leads to and comes from the (i + 1)th rank behind `rank`, in a ring.
  [[nodiscard]] static Graph complete(int rank, int ranks);

  /// @throws CommError if a mailbox that carries the two hops can no longer be used
  void check_usable() const override;

 protected:
  void step_all() override;
  /// @throws CommError always
  void step_some(std::span<const std::uint8_t> active_out, std::span<const std::uint8_t> active_in) override;

 private:
  struct Heading {
    std::uint32_t rank;  // receiver in the first hop, sender in the second
    std::uint32_t bytes;
  };

  [[nodiscard]] std::size_t arc(int rank) const;
  void empty_inboxes();
  void send_first();
  void pass_on();
  void deliver();
  void append(std::vector<std::byte>& bundle, int rank, std::span<const std::byte> message) const;
  [[nodiscard]] std::vector<std::byte>& bundle_for(int receiver);
  void take(int sender, std::span<const std::byte> piece);

  int rank_;
  int ranks_;
  std::uint32_t most_piece_;
  RankGrid grid_;
  std::vector<std::size_t> first_arc_;  // per column: of first_, or kHere
  std::unique_ptr<Mailbox> first_;
  std::unique_ptr<Mailbox> second_;
};

}  // namespace merganser::comm
