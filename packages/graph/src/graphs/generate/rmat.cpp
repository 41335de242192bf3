// R-MAT graphs, generated without communication: edge e is a function of the seed and e. Five levels of quadrants are drawn at
// once from an alias table, with 32 random bits.
#include <algorithm>

#include "merganser/base/random.hpp"
#include "src/graphs/generate/spec.hpp"

namespace merganser::graphs::detail {
namespace {

constexpr std::array<double, 4> kQuadrants{.57, .19, .19,
                                           .05};  ///< probabilities of the quadrants of the adjacency matrix
constexpr int kMaxLevels = 5;                     ///< levels of quadrants that one draw covers

/// Alias table that draws the quadrants of some levels of R-MAT from 32 random bits: the upper bits choose an entry,
/// the lower bits one of its two outcomes. Alias method [walker1977]; probabilities are exact to 2^-32.
class Quadrants {
 public:
  /// Builds the table of all 4^levels outcomes, 1 to kMaxLevels levels.
  explicit Quadrants(int levels) : shift_(32 - 2 * levels), mask_((std::uint32_t{1} << shift_) - 1) {
    const std::uint32_t outcomes = std::uint32_t{1} << (2 * levels);
    std::vector<double> left(outcomes);
    for (std::uint32_t o = 0; o < outcomes; ++o) {
      left[o] = outcomes;
      for (int level = 0; level < levels; ++level) left[o] *= kQuadrants[(o >> (2 * level)) & 3];
    }
    entries_.resize(outcomes);
    std::vector<std::uint32_t> small, large;
    for (std::uint32_t o = 0; o < outcomes; ++o) (left[o] < 1 ? small : large).push_back(o);
    const auto set = [&](std::uint32_t o, double share, std::uint32_t other) {
      const double scale = static_cast<double>(mask_) + 1;
      entries_[o] = {static_cast<std::uint32_t>(std::min(share, 1.0) * scale), ends(o, levels), ends(other, levels)};
    };
    // Each small outcome fills the rest of its entry with part of a large one.
    while (!small.empty() && !large.empty()) {
      const std::uint32_t s = small.back(), l = large.back();
      small.pop_back();
      set(s, left[s], l);
      left[l] -= 1 - left[s];
      if (left[l] < 1) {
        large.pop_back();
        small.push_back(l);
      }
    }
    for (const auto* rest : {&small, &large})
      for (const std::uint32_t o : *rest) set(o, 1, o);
  }

  /// Draws the quadrants of some levels of an R-MAT edge from 32 random bits. @return bits of the row from bit 8 on, bits of the
  /// column below
  [[nodiscard]] std::uint32_t draw(std::uint32_t bits) const {
    const Entry& e = entries_[bits >> shift_];
    return (bits & mask_) < e.threshold ? e.own : e.other;
  }

 private:
  /// Entry of the alias table: outcome `own` for random bits below the threshold, else `other`.
  struct Entry {
    std::uint32_t threshold;
    std::uint16_t own;
    std::uint16_t other;
  };
  /// Splits an outcome of the alias table, two bits per level, into the bits of the row (upper byte) and of the column (lower byte)
  /// of an edge.
  static std::uint16_t ends(std::uint32_t outcome, int levels) {
    std::uint32_t row = 0, column = 0;
    for (int level = 0; level < levels; ++level) {
      row |= (outcome >> (2 * level + 1) & 1) << level;
      column |= (outcome >> (2 * level) & 1) << level;
    }
    return static_cast<std::uint16_t>(row << 8 | column);
  }

  int shift_;                   ///< number of lower bits, which choose between the two outcomes of an entry
  std::uint32_t mask_;          ///< mask of these bits
  std::vector<Entry> entries_;  ///< alias table
};

}  // namespace

// Generator of R-MAT graphs: the bits of both ends of an edge come from tables, five levels of quadrants at a time.
template <class Edge>
void make_rmat(const Spec& spec, const Part& part, Sink<Edge>& sink) {
  const int levels = std::countr_zero(spec.vertices);
  const int wide = levels / kMaxLevels;
  const int rest = levels % kMaxLevels;
  const Quadrants five(kMaxLevels);
  const Quadrants few(std::max(rest, 1));
  const int draws = wide + (rest > 0 ? 1 : 0);
  const std::array<std::uint32_t, 2> key{static_cast<std::uint32_t>(part.seed),
                                         static_cast<std::uint32_t>(part.seed >> 32)};
  const auto [first, last] = part.range(spec.edges);
  sink.reserve(last - first);
  for (std::uint64_t edge = first; edge < last; ++edge) {
    std::uint64_t row = 0, column = 0;
    std::array<std::uint32_t, 4> random{};
    for (int draw = 0; draw < draws; ++draw) {
      if (draw % 4 == 0) {
        random = philox({static_cast<std::uint32_t>(edge), static_cast<std::uint32_t>(edge >> 32),
                         static_cast<std::uint32_t>(draw), kRmatStream},
                        key);
      }
      // Full draws have kMaxLevels levels each; a last one has the rest.
      const bool all = draw < wide;
      const std::uint32_t bits = (all ? five : few).draw(random[static_cast<std::size_t>(draw % 4)]);
      row = row << (all ? kMaxLevels : rest) | bits >> 8;
      column = column << (all ? kMaxLevels : rest) | (bits & 0xff);
    }
    if (row != column) sink(row, column);
  }
}

template void make_rmat(const Spec&, const Part&, Sink<Edge12>&);
template void make_rmat(const Spec&, const Part&, Sink<Edge16>&);
template void make_rmat(const Spec&, const Part&, Sink<Edge24>&);

}  // namespace merganser::graphs::detail
