#pragma once
/// Helpers of tests: distributed graphs that were generated or read on several ranks, gathered into one.
#include <algorithm>
#include <filesystem>
#include <fstream>
#include <mutex>
#include <string>
#include <vector>

#include "merganser/base/error.hpp"
#include "merganser/comm/runtime.hpp"
#include "merganser/graphs/files.hpp"

namespace merganser::test {

struct WholeGraph {
  std::uint64_t vertices = 0;
  graphs::WeightKind kind = graphs::WeightKind::unsigned_integer;
  std::size_t edge_bytes = 0;
  std::vector<graphs::Edge24> edges;  ///< by (low, high, weight)
  std::vector<std::uint64_t> names;
  graphs::ReadLog log;
  std::vector<std::size_t> shares;  ///< edges of each rank
};

inline bool by_ends(const graphs::Edge24& a, const graphs::Edge24& b) {
  return std::tuple(a.low, a.high, a.weight) < std::tuple(b.low, b.high, b.weight);
}

/// Runs `make(transport, log)` on ranks that are threads, and gathers the graph that they return.
template <class Make>
WholeGraph on_threads(int ranks, const Make& make) {
  WholeGraph whole;
  std::vector<std::vector<std::uint64_t>> names(static_cast<std::size_t>(ranks));
  whole.shares.resize(static_cast<std::size_t>(ranks));
  std::mutex mutex;
  comm::run({"threads", ranks, "", {}}, [&](comm::Transport& t) {
    graphs::ReadLog log;
    const graphs::EdgeList mine = make(t, log);
    const std::lock_guard lock(mutex);
    const auto rank = static_cast<std::size_t>(t.rank());
    if (rank == 0) whole.log = log;
    whole.vertices = mine.vertices;
    whole.kind = mine.kind;
    names[rank] = mine.names;
    whole.shares[rank] = mine.size();
    std::visit(
        [&](const auto& edges) {
          whole.edge_bytes = sizeof(edges[0]);
          for (const auto& e : edges) whole.edges.push_back({e.low, e.high, e.weight});
        },
        mine.edges);
  });
  for (const auto& part : names) whole.names.insert(whole.names.end(), part.begin(), part.end());
  std::sort(whole.edges.begin(), whole.edges.end(), by_ends);
  return whole;
}

inline WholeGraph made(const std::string& spec, const graphs::GenerateOptions& options = {}, int ranks = 1) {
  return on_threads(ranks, [&](comm::Transport& t, graphs::ReadLog&) { return graphs::generate(spec, options, t); });
}

inline WholeGraph read_whole(const std::string& path, const graphs::ReadOptions& options = {}, int ranks = 1) {
  return on_threads(
      ranks, [&](comm::Transport& t, graphs::ReadLog& log) { return graphs::read_graph(path, options, t, log); });
}

/// Graph of all ranks, read with the names of its vertices.
struct NamedGraph {
  WholeGraph graph;
  std::vector<std::string> names;
};
inline NamedGraph read_named(const std::string& path, int ranks, bool with_names = true) {
  NamedGraph out;
  std::vector<std::vector<std::string>> parts(static_cast<std::size_t>(ranks));
  graphs::ReadOptions options;
  options.names = with_names;
  out.graph = on_threads(ranks, [&](comm::Transport& t, graphs::ReadLog& log) {
    graphs::EdgeList mine = graphs::read_graph(path, options, t, log);
    parts[static_cast<std::size_t>(t.rank())] = mine.text_names;
    return mine;
  });
  for (const auto& part : parts) out.names.insert(out.names.end(), part.begin(), part.end());
  return out;
}

inline void write_bytes(const std::string& path, const std::string& bytes) {
  std::filesystem::remove(
      path);  // a file that is cut to nothing and written anew is put on the disk at once by some systems
  std::ofstream out(path, std::ios::binary);
  out << bytes;
}

}  // namespace merganser::test
