#pragma once
/// Collective calls for records: values of one trivially copyable type, which travel as the bytes they are.
///
/// Every rank of the transport makes the same calls in the same order, with the same type. They are for set-up, files and
/// algorithms in rounds, never for a merge step. A call is one collective call of the transport unless it says otherwise.
/// Records are sent from the caller's memory and read in the received messages; only functions that return a vector copy
/// them, and send_to_owners() sorts a copy. A rank that receives a message whose length is no multiple of the size of a
/// record throws CommError: the sender runs another version of the program.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <ranges>
#include <span>
#include <type_traits>
#include <utility>
#include <vector>

#include "merganser/comm/transport.hpp"

namespace merganser::comm {

namespace detail {
/// Validates that a message of `bytes` bytes, received from `rank` in a collective of records, holds whole records of `record`
/// bytes. Local. @throws CommError if `bytes` is no multiple of `record`
void check_whole_records(std::size_t bytes, std::size_t record, std::size_t rank);
/// Throws CommError: `rank` has sent `records` values to all_gather_value(), which gathers one from each rank.
[[noreturn]] void throw_not_one(std::size_t records, std::size_t rank);
/// Throws CommError: the caller's owner function has given send_to_owners() `owner`, which is none of the `ranks` ranks.
[[noreturn]] void throw_no_owner(std::int64_t owner, std::size_t ranks);
}  // namespace detail

/// Records received in a collective call, by rank of their sender. Owns the messages; its spans point into them.
template <class T>
class Received {
  static_assert(std::is_trivially_copyable_v<T>, "records travel as bytes");
  static_assert(alignof(T) <= __STDCPP_DEFAULT_NEW_ALIGNMENT__, "records are read where they have arrived");

 public:
  Received() = default;
  /// Takes ownership of the messages of a collective call, one per sending rank. @throws CommError if a message does not hold
  /// whole records
  explicit Received(std::vector<std::vector<std::byte>> messages) : messages_(std::move(messages)) {
    by_rank_.reserve(messages_.size());
    for (const auto& bytes : messages_) {
      detail::check_whole_records(bytes.size(), sizeof(T), by_rank_.size());
      by_rank_.emplace_back(reinterpret_cast<const T*>(bytes.data()), bytes.size() / sizeof(T));
    }
  }
  Received(Received&&) noexcept = default;
  Received& operator=(Received&&) noexcept = default;
  Received(const Received&) = delete;
  Received& operator=(const Received&) = delete;
  ~Received() = default;

  /// Returns the number of ranks whose records are held: that of all ranks, or 0 on a rank to which the call delivers nothing.
  [[nodiscard]] std::size_t size() const noexcept { return by_rank_.size(); }
  /// Returns the records received from `rank`, in the order in which it sent them.
  [[nodiscard]] std::span<const T> operator[](std::size_t rank) const { return by_rank_[rank]; }
  /// Returns an iterator over sending ranks, at the span of the records received from rank 0; with end(), for loops over ranks.
  [[nodiscard]] auto begin() const noexcept { return by_rank_.begin(); }
  /// Returns the iterator over sending ranks that is behind the span of the last rank's records.
  [[nodiscard]] auto end() const noexcept { return by_rank_.end(); }

  /// Returns the number of records received from all ranks together.
  [[nodiscard]] std::size_t records() const noexcept {
    std::size_t count = 0;
    for (const auto& theirs : by_rank_) count += theirs.size();
    return count;
  }
  /// Frees the message received from `rank`, whose span of records is empty afterwards.
  void drop(std::size_t rank) {
    by_rank_[rank] = {};
    messages_[rank] = std::vector<std::byte>();  // {} would keep the memory
  }
  /// Appends all received records to a vector, sending rank after sending rank; each message is freed as soon as it is copied.
  void append_to(std::vector<T>& all) && {
    const std::size_t size_after = all.size() + records();
    if (size_after > all.capacity()) all.reserve(std::max(size_after, 2 * all.size()));
    for (std::size_t rank = 0; rank < size(); ++rank) {
      all.insert(all.end(), by_rank_[rank].begin(), by_rank_[rank].end());
      drop(rank);
    }
  }
  /// Returns all received records in one vector, sending rank after sending rank; the messages are freed.
  [[nodiscard]] std::vector<T> flat() && {
    std::vector<T> all;
    std::move(*this).append_to(all);
    return all;
  }

