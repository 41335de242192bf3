#pragma once
/// Disjoint sets in which the least member stands for the set, so that one ascending pass flattens all paths.
#include <cstdint>
#include <vector>

namespace merganser::msf {

class UnionFind {
 public:
  explicit UnionFind(std::size_t size) : parent_(size) {
    for (std::size_t v = 0; v < size; ++v) parent_[v] = static_cast<std::uint32_t>(v);
  }
  std::uint32_t find(std::uint32_t v) {
    std::uint32_t* const parent = parent_.data();
    for (std::uint32_t up = parent[v]; up != v; up = parent[v]) {
      parent[v] = parent[up];
      v = parent[v];
    }
    return v;
  }
  /// True if they were apart.
  bool join(std::uint32_t a, std::uint32_t b) {
    a = find(a);
    b = find(b);
    if (a == b) return false;
    if (a < b)
      parent_[b] = a;
    else
      parent_[a] = b;
    return true;
  }
  /// After it labels()[v] is the root of v.
  void flatten() {
    for (auto& up : parent_) up = parent_[up];
  }
  [[nodiscard]] const std::uint32_t* labels() const noexcept { return parent_.data(); }
  void prefetch(std::uint32_t v) const { __builtin_prefetch(parent_.data() + v, 1); }

 private:
  std::vector<std::uint32_t> parent_;
};

}  // namespace merganser::msf
