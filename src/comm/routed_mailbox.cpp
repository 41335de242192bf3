// Two-hop routing of all-to-all messages: first along the row of a grid of ranks, then along the column of the receiver.
#include "merganser/comm/routed_mailbox.hpp"

#include <algorithm>
#include <cstring>
#include <string>

#include "merganser/base/error.hpp"
#include "merganser/base/simulated.hpp"

namespace merganser::comm {
namespace {

constexpr std::size_t kHere = SIZE_MAX;  // in place of an arc: this rank is in that column, so no first hop is needed

/// Returns the number of columns of the routing grid of `ranks` ranks: the least number whose square is at least `ranks`.
int ceil_sqrt(int ranks) {
  int side = 1;
  while (side * side < ranks) ++side;
  return side;
}

/// Calls use(rank, piece) for every piece of a routed message in a bundle received from rank `from`, where `rank` is the rank in
/// the piece's heading. @throws CommError if the bundle ends within a piece
template <class Heading, class Use>
void unpack(std::span<const std::byte> bundle, int from, const Use& use) {
  while (!bundle.empty()) {
    Heading heading{};
    if (bundle.size() >= sizeof heading) std::memcpy(&heading, bundle.data(), sizeof heading);
    if (bundle.size() < sizeof heading || bundle.size() - sizeof heading < heading.bytes) {
      throw CommError("a bundle from rank " + std::to_string(from) + " ends within a message, " +
                      std::to_string(bundle.size()) + " bytes before its end; allowed: whole ones");
    }
    use(heading.rank, bundle.subspan(sizeof heading, heading.bytes));
    bundle = bundle.subspan(sizeof heading + heading.bytes);
  }
}

}  // namespace

RankGrid::RankGrid(int ranks) : ranks_(ranks), columns_(ceil_sqrt(ranks)) {}

// Rule of the routing: the rank of the same row in the receiver's column, or, if the last row has no rank in that
// column, a rank of the column in an upper row, given by this rank's own column.
int RankGrid::first_hop(int rank, int column) const noexcept {
  const int same_row = row(rank) * columns_ + column;
  // rows() > 1 here, since a single row has no missing column.
  return same_row < ranks_ ? same_row : this->column(rank) % (rows() - 1) * columns_ + column;
}

// Inverse of first_hop(): the in-arcs of the first wave.
std::vector<int> RankGrid::first_hop_senders(int rank) const {
  std::vector<int> ranks;
  const auto add = [&](int row) {
    for (int r = row * columns_; r < std::min(ranks_, (row + 1) * columns_); ++r)
      if (r != rank && first_hop(r, column(rank)) == rank) ranks.push_back(r);
  };
  add(row(rank));
  if (row(rank) != rows() - 1) add(rows() - 1);  // behind this row, so the ranks stay ascending
  return ranks;
}

std::vector<int> RankGrid::column_mates(int rank) const {
  std::vector<int> ranks;
  for (int r = column(rank); r < ranks_; r += columns_)
    if (r != rank) ranks.push_back(r);
  return ranks;
}

Graph RoutedMailbox::complete(int rank, int ranks) {
  std::vector<int> others;
  for (int i = 1; i < ranks; ++i) others.push_back((rank + i) % ranks);
  return Graph::symmetric(std::move(others));
}

// Makes the mailboxes of both hops: the first to one rank of every other column, the second to all other ranks of this column.
RoutedMailbox::RoutedMailbox(Transport& transport, std::uint32_t max_piece_bytes)
    : Mailbox(complete(transport.rank(), transport.size())),
      rank_(transport.rank()),
      ranks_(transport.size()),
      max_piece_bytes_(max_piece_bytes),
      grid_(ranks_),
      first_arc_(static_cast<std::size_t>(grid_.columns()), kHere) {
  Graph first{{}, grid_.first_hop_senders(rank_)};
  for (int column = 0; column < grid_.columns(); ++column) {
    const int to = grid_.first_hop(rank_, column);
    if (to == rank_) continue;
    first_arc_[static_cast<std::size_t>(column)] = first.out.size();
    first.out.push_back(to);
  }
  first_ = transport.mailbox(std::move(first));
  second_ = transport.mailbox(Graph::symmetric(grid_.column_mates(rank_)));
}

void RoutedMailbox::check_usable() const { first_->check_usable(); }

void RoutedMailbox::step_some(std::span<const std::uint8_t>, std::span<const std::uint8_t>) {
  throw CommError("Mailbox::step along some arcs, where messages go over other ranks; allowed: along all arcs");
}

// One wave of the routed mailbox: two waves, with messages regrouped by receiver in between.
void RoutedMailbox::step_all() {
  empty_inboxes();
  send_first();
  first_->step();
  forward();
  second_->step();
  deliver();
}

// Arc of the complete graph of the two-hop mailbox: arc i leads to rank_ + i + 1 modulo the number of ranks.
std::size_t RoutedMailbox::arc(int rank) const {
  return static_cast<std::size_t>((rank - rank_ + ranks_) % ranks_ - 1);
}

void RoutedMailbox::empty_inboxes() {
  for (auto& box : inbox_) box = std::vector<std::byte>();
}

// Bundle of a hop: each message behind a heading with the rank at its other end, in pieces that 32 bits can count.
void RoutedMailbox::append(std::vector<std::byte>& bundle, int rank, std::span<const std::byte> message) const {
  while (!message.empty()) {
    const auto piece = message.first(std::min<std::size_t>(message.size(), max_piece_bytes_));
    const Heading heading{static_cast<std::uint32_t>(rank), static_cast<std::uint32_t>(piece.size())};
    const auto bytes = std::as_bytes(std::span(&heading, 1));
    bundle.insert(bundle.end(), bytes.begin(), bytes.end());
    bundle.insert(bundle.end(), piece.begin(), piece.end());
    message = message.subspan(piece.size());
  }
}

// Column mates are the ranks of the column in ascending order without this one, so rows behind this one move up by one arc.
std::vector<std::byte>& RoutedMailbox::second_hop_bundle(int receiver) {
  const int row = grid_.row(receiver);
  return second_->outbox(static_cast<std::size_t>(row - (row > grid_.row(rank_) ? 1 : 0)));
}

// First hop: messages are bundled by the column of their receiver.
void RoutedMailbox::send_first() {
  const MeasuredWork work;
  for (std::size_t i = 0; i < outbox_.size(); ++i) {
    const int receiver = graph_.out[i];
    if (outbox_[i].empty()) continue;
    const std::size_t hop = first_arc_[static_cast<std::size_t>(grid_.column(receiver))];
    if (hop == kHere)
      append(second_hop_bundle(receiver), rank_, outbox_[i]);
    else
      append(first_->outbox(hop), receiver, outbox_[i]);
    outbox_[i] = std::vector<std::byte>();
  }
}

// Second hop: messages that other ranks sent through this one are bundled by receiver.
void RoutedMailbox::forward() {
  const MeasuredWork work;
  for (std::size_t i = 0; i < first_->graph().in.size(); ++i) {
    const int sender = first_->graph().in[i];
    unpack<Heading>(first_->inbox(i), sender, [&](std::uint32_t receiver, std::span<const std::byte> piece) {
      if (static_cast<int>(receiver) == rank_)
        append_to_inbox(sender, piece);
      else
        append(second_hop_bundle(static_cast<int>(receiver)), sender, piece);
    });
  }
}

// End of the second hop: messages for this rank go to the inboxes of their senders.
void RoutedMailbox::deliver() {
  const MeasuredWork work;
  for (std::size_t i = 0; i < second_->graph().in.size(); ++i) {
    unpack<Heading>(second_->inbox(i), second_->graph().in[i],
                    [&](std::uint32_t sender, std::span<const std::byte> piece) {
                      append_to_inbox(static_cast<int>(sender), piece);
                    });
  }
}

void RoutedMailbox::append_to_inbox(int sender, std::span<const std::byte> piece) {
  auto& box = inbox_[arc(sender)];
  box.insert(box.end(), piece.begin(), piece.end());
}

}  // namespace merganser::comm
