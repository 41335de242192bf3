// Process graphs as METIS files, read and written whole by one rank. The format itself, read and written, is
// src/graphs/files/metis.hpp.
#include "src/graphs/files/metis.hpp"

#include <cmath>

#include "merganser/base/error.hpp"
#include "merganser/base/text.hpp"
#include "src/graphs/process_files/formats.hpp"
#include "src/graphs/process_files/parsing.hpp"

namespace merganser::graphs::detail {
namespace {

constexpr std::int64_t kMaxWeight = std::int64_t{1} << 53;

/// Checks that every arc of a process graph has a reverse of equal weight, as METIS files require. @throws InputError naming the
/// first arc without
void check_symmetric(const std::string& path, const ProcessGraph& graph) {
  for (int r = 0; r < graph.ranks(); ++r) {
    for (const auto& arc : graph.row(r)) {
      const auto back = graph.row(arc.to);
      const auto at = std::lower_bound(back.begin(), back.end(), r, [](const auto& a, int to) { return a.to < to; });
      if (at != back.end() && at->to == r && at->bytes == arc.bytes) continue;
      throw InputError(path + ": the edge from vertex " + std::to_string(r + 1) + " to " + std::to_string(arc.to + 1) +
                       " of weight " + number_text(arc.bytes) +
                       " has no equal one back; allowed in METIS files: "
                       "edges given at both ends with the same weight");
    }
  }
}

}  // namespace

// Parser of process graphs in METIS files: the line of a vertex holds the receiving ranks of its arcs.
ProcessGraph parse_metis(const std::string& path, const std::string& text) {
  const FileBytes file(path, text);
  const MetisHeader header = read_metis_header(path, text, true);
  // Every vertex has a line, every edge two numbers.
  file.check(header.at, header.vertices, "number of vertices", 1, std::min<std::uint64_t>(text.size(), 2147483647));
  file.check(header.at, header.edges, "number of edges", 0, text.size() / 2);
  ProcessArcs list(file);
  ArcSink arcs(file, list, {.weighted = header.weighted});
  const auto body = std::string_view(text).substr(static_cast<std::size_t>(header.body));
  const std::uint64_t rows = parse_metis_rows(body, header.body, header, 0, arcs);
  if (rows < header.vertices) file.fail(text.size(), missing_rows(rows, header));
  if (arcs.entries() != 2 * header.edges) file.fail(header.at, wrong_neighbours(arcs.entries(), header));
  ProcessGraph graph = list.graph(static_cast<int>(header.vertices), 1);
  check_symmetric(path, graph);
  return graph;
}

// Process graph as METIS text, after checks that the format can hold it.
std::string serialize_metis(const std::string& path, const ProcessGraph& graph) {
  for (int r = 0; r < graph.ranks(); ++r) {
    for (const auto& arc : graph.row(r)) {
      if (arc.bytes >= 1 && arc.bytes <= static_cast<double>(kMaxWeight) && arc.bytes == std::floor(arc.bytes))
        continue;
      throw InputError(path + ": the weight " + number_text(arc.bytes) + " from vertex " + std::to_string(r + 1) +
                       " to " + std::to_string(arc.to + 1) + "; allowed in METIS files: whole numbers from 1 to " +
                       std::to_string(kMaxWeight));
    }
  }
  check_symmetric(path, graph);
  const bool weighted = graph.is_weighted();
  std::string out = "% merganser process graph\n" + metis_head(static_cast<std::uint64_t>(graph.ranks()),
                                                               static_cast<std::uint64_t>(graph.arcs() / 2), weighted);
  for (int r = 0; r < graph.ranks(); ++r)
    append_metis_row(out, graph.row(r), weighted, [](const auto& arc) { return static_cast<std::int64_t>(arc.bytes); });
  return out;
}

}  // namespace merganser::graphs::detail
