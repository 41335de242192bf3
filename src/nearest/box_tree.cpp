// Vectorised search for the nearest point in a tree of boxes. Compiled once per vector target by Highway; the end of the file has
// the dispatch.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "src/nearest/box_tree.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>

#include "merganser/base/detail/highway.hpp"
#include "merganser/nearest/box_tree.hpp"

HWY_BEFORE_NAMESPACE();
namespace merganser::nearest::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

using D = hn::CappedTag<double, BoxTree::kChildren>;
using V = hn::Vec<D>;

/// Returns the bits of a mask, the lowest lane first.
HWY_INLINE std::uint32_t bits_of(hn::Mask<D> mask) {
  std::uint8_t bytes[8] = {0};
  hn::StoreMaskBits(D(), mask, bytes);
  return bytes[0];
}

/// Search of one place by number of axes.
template <int kAxes, bool kWraps>
class Searcher {
 public:
  HWY_INLINE Searcher(const BoxTree& tree, BoxSearch& search) : tree_(tree), search_(search) {}

  /// Searches below a node: of the children of a node that are near enough the nearest comes next, the others wait on a stack.
  HWY_INLINE void below(std::uint32_t top) {
    std::size_t depth = 0;
    stack_[depth++] = visit(0, top);
    while (depth > 0) {
      const std::uint64_t next = stack_[--depth];
      const auto number = static_cast<std::uint32_t>(next);
      const double gap2 = std::bit_cast<double>(next & ~kNumber);
      const BoxTree::Node& node = tree_.nodes[number];
      if (gap2 > search_.distance2 || (gap2 == search_.distance2 && node.id >= search_.id)) continue;
      if (search_.has_conditions && !search_.may_hold(number)) continue;
      if (node.inner == BoxTree::kNone)
        scan(node);
      else
        depth = push_children(node.inner, depth);
    }
  }

 private:
  static constexpr std::uint64_t kNumber = 0xffffffffU;
  /// Returns a node that waits, as one integer: the upper half of the bits of a lower bound of its squared distance, which is a
  /// lower bound too and has the order of integers, and its number.
  static HWY_INLINE std::uint64_t visit(double gap2, std::uint32_t number) {
    return (std::bit_cast<std::uint64_t>(gap2) & ~kNumber) | number;
  }
  /// Lowers bounds of squared distances, which periods round, by more than their errors. Without periods they need none: rounding
  /// keeps the order of differences, squares and sums, and the canonical distances have the same operations.
  static constexpr double kBelow = kWraps ? 1 - 1e-14 : 1;

