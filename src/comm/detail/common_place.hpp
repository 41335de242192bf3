#pragma once
/// Memory that some ranks must find at one place of each of them, while every rank knows only what it has taken itself.
#include <cstddef>
#include <cstdint>
#include <functional>
#include <limits>
#include <map>
#include <span>

namespace merganser::comm::detail {

/// What is taken of so many bytes. Places and sizes are whole lines of kLine bytes; sizes are rounded up to them.
class Ranges {
 public:
  static constexpr std::size_t kLine = 64;
  static constexpr std::uint64_t kNowhere = std::numeric_limits<std::int64_t>::max();

  explicit Ranges(std::size_t bytes = 0) : bytes_(bytes / kLine * kLine) {}

  [[nodiscard]] std::size_t bytes() const noexcept { return bytes_; }
  /// The lowest place from `from` on where so many bytes are free; kNowhere if there is none.
  [[nodiscard]] std::uint64_t lowest(std::uint64_t bytes, std::uint64_t from = 0) const;
  /// The most that is free in one piece.
  [[nodiscard]] std::size_t largest() const;
  /// Takes bytes that are free.
  void take(std::uint64_t at, std::uint64_t bytes);
  /// Gives back all that was taken at this place at once.
  void give(std::uint64_t at);

 private:
  std::size_t bytes_;
  std::map<std::uint64_t, std::uint64_t> taken_;  // from, to
};

/// Element-wise maximum over all ranks that call it, of words up to Ranges::kNowhere.
using Highest = std::function<void(std::span<std::uint64_t>)>;

/// The lowest place where so many bytes are free on every member, kNowhere if there is none; the same on all that call.
/// Collective over the ranks of `highest`, which give the same number of bytes. Ranks without ranges are no members: they
/// help to reduce. Takes nothing.
/// Cost: reductions of two words, at most one for every piece that some member has taken and two more.
[[nodiscard]] std::uint64_t common_place(const Ranges* ranges, std::uint64_t bytes, const Highest& highest);

/// What every member has free in one piece at least. Collective, as above.
[[nodiscard]] std::uint64_t common_room(const Ranges* ranges, const Highest& highest);

}  // namespace merganser::comm::detail
