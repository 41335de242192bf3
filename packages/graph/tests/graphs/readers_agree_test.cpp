/// Tests that the reader of distributed graphs and that of process graphs read METIS and Matrix Market files alike.
#include <gtest/gtest.h>

#include <set>
#include <tuple>

#include "merganser/graphs/process_graph_files.hpp"
#include "tests/graphs/process_graph_samples.hpp"
#include "tests/graphs/whole_graph.hpp"
#include "tests/io/folder.hpp"
#include "tests/support/mutated.hpp"

namespace {

using namespace merganser;
using namespace merganser::test;
using graphs::ProcessGraph;
using graphs::ProcessGraphFormat;

/// Edges without direction, with weights where the file has some.
using Edges = std::set<std::tuple<std::uint64_t, std::uint64_t, double>>;

Edges to_edges(const WholeGraph& graph) {
  Edges all;
  for (const auto& e : graph.edges)
    all.emplace(e.low, e.high, graph.log.weighted ? graphs::weight_from_bits(graph.kind, e.weight) : 1);
  return all;
}

Edges to_edges(const ProcessGraph& graph) {
  Edges all;
  for (int r = 0; r < graph.ranks(); ++r)
    for (const auto& arc : graph.row(r)) all.emplace(std::min(r, arc.to), std::max(r, arc.to), arc.bytes);
  return all;
}

struct Text {
  ProcessGraphFormat format;
  std::string text;
};
constexpr auto kMatrix = ProcessGraphFormat::matrix_market;
constexpr auto kMetis = ProcessGraphFormat::metis;

class ReadersAgree : public testing::Test {
 protected:
  std::string write(const Text& sample) {
    const std::string path = folder_.file(sample.format == kMatrix ? "a.mtx" : "a.metis");
    write_bytes(path, sample.text);
    return path;
  }
  /// What reading fails with; empty: it does not.
  template <class Read>
  static std::string read_error(const Read& read) {
    try {
      read();
      return {};
    } catch (const InputError& e) {
      return e.what();
    }
  }
  Folder folder_;
};

TEST_F(ReadersAgree, on_files_that_one_of_them_refused_once) {
  const std::string banner = "%%MatrixMarket matrix coordinate ";
  const Text samples[] = {
      {kMatrix, banner + "integer skew-symmetric\n3 3 2\n2 1 5\n3 2 7\n"},
      {kMatrix, banner + "integer symmetric\n3 3 2\n1 2 5\n3 2 7\n"},                          // one above the diagonal
      {kMatrix, banner + "real general kept by hand\n3 3 2\n1 2 5\n3 2 7.25\n"},               // more words
      {kMatrix, banner + "real symmetric\n 3 3\t2\n  % a comment\n\n2  1\t+5\n3\t2 1e3\r\n"},  // separators, a plus
      {kMatrix, banner + "pattern symmetric\n3 3 3\n1 1\n2 1\n3 2"},
      {kMetis, "3 3 001\n1 9 2 5\n1 5 3 7\n2 7\n3 1\n"},  // a loop, wrong number of neighbours: see below
      {kMetis, "3 3 001\n1 9 1 9 2 5\n1 5 3 7\n2 7\n"},   // a loop at both of its ends
      {kMetis, " % by hand\n 3\t2 001\n2  5\n\t% between\n1 5\t3 2.5\n2 +2.5\n"},
      {kMetis, "3 2 001\n2 0\n1 0 3 18014398509481984\n2 18014398509481984\n"},  // no bytes, beyond 2^53
      {kMetis, "2 1 0 0\n2\n1\n"},
      {kMetis, "2 1 010 70\n" +
                   [] {
                     std::string ones;
                     for (int i = 0; i < 70; ++i) ones += "1 ";
                     return ones + "2\n" + ones + "1\n";
                   }()},
  };
  for (const Text& sample : samples) {
    const std::string path = write(sample);
    const bool wrong = sample.text.starts_with("3 3 001\n1 9 2");
    std::string first;
    for (const int ranks : {1, 3}) {
      WholeGraph whole;
      const std::string error = read_error([&] { whole = read_whole(path, {}, ranks); });
      EXPECT_EQ(error.empty(), !wrong) << sample.text << error;
      ProcessGraph graph;
      EXPECT_EQ(read_error([&] { graph = graphs::read_process_graph(path, sample.format); }).empty(), !wrong)
          << sample.text;
      if (wrong) continue;
      EXPECT_EQ(whole.vertices, static_cast<std::uint64_t>(graph.ranks()));
      EXPECT_EQ(to_edges(whole), to_edges(graph)) << sample.text;
      EXPECT_TRUE(graph.is_symmetric() || sample.text.find("general") != std::string::npos);
    }
  }
}

TEST_F(ReadersAgree, on_what_is_wrong_and_in_which_line) {
  const std::string banner = "%%MatrixMarket matrix coordinate ";
  const Text samples[] = {
      {kMatrix, "%%MatrixMarket matrix array real general\n2 2\n"},
      {kMatrix, banner + "complex general\n2 2 1\n"},
      {kMatrix, banner + "real hermitian\n2 2 1\n"},
      {kMatrix, banner + "real general\n%\n"},
      {kMatrix, banner + "real general\n2 3 1\n"},
      {kMatrix, banner + "real general\n2 2\n"},
      {kMatrix, banner + "real general\n2 2 1 1\n"},
      {kMatrix, banner + "real general\n2 2 1\n% c\n0 1 1\n"},
      {kMatrix, banner + "real general\n2 2 1\n1 3 1\n"},
      {kMatrix, banner + "real general\n2 2 1\n1 2\n"},
      {kMatrix, banner + "pattern general\n2 2 1\n1 2 3\n"},
      {kMetis, "%\n"},
      {kMetis, "3\n"},
      {kMetis, "3 2 2\n"},
      {kMetis, "3 2 0 2\n"},
      {kMetis, "3 2 10 0\n"},
      {kMetis, "3 2\n2\n1 4\n2\n"},
      {kMetis, "3 2\n % c\n2\n1 0\n2\n"},
      {kMetis, "3 2 1\n2 1\n1 1 3\n2 1\n"},
      {kMetis, "3 2 10\n1 2\n\n1 2\n"},
      {kMetis, "2 1\n2\n1\n1\n"},
  };
  for (const Text& sample : samples) {
    const std::string path = write(sample);
    const std::string wanted = read_error([&] { static_cast<void>(graphs::read_process_graph(path, sample.format)); });
    EXPECT_TRUE(wanted.starts_with(path + ": ")) << sample.text << wanted;
    for (const int ranks : {1, 3})
      EXPECT_EQ(read_error([&] { static_cast<void>(read_whole(path, {}, ranks)); }), wanted) << sample.text;
  }
}

TEST_F(ReadersAgree, on_thousands_of_spoiled_files) {
  for (const ProcessGraphFormat format : {kMatrix, kMetis}) {
    int both = 0, none = 0;
    for (std::uint64_t seed = 1; seed <= 1500; ++seed) {
      const Text sample{format, mutated(print(random_graph(seed, liked_by(format)), format), seed)};
      const std::string path = write(sample);
      ProcessGraph graph;
      const std::string refused = read_error([&] { graph = graphs::read_process_graph(path, format); });
      WholeGraph whole;
      const std::string options_format = format == kMatrix ? "matrix-market" : "metis";
      const std::string error = read_error([&] { whole = read_whole(path, {options_format, "", 1}); });
      // Lists of edges hold integers as such; bytes are rounded.
      if (error.find("allowed: an integer to 64 bit") != std::string::npos) continue;
      if (refused.empty()) {
        EXPECT_EQ(error, "") << sample.text;
        EXPECT_EQ(whole.vertices, static_cast<std::uint64_t>(graph.ranks()));
        EXPECT_EQ(to_edges(whole), to_edges(graph)) << sample.text;
        ++both;
      }
      // A process graph must be more than a list of edges: ranks, weights of bytes, every arc once.
      if (!error.empty()) {
        ++none;
        EXPECT_NE(refused, "") << sample.text << error;
      }
    }
    EXPECT_GT(both, 50);
    EXPECT_GT(none, 500);
  }
}

}  // namespace
