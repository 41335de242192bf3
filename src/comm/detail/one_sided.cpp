// Sizes of message rings, and the self test of one-sided memory, of the models rma and shmem.
#include "src/comm/detail/one_sided.hpp"

#include <algorithm>
#include <string>

namespace merganser::comm::detail {

// Size of the message rings of one-sided models: large for few in-arcs, bounded memory for many.
std::size_t ring_bytes_for(std::size_t in_arcs) {
  constexpr std::size_t kBudget = std::size_t{4} << 20;
  constexpr std::size_t kMin = 4096;
  constexpr std::size_t kMax = std::size_t{256} << 10;
  return std::clamp(kBudget / std::max<std::size_t>(in_arcs, 1) / 64 * 64, kMin, kMax);
}

std::size_t memory_test_bytes(int rank) { return 8 * (static_cast<std::size_t>(rank) + 3); }

// Self test of one-sided memory: ranks in a ring put, OR and get words of a pattern, and each checks its own block.
std::string test_memory(Memory& memory, int rank, int size, const std::function<void()>& barrier) {
  const int next = (rank + 1) % size;
  const int last = (rank + size - 1) % size;
  const auto value = [](int from) { return (static_cast<std::uint64_t>(from) + 1) * 0x0101010101010101; };
  const std::size_t end_of_mine = memory_test_bytes(rank) - 8;  // the last word, at another offset on every rank
  std::uint64_t got = 0;
  std::uint64_t old = 1;
  memory.put_word(next, 0, value(rank), 4);
  memory.put_word(next, 8, value(rank));
  memory.fetch_or(next, memory_test_bytes(next) - 8, value(rank), &old, 8);
  memory.complete();
  barrier();
  memory.get(next, 8, &got, 8);
  memory.complete();
  memory.progress();
  const auto describe = [](const std::string& what, std::uint64_t is, std::uint64_t expected) {
    return what + " is " + std::to_string(is) + ", expected is " + std::to_string(expected);
  };
  std::string fault;
  const std::string here = " put by rank " + std::to_string(last) + " into " + std::to_string(memory_test_bytes(rank)) +
                           " bytes of remote memory";
  if (memory.word(0) != (value(last) & 0xffffffff))
    fault = describe("half a word" + here, memory.word(0), value(last) & 0xffffffff);
  if (memory.word(8) != value(last)) fault = describe("a word" + here, memory.word(8), value(last));
  if (memory.word(end_of_mine) != value(last))
    fault = describe("a word ORed" + here, memory.word(end_of_mine), value(last));
  if (got != value(rank)) fault = describe("a word got from rank " + std::to_string(next), got, value(rank));
  if (old != 0) fault = describe("a word of rank " + std::to_string(next) + " before it was ORed", old, 0);
  barrier();  // no rank frees or changes the memory while another one reads it
  return fault;
}

}  // namespace merganser::comm::detail
