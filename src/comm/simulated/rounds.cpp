// Rounds of messages of SMPI's algorithms for reductions and barriers, by which their simulated times are computed.
#include "src/comm/simulated/rounds.hpp"

#include <bit>

namespace merganser::comm::detail {
namespace {

/// Returns the number of simulated ranks that exchange in pairs in a reduction: the largest power of two up to `size`.
int paired(int size) { return static_cast<int>(std::bit_floor(static_cast<unsigned>(size))); }

/// Adds the rounds of a reduction algorithm for a power of two of simulated ranks. With another number of ranks each of the first
/// even ranks sends its array to the next rank, which takes its part, and receives the result at the end. In between
/// pairs(exchange) calls exchange(mask, bytes) for every round between partners whose numbers differ in the bit `mask`.
template <class Pairs>
void run_in_pairs(Rounds& rounds, std::size_t bytes, const Pairs& pairs) {
  const int rest = rounds.size() - paired(rounds.size());
  rounds.round([&](int r) { return r < 2 * rest && r % 2 == 0 ? r + 1 : -1; }, bytes);
  pairs([&](int mask, std::size_t part) {
    const auto find_partner = [&](int r) {
      if (r < 2 * rest && r % 2 == 0) return -1;
      const int partner = (r < 2 * rest ? r / 2 : r - rest) ^ mask;
      return partner < rest ? partner * 2 + 1 : partner + rest;
    };
    rounds.round(find_partner, part);
  });
  rounds.round([&](int r) { return r < 2 * rest && r % 2 == 1 ? r - 1 : -1; }, bytes);
}

}  // namespace

void recursive_doubling(Rounds& rounds, std::size_t bytes) {
  run_in_pairs(rounds, bytes, [&](const auto& exchange) {
    for (int mask = 1; mask < paired(rounds.size()); mask *= 2) exchange(mask, bytes);
  });
}

// Rounds of a reduce-scatter by halving, then of an all-gather by doubling. The largest parts are exchanged between ranks of
// neighbouring numbers, which share nodes.
void halving_and_doubling(Rounds& rounds, std::size_t bytes) {
  run_in_pairs(rounds, bytes, [&](const auto& exchange) {
    const int part = paired(rounds.size());
    for (int mask = 1; mask < part; mask *= 2) exchange(mask, bytes / static_cast<std::size_t>(2 * mask));
    for (int mask = part / 2; mask > 0; mask /= 2) exchange(mask, bytes / static_cast<std::size_t>(2 * mask));
  });
}

bool is_long(std::size_t words, std::size_t bytes, int ranks) {
  constexpr std::size_t kShort = 2048;
  return bytes > kShort && words >= static_cast<std::size_t>(paired(ranks));
}

void dissemination(Rounds& rounds) {
  for (int distance = 1; distance < rounds.size(); distance *= 2) {
    rounds.round([&](int r) { return (r + distance) % rounds.size(); }, 0);
  }
}

}  // namespace merganser::comm::detail