 private:
  std::vector<std::vector<std::byte>> messages_;  // memory from new is aligned for every T, see the assertion
  std::vector<std::span<const T>> by_rank_;
};

/// Returns every rank's records, by rank, on every rank; numbers may differ. Collective.
/// @param mine  vector, array, span or string of this rank's records
template <std::ranges::contiguous_range Range>
[[nodiscard]] auto all_gather(Transport& transport, const Range& mine) {
  return Received<std::ranges::range_value_t<Range>>(transport.all_gather(std::as_bytes(std::span(mine))));
}

/// Returns every rank's value, by rank, on every rank. Collective. @throws CommError if a rank has not sent one value
template <class T>
[[nodiscard]] std::vector<T> all_gather_value(Transport& transport, const T& mine) {
  const auto all = all_gather(transport, std::span(&mine, 1));
  std::vector<T> values;
  values.reserve(all.size());
  for (const auto& theirs : all) {
    if (theirs.size() != 1) detail::throw_not_one(theirs.size(), values.size());
    values.push_back(theirs[0]);
  }
  return values;
}

/// Range of one rank in a global numbering that counts the elements of all ranks, rank after rank; computed by compute_share().
struct Share {
  std::uint64_t before = 0;  ///< number of elements on lower ranks (exclusive prefix sum): the first global index
  std::uint64_t all = 0;     ///< number of elements on all ranks together (total of the prefix sum)
};
/// Computes the exclusive prefix sum over ranks, and the total, of `mine`, this rank's number of elements. Collective; gathers 8
/// bytes a rank.
[[nodiscard]] Share compute_share(Transport& transport, std::uint64_t mine);

/// Returns the records that rank 0 passes, on every rank; `mine` of other ranks is ignored. Collective.
template <std::ranges::contiguous_range Range>
[[nodiscard]] auto broadcast_from_first(Transport& transport, const Range& mine) {
  using T = std::ranges::range_value_t<Range>;
  static_assert(std::is_trivially_copyable_v<T>, "records travel as bytes");
  const std::vector<std::byte> told = transport.broadcast(std::as_bytes(std::span(mine)));
  detail::check_whole_records(told.size(), sizeof(T), 0);
  std::vector<T> records(told.size() / sizeof(T));
  if (!told.empty()) std::memcpy(records.data(), told.data(), told.size());
  return records;
}

/// Sends to[r] to rank r and returns the records received, by sender. Collective. Nothing is packed: the transport reads the
/// lists in the caller's memory. @throws CommError unless `to` has one entry per rank
template <class T>
[[nodiscard]] Received<T> all_to_all(Transport& transport, const std::vector<std::span<const T>>& to) {
  std::vector<std::span<const std::byte>> bytes;
  bytes.reserve(to.size());
  for (const auto& list : to) bytes.push_back(std::as_bytes(list));
  return Received<T>(transport.all_to_all(bytes));
}
/// Sends the list to[r] to rank r and returns the records received, by sender. Collective.
/// @throws CommError unless `to` has one entry per rank
template <class T>
[[nodiscard]] Received<T> all_to_all(Transport& transport, const std::vector<std::vector<T>>& to) {
  return all_to_all(transport, std::vector<std::span<const T>>(to.begin(), to.end()));
}
/// Sends the list to[r] to rank r, frees the lists, and returns the records received, by sender. Collective.
/// @throws CommError unless `to` has one entry per rank
template <class T>
[[nodiscard]] Received<T> all_to_all(Transport& transport, std::vector<std::vector<T>>&& to) {
  const auto lists = std::move(to);
  return all_to_all(transport, lists);
}

/// Gathers the records of every rank on rank 0, which gets them by rank; the others get an empty result. Collective.
template <std::ranges::contiguous_range Range>
[[nodiscard]] auto gather_to_first(Transport& transport, const Range& mine) {
  return Received<std::ranges::range_value_t<Range>>(transport.gather(std::as_bytes(std::span(mine))));
}

/// Sends every record to rank owner(record) and returns the records received, by sender, in the sender's order. Collective.
/// @throws CommError if owner() returns no rank: on this rank alone, before anything is sent
template <class T, class Owner>
[[nodiscard]] Received<T> send_to_owners(Transport& transport, std::span<const T> records, const Owner& owner) {
  const auto ranks = static_cast<std::size_t>(transport.size());
  // Counting sort by owner, which is stable: first[r] is where the records for rank r begin. owner() is called once each.
  std::vector<std::size_t> first(ranks + 1);
  std::vector<std::uint32_t> owners(records.size());
  for (std::size_t i = 0; i < records.size(); ++i) {
    const auto to = static_cast<std::int64_t>(owner(records[i]));
    if (static_cast<std::uint64_t>(to) >= ranks) detail::throw_no_owner(to, ranks);  // negative ones too
    owners[i] = static_cast<std::uint32_t>(to);
    ++first[owners[i] + 1];
  }
  for (std::size_t r = 0; r < ranks; ++r) first[r + 1] += first[r];
  const auto sorted = std::unique_ptr<std::byte[]>(new std::byte[records.size_bytes()]);
  auto* const place = reinterpret_cast<T*>(sorted.get());
  std::vector<std::size_t> next(first.begin(), first.end() - 1);
  for (std::size_t i = 0; i < records.size(); ++i) std::memcpy(place + next[owners[i]]++, &records[i], sizeof(T));
  std::vector<std::span<const T>> to(ranks);
  for (std::size_t r = 0; r < ranks; ++r) to[r] = {place + first[r], first[r + 1] - first[r]};
  return all_to_all(transport, to);
}

/// Default limit of the bytes that a rank sends in one round of send_to_owners_in_rounds().
inline constexpr std::size_t kRoundBytes = std::size_t{1} << 25;

/// Returns the number of rounds in which every rank can send its `records`, at most `round` of them in each: the maximum
/// over ranks. Collective: one reduction; local on one rank.
[[nodiscard]] inline std::size_t count_rounds(Transport& transport, std::size_t records, std::size_t round) {
  const auto mine = static_cast<std::int64_t>((records + round - 1) / round);
  return static_cast<std::size_t>(transport.size() == 1 ? mine : transport.all_reduce(mine, Op::max));
}

/// Sends every record to rank owner(record) in rounds, so that the memory for messages is bounded: a rank sends at most
/// `round` records in each. Calls use(records) on the receiver, once per sender and round, in the order of ranks.
/// Collective: one reduction, and an exchange per round. On one rank nothing is sent: use() is called once with all records.
/// @throws CommError if owner() returns no rank
template <class T, class Owner, class Use>
void send_to_owners_in_rounds(Transport& transport, std::span<const T> records, const Owner& owner, const Use& use,
                              std::size_t round = kRoundBytes / sizeof(T)) {
  if (transport.size() == 1) return use(records);
  // The number of rounds is the maximum over ranks: a rank that has sent all its records still takes part in the exchanges.
  const std::size_t rounds = count_rounds(transport, records.size(), round);
  for (std::size_t i = 0; i < rounds; ++i) {
    const auto left = records.subspan(std::min(records.size(), i * round));
    for (const auto theirs : send_to_owners(transport, left.first(std::min(left.size(), round)), owner)) use(theirs);
  }
}

/// Sends every record to rank owner(record), at most `round` records of a rank at a time, and returns the records received,
/// round after round, by sender within a round. Collective: one reduction, and an exchange per round; local on one rank.
/// @throws CommError if owner() returns no rank
template <class T, class Owner>
[[nodiscard]] std::vector<T> send_to_owners_in_rounds(Transport& transport, std::vector<T> records, const Owner& owner,
                                                      std::size_t round = kRoundBytes / sizeof(T)) {
  if (transport.size() == 1) return records;
  std::vector<T> arrived;
  arrived.reserve(records.size());
  const auto take = [&](std::span<const T> theirs) { arrived.insert(arrived.end(), theirs.begin(), theirs.end()); };
  send_to_owners_in_rounds(transport, std::span<const T>(records), owner, take, round);
  return arrived;
}

}  // namespace merganser::comm
