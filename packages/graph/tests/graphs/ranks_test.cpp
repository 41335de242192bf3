/// Tests of generating, writing and reading graphs over every communication model: the same edges as on threads.
#include <gtest/gtest.h>

#include <fstream>

#include "merganser/base/error.hpp"
#include "merganser/graphs/files.hpp"
#include "tests/io/folder.hpp"
#include "tests/support/ranks.hpp"

namespace {

using namespace merganser;
using namespace merganser::test;

class GraphRanks : public testing::TestWithParam<Setup> {};
INSTANTIATE_TEST_SUITE_P(Models, GraphRanks, testing::ValuesIn(setups({""}, {"checked", "chaos:3"})),
                         setup_name<testing::TestParamInfo<Setup>>);

/// A sum over the edges of all ranks, and their number.
std::pair<std::uint64_t, std::int64_t> digest(const graphs::EdgeList& g, comm::Transport& t) {
  std::uint64_t sum = 0;
  std::visit(
      [&](const auto& edges) {
        for (const auto& e : edges) {
          std::uint64_t h = std::uint64_t{e.low} * 0x9e3779b97f4a7c15ULL + std::uint64_t{e.high};
          h = (h ^ h >> 29) * 0xbf58476d1ce4e5b9ULL + std::uint64_t{e.weight};
          sum += (h ^ h >> 32) * 0x94d049bb133111ebULL;
        }
      },
      g.edges);
  return {static_cast<std::uint64_t>(t.all_reduce(static_cast<std::int64_t>(sum), comm::Op::sum)),
          t.all_reduce(static_cast<std::int64_t>(g.size()), comm::Op::sum)};
}

TEST_P(GraphRanks, make_the_edges_that_one_rank_made_when_this_was_written) {
  struct Golden {
    const char* spec;
    const char* weights;
    std::uint64_t sum;
    std::int64_t edges;
  };
  const Golden all[] = {{"rmat:10:8", "uniform", 0x79e330381196575e, 8132},
                        {"rgg2d:10:8", "euclidean", 0x3332a8fd1f47ffef, 8346},
                        {"rgg3d:10:8", "float32", 0xbb6d155c5ee172a0, 8443},
                        {"gnm:10:8", "signed", 0xa7891d5a96e73887, 8192},
                        {"ba:10:8", "uniform:3", 0xe283ec37596c47a9, 8184},
                        {"grid:20x30:periodic", "float64", 0xd356e8ea134e16ca, 1200}};
  on_ranks(GetParam(), [&](comm::Transport& t) {
    for (const Golden& golden : all) {
      const auto [sum, edges] = digest(graphs::generate(golden.spec, {1, golden.weights}, t), t);
      EXPECT_EQ(sum, golden.sum) << golden.spec;
      EXPECT_EQ(edges, golden.edges) << golden.spec;
    }
  });
}

TEST_P(GraphRanks, write_together_what_they_read_together) {
  on_ranks(GetParam(), [&](comm::Transport& t) {
    Folder folder(t);
    const graphs::EdgeList made = graphs::generate("gnm:8:4", {3, "float64"}, t);
    const auto wanted = digest(made, t);
    for (const std::string name : {"a.mgr", "a.txt", "a.gr"}) {
      graphs::ReadLog log;
      graphs::write_graph(folder.file(name), made, graphs::format_from_path(name), t);
      t.barrier();
      EXPECT_EQ(digest(graphs::read_graph(folder.file(name), {}, t, log), t), wanted) << name;
    }
    t.barrier();
  });
}

TEST_P(GraphRanks, share_errors) {
  on_ranks(GetParam(), [&](comm::Transport& t) {
    Folder folder(t);
    const std::string path = folder.file("a.txt");
    if (t.rank() == 0) std::ofstream(path) << "0 1\n1 2\n2 3\n3 four\n4 5\n";
    t.barrier();
    graphs::ReadLog log;
    EXPECT_THROW(static_cast<void>(graphs::read_graph(path, {}, t, log)), InputError);
    EXPECT_THROW(static_cast<void>(graphs::generate("rmat:x:1", {}, t)), UsageError);
    t.barrier();
  });
}

}  // namespace
