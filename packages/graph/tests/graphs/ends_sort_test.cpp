/// Tests of the sort of edges by their ends against the comparison sort of the standard library.
#include "src/graphs/files/ends_sort.hpp"

#include <gtest/gtest.h>

#include <tuple>

#include "merganser/base/random.hpp"

namespace {

using namespace merganser;

/// Sorts `count` edges whose ends and weights are random in the bits of masks, and expects the order of std::sort.
template <class Edge>
void expect_sorted_by_ends(std::size_t count, std::uint64_t low, std::uint64_t high, std::uint64_t weight) {
  using Id = typename Edge::id_type;
  Random random(count, low ^ high, 3);
  std::vector<Edge> edges(count);
  for (Edge& e : edges)
    e = {static_cast<Id>(random.bits() & low), static_cast<Id>((random.bits() & high) | 1),
         static_cast<typename Edge::bits_type>(random.bits() & weight)};
  std::vector<Edge> wanted = edges, scratch(count);
  const auto less = [](const Edge& a, const Edge& b) {
    return std::tuple(a.low, a.high, a.weight) < std::tuple(b.low, b.high, b.weight);
  };
  std::sort(wanted.begin(), wanted.end(), less);
  graphs::detail::EndsSort<Edge>::sort(edges, scratch);
  EXPECT_EQ(edges, wanted) << count << " " << low << " " << high;
  graphs::detail::EndsSort<Edge>::sort(edges, scratch);
  EXPECT_EQ(edges, wanted) << "sorted before";
}

TEST(EndsSort, is_that_of_the_standard_library_for_ends_of_any_bits) {
  constexpr std::uint64_t kAll = ~std::uint64_t{0};
  for (const std::size_t count : {0U, 1U, 2U, 100U, 2047U, 2048U, 20000U}) {
    for (const std::uint64_t low : {std::uint64_t{0}, std::uint64_t{1}, std::uint64_t{0x7ff}, std::uint64_t{0xfff},
                                    kAll, std::uint64_t{0x80000001}}) {
      for (const std::uint64_t high : {std::uint64_t{0}, std::uint64_t{0x3f0}, std::uint64_t{0x3fffff}, kAll}) {
        expect_sorted_by_ends<graphs::Edge12>(count, low, high, 3);
        expect_sorted_by_ends<graphs::Edge16>(count, low, high, kAll);
        expect_sorted_by_ends<graphs::Edge24>(count, low, high, 7);
      }
    }
  }
}

}  // namespace
