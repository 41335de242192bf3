#pragma once
/// Batches of increasing weight into which filter-Kruskal divides its light edges.
#include <array>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <type_traits>

#include "src/msf/local/edge_lists.hpp"

namespace merganser::msf {

/// Division of edges into batches, by the last edge of each in ascending order.
///
/// Weights alone tell the batch of most edges, by comparisons without a branch. An edge of the weight of a last edge is compared by all
/// keys, without a branch too where they fit 128 bits: with few different weights these are most edges.
template <class Edge>
class LightBatches {
 public:
  static constexpr std::size_t kMax = 4;  ///< most batches

  /// @param lasts  last edge of each batch, ascending; 1 to kMax
  /// @param all    the last batch takes all edges above the one before, whatever its last edge
  LightBatches(std::span<const Edge> lasts, bool all) : bounds_(lasts.size() - (all ? 1 : 0)) {
    weights_.fill(std::numeric_limits<Bits>::max());
    for (std::size_t k = 0; k < bounds_; ++k) {
      weights_[k] = lasts[k].weight;
      keys_[k] = key(lasts[k]);
    }
    if (!all) pivot_ = lasts.back();
    tied_ = bounds_ > 1 && weights_[0] == weights_[bounds_ - 1];
  }
  /// Returns the index of the batch that an edge belongs to, or the number of batches if the edge is above the last edge of all.
  [[nodiscard]] std::size_t operator()(const Edge& e) const {
    if (tied_) return by_key(e);
    std::size_t batch = 0;
    for (std::size_t k = 0; k < kMax; ++k) batch += static_cast<std::size_t>(e.weight > weights_[k]);
    if (e.weight != weights_[batch]) [[likely]]
      return batch;
    return by_key(e);
  }
  /// Returns the last edge of all batches: one that no edge is above, if the last batch takes all.
  [[nodiscard]] const Edge& pivot() const noexcept { return pivot_; }

 private:
  using Id = typename Edge::id_type;
  using Bits = typename Edge::bits_type;
  __extension__ using Wide = unsigned __int128;
  static constexpr bool kFits = sizeof(Edge) <= 16;  // the three keys of an edge, 128 bits
  using Key = std::conditional_t<kFits, Wide, Edge>;

  /// Returns the key by which edges are ordered: (weight, low, high), in 128 bits if these suffice.
  static Key key(const Edge& e) {
    if constexpr (kFits)
      return Wide{e.weight} << 64 | (std::uint64_t{e.low} << 32 | e.high);
    else
      return e;
  }

  /// Returns the number of the edge's batch, by all keys.
  [[nodiscard]] std::size_t by_key(const Edge& e) const {
    const Key mine = key(e);
    std::size_t batch = 0;
    for (std::size_t k = 0; k < bounds_; ++k) batch += static_cast<std::size_t>(keys_[k] < mine);
    return batch;
  }

  std::size_t bounds_;                    // batches with a last edge that counts
  bool tied_;                             // the last edges that count have one weight
  std::array<Bits, kMax + 1> weights_{};  // of the last edges, and behind them the greatest
  std::array<Key, kMax> keys_{};          // of the last edges
  Edge pivot_{std::numeric_limits<Id>::max(), std::numeric_limits<Id>::max(), std::numeric_limits<Bits>::max()};
};

}  // namespace merganser::msf
