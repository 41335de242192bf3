#pragma once
/// Remotely accessible memory over any one-sided library: the base of the models rma and shmem.
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
  /// Returns this rank's block of the one-sided memory.
  [[nodiscard]] virtual std::byte* data() noexcept = 0;
  /// Puts `bytes` bytes into the block of `rank`. The caller must not change `from` until order(), commit() or complete().
  virtual void put(int rank, std::size_t offset, const void* from, std::size_t bytes) = 0;
  /// Puts the low 4 or 8 bytes (`bytes`) of `word` to an aligned offset in the block of `rank`, as one access: a reader never loads
  /// a part of it.
  virtual void put_word(int rank, std::size_t offset, std::uint64_t word, std::size_t bytes = 8) = 0;
  /// Gets `bytes` bytes from the block of `rank` into `to`, which is filled by complete().
  virtual void get(int rank, std::size_t offset, void* to, std::size_t bytes) = 0;
  /// Replaces an aligned word of `rank` by its bitwise OR with `operand`, atomically with other fetch_or() calls; complete()
  /// fills `old` with the former value. `bytes` is 4 or 8.
  virtual void fetch_or(int rank, std::size_t offset, std::uint64_t operand, void* old, std::size_t bytes) = 0;
  /// Orders this rank's puts (OpenSHMEM: fence): those before the call become visible before those after it, per target rank.
  virtual void order() { complete(); }
  /// Issues all puts of this rank so far, so that they reach their targets without waiting for completion; buffers may be reused.
  virtual void commit() { complete(); }
  /// Completes all one-sided operations of this rank locally and at their targets (OpenSHMEM: quiet; MPI: flush).
  virtual void complete() = 0;
  /// Makes progress in the one-sided library, and makes puts of other ranks visible to loads of this one.
  virtual void progress() = 0;
  /// Ends the one-sided access epoch of a Segment's phase, where the Segment has one per phase (Epoch::per_phase).
  virtual void end_phase() {}
  /// Begins the one-sided access epoch of a Segment's phase, where the Segment has one per phase (Epoch::per_phase).
  virtual void begin_phase() {}

  /// Loads a word of this rank's block that another rank puts, with acquire order. @param offset  in bytes
  [[nodiscard]] std::uint64_t word(std::size_t offset) noexcept {
    return merganser::detail::load_word(*reinterpret_cast<std::uint64_t*>(data() + offset), std::memory_order_acquire);
  }
};

}  // namespace merganser::comm::detail
