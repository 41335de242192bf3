#pragma once
/// Records that go to ranks and questions that owners answer, in rounds of bounded size.
#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <utility>
#include <vector>

#include "merganser/comm/transport.hpp"
#include "merganser/graphs/edges.hpp"

namespace merganser::msf::detail {

/// Records or questions that a rank sends in one round, at most.
inline constexpr std::size_t kRound = std::size_t{1} << 16;

/// Rounds that the rank with the most needs. Collective.
inline std::size_t rounds_of(comm::Transport& transport, std::size_t records) {
  const auto mine = static_cast<std::int64_t>((records + kRound - 1) / kRound);
  return static_cast<std::size_t>(transport.size() == 1 ? mine : transport.all_reduce(mine, comm::Op::max));
}

template <class Record>
void append(std::vector<std::byte>& bytes, const Record& record) {
  const auto at = bytes.size();
  bytes.resize(at + sizeof(Record));
  std::memcpy(bytes.data() + at, &record, sizeof(Record));
}

template <class Record, class Use>
void for_each_record(std::span<const std::byte> bytes, const Use& use) {
  Record record;
  for (std::size_t at = 0; at + sizeof(Record) <= bytes.size(); at += sizeof(Record)) {
    std::memcpy(&record, bytes.data() + at, sizeof(Record));
    use(record);
  }
}

/// Hands every record to use() on rank to(record). Collective.
template <class Record, class To, class Use>
void deal(comm::Transport& transport, std::span<const Record> records, const To& to, const Use& use) {
  if (transport.size() == 1) {
    for (const auto& record : records) use(record);
    return;
  }
  const std::size_t rounds = rounds_of(transport, records.size());
  for (std::size_t round = 0; round < rounds; ++round) {
    std::vector<std::vector<std::byte>> out(static_cast<std::size_t>(transport.size()));
    const std::size_t end = std::min(records.size(), (round + 1) * kRound);
    for (std::size_t i = round * kRound; i < end; ++i)
      append(out[static_cast<std::size_t>(to(records[i]))], records[i]);
    for (const auto& box : transport.all_to_all(out)) for_each_record<Record>(box, use);
  }
}

/// Numbers of things that were seen before in this round.
class Seen {
 public:
  void next_round(std::size_t things) {
    const std::size_t want = std::bit_ceil(2 * std::max<std::size_t>(things, 8));
    if (slots_.size() < want) slots_.assign(want, Slot{});
    ++round_;
  }
  /// The number that `id` got, or `number` if it is new.
  std::pair<std::uint32_t, bool> find_or_add(std::uint64_t id, std::uint32_t number) {
    const std::size_t mask = slots_.size() - 1;
    for (std::size_t at = (id * 0x9e3779b97f4a7c15ULL) >> 20 & mask;; at = (at + 1) & mask) {
      Slot& slot = slots_[at];
      if (slot.round != round_) {
        slot = {id, round_, number};
        return {number, true};
      }
      if (slot.id == id) return {slot.number, false};
    }
  }

 private:
  struct Slot {
    std::uint64_t id = 0;
    std::uint32_t round = 0;
    std::uint32_t number = 0;
  };
  std::vector<Slot> slots_;
  std::uint32_t round_ = 0;
};

/// Questions put to the owners of ids: what do you hold for this one? Each id is asked for once a round.
class Questions {
 public:
  Questions(comm::Transport& transport, const graphs::Ranges& ranges) : transport_(transport), ranges_(ranges) {}

  /// answers[i] = what the owner of ids[i] holds for it. `mine`: what this rank holds, by id less its first. Collective.
  template <class Value>
  void ask(std::span<const std::uint64_t> ids, std::span<const Value> mine, std::span<Value> answers) {
    if (transport_.size() == 1) {
      for (std::size_t i = 0; i < ids.size(); ++i) answers[i] = mine[ids[i]];
      return;
    }
    const std::size_t rounds = rounds_of(transport_, ids.size());
    for (std::size_t round = 0; round < rounds; ++round) {
      const std::size_t from = std::min(ids.size(), round * kRound);
      const std::size_t count = std::min(ids.size() - from, kRound);
      ask_round(ids.subspan(from, count), mine, answers.subspan(from, count));
    }
  }

 private:
  struct Place {
    std::int32_t rank;
    std::uint32_t number;
  };

  template <class Value>
  void ask_round(std::span<const std::uint64_t> ids, std::span<const Value> mine, std::span<Value> answers) {
    const auto me = transport_.rank();
    const std::uint64_t first = ranges_.first[static_cast<std::size_t>(me)];
    std::vector<std::vector<std::byte>> out(static_cast<std::size_t>(transport_.size()));
    places_.resize(ids.size());
    seen_.next_round(ids.size());
    for (std::size_t i = 0; i < ids.size(); ++i) {
      const int owner = ranges_.owner(ids[i]);
      places_[i] = {owner, 0};
      if (owner == me) continue;
      auto& box = out[static_cast<std::size_t>(owner)];
      const auto [number, is_new] = seen_.find_or_add(ids[i], static_cast<std::uint32_t>(box.size() / sizeof(ids[i])));
      if (is_new) append(box, ids[i]);
      places_[i].number = number;
    }
    auto asked = transport_.all_to_all(out);
    for (auto& box : asked) {
      std::vector<std::byte> reply;
      reply.reserve(box.size() / sizeof(std::uint64_t) * sizeof(Value));
      for_each_record<std::uint64_t>(box, [&](std::uint64_t id) { append(reply, mine[id - first]); });
      box = std::move(reply);
    }
    const auto told = transport_.all_to_all(asked);
    for (std::size_t i = 0; i < ids.size(); ++i) {
      if (places_[i].rank == me) {
        answers[i] = mine[ids[i] - first];
      } else {
        const auto& box = told[static_cast<std::size_t>(places_[i].rank)];
        std::memcpy(&answers[i], box.data() + places_[i].number * sizeof(Value), sizeof(Value));
      }
    }
  }

  comm::Transport& transport_;
  const graphs::Ranges& ranges_;
  Seen seen_;
  std::vector<Place> places_;
};

}  // namespace merganser::msf::detail
