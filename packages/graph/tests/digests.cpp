// Digests of spanning forests of graphs and points, and of graph files, for tests/house/digests.cpp, which compares them between builds.
#include <bit>
#include <string>

#include "merganser/base/error.hpp"
#include "merganser/base/random.hpp"
#include "merganser/graphs/files.hpp"
#include "merganser/graphs/generate.hpp"
#include "merganser/msf/euclidean.hpp"
#include "merganser/msf/minimum_forest.hpp"
#include "tests/io/folder.hpp"

namespace merganser::test {
namespace {

using Tell = void (*)(const std::string& what, const std::string& digest);

void span_points(Tell tell, comm::Transport& transport, msf::PointSpace space, std::size_t count, int min_samples) {
  msf::Points points{space, {}, {}};
  Random random(3, 0, static_cast<std::uint32_t>(space.dimension));
  for (std::size_t i = 0; i < count * static_cast<std::size_t>(space.dimension); ++i)
    points.coordinates.push_back(i % 3 == 0 ? random.uniform()
                                            : static_cast<double>(static_cast<int>(random.uniform() * 16)) / 16);
  msf::EuclideanOptions options;
  options.min_samples = min_samples;
  msf::Report report;
  const msf::Forest forest = msf::euclidean_forest(points, transport, options, report);
  tell("points", msf::totals(forest, transport).digest);
}

void span_graph(Tell tell, comm::Transport& transport, const char* spec) {
  msf::Report report;
  const graphs::EdgeList graph = graphs::generate(spec, {}, transport);
  tell(spec, msf::totals(msf::minimum_spanning_forest(graph, transport, {}, report), transport).digest);
}

/// Tells a hash (FNV-1a) of the bytes of a graph file in each format that can be written, and the digest of the graph that is
/// read from it. A big-endian machine refuses binary graphs, which are those of memory.
void write_and_read(Tell tell, comm::Transport& transport) {
  const Folder folder;
  const graphs::EdgeList graph = graphs::generate("rmat:7:4", {}, transport);
  for (const graphs::Format format : graphs::formats()) {
    if (!graphs::is_writable(format)) continue;
    const bool of_memory = format == graphs::Format::binary;
    const std::string name = std::string(of_memory ? "of-this-family:" : "") + std::string(to_string(format));
    const std::string path = folder.file("graph");
    try {
      graphs::write_graph(path, graph, format, transport);
      std::uint64_t hash = 0xcbf29ce484222325ULL;
      for (const char c : read_bytes(path)) hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001b3ULL;
      tell(name + " written", std::to_string(hash));
      graphs::ReadLog log;
      msf::Report report;
      const graphs::EdgeList read =
          graphs::read_graph(path, {.format = std::string(to_string(format))}, transport, log);
      tell(name + " read", msf::totals(msf::minimum_spanning_forest(read, transport, {}, report), transport).digest);
    } catch (const InputError&) {
      if (!of_memory || std::endian::native == std::endian::little) throw;
      tell(name, "refused");
    }
  }
}

}  // namespace

void tell_digests_of_graphs(comm::Transport& transport, Tell tell);
void tell_digests_of_graphs(comm::Transport& transport, Tell tell) {
  using enum msf::Distance;
  for (const int min_samples : {1, 5}) {
    span_points(tell, transport, {.dimension = 3}, 3000, min_samples);
    span_points(tell, transport, {.dimension = 2, .periods = {{0, 0, 1}, {1, 0, 1}}}, 2000, min_samples);
    span_points(tell, transport, {.dimension = 8}, 1000, min_samples);
    span_points(tell, transport, {.dimension = 5, .metric = manhattan}, 1000, min_samples);
    span_points(tell, transport, {.dimension = 40, .metric = chebyshev}, 500, min_samples);
    span_points(tell, transport, {.dimension = 40, .periods = {{2, 0, 1}}}, 500, min_samples);
  }
  span_graph(tell, transport, "rmat:10:8");
  span_graph(tell, transport, "rgg3d:10:8");
  write_and_read(tell, transport);
}

}  // namespace merganser::test
