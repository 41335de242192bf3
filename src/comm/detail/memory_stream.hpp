#pragma once
/// Stream over one-sided memory.
#include "src/comm/detail/memory.hpp"
#include "src/comm/detail/message_objects.hpp"

namespace merganser::comm::detail {

/// A record is one put into the slot that its receiver assigned: the round of the arc and the value in one word. So
/// no slot needs a reset and a record needs no notice. Records beyond the slots go as messages. Ahead of the slots of an
/// arc stands a word with the round and the number of its records, so that ends that disagree find out.
class MemoryStream final : public MessageStream {
 public:
  struct Slots {
    std::size_t mine = 0;  ///< offset of what belongs to in-arc 0 in this rank's block
    std::size_t per_arc = 0;
    std::vector<std::uint64_t> theirs;  ///< per out-arc: where that begins in the receiver's block

    /// The word of the round, then the slots.
    [[nodiscard]] std::size_t arc_bytes() const { return (1 + per_arc) * sizeof(std::uint64_t); }
    [[nodiscard]] static std::size_t slot_at(std::size_t slot) { return (1 + slot) * sizeof(std::uint64_t); }
  };
  MemoryStream(Place place, Graph graph, std::unique_ptr<Link> link, std::shared_ptr<Memory> memory, Slots slots);

  void open(std::span<const std::size_t> counts_out, std::span<const std::size_t> counts_in) override;
  void send(std::size_t arc, std::size_t slot, std::uint32_t value) override;
  std::size_t take(const Take& callback) override;
  void wait() override;
  void finish() override;

 private:
  [[nodiscard]] const std::byte* slots_of(std::size_t arc) const {
    return slots_data_ + arc * slots_.arc_bytes() + Slots::slot_at(0);
  }
  /// @throws CommError if the sender has told another number of records than is expected here
  void check_count(std::size_t arc) const;
  [[noreturn]] void throw_ahead(std::size_t arc) const;
  void take_slots(std::size_t arc, const Take& callback);
  [[nodiscard]] bool something_arrived();
  void commit();

  std::shared_ptr<Memory> memory_;
  Slots slots_;
  std::byte* slots_data_;
  std::vector<std::vector<std::uint32_t>> pending_;  // per in-arc: slots that have not been taken
  bool uncommitted_ = false;
};

}  // namespace merganser::comm::detail
