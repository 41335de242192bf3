#pragma once
/// Questions that the owners of ids answer, in rounds of bounded size.
#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "merganser/comm/collectives.hpp"
#include "merganser/graphs/edges.hpp"

namespace merganser::msf::detail {

/// Records or questions that a rank sends in one round, at most.
inline constexpr std::size_t kRound = std::size_t{1} << 16;

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
    const std::size_t rounds = comm::rounds_of(transport_, ids.size(), kRound);
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
    std::vector<std::vector<std::uint64_t>> out(static_cast<std::size_t>(transport_.size()));
    places_.resize(ids.size());
    seen_.next_round(ids.size());
    for (std::size_t i = 0; i < ids.size(); ++i) {
      const int owner = ranges_.owner(ids[i]);
      places_[i] = {owner, 0};
      if (owner == me) continue;
      auto& box = out[static_cast<std::size_t>(owner)];
      const auto [number, is_new] = seen_.find_or_add(ids[i], static_cast<std::uint32_t>(box.size()));
      if (is_new) box.push_back(ids[i]);
      places_[i].number = number;
    }
    const auto asked = comm::all_to_all(transport_, std::move(out));
    std::vector<std::vector<Value>> replies(asked.size());
    for (std::size_t r = 0; r < asked.size(); ++r) {
      replies[r].reserve(asked[r].size());
      for (const std::uint64_t id : asked[r]) replies[r].push_back(mine[id - first]);
    }
    const auto told = comm::all_to_all(transport_, std::move(replies));
    for (std::size_t i = 0; i < ids.size(); ++i) {
      if (places_[i].rank == me) {
        answers[i] = mine[ids[i] - first];
      } else {
        answers[i] = told[static_cast<std::size_t>(places_[i].rank)][places_[i].number];
      }
    }
  }

  comm::Transport& transport_;
  const graphs::Ranges& ranges_;
  Seen seen_;
  std::vector<Place> places_;
};

}  // namespace merganser::msf::detail
