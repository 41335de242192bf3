#pragma once
/// Test that numbers of all ranks, such as ids, are distinct, by one bit for each number of their range.
#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <vector>

#include "merganser/comm/collectives.hpp"

namespace merganser::comm {

/// Default limit of the numbers that a rank sends in one round of are_surely_distinct().
inline constexpr std::size_t kDistinctRound = std::size_t{1} << 17;

/// Returns true, on every rank, if the numbers of all ranks are distinct. False also if their range is too long to tell: more than 64
/// numbers for each one that is there. Collective: two reductions; on several ranks, if the range is short enough, another two, and
/// rounds in which every rank sends at most `round` numbers. Memory: a bit for each number of this rank's part of the range, and the
/// messages of a round, 8 bytes each: up to `round` numbers of every rank, where all numbers belong to one rank's part (as those do that
/// differ by multiples of the number of ranks).
/// @param count   how many numbers this rank has
/// @param number  returns one of them, from its position, 0 to count - 1; called two times for each
/// @param round   most numbers that a rank sends in one round, above 0
template <class Number>
[[nodiscard]] bool are_surely_distinct(Transport& transport, std::size_t count, const Number& number,
                                       std::size_t round = kDistinctRound) {
  constexpr std::int64_t kMax = std::numeric_limits<std::int64_t>::max();
  std::array<std::int64_t, 2> bounds{kMax,
                                     kMax};  // the least number, and the bits of the greatest, inverted: -1 - most
  for (std::size_t i = 0; i < count; ++i) {
    const std::int64_t n = number(i);
    bounds = {std::min(bounds[0], n), std::min(bounds[1], ~n)};
  }
  transport.all_reduce(std::span<std::int64_t>(bounds), Op::min);
  const auto all = static_cast<std::uint64_t>(transport.all_reduce(static_cast<std::int64_t>(count), Op::sum));
  if (all == 0) return true;
  const auto least = static_cast<std::uint64_t>(bounds[0]);
  const std::uint64_t range = static_cast<std::uint64_t>(~bounds[1]) - least;
  if (range / 64 >= all) return false;
  const auto ranks = static_cast<std::uint64_t>(transport.size());
  // Number least + q * ranks + r belongs to rank r, where bit q stands for it.
  std::vector<std::uint64_t> words(static_cast<std::size_t>(range / ranks / 64 + 1));
  std::uint64_t again = 0;  // bits that were set twice
  const auto set = [&](std::uint64_t at) {
    const std::uint64_t bit = std::uint64_t{1} << (at % 64);
    again |= words[at / 64] & bit;
    words[at / 64] |= bit;
  };
  const auto from_least = [&](std::size_t i) { return static_cast<std::uint64_t>(number(i)) - least; };
  if (ranks == 1) {
    for (std::size_t i = 0; i < count; ++i) set(from_least(i));
    return again == 0;
  }
  std::vector<std::uint64_t> part;
  const std::size_t rounds = count_rounds(transport, count, round);
  for (std::size_t r = 0; r < rounds; ++r) {
    part.clear();
    const std::size_t end = std::min(count, (r + 1) * round);
    for (std::size_t i = std::min(count, r * round); i < end; ++i) part.push_back(from_least(i));
    for (const auto theirs : send_to_owners<std::uint64_t>(
             transport, part, [&](std::uint64_t n) { return static_cast<std::int64_t>(n % ranks); }))
      for (const std::uint64_t n : theirs) set(n / ranks);
  }
  return transport.all_reduce(std::int64_t{again == 0}, Op::min) != 0;
}

}  // namespace merganser::comm
