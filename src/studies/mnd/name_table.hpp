#pragma once
/// Numbers for 64-bit names in the order of their first appearance.
#include <bit>
#include <cstdint>
#include <vector>

namespace merganser::msf::published {

class NameTable {
 public:
  static constexpr std::uint32_t kNone = 0xffffffffU;

  explicit NameTable(std::size_t expected = 0) : slots_(std::bit_ceil(2 * expected + 2), kNone) {
    names_.reserve(expected);
  }

  std::uint32_t insert(std::uint64_t name) {
    if (2 * (names_.size() + 1) > slots_.size()) grow();
    std::uint32_t& slot = slots_[place(name)];
    if (slot == kNone) {
      slot = static_cast<std::uint32_t>(names_.size());
      names_.push_back(name);
    }
    return slot;
  }
  [[nodiscard]] std::uint32_t find(std::uint64_t name) const { return slots_[place(name)]; }
  [[nodiscard]] const std::vector<std::uint64_t>& names() const noexcept { return names_; }

 private:
  [[nodiscard]] std::size_t place(std::uint64_t name) const {
    const std::size_t mask = slots_.size() - 1;
    auto at = static_cast<std::size_t>((name * 0x9e3779b97f4a7c15ULL) >> 20U) & mask;
    while (slots_[at] != kNone && names_[slots_[at]] != name) at = (at + 1) & mask;
    return at;
  }
  void grow() {
    slots_.assign(2 * slots_.size(), kNone);
    for (std::uint32_t i = 0; i < names_.size(); ++i) slots_[place(names_[i])] = i;
  }

  std::vector<std::uint32_t> slots_;
  std::vector<std::uint64_t> names_;
};

}  // namespace merganser::msf::published
