// Tests of the sort of edges, and of the memory that it works in, against a stable sort by (weight, low, high).
#include "src/msf/local/edge_sort.hpp"

#include <gtest/gtest.h>

#include <limits>
#include <tuple>

#include "merganser/base/random.hpp"
#include "merganser/graphs/edges.hpp"

namespace {

using namespace merganser;

/// Kinds of bits that keys of edges have: all those in `mask` at random, above `base`; or one of `values` of them.
struct SortedKey {
  std::uint64_t base = 0;
  std::uint64_t mask = ~std::uint64_t{0};
  std::uint64_t operator()(Random& random) const { return base ^ (random.bits() & mask); }
};
struct SortCase {
  std::string name;
  SortedKey weight;
  SortedKey low{};
  SortedKey high{};
};

std::vector<SortCase> sort_cases() {
  const auto bits = [](unsigned from, unsigned count) {
    return (count >= 64 ? ~std::uint64_t{0} : (std::uint64_t{1} << count) - 1) << from;
  };
  std::vector<SortCase> all = {
      {"all bits", {}},
      {"one weight", {77, 0}},
      {"one weight and one lower end", {77, 0}, {5, 0}},
      {"one edge", {77, 0}, {5, 0}, {9, 0}},
      {"three weights and few ends", {0, 3}, {0, 7}, {0, 7}},
      {"greatest weight, ends of one bit", {~std::uint64_t{0}, 0}, {~std::uint64_t{0}, 1}, {~std::uint64_t{0}, 2}},
      {"highest and lowest bit", {0, std::uint64_t{1} << 63 | 1}, {0, 3}, {0, 3}},
      {"highest of 32 bits and lowest", {0, std::uint64_t{1} << 31 | 1}, {0, 3}, {0, 3}},
      {"ends of the highest bits", {0, 1}, {0, 0xff000000ff000000ULL}, {0, 0xf0000000f0000000ULL}},
      // A few values of the highest 22 bits, and many of the bits below, which a later call sorts by.
      {"two highest bits and the lowest 20", {0, std::uint64_t{3} << 62 | bits(0, 20)}, {0, 1}, {0, 1}},
      {"a bit, a gap, and the lowest 30", {0, std::uint64_t{1} << 60 | bits(0, 30)}, {0, 15}, {0, 15}},
      {"three bits far apart", {0, std::uint64_t{1} << 63 | std::uint64_t{1} << 32 | 1}, {0, 15}, {0, 15}}};
  for (const unsigned count : {1U, 2U, 10U, 11U, 12U, 21U, 22U, 23U, 24U, 32U, 33U, 40U}) {
    const std::string n = std::to_string(count);
    all.push_back({"lowest " + n, {0xabcdULL << 48, bits(0, count)}, {0, 31}, {0, 31}});
    all.push_back({"highest " + n, {5, bits(64 - count, count)}, {0, 31}, {0, 31}});
    all.push_back({"highest " + n + " of 32", {5, bits(count < 32 ? 32 - count : 0, count)}, {0, 31}, {0, 31}});
  }
  return all;
}

template <class Edge>
std::vector<Edge> edges_to_sort(const SortCase& c, std::size_t size) {
  Random random(size, 1, 0);
  std::vector<Edge> edges;
  for (std::size_t i = 0; i < size; ++i) {
    const std::uint64_t weight = c.weight(random);
    const std::uint64_t low = c.low(random);
    edges.push_back({static_cast<typename Edge::id_type>(low), static_cast<typename Edge::id_type>(c.high(random)),
                     static_cast<typename Edge::bits_type>(weight)});
  }
  return edges;
}

template <class Edge>
std::vector<Edge> stably_sorted(std::vector<Edge> edges) {
  std::stable_sort(edges.begin(), edges.end(), [](const Edge& a, const Edge& b) {
    return std::tuple(a.weight, a.low, a.high) < std::tuple(b.weight, b.low, b.high);
  });
  return edges;
}

/// Sorts within larger arrays, whose other values must stay.
template <class Edge>
void expect_sorted(const std::vector<Edge>& edges, const std::string& what) {
  const Edge guard{123, 456, 789};
  std::vector<Edge> all(edges.size() + 2, guard);
  std::vector<Edge> scratch(edges.size() + 2, guard);
  std::copy(edges.begin(), edges.end(), all.begin() + 1);
  msf::EdgeSort<Edge>::sort(std::span(all).subspan(1, edges.size()), std::span(scratch).subspan(1, edges.size()));
  for (const auto& array : {all, scratch}) {
    ASSERT_EQ(array.front(), guard) << what;
    ASSERT_EQ(array.back(), guard) << what;
  }
  const std::vector<Edge> found(all.begin() + 1, all.end() - 1);
  ASSERT_EQ(found, stably_sorted(edges)) << what << ", " << edges.size() << " edges of " << sizeof(Edge) << " bytes";
}

template <class Edge>
class EdgeSortTest : public testing::Test {};
using EdgeTypes = testing::Types<graphs::Edge12, graphs::Edge16, graphs::Edge24>;
TYPED_TEST_SUITE(EdgeSortTest, EdgeTypes);

TYPED_TEST(EdgeSortTest, sorts_keys_that_differ_in_any_bits) {
  for (const auto& c : sort_cases())
    for (const std::size_t size : {2048, 2049, 7000})
      ASSERT_NO_FATAL_FAILURE(expect_sorted(edges_to_sort<TypeParam>(c, size), c.name));
}

TYPED_TEST(EdgeSortTest, sorts_few_edges) {
  for (const auto& c : sort_cases())
    for (const std::size_t size : {0, 1, 2, 3, 17, 1000, 2046, 2047})
      ASSERT_NO_FATAL_FAILURE(expect_sorted(edges_to_sort<TypeParam>(c, size), c.name));
}

TYPED_TEST(EdgeSortTest, sorts_what_is_sorted_already_either_way) {
  for (const std::size_t size : {2047, 2048, 5000}) {
    auto edges = stably_sorted(edges_to_sort<TypeParam>(sort_cases().front(), size));
    ASSERT_NO_FATAL_FAILURE(expect_sorted(edges, "ascending"));
    std::reverse(edges.begin(), edges.end());
    ASSERT_NO_FATAL_FAILURE(expect_sorted(edges, "descending"));
  }
}

/// The other edge differs in one key only, is the least or the greatest, and comes first or last.
TYPED_TEST(EdgeSortTest, one_other_edge_among_copies_finds_its_place) {
  const TypeParam copy{7, 8, 9};
  for (TypeParam other : {TypeParam{6, 8, 9}, TypeParam{8, 8, 9}, TypeParam{7, 7, 9}, TypeParam{7, 9, 9},
                          TypeParam{7, 8, 8}, TypeParam{7, 8, 10}}) {
    std::vector<TypeParam> edges(4000, copy);
    edges.back() = other;
    ASSERT_NO_FATAL_FAILURE(expect_sorted(edges, "last"));
    std::swap(edges.front(), edges.back());
    ASSERT_NO_FATAL_FAILURE(expect_sorted(edges, "first"));
  }
}

/// Runs of equal weights on both sides of the size from which on they are radix sorted, at the begin, in the middle and at the end.
TYPED_TEST(EdgeSortTest, runs_of_equal_weights_are_sorted_by_their_ends) {
  for (const std::size_t run : {1, 2, 2047, 2048, 3000}) {
    for (const std::size_t begin : {0, 500, 4000}) {
      auto edges = edges_to_sort<TypeParam>({"run", {0, 0xffff}, {0, 0xfff}, {0, 0xfff}}, 4000 + run);
      for (std::size_t i = begin; i < begin + run; ++i)
        edges[i].weight = begin == 0 ? 0 : begin == 500 ? 0x8000 : 0xffff;
      ASSERT_NO_FATAL_FAILURE(expect_sorted(edges, "run of " + std::to_string(run)));
    }
  }
}

TYPED_TEST(EdgeSortTest, gives_the_scratch_the_size_of_the_edges) {
  for (const std::size_t size : {0, 5, 5000}) {
    const auto edges = edges_to_sort<TypeParam>({"few", {0, 3}, {0, 63}, {0, 63}}, size);
    msf::Buffer<TypeParam> buffer;
    buffer.append(edges);
    msf::Buffer<TypeParam> scratch(3);
    msf::sort_edges(buffer, scratch);
    EXPECT_EQ(scratch.size(), size);
    EXPECT_EQ(std::vector(buffer.begin(), buffer.end()), stably_sorted(edges));
  }
}

TEST(BufferTest, keeps_its_values_when_it_grows) {
  msf::Buffer<std::uint32_t> b;
  EXPECT_EQ(b.size(), 0U);
  EXPECT_TRUE(b.span().empty());
  std::vector<std::uint32_t> expected;
  for (std::uint32_t i = 0; i < 3000; ++i) {
    const std::vector<std::uint32_t> more(i % 7, i);
    b.append(more);
    expected.insert(expected.end(), more.begin(), more.end());
    ASSERT_EQ(b.size(), expected.size());
  }
  EXPECT_EQ(std::vector(b.begin(), b.end()), expected);
  b.reserve(100'000);
  EXPECT_EQ(b.size(), expected.size());
  EXPECT_EQ(std::vector(b.begin(), b.end()), expected);
  EXPECT_EQ(std::as_const(b).span().data(), b.data());
  EXPECT_EQ(std::as_const(b)[2999], expected[2999]);
}

TEST(BufferTest, keeps_its_memory_when_it_gets_smaller) {
  msf::Buffer<std::uint64_t> b(1000);
  for (std::size_t i = 0; i < 1000; ++i) b[i] = i;
  const auto* const at = b.data();
  b.resize(0);
  b.reserve(1000);
  b.resize(1000);
  EXPECT_EQ(b.data(), at);
  for (std::size_t i = 0; i < 1000; ++i) ASSERT_EQ(b[i], i);
}

/// So that many small additions cost few copies.
TEST(BufferTest, grows_by_half_of_itself_at_least) {
  constexpr std::size_t kSize = std::size_t{1} << 14;
  msf::Buffer<std::uint64_t> b(kSize);
  for (std::size_t i = 0; i < kSize; ++i) b[i] = i;
  std::uint64_t* const first = b.reserve_more(1);
  EXPECT_EQ(b.size(), kSize);
  EXPECT_EQ(first, b.data() + kSize);
  EXPECT_EQ(b.reserve_more(kSize / 2), first);
  for (std::size_t i = 0; i < kSize; ++i) ASSERT_EQ(b[i], i);
  std::uint64_t* const far = b.reserve_more(3 * kSize);  // more than half: all of it
  far[3 * kSize - 1] = 5;
  b.resize(4 * kSize);
  EXPECT_EQ(b.data() + kSize, far);
  EXPECT_EQ(b[4 * kSize - 1], 5U);
}

TEST(BufferTest, gives_its_values_away_and_can_be_used_again) {
  msf::Buffer<std::uint32_t> a;
  a.append(std::vector<std::uint32_t>{1, 2, 3});
  msf::Buffer<std::uint32_t> b = std::move(a);
  EXPECT_EQ(a.size(), 0U);  // NOLINT(bugprone-use-after-move)
  a.append(std::vector<std::uint32_t>{9});
  EXPECT_EQ(std::vector(a.begin(), a.end()), (std::vector<std::uint32_t>{9}));
  EXPECT_EQ(std::vector(b.begin(), b.end()), (std::vector<std::uint32_t>{1, 2, 3}));
  b = std::move(a);
  EXPECT_EQ(std::vector(b.begin(), b.end()), (std::vector<std::uint32_t>{9}));
  b = msf::Buffer<std::uint32_t>();
  EXPECT_EQ(b.size(), 0U);
  b.append({});
  EXPECT_EQ(b.begin(), b.end());
  b.append(std::vector<std::uint32_t>(100, 4));
  EXPECT_EQ(b[99], 4U);
}

}  // namespace
