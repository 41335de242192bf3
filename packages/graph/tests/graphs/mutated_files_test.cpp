/// Mutation tests of the readers of graph files: a file of any format with arbitrary bytes changed, removed or truncated is read
/// or refused, without a crash, a hang or an excessive allocation.
#include <gtest/gtest.h>

#include <atomic>

#include "tests/graphs/bv_encoder.hpp"
#include "tests/graphs/whole_graph.hpp"
#include "tests/io/folder.hpp"
#include "tests/support/mutated.hpp"

namespace {

using namespace merganser;
using namespace merganser::test;

struct Sample {
  std::string name;  ///< of the file that is changed
  std::string base;  ///< of the graph
  std::string bytes;
};

/// A small good file of every format, and each file of a BVGraph.
std::vector<Sample> samples(Folder& folder) {
  std::vector<Sample> all;
  const auto add = [&](const std::string& name, const std::string& bytes) { all.push_back({name, name, bytes}); };
  add("a.txt", "# vertices: 9\n0 1 5\n1 2 6\n2 3 7\n7 8 -1\n");
  add("b.txt", "% bip weighted\n% 4 3 3\n1 1 2.5 3\n2 2 1e3 4\n3 3 7 5\n4 1 2 6\n");
  std::string entries;
  for (int i = 1; i <= 30; ++i) entries += "% c\n" + std::to_string(i) + " " + std::to_string(i + 1) + " 12.5\n";
  add("c.mtx", "%%MatrixMarket matrix coordinate real general\n40 40 30\n" + entries);
  add("d.metis", "% c\n4 4 011 2\n1 2 2 5 3 6\n1 1 1 5 4 7\n3 1 1 6 4 8\n0 0 2 7 3 8\n");
  add("e.gr", "c a\np sp 4 4\na 1 2 3\na 2 1 3\na 3 4 5\na 4 3 5\n");
  std::string words;
  for (const std::uint64_t w : {2, 3, 4, 56, 64, 80, 88, 1, 0, 2, 1, 5, 5, 6, 6})
    words.append(reinterpret_cast<const char*>(&w), 8);
  add("f.parhip", words);
  static_cast<void>(on_threads(1, [&](comm::Transport& t, graphs::ReadLog&) {
    graphs::EdgeList g = graphs::generate("gnm:3:2", {1, "float32"}, t);
    graphs::write_graph(folder.file("g.mgr"), g, graphs::Format::binary, t);
    return g;
  }));
  std::ifstream in(folder.file("g.mgr"), std::ios::binary);
  add("g.mgr", std::string(std::istreambuf_iterator<char>(in), {}));
  BvEncoder::Lists lists(24);
  for (std::uint64_t v = 0; v < 24; ++v)
    for (std::uint64_t w = v / 3; w < std::min<std::uint64_t>(24, v / 3 + 7); w += 1 + (v + w) % 2)
      lists[v].push_back(w);
  const BvFiles bv = BvEncoder(lists, {}).encode();
  all.push_back({"web.graph", "web", bv.graph});
  all.push_back({"web.properties", "web", bv.properties});
  all.push_back({"web.offsets", "web", bv.offsets});
  for (const Sample& s : all) write_bytes(folder.file(s.name), s.bytes);
  return all;
}

/// Anything but a graph or an error that names the file is a failure. @return true if it was read
bool read_one(const std::string& path, comm::Transport& t, std::uint64_t seed) {
  try {
    graphs::ReadLog log;
    const auto forecast = graphs::forecast_file(path, {}, 2);
    EXPECT_LT(forecast.vertices, std::uint64_t{1} << 26) << path << " seed " << seed;
    const graphs::EdgeList g = graphs::read_graph(path, {}, t, log);
    EXPECT_LT(g.vertices, std::uint64_t{1} << 26) << path << " seed " << seed;
    std::visit(
        [&](const auto& edges) {
          for (const auto& e : edges) {
            EXPECT_LE(e.low, e.high);
            EXPECT_LT(e.high, g.vertices) << path << " seed " << seed;
          }
        },
        g.edges);
    return true;
  } catch (const InputError& e) {
    EXPECT_NE(std::string(e.what()).find(path), std::string::npos) << "seed " << seed << ": " << e.what();
  } catch (const std::exception& e) {
    ADD_FAILURE() << path << " seed " << seed << ": " << e.what();
  }
  return false;
}

TEST(MutatedGraphs, are_read_or_refused_and_never_more) {
  Folder folder;
  for (const Sample& sample : samples(folder)) {
    int read = 0, refused = 0;
    for (const int ranks : {1, 2}) {
      const std::uint64_t first = ranks == 1 ? 1 : 1001, last = ranks == 1 ? 160 : 1020;
      for (std::uint64_t seed = first; seed <= last && !HasFailure(); ++seed) {
        write_bytes(folder.file(sample.name), mutated(sample.bytes, seed));
        std::atomic<bool> good{false};
        comm::run({"threads", ranks, "", {}}, [&](comm::Transport& t) {
          const bool mine = read_one(folder.file(sample.base), t, seed);
          if (t.rank() == 0) good = mine;
        });
        (good ? read : refused) += 1;
      }
    }
    write_bytes(folder.file(sample.name), sample.bytes);
    EXPECT_GT(read, sample.name == "web.offsets" ? -1 : 0) << sample.name;  // a wrong place is always seen
    EXPECT_GT(refused, 30) << sample.name;
  }
}

TEST(MutatedGraphs, every_shorter_file_is_refused_or_a_whole_one) {
  Folder folder;
  comm::run({"threads", 1, "", {}}, [&](comm::Transport& t) {
    for (const Sample& sample : samples(folder)) {
      int read = 0;
      for (std::size_t length = 0; length < sample.bytes.size(); ++length) {
        write_bytes(folder.file(sample.name), sample.bytes.substr(0, length));
        read += read_one(folder.file(sample.base), t, length) ? 1 : 0;
      }
      write_bytes(folder.file(sample.name), sample.bytes);
      const bool counted = sample.name == "f.parhip" || sample.name == "g.mgr" || sample.name == "web.graph";
      EXPECT_TRUE(read == 0 || !counted) << sample.name;
    }
  });
}

}  // namespace
