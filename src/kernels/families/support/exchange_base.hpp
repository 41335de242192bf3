#pragma once
/// Common base of all exchange kernels, in every communication model: zones, sizes, counters, and the state that a watchdog reads.
#include <atomic>
#include <memory>
#include <string>
#include <vector>

#include "merganser/base/pinned.hpp"
#include "src/comm/detail/scoped_yield.hpp"
#include "src/comm/detail/waiter.hpp"
#include "src/kernels/families/support/plan.hpp"

namespace merganser::kernels::detail {

/// Zeroed memory, aligned to a page, for the source or landing zones of an exchange kernel on one rank.
class Block {
 public:
  /// Allocates and zeroes memory for zones, at least one cache line. Local.
  explicit Block(std::size_t bytes);
  /// Returns the address of the memory for source or landing zones, aligned to a page.
  [[nodiscard]] std::byte* data() const noexcept { return data_.get(); }

 private:
  /// Deleter of memory for zones that was allocated with the alignment of a page.
  struct Free {
    void operator()(std::byte* data) const noexcept;
  };
  std::unique_ptr<std::byte, Free> data_;
};

/// Base of an exchange kernel, with memory for source and landing zones. A kernel overrides iterate(), and those
/// defaults below that do not suit the kernel.
class ExchangeBase : public Exchange {
 public:
  [[nodiscard]] const KernelInfo& info() const noexcept override { return *plan_.info; }
  [[nodiscard]] const comm::Graph& graph() const noexcept override { return plan_.spec.graph; }
  void resize(std::span<const std::size_t> bytes_out, std::span<const std::size_t> bytes_in) override;
  [[nodiscard]] std::span<std::byte> source(std::size_t arc, std::size_t buffer) override;
  [[nodiscard]] std::span<std::byte> landing(std::size_t arc, std::size_t buffer) override;
  /// Completes all iterations by a barrier of the control transport, which suffices for kernels without one-sided operations.
  void quiesce() override { control_.barrier(); }
  [[nodiscard]] comm::Counters per_iteration() const override;
  [[nodiscard]] std::vector<int> missing() const override;
  bool drop_next(std::size_t arc) override;

 protected:
  /// Memory of the source and landing zones of an exchange kernel: in a window or in symmetric memory, or null for private memory
  /// that the constructor allocates.
  struct Places {
    std::byte* sources = nullptr;   ///< source zones of this rank
    std::byte* landings = nullptr;  ///< landing zones of this rank
  };
  /// Stores the plan of the exchange and allocates those zones of this rank that have no memory in `places`. Local.
  ExchangeBase(comm::Transport& control, ExchangePlan plan, Places places);

  /// Called after resize() has changed the bytes that arcs carry, for kernels that keep copies of them (counts, persistent
  /// requests).
  virtual void resized() {}
  /// Adds the operations of one iteration of the kernel besides those of the payload: notifications, synchronisations, epochs.
  virtual void count([[maybe_unused]] comm::Counters& counters) const {}
  /// Returns the number of out-arcs of the exchange on this rank that lead to other ranks.
  [[nodiscard]] std::int64_t far_out() const;

  /// Scope of one iteration of an exchange kernel: missing() reports ranks only within it. Checks the buffer, and lets a library
  /// that polls yield the core if there are more ranks than cores. @throws UsageError for a buffer that does not exist
  class Iteration : merganser::Pinned {
   public:
    /// Begins an iteration of the exchange with one set of zones. @throws UsageError for a buffer that does not exist
    Iteration(ExchangeBase& exchange, std::size_t buffer) : exchange_(exchange) {
      if (buffer >= exchange.plan_.spec.buffers) exchange.refuse_buffer(buffer);
      exchange.busy_.store(true, std::memory_order_relaxed);
    }
    ~Iteration() { exchange_.busy_.store(false, std::memory_order_relaxed); }

