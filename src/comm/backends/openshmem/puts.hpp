#pragma once
/// Puts of OpenSHMEM as the model uses them, whatever the library makes of them.
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "src/comm/detail/scoped_yield.hpp"

namespace merganser::comm::detail {

/// Whether the library is Sandia OpenSHMEM. There shmem_putmem may return before it has read its source; what it puts and
/// asks may need the help of the target's process, and its waits keep the core.
[[nodiscard]] bool sandia_shmem();

/// Puts to process `pe`; `from` may change after order_puts(), complete_puts() or release_sources(). Not from two threads at once.
void put_bytes(void* to, const void* from, std::size_t bytes, int pe);
/// Puts a word of 4 or 8 bytes; it may be forgotten at once.
void put_word(std::uint64_t* to, std::uint64_t word, int pe);
void put_word(std::uint32_t* to, std::uint32_t word, int pe);
/// Sources may change from now on.
void release_sources();
/// What this process has put before lands at each target before what it puts after.
void order_puts();
/// What this process has put has landed.
void complete_puts();

/// What is got is there after complete_puts().
void get_bytes_soon(void* to, const void* from, std::size_t bytes, int pe);
/// Gets from process `pe`, at once.
void get_bytes(void* to, const void* from, std::size_t bytes, int pe);
[[nodiscard]] std::uint64_t get_word(const std::uint64_t* from, int pe);
/// Writes `desired` where `expected` is, as one operation. Returns what was there.
std::uint64_t swap_word(std::uint64_t* at, std::uint64_t expected, std::uint64_t desired, int pe);

/// Enables ScopedYield where waits of the library keep the core. OpenSHMEM need not run. @throws UsageError as enable_yielding()
void enable_shmem_yielding();

/// A call in which the library may wait for another process. Costs nothing but where ranks are more than cores and the library polls.
class ShmemCall {
 public:
  ShmemCall() noexcept : yield_(ScopedYield::Call::brief) {}

 private:
  ScopedYield yield_;
};

/// As Library::faults.
[[nodiscard]] std::vector<std::string> shmem_faults();

}  // namespace merganser::comm::detail
