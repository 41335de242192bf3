#include "merganser/topology/graph_files.hpp"

#include <algorithm>
#include <filesystem>
#include <iterator>
#include <vector>

#include "merganser/base/error.hpp"
#include "merganser/base/output_file.hpp"
#include "src/topology/files/formats.hpp"
#include "src/topology/files/parsing.hpp"
#include "src/topology/files/whole_file.hpp"

namespace merganser::topology {
namespace {

using namespace detail;

struct Extension {
  std::string_view text;
  GraphFormat format;
};
constexpr Extension kExtensions[] = {
    {".bin", GraphFormat::binary},        {".txt", GraphFormat::adjacency}, {".adj", GraphFormat::pairs},
    {".mtx", GraphFormat::matrix_market}, {".graph", GraphFormat::metis},   {".metis", GraphFormat::metis},
};
constexpr GraphFormat kFormats[] = {GraphFormat::binary, GraphFormat::adjacency, GraphFormat::pairs,
                                    GraphFormat::matrix_market, GraphFormat::metis};
constexpr std::string_view kNames[] = {"binary", "adjacency", "pairs", "matrix-market", "metis"};

template <class Texts, class Text>
std::string list(const Texts& texts, Text text) {
  std::string out;
  for (const auto& t : texts) out += (out.empty() ? "" : ", ") + std::string(text(t));
  return out;
}

/// The format that the first bytes of a file show.
GraphFormat detect(const std::string& path, const std::string& bytes) {
  if (bytes.empty()) throw InputError(path + ": the file is empty; allowed: a process graph");
  if (bytes.substr(0, 16).find('\0') != std::string::npos) return GraphFormat::binary;
  bool ranks_told = false;  // by a comment, which is all that a graph without arcs has
  std::vector<std::string_view> pieces;
  Lines lines(bytes);
  while (lines.next()) {
    const std::string_view line = lines.line();
    if (line.starts_with("%%")) return GraphFormat::matrix_market;
    if (lines.first() == '\0' || lines.first() == '%') continue;
    if (lines.first() == '#') {
      split_blanks(line, pieces);
      ranks_told = ranks_told || (pieces.size() == 3 && pieces[0] == "#" && pieces[1] == "ranks");
      continue;
    }
    if (line.find(':') != std::string_view::npos) return GraphFormat::adjacency;
    if (line.find(',') != std::string_view::npos) return GraphFormat::pairs;
    if (line.find_first_not_of("0123456789 \t") == std::string_view::npos) return GraphFormat::metis;
    fail_at(path, lines.place(),
            shown(line) + "; allowed: a process graph as " + list(kNames, [](std::string_view n) { return n; }));
  }
  if (ranks_told) return GraphFormat::pairs;
  fail_at(path, {"line", 1}, "the file holds only comments; allowed: a process graph");
}

ProcessGraph parse_graph(const std::string& path, const std::string& bytes, GraphFormat format) {
  switch (format) {
    case GraphFormat::binary:
      return parse_binary(path, bytes);
    case GraphFormat::adjacency:
      return parse_adjacency(path, bytes);
    case GraphFormat::pairs:
      return parse_pairs(path, bytes);
    case GraphFormat::matrix_market:
      return parse_matrix_market(path, bytes);
    case GraphFormat::metis:
      return parse_metis(path, bytes);
  }
  throw UsageError("unknown format; allowed: " + list(kNames, [](std::string_view n) { return n; }));
}

}  // namespace

std::string_view format_name(GraphFormat format) { return kNames[static_cast<std::size_t>(format)]; }

GraphFormat format_of_name(std::string_view name) {
  for (const GraphFormat format : kFormats)
    if (format_name(format) == name) return format;
  throw UsageError("unknown format \"" + std::string(name) +
                   "\"; allowed: " + list(kNames, [](std::string_view n) { return n; }));
}

std::span<const GraphFormat> graph_formats() { return kFormats; }

GraphFormat format_of_path(const std::string& path) {
  const std::string extension = std::filesystem::path(path).extension().string();
  for (const Extension& e : kExtensions)
    if (e.text == extension) return e.format;
  throw UsageError(
      path + " has " + (extension.empty() ? "no extension" : "the extension " + extension) +
      "; allowed, unless the format is named: " + list(kExtensions, [](const Extension& e) { return e.text; }));
}

ProcessGraph detail::parse_any(const std::string& path, const std::string& bytes) {
  return parse_graph(path, bytes, detect(path, bytes));
}

ProcessGraph read_graph(const std::string& path) { return parse_any(path, read_whole(path)); }

ProcessGraph read_graph(const std::string& path, GraphFormat format) {
  return parse_graph(path, read_whole(path), format);
}

void write_graph(const std::string& path, const ProcessGraph& graph, GraphFormat format) {
  if (graph.ranks() < 1) throw InputError("cannot write " + path + ": a graph without ranks; allowed: at least one");
  std::string bytes;
  switch (format) {
    case GraphFormat::binary:
      bytes = print_binary(graph);
      break;
    case GraphFormat::adjacency:
      bytes = print_adjacency(graph);
      break;
    case GraphFormat::pairs:
      bytes = print_pairs(graph);
      break;
    case GraphFormat::matrix_market:
      bytes = print_matrix_market(graph);
      break;
    case GraphFormat::metis:
      bytes = print_metis(path, graph);
      break;
  }
  write_file(path, bytes);
}

}  // namespace merganser::topology
