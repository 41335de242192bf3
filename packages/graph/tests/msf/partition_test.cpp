/// Tests of the edge-balanced partition and of the distribution of edges to the owners of their ends.
#include "merganser/msf/partition.hpp"

#include <gtest/gtest.h>

#include "merganser/base/error.hpp"
#include "tests/msf/oracle.hpp"
#include "tests/support/ranks.hpp"

namespace {

using namespace merganser;
using namespace merganser::test;

const std::vector<int> kRanks = {1, 2, 3, 5, 8};

void on_threads(int ranks, const std::function<void(comm::Transport&)>& body) {
  on_ranks({"threads", ranks, ""}, body);
}

/// The rule of the ranges, word by word.
std::vector<std::uint64_t> expected_ranges(const Shape& shape, int ranks) {
  std::vector<std::int64_t> degree(shape.vertices);
  std::int64_t whole = 0;
  for (const auto& e : shape.edges) {
    if (e.low == e.high) continue;
    ++degree[e.low];
    ++degree[e.high];
    whole += 2;
  }
  if (whole == 0) return graphs::Ranges::even(shape.vertices, ranks).first;
  std::vector<std::uint64_t> first = {0};
  for (int r = 1; r < ranks; ++r) {
    std::int64_t before = 0;
    std::uint64_t v = 0;
    while (before * ranks < whole * r) before += degree[v++];
    first.push_back(v);
  }
  first.push_back(shape.vertices);
  return first;
}

TEST(PartitionTest, ranges_begin_where_the_degrees_reach_their_share) {
  auto all = shapes();
  all.push_back(path_shape(20000));  // more vertices than one pass tells apart
  all.push_back({"one edge", 1000000, {{999998, 999999, 1}}});
  all.push_back({"far apart", 1000000, {{0, 999999, 1}, {5000, 999999, 1}, {5000, 700000, 1}}});
  for (const int ranks : kRanks) {
    on_threads(ranks, [&](comm::Transport& t) {
      for (const auto& shape : all)
        EXPECT_EQ(msf::balanced_ranges(distribute(shape, t), t).first, expected_ranges(shape, ranks)) << shape.name;
    });
  }
}

TEST(PartitionTest, ids_may_take_all_of_63_bits) {
  const std::uint64_t last = (std::uint64_t{1} << 63U) - 1;
  const Shape shape{"huge", last + 1, {{0, last, 1}, {1, last - 1, 1}, {last - 1, last, 1}, {7, 7, 7}}};
  on_threads(3, [&](comm::Transport& t) {
    const std::vector<std::uint64_t> expected = {0, 2, last, last + 1};
    EXPECT_EQ(msf::balanced_ranges(distribute(shape, t), t).first, expected);
  });
}

template <class Edge>
void expect_at_owners(const Shape& shape, comm::Transport& t) {
  const auto graph = distribute_as<Edge>(shape, t);
  const auto ranges = msf::balanced_ranges(graph, t);
  const auto mine = msf::distribute_edges(graph, ranges, t);
  EXPECT_EQ(mine.vertices, shape.vertices);
  EXPECT_TRUE(std::holds_alternative<std::vector<Edge>>(mine.edges));
  Edges expected;
  for (const auto& e : shape.edges) {
    const bool here = ranges.owner(e.low) == t.rank() || ranges.owner(e.high) == t.rank();
    if (e.low != e.high && here) expected.push_back(e);
  }
  EXPECT_EQ(sorted(widened(mine)), sorted(expected)) << shape.name;
}

TEST(PartitionTest, every_edge_comes_once_to_every_owner_of_an_end) {
  for (const int ranks : kRanks) {
    on_threads(ranks, [](comm::Transport& t) {
      expect_at_owners<graphs::Edge12>(random_shape(1, 200, 700, 9), t);
      expect_at_owners<graphs::Edge16>(hubs_shape(50, ~0ULL), t);
      for (const auto& shape : shapes()) expect_at_owners<graphs::Edge24>(shape, t);
    });
  }
}

TEST(PartitionTest, an_edge_without_a_vertex_is_refused_on_every_rank) {
  on_threads(3, [](comm::Transport& t) {
    graphs::EdgeList graph;
    graph.vertices = 10;
    if (t.rank() == 1) graph.edges = std::vector<graphs::Edge12>{{2, 3, 1}, {4, 10, 1}};
    try {
      (void)msf::balanced_ranges(graph, t);
      FAIL() << "accepted";
    } catch (const InputError& e) {
      EXPECT_NE(std::string(e.what()).find("edge (4, 10) of a graph of 10 vertices"), std::string::npos) << e.what();
    }
  });
}

}  // namespace