  /// Returns lower bounds of the separations, on one axis, of the place from a vector of boxes.
  HWY_INLINE V gap(int a, const double* lower, const double* upper) const {
    const D d;
    const V zero = hn::Zero(d);
    const V x = hn::Set(d, search_.place[a]);
    const V low = hn::Load(d, lower);
    const V high = hn::Load(d, upper);
    const V direct = hn::Max(hn::Max(hn::Sub(low, x), hn::Sub(x, high)), zero);
    if (!kWraps || a >= 3) return direct;
    const V period = hn::Set(d, tree_.period[a]);
    const V image = hn::Max(hn::Min(hn::Sub(hn::Add(low, period), x), hn::Sub(x, hn::Sub(high, period))), zero);
    return hn::Max(hn::Sub(hn::Min(direct, image), hn::Set(d, tree_.slack[a])), zero);
  }
  /// Adds the children of a node that are near enough to the stack, the nearest last. @return the depth of the stack
  HWY_INLINE std::size_t push_children(std::uint32_t inner, std::size_t depth) {
    const D d;
    const std::size_t step = hn::Lanes(d);
    constexpr std::size_t kWide = BoxTree::kChildren;
    const double* const boxes = tree_.boxes + std::size_t{inner} * (2 * kWide * kAxes);
    const V limit = hn::Set(d, search_.distance2);
    const V within = hn::Set(d, tree_.within2);
    alignas(64) double gaps[kWide];
    std::uint32_t near = 0;
    for (std::size_t at = 0; at < kWide; at += step) {
      const auto square = [&](int a) HWY_ATTR {
        const double* const lower = boxes + 2 * kWide * static_cast<std::size_t>(a) + at;
        const V g = gap(a, lower, lower + kWide);
        return hn::Mul(g, g);
      };
      V sum = hn::Add(hn::Add(square(0), square(1)), square(2));
      const auto inside = hn::Le(kWraps ? hn::Mul(sum, hn::Set(d, kBelow)) : sum, within);
      for (int a = 3; a < kAxes; ++a) sum = hn::Add(sum, square(a));
      if (kWraps) sum = hn::Mul(sum, hn::Set(d, kBelow));
      hn::Store(sum, d, gaps + at);
      near |= bits_of(hn::And(inside, hn::Le(sum, limit))) << at;
    }
    const std::uint32_t* const children = tree_.children + std::size_t{inner} * kWide;
    const std::size_t first = depth;
    bool ties = false;
    for (; near != 0; near &= near - 1) {
      const auto lane = static_cast<std::size_t>(__builtin_ctz(near));
      if (children[lane] == BoxTree::kNone || children[lane] == search_.skipped) continue;
      // Inserts without branches on the outcome.
      std::uint64_t next = visit(gaps[lane], children[lane]);
      for (std::size_t i = first; i < depth; ++i) {
        const std::uint64_t other = stack_[i];
        ties = ties || ((next ^ other) & ~kNumber) == 0;
        stack_[i] = next > other ? next : other;
        next = next > other ? other : next;
      }
      stack_[depth++] = next;
    }
    if (ties) sort_by_id(first, depth);
    return depth;
  }
  /// Sorts a part of the stack, of equally near nodes that of the least id last, which decides where all points are in one place.
  HWY_NOINLINE void sort_by_id(std::size_t first, std::size_t end) {
    std::sort(stack_ + first, stack_ + end, [&](std::uint64_t a, std::uint64_t b) {
      if (((a ^ b) & ~kNumber) != 0) return a > b;
      return tree_.nodes[a & kNumber].id > tree_.nodes[b & kNumber].id;
    });
  }
  /// Returns the squared separations of the place, on one axis, from a vector of points.
  HWY_INLINE V square_of(int a, const double* from) const {
    const D d;
    const V signed_s = hn::Sub(hn::Set(d, search_.place[a]), hn::LoadU(d, from));
    if (!kWraps || a >= 3) return hn::Mul(signed_s, signed_s);
    const V s = hn::Abs(signed_s);
    const V nearest = hn::Min(hn::Abs(hn::Sub(hn::Set(d, tree_.period[a]), s)), s);
    return hn::Mul(nearest, nearest);
  }
  /// Compares the place with the points of a leaf.
  HWY_INLINE void scan(const BoxTree::Node& leaf) {
    const D d;
    const auto lanes = static_cast<std::uint32_t>(hn::Lanes(d));
    const double* const places = tree_.places + std::size_t{leaf.begin} * kAxes;
    alignas(64) double found[BoxTree::kChildren];
    V limit = hn::Set(d, search_.distance2);
    for (std::uint32_t at = 0; at < leaf.count; at += lanes) {
      const auto square = [&](int a)
                              HWY_ATTR { return square_of(a, places + static_cast<std::size_t>(a) * leaf.room + at); };
      V sum = hn::Add(hn::Add(square(0), square(1)), square(2));
      for (int a = 3; a < kAxes; ++a) sum = hn::Add(sum, square(a));
      std::uint32_t near = bits_of(hn::And(hn::Le(sum, limit), hn::FirstN(d, leaf.count - at)));
      if (near == 0) continue;
      hn::Store(sum, d, found);
      for (; near != 0; near &= near - 1) {
        const auto lane = static_cast<std::uint32_t>(__builtin_ctz(near));
        offer(leaf.begin + at + lane, found[lane]);
      }
      limit = hn::Set(d, search_.distance2);
    }
  }
  /// Takes a point if it is less than the one found before.
  HWY_INLINE void offer(std::uint32_t point, double distance2) {
    const std::int64_t id = tree_.ids[point];
    if (distance2 > search_.distance2 || (distance2 == search_.distance2 && id >= search_.id) || id == search_.self)
      return;
    if (search_.has_conditions) return search_.take(point, distance2);
    search_.distance2 = distance2;
    search_.id = id;
    search_.point = point;
  }

  const BoxTree& tree_;
  BoxSearch& search_;
  std::uint64_t stack_[BoxTree::kMaxDepth * (BoxTree::kChildren - 1) + 1];
};

/// Searches with periods or without.
template <int kAxes>
HWY_INLINE void search_in(const BoxTree& tree, std::uint32_t node, BoxSearch& search) {
  if (search.wraps) return Searcher<kAxes, true>(tree, search).below(node);
  return Searcher<kAxes, false>(tree, search).below(node);
}

/// Body of search_boxes(): selects the code by the number of axes.
void SearchBoxes(const BoxTree& tree, std::uint32_t node, BoxSearch& search) {
  static_assert(BoxTree::kMaxAxes == 6);
  if (tree.axes == 3) return search_in<3>(tree, node, search);
  if (tree.axes == 4) return search_in<4>(tree, node, search);
  if (tree.axes == 5) return search_in<5>(tree, node, search);
  return search_in<6>(tree, node, search);
}

}  // namespace merganser::nearest::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace merganser::nearest {

HWY_EXPORT(SearchBoxes);

void search_boxes(const BoxTree& tree, std::uint32_t node, BoxSearch& search) {
  MERGANSER_DISPATCH(SearchBoxes)(tree, node, search);
}

}  // namespace merganser::nearest
#endif