   private:
    const comm::detail::ScopedYield yield_{comm::detail::ScopedYield::Call::brief};
    ExchangeBase& exchange_;
  };
  /// Returns the number of this iteration of the exchange, from 1, for kernels whose notification is a word with that number. It
  /// only grows, so a word need not be reset, and a sender that is one iteration ahead does no harm.
  std::uint64_t next_epoch() {
    const std::uint64_t epoch = epoch_.load(std::memory_order_relaxed) + 1;
    epoch_.store(epoch, std::memory_order_relaxed);
    return epoch;
  }
  /// Returns the in-neighbours for whose arc has_come(arc, number of this iteration) is false; none outside an iteration.
  template <class HasCome>
  [[nodiscard]] std::vector<int> lacking(HasCome&& has_come) const {
    std::vector<int> ranks;
    if (!busy()) return ranks;
    for (std::size_t arc = 0; arc < in_.size(); ++arc)
      if (!has_come(arc, epoch_.load(std::memory_order_relaxed))) ranks.push_back(in_[arc]);
    return ranks;
  }
  /// Returns whether an iteration of the exchange is running. Another thread may call it.
  [[nodiscard]] bool busy() const { return busy_.load(std::memory_order_relaxed); }

  /// Returns the address of the source zones of one buffer on this rank.
  [[nodiscard]] std::byte* out_set(std::size_t buffer) const { return places_.sources + buffer * plan_.sources.stride; }
  /// Returns the address of the landing zones of one buffer on this rank.
  [[nodiscard]] std::byte* in_set(std::size_t buffer) const {
    return places_.landings + buffer * plan_.landings.stride;
  }
  /// Returns the address of the source zone of an out-arc in one buffer, without checks: for the measured loop.
  [[nodiscard]] std::byte* out_at(std::size_t arc, std::size_t buffer) const {
    return out_set(buffer) + plan_.sources.at[arc];
  }
  /// Returns the address of the landing zone of an in-arc in one buffer, without checks: for the measured loop.
  [[nodiscard]] std::byte* in_at(std::size_t arc, std::size_t buffer) const {
    return in_set(buffer) + plan_.landings.at[arc];
  }
  /// Returns the offset, in the memory of the out-neighbour, of the landing zone of an out-arc in one buffer.
  [[nodiscard]] std::size_t target_at(std::size_t arc, std::size_t buffer) const {
    return plan_.targets[arc].base + plan_.targets[arc].at + buffer * plan_.targets[arc].stride;
  }
  /// Returns the offset, in the memory of the in-neighbour, of the source zone of an in-arc in one buffer.
  [[nodiscard]] std::size_t origin_at(std::size_t arc, std::size_t buffer) const {
    return plan_.origins[arc].base + plan_.origins[arc].at + buffer * plan_.origins[arc].stride;
  }

  /// Returns true once after drop_next() for an out-arc; the kernel then omits the notification of this iteration.
  [[nodiscard]] bool dropped(std::size_t arc) {
    if (drops_ == 0 || drop_[arc] == 0) return false;
    drop_[arc] = 0;
    --drops_;
    return true;
  }

  /// Returns the text for the error of an exchange kernel's wait that exceeds its limit: the ranks that are missing.
  const comm::detail::Waiter::Describe describe_ = [this] { return waiting_text(); };

  comm::Transport& control_;            // transport for set-up and quiesce()
  const ExchangePlan plan_;             // arcs, capacities and offsets of the zones
  const std::vector<int>& out_;         // ranks of the out-neighbours, by out-arc
  const std::vector<int>& in_;          // ranks of the in-neighbours, by in-arc
  std::vector<std::size_t> out_bytes_;  // by out-arc: bytes that it carries now
  std::vector<std::size_t> in_bytes_;   // by in-arc: bytes that it carries now

 private:
  [[noreturn]] void refuse_buffer(std::size_t buffer) const;
  [[noreturn]] void refuse_arc(const char* side, std::size_t arc, std::size_t arcs) const;
  [[nodiscard]] std::string waiting_text() const;

  Block own_sources_;                    // source zones, unless the kernel placed them elsewhere
  Block own_landings_;                   // landing zones, unless the kernel placed them elsewhere
  Places places_;                        // addresses of the zones in use
  std::vector<std::uint8_t> drop_;       // by out-arc: 1 if drop_next() was called
  int drops_ = 0;                        // number of 1s in drop_, so that iterations without any test one number
  std::atomic<bool> busy_{false};        // within iterate(); read by the thread of a watchdog, as epoch_ is
  std::atomic<std::uint64_t> epoch_{0};  // number of the last iteration begun
};

/// Constructs an exchange, barrier or all-gather of type T on every rank; if the constructor throws on one rank, every rank throws
/// that error. Collective.
template <class T, class... Args>
std::unique_ptr<T> make_agreed(comm::Transport& control, Args&&... args) {
  std::unique_ptr<T> made;
  agree(control, [&] { made = std::make_unique<T>(std::forward<Args>(args)...); });
  return made;
}

}  // namespace merganser::kernels::detail
