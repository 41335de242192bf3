// Process graphs as Matrix Market files, read and written whole by one rank. The reader of distributed graphs
// (src/graphs/files/matrix_market.cpp) shares the parsing of the header and of entries.
#include "src/graphs/files/matrix_market.hpp"

#include "merganser/base/text.hpp"
#include "src/graphs/process_files/formats.hpp"
#include "src/graphs/process_files/parsing.hpp"

namespace merganser::graphs::detail {

// Parser of process graphs in Matrix Market files: an entry (row, column) is an arc; of symmetric matrices two.
ProcessGraph parse_matrix_market(const std::string& path, const std::string& text) {
  const FileBytes file(path, text);
  const MatrixHeader header = read_matrix_header(path, text, true);
  file.check(header.at, header.size, "number of rows", 1, static_cast<std::uint64_t>(max_ranks(text.size())));
  file.check(header.at, header.entries, "number of entries", 0, text.size() / 4 + 1);  // an entry takes four bytes
  ProcessArcs list(file);
  ArcSink arcs(file, list, {.weighted = header.weighted, .both = !header.general, .most = header.entries});
  parse_matrix_entries(std::string_view(text).substr(header.body), header.body, header, arcs);
  if (arcs.entries() != header.entries)
    file.fail(text.size(), "the file ends after " + wrong_entries(arcs.entries(), header));
  return list.graph(static_cast<int>(header.size), 1);
}

// Process graph as Matrix Market text: values are weights, left out (pattern) if all are 1.
std::string serialize_matrix_market(const ProcessGraph& graph) {
  const bool weighted = graph.is_weighted();
  std::string out = std::string("%%MatrixMarket matrix coordinate ") + (weighted ? "real" : "pattern") + " general\n";
  const std::string ranks = std::to_string(graph.ranks());
  out += "% merganser process graph\n" + ranks + ' ' + ranks + ' ' + std::to_string(graph.arcs()) + '\n';
  for (int r = 0; r < graph.ranks(); ++r) {
    for (const auto& arc : graph.row(r)) {
      out += std::to_string(r + 1) + ' ' + std::to_string(arc.to + 1);
      if (weighted) out += ' ' + number_text(arc.bytes);
      out += '\n';
    }
  }
  return out;
}

}  // namespace merganser::graphs::detail
