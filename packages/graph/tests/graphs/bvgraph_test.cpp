/// Tests of the reader of BVGraphs: on files of the tests' own encoder, in every code, and on real ones if they are available.
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>

#include "merganser/base/random.hpp"
#include "tests/graphs/bv_encoder.hpp"
#include "tests/graphs/whole_graph.hpp"
#include "tests/io/folder.hpp"
#include "tests/support/folders.hpp"

namespace {

using namespace merganser;
using namespace merganser::test;
using graphs::Edge24;

/// Returns adjacency lists similar to those of a web graph: runs, parts of the list before, distant targets.
BvEncoder::Lists web(std::uint64_t n, std::uint64_t seed) {
  BvEncoder::Lists lists(n);
  for (std::uint64_t v = 0; v < n; ++v) {
    Random random(seed, v, 0);
    auto& list = lists[v];
    if (v > 0 && random.below(3) > 0)
      for (const auto x : lists[v - 1 - random.below(std::min<std::uint64_t>(v, 5))])
        if (random.below(4) > 0) list.push_back(x);
    for (std::uint64_t runs = random.below(3); runs > 0; --runs) {
      const std::uint64_t first = random.below(n);
      for (std::uint64_t x = first; x < std::min(n, first + random.below(9)); ++x) list.push_back(x);
    }
    for (std::uint64_t links = random.below(4); links > 0; --links) list.push_back(random.below(n));
    std::sort(list.begin(), list.end());
    list.erase(std::unique(list.begin(), list.end()), list.end());
  }
  return lists;
}

struct Wanted {
  std::vector<Edge24> edges;
  std::uint64_t arcs = 0, loops = 0;
};
Wanted wanted(const BvEncoder::Lists& lists) {
  Wanted w;
  for (std::uint64_t v = 0; v < lists.size(); ++v) {
    for (const auto x : lists[v]) {
      ++w.arcs;
      if (x == v)
        ++w.loops;
      else
        w.edges.push_back({std::min(v, x), std::max(v, x), 1});
    }
  }
  std::sort(w.edges.begin(), w.edges.end(), by_ends);
  w.edges.erase(std::unique(w.edges.begin(), w.edges.end()), w.edges.end());
  return w;
}

void write_bv(const std::string& base, const BvFiles& files, bool with_offsets) {
  write_bytes(base + ".graph", files.graph);
  write_bytes(base + ".properties", files.properties);
  if (with_offsets) write_bytes(base + ".offsets", files.offsets);
}

TEST(BvGraph, lists_in_every_code_are_read_by_any_number_of_ranks_with_offsets_and_without) {
  const auto lists = web(150, 1);
  const Wanted w = wanted(lists);
  std::vector<BvOptions> all{{}, {0, 3, 4, 3, ""}, {7, 3, 0, 3, ""}, {3, 1, 2, 1, ""}, {7, -1, 4, 5, ""}};
  all.push_back({7, 3, 4, 3, "OUTDEGREES_DELTA | REFERENCES_GAMMA | RESIDUALS_GAMMA"});
  Folder folder;
  int number = 0;
  for (const BvOptions& o : all) {
    const BvFiles files = BvEncoder(lists, o).encode();
    for (const bool with_offsets : {false, true}) {
      const std::string base = folder.file("web" + std::to_string(number++));
      write_bv(base, files, with_offsets);
      for (const int ranks : {1, 3, 8}) {
        const WholeGraph g = read_whole(base, {"", "unit", 1}, ranks);
        EXPECT_EQ(g.vertices, lists.size());
        EXPECT_EQ(g.edges, w.edges) << number << " on " << ranks;
        EXPECT_EQ(g.log.arcs, w.arcs);
        EXPECT_EQ(g.log.loops, w.loops);
        EXPECT_EQ(g.log.repeated, w.arcs - w.loops - w.edges.size());
        EXPECT_TRUE(g.log.directed);
      }
    }
  }
}

TEST(BvGraph, offsets_lead_a_rank_to_its_lists) {
  const auto lists = web(150, 2);
  Folder folder;
  BvFiles files = BvEncoder(lists, {}).encode();
  write_bv(folder.file("web"), files, true);
  EXPECT_EQ(read_whole(folder.file("web"), {"", "unit", 1}, 3).edges, wanted(lists).edges);
  files.offsets[files.offsets.size() / 3] ^= 0x55;
  write_bytes(folder.file("web.offsets"), files.offsets);
  EXPECT_THROW(static_cast<void>(read_whole(folder.file("web"), {}, 3)), InputError) << "a wrong place is used";
}

TEST(BvGraph, offsets_and_chains_that_are_not_those_of_the_graph_are_refused_by_any_number_of_ranks) {
  const auto lists = web(90, 2);
  Folder folder;
  const BvFiles good = BvEncoder(lists, {}).encode(), other = BvEncoder(web(90, 5), {}).encode();
  const auto expect = [&](const BvFiles& files, const std::string& why) {
    write_bv(folder.file("web"), files, true);
    for (const int ranks : {1, 2, 5}) {
      try {
        static_cast<void>(read_whole(folder.file("web"), {}, ranks));
        ADD_FAILURE() << why << " on " << ranks;
      } catch (const InputError& e) {
        EXPECT_NE(std::string(e.what()).find(why), std::string::npos) << e.what() << " on " << ranks;
      }
    }
  };
  BvFiles files = good;
  files.offsets = other.offsets;  // a graph as large
  expect(files, "web.offsets: bit ");
  files = good;
  files.offsets.pop_back();
  expect(files, "web.offsets: bit ");
  files = good;
  const auto at = files.properties.find("maxrefcount=3");
  ASSERT_NE(at, std::string::npos);
  files.properties[at + 12] = '1';
  expect(files, "more than 1 lists in a chain");
}

TEST(BvGraph, a_graph_without_arcs_or_vertices_is_one) {
  Folder folder;
  write_bv(folder.file("alone"), BvEncoder(BvEncoder::Lists(5), {}).encode(), true);
  EXPECT_EQ(read_whole(folder.file("alone"), {}, 7).vertices, 5U);
  write_bv(folder.file("none"), BvEncoder(BvEncoder::Lists(), {}).encode(), false);
  EXPECT_EQ(read_whole(folder.file("none"), {}, 2).vertices, 0U);
}

TEST(BvGraph, bad_files_are_refused_with_the_place) {
  Folder folder;
  const auto lists = web(60, 3);
  const BvFiles good = BvEncoder(lists, {}).encode();
  const auto replaced = [&](const std::string& what, const std::string& by) {
    BvFiles files = good;
    const auto at = files.properties.find(what);
    EXPECT_NE(at, std::string::npos) << what;
    files.properties.replace(at, what.size(), by);
    return files;
  };
  BvFiles cut = good;
  cut.graph.resize(cut.graph.size() / 2);
  const std::vector<std::pair<BvFiles, std::string>> cases{
      {cut, "web.graph: bit "},
      {replaced("nodes=60", "nodes=1152921504606846976"),
       "web.properties: nodes \"1152921504606846976\"; allowed: 0 to"},
      {replaced("nodes=60", "knots=60"), "web.properties: nodes \"\""},
      {replaced("nodes=60", "nodes=-1"), "nodes \"-1\""},
      {replaced("arcs=", "arcs=9"), "arcs; allowed: 9"},
      {replaced("arcs=", "arc="), "arcs \"\""},
      {replaced("zetak=3", "zetak=99"), "zetak \"99\"; allowed: 1 to 32"},
      {replaced("version=0", "version=1"), "version"},
      {replaced("BVGraph\nnodes", "ImmutableGraph\nnodes"), "graphclass"},
      {replaced("BVGraph\nnodes", "BVGraphOfArcs\nnodes"), "graphclass"},
      {replaced("BVGraph\nnodes", "BVGraph\nunderlyinggraph=../other\nnodes"), "underlyinggraph"},
      {replaced("compressionflags=", "compressionflags=RESIDUALS_GOLOMB"), "compressionflags \"RESIDUALS_GOLOMB\""},
      {replaced("compressionflags=", "compressionflags=RESIDUALS_GAMMA"), ""},
      {replaced("windowsize=7", "windowsize=1"), ""},
  };
  for (const auto& [files, part] : cases) {
    write_bv(folder.file("web"), files, false);
    for (const int ranks : {1, 3}) {
      try {
        static_cast<void>(read_whole(folder.file("web"), {}, ranks));
        ADD_FAILURE() << part;
      } catch (const InputError& e) {
        EXPECT_NE(std::string(e.what()).find(part), std::string::npos) << e.what();
        EXPECT_EQ(std::string(e.what()).find(folder.path().string()), 0U) << e.what();
      }
    }
  }
  EXPECT_THROW(static_cast<void>(read_whole(folder.file("web.graph"))), InputError) << "part of a BVGraph";
  EXPECT_THROW(static_cast<void>(read_whole(folder.file("nothing"))), InputError);
}

TEST(BvGraph, real_web_graphs_have_as_many_arcs_as_their_authors_counted) {
  const std::filesystem::path shared = shared_folder();
  struct Real {
    std::string name;
    std::uint64_t vertices, arcs, loops, edges;
  };
  for (const Real& real : {Real{"cnr-2000", 325557, 3216152, 87442, 2738969},
                           Real{"uk-2007-05@100000", 100000, 3050615, 15670, 2779575}}) {
    const std::string base = (shared / "data" / "graphs" / real.name).string();
    if (!std::filesystem::exists(base + ".graph"))
      GTEST_SKIP() << base << ".graph is missing; MERGANSER_SHARED names the folder above data";
    comm::run({"threads", 2, "", {}}, [&](comm::Transport& t) {
      graphs::ReadLog log;
      const graphs::EdgeList g = graphs::read_graph(base, {"", "unit", 1}, t, log);
      EXPECT_EQ(g.vertices, real.vertices);
      EXPECT_EQ(log.arcs, real.arcs);
      EXPECT_EQ(log.loops, real.loops);
      EXPECT_EQ(log.arcs - log.loops - log.repeated, real.edges);
    });
    const auto forecast = graphs::forecast_file(base, {}, 3);
    EXPECT_EQ(forecast.vertices, real.vertices);
    EXPECT_GE(forecast.edges, real.edges);
  }
}

}  // namespace
