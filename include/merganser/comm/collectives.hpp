#pragma once
/// Collective calls for records: values of one trivially copyable type, which travel as the bytes they are.
///
/// Every rank of the transport makes the same calls in the same order, with the same type. They are for set-up, files and
/// algorithms in rounds, never for a merge step. A call is one collective call of the transport unless it says otherwise.
/// Records are sent from where they lie and read where they have arrived; only what returns a vector copies them, and
/// send_to_owners() sorts a copy. A rank that gets a message whose length is no multiple of the size of a record throws
/// CommError: its sender runs another version of the program.
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
/// @throws CommError if `bytes` of a message from `rank` are no whole records of `record` bytes
void check_whole_records(std::size_t bytes, std::size_t record, std::size_t rank);
[[noreturn]] void throw_not_one(std::size_t records, std::size_t rank);
[[noreturn]] void throw_no_owner(std::int64_t owner, std::size_t ranks);
}  // namespace detail

/// The records that came, by rank of their sender. It owns the messages; its spans lead into them.
template <class T>
class Received {
  static_assert(std::is_trivially_copyable_v<T>, "records travel as bytes");
  static_assert(alignof(T) <= __STDCPP_DEFAULT_NEW_ALIGNMENT__, "records are read where they have arrived");

 public:
  Received() = default;
  /// @throws CommError if a message does not hold whole records
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

  /// Number of ranks.
  [[nodiscard]] std::size_t size() const noexcept { return by_rank_.size(); }
  /// What rank r sent, in its order.
  [[nodiscard]] std::span<const T> operator[](std::size_t rank) const { return by_rank_[rank]; }
  /// The first rank's records; with end(), for loops over ranks.
  [[nodiscard]] auto begin() const noexcept { return by_rank_.begin(); }
  /// Behind the last rank's.
  [[nodiscard]] auto end() const noexcept { return by_rank_.end(); }

  /// Number of records of all ranks.
  [[nodiscard]] std::size_t records() const noexcept {
    std::size_t count = 0;
    for (const auto& theirs : by_rank_) count += theirs.size();
    return count;
  }
  /// Gives back the memory of what rank r sent.
  void drop(std::size_t rank) {
    by_rank_[rank] = {};
    messages_[rank] = std::vector<std::byte>();  // {} would keep the memory
  }
  /// Appends all records to a vector, rank after rank; each message is dropped as soon as it has been copied.
  void append_to(std::vector<T>& all) && {
    const std::size_t size_after = all.size() + records();
    if (size_after > all.capacity()) all.reserve(std::max(size_after, 2 * all.size()));
    for (std::size_t rank = 0; rank < size(); ++rank) {
      all.insert(all.end(), by_rank_[rank].begin(), by_rank_[rank].end());
      drop(rank);
    }
  }
  /// All records, rank after rank; the messages are dropped.
  [[nodiscard]] std::vector<T> flat() && {
    std::vector<T> all;
    std::move(*this).append_to(all);
    return all;
  }

 private:
  std::vector<std::vector<std::byte>> messages_;  // aligned for every T above, as memory from new is
  std::vector<std::span<const T>> by_rank_;
};

/// Every rank's records, by rank. `mine` is a vector, array, span or string.
template <std::ranges::contiguous_range Range>
[[nodiscard]] auto all_gather(Transport& transport, const Range& mine) {
  return Received<std::ranges::range_value_t<Range>>(transport.all_gather(std::as_bytes(std::span(mine))));
}

/// Every rank's value, by rank. @throws CommError if a rank has sent something else than one value
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

/// Where a rank's things lie if those of all are counted rank after rank.
struct Share {
  std::uint64_t before = 0;  ///< those of lower ranks
  std::uint64_t all = 0;
};
/// The share of a rank that has `mine` things. Collective.
[[nodiscard]] Share share_of(Transport& transport, std::uint64_t mine);

