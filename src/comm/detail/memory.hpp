#pragma once
/// Memory that other ranks put into and get from, whatever the library: what the one-sided models are built on.
#include <atomic>
#include <cstddef>
#include <cstdint>

#include "merganser/base/detail/shared_word.hpp"
#include "src/comm/detail/collective_pool.hpp"

namespace merganser::comm::detail {

/// One block per rank, zero at first. Nothing here is collective; making and freeing one is, see CollectivePool.
class Memory : public CollectiveResource {
 public:
  [[nodiscard]] virtual std::byte* data() noexcept = 0;
  /// `from` must stay as it is until order(), commit() or complete().
  virtual void put(int rank, std::size_t offset, const void* from, std::size_t bytes) = 0;
  /// Puts the first 4 or 8 bytes of an aligned word, which its reader sees whole.
  virtual void put_word(int rank, std::size_t offset, std::uint64_t word, std::size_t bytes = 8) = 0;
  /// `to` is filled by complete().
  virtual void get(int rank, std::size_t offset, void* to, std::size_t bytes) = 0;
  /// Atomic with other fetch_ors; `old` is filled by complete(). `bytes` is 4 or 8.
  virtual void fetch_or(int rank, std::size_t offset, std::uint64_t operand, void* old, std::size_t bytes) = 0;
  /// What was put before lands before what is put after.
  virtual void order() { complete(); }
  /// What was put is on its way.
  virtual void commit() { complete(); }
  /// Everything has landed, everything wanted has come.
  virtual void complete() = 0;
  /// Lets the library work and makes what others have put visible here.
  virtual void progress() = 0;
  /// Ends and begins an access epoch, where there is one per phase.
  virtual void end_phase() {}
  virtual void begin_phase() {}

  /// A word that another rank puts.
  [[nodiscard]] std::uint64_t word(std::size_t offset) noexcept {
    return merganser::detail::load_word(*reinterpret_cast<std::uint64_t*>(data() + offset), std::memory_order_acquire);
  }
};

}  // namespace merganser::comm::detail
