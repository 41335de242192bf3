#pragma once
/// Remotely accessible memory over any one-sided library: the base of the one-sided models.
#include <atomic>
#include <cstddef>
#include <cstdint>

#include "merganser/base/detail/shared_word.hpp"
#include "src/comm/detail/collective_pool.hpp"

namespace merganser::comm::detail {

/// Window of one-sided memory with one block per rank, zero at first; offsets are in bytes. The calls are local or
/// one-sided, none is collective; only creation and release of a Memory are, see CollectivePool.
class Memory : public CollectiveResource {
 public:
  /// Returns the block of this rank.
  [[nodiscard]] virtual std::byte* data() noexcept = 0;
  /// Puts `bytes` bytes into the block of `rank`. The caller must not change `from` until order(), commit() or complete().
  virtual void put(int rank, std::size_t offset, const void* from, std::size_t bytes) = 0;
  /// Puts the low 4 or 8 bytes (`bytes`) of `word` to an aligned offset, as one access: a reader never sees a part of it.
  virtual void put_word(int rank, std::size_t offset, std::uint64_t word, std::size_t bytes = 8) = 0;
  /// Gets `bytes` bytes from the block of `rank` into `to`, which is filled by complete().
  virtual void get(int rank, std::size_t offset, void* to, std::size_t bytes) = 0;
  /// Replaces an aligned word of `rank` by its bitwise OR with `operand`, atomically with other fetch_or() calls; complete()
  /// fills `old` with the former value. `bytes` is 4 or 8.
  virtual void fetch_or(int rank, std::size_t offset, std::uint64_t operand, void* old, std::size_t bytes) = 0;
  /// Orders puts (OpenSHMEM: fence): those before the call become visible before those after it, per target rank.
  virtual void order() { complete(); }
  /// Issues all puts so far, so that they reach their targets without waiting for completion; buffers may be reused.
  virtual void commit() { complete(); }
  /// Completes all operations of this rank locally and at their targets (OpenSHMEM: quiet; MPI: flush).
  virtual void complete() = 0;
  /// Makes progress in the library, and puts of other ranks visible to loads of this one.
  virtual void progress() = 0;
  /// Ends the access epoch of a phase, where the Segment has one per phase.
  virtual void end_phase() {}
  /// Begins the access epoch of a phase, where the Segment has one per phase.
  virtual void begin_phase() {}

  /// Loads a word of this rank's block that another rank puts, with acquire order.
  [[nodiscard]] std::uint64_t word(std::size_t offset) noexcept {
    return merganser::detail::load_word(*reinterpret_cast<std::uint64_t*>(data() + offset), std::memory_order_acquire);
  }
};

}  // namespace merganser::comm::detail