/// Rank 0's records, on every rank; those of the others are not looked at.
template <std::ranges::contiguous_range Range>
[[nodiscard]] auto from_first(Transport& transport, const Range& mine) {
  using T = std::ranges::range_value_t<Range>;
  static_assert(std::is_trivially_copyable_v<T>, "records travel as bytes");
  const std::vector<std::byte> told = transport.broadcast(std::as_bytes(std::span(mine)));
  detail::check_whole_records(told.size(), sizeof(T), 0);
  std::vector<T> records(told.size() / sizeof(T));
  if (!told.empty()) std::memcpy(records.data(), told.data(), told.size());
  return records;
}

/// to[r] goes to rank r; what came, by rank. Nothing is packed: the transport reads the lists where they are.
template <class T>
[[nodiscard]] Received<T> all_to_all(Transport& transport, const std::vector<std::span<const T>>& to) {
  std::vector<std::span<const std::byte>> bytes;
  bytes.reserve(to.size());
  for (const auto& list : to) bytes.push_back(std::as_bytes(list));
  return Received<T>(transport.all_to_all(bytes));
}
template <class T>
[[nodiscard]] Received<T> all_to_all(Transport& transport, const std::vector<std::vector<T>>& to) {
  return all_to_all(transport, std::vector<std::span<const T>>(to.begin(), to.end()));
}
/// The same; the lists are given back before the call returns.
template <class T>
[[nodiscard]] Received<T> all_to_all(Transport& transport, std::vector<std::vector<T>>&& to) {
  const auto lists = std::move(to);
  return all_to_all(transport, lists);
}

/// Every rank's records on rank 0, by rank; nothing on the others, where it has size 0.
template <std::ranges::contiguous_range Range>
[[nodiscard]] auto gather_to_first(Transport& transport, const Range& mine) {
  return Received<std::ranges::range_value_t<Range>>(transport.gather(std::as_bytes(std::span(mine))));
}

/// Every record goes to rank owner(record). What came, by rank, in the order in which each rank had it.
/// @throws CommError if there is no such rank
template <class T, class Owner>
[[nodiscard]] Received<T> send_to_owners(Transport& transport, std::span<const T> records, const Owner& owner) {
  const auto ranks = static_cast<std::size_t>(transport.size());
  std::vector<std::size_t> first(ranks + 1);
  std::vector<std::uint32_t> owners(records.size());
  for (std::size_t i = 0; i < records.size(); ++i) {
    const auto to = static_cast<std::int64_t>(owner(records[i]));
    if (static_cast<std::uint64_t>(to) >= ranks) detail::throw_no_owner(to, ranks);
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

/// What a rank sends in one round of send_to_owners_in_rounds(), unless told otherwise.
inline constexpr std::size_t kRoundBytes = std::size_t{1} << 25;

/// Rounds in which all ranks have sent what they have, at most `round` records each in one. One reduction, on more than
/// one rank.
[[nodiscard]] inline std::size_t rounds_of(Transport& transport, std::size_t records, std::size_t round) {
  const auto mine = static_cast<std::int64_t>((records + round - 1) / round);
  return static_cast<std::size_t>(transport.size() == 1 ? mine : transport.all_reduce(mine, Op::max));
}

/// send_to_owners() in rounds, so that the memory for messages is bounded: a rank sends at most `round` records in one.
/// use(records) is told what came, by rank within a round. One reduction, and a collective call a round; none on one rank, where all
/// records are handed to use() at once.
template <class T, class Owner, class Use>
void send_to_owners_in_rounds(Transport& transport, std::span<const T> records, const Owner& owner, const Use& use,
                              std::size_t round = kRoundBytes / sizeof(T)) {
  if (transport.size() == 1) return use(records);
  const std::size_t rounds = rounds_of(transport, records.size(), round);
  for (std::size_t i = 0; i < rounds; ++i) {
    const auto left = records.subspan(std::min(records.size(), i * round));
    for (const auto theirs : send_to_owners(transport, left.first(std::min(left.size(), round)), owner)) use(theirs);
  }
}

/// The same as one vector.
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
