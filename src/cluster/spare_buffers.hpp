#pragma once
/// Large buffers that a merge step needs between two waits only, for simulated ranks: those of a process run one after the other until
/// they wait, so that one buffer serves all of them.
#include <algorithm>
#include <cstddef>
#include <map>
#include <utility>

#include "merganser/base/aligned_memory.hpp"
#include "merganser/base/simulated.hpp"

namespace merganser::cluster {

/// Large buffers that simulated ranks of this process have given back, by length. They do not return to the heap, where small blocks
/// would split them. On real ranks nothing is shared: memory is allocated and freed.
class SpareBuffers {
 public:
  /// Returns uninitialised memory of at least `bytes` bytes, one that was given back if that is at most an eighth, or two huge
  /// pages (large buffers are whole ones), longer. Local.
  /// @throws std::bad_alloc
  [[nodiscard]] static RawBuffer take(std::size_t bytes) {
    if constexpr (kSimulated) {
      constexpr std::size_t kHugePages = std::size_t{4} << 20;
      const auto found = all().lower_bound(bytes);
      const std::size_t more = bytes < kHugePages ? bytes / 8 + 64 : std::max(bytes / 8, kHugePages);
      if (found != all().end() && found->first <= bytes + more) return std::move(all().extract(found).mapped());
    }
    return RawBuffer(bytes);
  }
  /// Gives back the memory of a buffer, which is empty afterwards. Local.
  static void give_back(RawBuffer& buffer) {
    RawBuffer spare = std::exchange(buffer, RawBuffer());
    if constexpr (kSimulated)
      if (const std::size_t bytes = spare.bytes(); bytes > 0) all().emplace(bytes, std::move(spare));
  }

 private:
  static std::multimap<std::size_t, RawBuffer>& all() {
    static std::multimap<std::size_t, RawBuffer> buffers;
    return buffers;
  }
};

}  // namespace merganser::cluster
