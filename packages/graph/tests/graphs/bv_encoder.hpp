#pragma once
/// Encoder of small BVGraphs, with references, intervals and every code, for tests of the reader.
#include <algorithm>
#include <bit>
#include <cstdint>
#include <string>
#include <vector>

namespace merganser::test {

struct BvOptions {
  std::uint64_t window = 7;
  int most_references = 3;
  std::uint64_t shortest_interval = 4;
  int zeta_k = 3;
  std::string flags;  ///< compressionflags; read here for OUTDEGREES_DELTA, REFERENCES_GAMMA, RESIDUALS_GAMMA
};

class BitWriter {
 public:
  void bits(std::uint64_t value, std::uint64_t count) {
    for (std::uint64_t i = count; i-- > 0;) {
      if (size_ % 8 == 0) bytes_ += '\0';
      if ((value >> i & 1) != 0) bytes_.back() = static_cast<char>(bytes_.back() | 1 << (7 - size_ % 8));
      ++size_;
    }
  }
  void unary(std::uint64_t x) {
    for (std::uint64_t i = 0; i < x; ++i) bits(0, 1);
    bits(1, 1);
  }
  void gamma(std::uint64_t x) {
    const auto width = static_cast<std::uint64_t>(std::bit_width(x + 1)) - 1;
    unary(width);
    bits(x + 1, width);
  }
  void delta(std::uint64_t x) {
    const auto width = static_cast<std::uint64_t>(std::bit_width(x + 1)) - 1;
    gamma(width);
    bits(x + 1, width);
  }
  /// Writes a zeta code: a number of [2^(h k), 2^((h + 1) k)) as h in unary and the rest in a minimal binary code.
  void zeta(std::uint64_t x, int k_int) {
    const auto k = static_cast<std::uint64_t>(k_int);
    const std::uint64_t value = x + 1;
    const std::uint64_t h = (static_cast<std::uint64_t>(std::bit_width(value)) - 1) / k;
    const std::uint64_t left = std::uint64_t{1} << (h * k);
    unary(h);
    if (value - left < left)
      bits(value - left, h * k + k - 1);
    else
      bits(value, h * k + k);
  }
  [[nodiscard]] std::uint64_t size() const { return size_; }
  [[nodiscard]] const std::string& bytes() const { return bytes_; }

 private:
  std::string bytes_;
  std::uint64_t size_ = 0;
};

struct BvFiles {
  std::string graph, properties, offsets;
};

class BvEncoder {
 public:
  using Lists = std::vector<std::vector<std::uint64_t>>;
  BvEncoder(const Lists& lists, const BvOptions& o) : lists_(lists), o_(o), chain_(lists.size(), 0) {}

  BvFiles encode() {
    BitWriter offsets;
    std::uint64_t arcs = 0, before = 0;
    offsets.gamma(0);
    for (std::uint64_t v = 0; v < lists_.size(); ++v) {
      list(v);
      arcs += lists_[v].size();
      offsets.gamma(out_.size() - before);
      before = out_.size();
    }
    const std::string properties = "#BVGraph properties\nversion=0\ngraphclass=it.unimi.dsi.webgraph.BVGraph\nnodes=" +
                                   std::to_string(lists_.size()) + "\narcs=" + std::to_string(arcs) +
                                   "\nwindowsize=" + std::to_string(o_.window) +
                                   "\nmaxrefcount=" + std::to_string(o_.most_references) +
                                   "\nminintervallength=" + std::to_string(o_.shortest_interval) +
                                   "\nzetak=" + std::to_string(o_.zeta_k) + "\ncompressionflags=" + o_.flags + "\n";
    return {out_.bytes(), properties, offsets.bytes()};
  }

 private:
  [[nodiscard]] bool has(const char* flag) const { return o_.flags.find(flag) != std::string::npos; }
  static std::uint64_t beside(std::uint64_t vertex, std::uint64_t other) {
    return other >= vertex ? 2 * (other - vertex) : 2 * (vertex - other) - 1;
  }
  void residual(std::uint64_t x) { has("RESIDUALS_GAMMA") ? out_.gamma(x) : out_.zeta(x, o_.zeta_k); }

  void list(std::uint64_t v) {
    const auto& mine = lists_[v];
    has("OUTDEGREES_DELTA") ? out_.delta(mine.size()) : out_.gamma(mine.size());
    if (mine.empty()) return;
    std::uint64_t back = 0, most = 0;
    for (std::uint64_t b = 1; b <= std::min(o_.window, v); ++b) {
      if (o_.most_references > 0 && chain_[v - b] >= o_.most_references) continue;
      std::uint64_t same = 0;
      for (const auto x : lists_[v - b]) same += std::binary_search(mine.begin(), mine.end(), x) ? 1U : 0U;
      if (same > most) most = same, back = b;
    }
    std::vector<std::uint64_t> rest = mine;
    if (o_.window > 0) has("REFERENCES_GAMMA") ? out_.gamma(back) : out_.unary(back);
    if (back > 0) {
      chain_[v] = chain_[v - back] + 1;
      copy(mine, lists_[v - back], rest);
    }
    if (!rest.empty()) write_rest(v, rest);
  }

  void copy(const std::vector<std::uint64_t>& mine, const std::vector<std::uint64_t>& other,
            std::vector<std::uint64_t>& rest) {
    std::vector<std::uint64_t> blocks;
    bool taken = true;
    std::uint64_t length = 0;
    for (const auto x : other) {
      const bool take = std::binary_search(mine.begin(), mine.end(), x);
      if (take) rest.erase(std::find(rest.begin(), rest.end(), x));
      if (take != taken) blocks.push_back(length), length = 0, taken = take;
      ++length;
    }
    // An even number of blocks: what follows them is taken. An odd one: it is left out.
    out_.gamma(blocks.size());
    for (std::size_t i = 0; i < blocks.size(); ++i) out_.gamma(blocks[i] - (i == 0 ? 0 : 1));
  }

  void write_rest(std::uint64_t v, const std::vector<std::uint64_t>& rest) {
    struct Run {
      std::uint64_t first, length;
    };
    std::vector<Run> runs;
    std::vector<std::uint64_t> single;
    for (std::size_t i = 0; i < rest.size();) {
      std::size_t j = i + 1;
      while (j < rest.size() && rest[j] == rest[j - 1] + 1) ++j;
      if (o_.shortest_interval > 0 && j - i >= o_.shortest_interval)
        runs.push_back({rest[i], j - i});
      else
        single.insert(single.end(), rest.begin() + static_cast<std::ptrdiff_t>(i),
                      rest.begin() + static_cast<std::ptrdiff_t>(j));
      i = j;
    }
    std::uint64_t after = 0;
    if (o_.shortest_interval > 0) out_.gamma(runs.size());
    for (std::size_t i = 0; i < runs.size(); ++i) {
      out_.gamma(i == 0 ? beside(v, runs[i].first) : runs[i].first - after - 1);
      out_.gamma(runs[i].length - o_.shortest_interval);
      after = runs[i].first + runs[i].length;
    }
    for (std::size_t i = 0; i < single.size(); ++i)
      residual(i == 0 ? beside(v, single[0]) : single[i] - single[i - 1] - 1);
  }

  const Lists& lists_;
  BvOptions o_;
  std::vector<int> chain_;
  BitWriter out_;
};

}  // namespace merganser::test
