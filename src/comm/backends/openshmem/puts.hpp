#pragma once
/// Puts, gets and atomics of OpenSHMEM with the same semantics over every library: works around faults of Sandia OpenSHMEM.
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "src/comm/detail/scoped_yield.hpp"

namespace merganser::comm::detail {

/// Returns true if the OpenSHMEM library is Sandia's: its shmem_putmem may return before it has read its source, its puts and
/// gets may need progress at the target, and its waits poll without yielding.
[[nodiscard]] bool sandia_shmem();

/// Puts bytes into symmetric memory of process `pe`. The caller must not change `from` until order_puts(), complete_puts() or
/// release_sources(). Called by one thread at a time, as all puts and gets of this process.
void put_bytes(void* to, const void* from, std::size_t bytes, int pe);
/// Puts a word of 8 bytes into symmetric memory of process `pe`, as one access: a reader never loads a part of it.
void put_word(std::uint64_t* to, std::uint64_t word, int pe);
/// Puts a word of 4 bytes into symmetric memory of process `pe`, as one access: a reader never loads a part of it.
void put_word(std::uint32_t* to, std::uint32_t word, int pe);
/// Blocks until the sources of all OpenSHMEM puts of this process have been read, so that they may be changed.
void release_sources();
/// Orders OpenSHMEM puts (fence): those of this process before the call become visible at each target before those after it.
void order_puts();
/// Blocks until all OpenSHMEM puts and gets of this process are complete (quiet).
void complete_puts();

/// Starts a get of bytes from symmetric memory of process `pe` into `to`, which is filled by complete_puts().
void get_bytes_nbi(void* to, const void* from, std::size_t bytes, int pe);
/// Gets bytes from symmetric memory of process `pe` and blocks until they have arrived.
void get_bytes(void* to, const void* from, std::size_t bytes, int pe);
/// Gets a word of 8 bytes from symmetric memory of process `pe` and blocks until it has arrived.
[[nodiscard]] std::uint64_t get_word(const std::uint64_t* from, int pe);
/// Replaces a word in symmetric memory of process `pe` by `desired` if it equals `expected`, atomically. Returns the former word.
std::uint64_t swap_word(std::uint64_t* at, std::uint64_t expected, std::uint64_t desired, int pe);

/// Enables ScopedYield (sleeps within library calls) if waits of the OpenSHMEM library poll without yielding the core. Local;
/// OpenSHMEM need not be initialised.
/// @throws UsageError for a bad value of MERGANSER_YIELD
void enable_shmem_yielding();

/// Guard around an OpenSHMEM call in which the library may wait for another process; yields the core if ranks are oversubscribed
/// and the library polls, and costs nothing otherwise.
class ShmemCall {
 public:
  ShmemCall() noexcept : yield_(ScopedYield::Call::brief) {}

 private:
  ScopedYield yield_;
};

/// Returns the known faults of the OpenSHMEM library in use with their workarounds, a sentence each, for `merganser
/// doctor`.
[[nodiscard]] std::vector<std::string> shmem_faults();

}  // namespace merganser::comm::detail
