#include "merganser/graphs/process_graph_files.hpp"

#include <algorithm>
#include <filesystem>
#include <iterator>
#include <vector>

#include "merganser/base/error.hpp"
#include "merganser/base/output_file.hpp"
#include "src/graphs/process_files/formats.hpp"
#include "src/graphs/process_files/parsing.hpp"
#include "src/graphs/process_files/whole_file.hpp"

namespace merganser::graphs {
namespace {

using namespace detail;

struct Extension {
  std::string_view text;
  ProcessGraphFormat format;
};
constexpr Extension kExtensions[] = {
    {".bin", ProcessGraphFormat::binary},  {".txt", ProcessGraphFormat::adjacency},
    {".adj", ProcessGraphFormat::pairs},   {".mtx", ProcessGraphFormat::matrix_market},
    {".graph", ProcessGraphFormat::metis}, {".metis", ProcessGraphFormat::metis},
};
constexpr ProcessGraphFormat kFormats[] = {ProcessGraphFormat::binary, ProcessGraphFormat::adjacency,
                                           ProcessGraphFormat::pairs, ProcessGraphFormat::matrix_market,
                                           ProcessGraphFormat::metis};
constexpr std::string_view kNames[] = {"binary", "adjacency", "pairs", "matrix-market", "metis"};

template <class Texts, class Text>
std::string list(const Texts& texts, Text text) {
  std::string out;
  for (const auto& t : texts) out += (out.empty() ? "" : ", ") + std::string(text(t));
  return out;
}

/// The format that the first bytes of a file show.
ProcessGraphFormat detect(const std::string& path, const std::string& bytes) {
  if (bytes.empty()) throw InputError(path + ": the file is empty; allowed: a process graph");
  if (bytes.substr(0, 16).find('\0') != std::string::npos) return ProcessGraphFormat::binary;
  bool ranks_told = false;  // by a comment, which is all that a graph without arcs has
  std::vector<std::string_view> pieces;
  Lines lines(bytes);
  while (lines.next()) {
    const std::string_view line = lines.line();
    if (line.starts_with("%%")) return ProcessGraphFormat::matrix_market;
    if (lines.first() == '\0' || lines.first() == '%') continue;
    if (lines.first() == '#') {
      split_blanks(line, pieces);
      ranks_told = ranks_told || (pieces.size() == 3 && pieces[0] == "#" && pieces[1] == "ranks");
      continue;
    }
    if (line.find(':') != std::string_view::npos) return ProcessGraphFormat::adjacency;
    if (line.find(',') != std::string_view::npos) return ProcessGraphFormat::pairs;
    if (line.find_first_not_of("0123456789 \t") == std::string_view::npos) return ProcessGraphFormat::metis;
    fail_at(path, lines.place(),
            shown(line) + "; allowed: a process graph as " + list(kNames, [](std::string_view n) { return n; }));
  }
  if (ranks_told) return ProcessGraphFormat::pairs;
  fail_at(path, {"line", 1}, "the file holds only comments; allowed: a process graph");
}

ProcessGraph parse_graph(const std::string& path, const std::string& bytes, ProcessGraphFormat format) {
  switch (format) {
    case ProcessGraphFormat::binary:
      return parse_binary(path, bytes);
    case ProcessGraphFormat::adjacency:
      return parse_adjacency(path, bytes);
    case ProcessGraphFormat::pairs:
      return parse_pairs(path, bytes);
    case ProcessGraphFormat::matrix_market:
      return parse_matrix_market(path, bytes);
    case ProcessGraphFormat::metis:
      return parse_metis(path, bytes);
  }
  throw UsageError("unknown format; allowed: " + list(kNames, [](std::string_view n) { return n; }));
}

}  // namespace

std::string_view name_of(ProcessGraphFormat format) { return kNames[static_cast<std::size_t>(format)]; }

ProcessGraphFormat process_format_of_name(std::string_view name) {
  for (const ProcessGraphFormat format : kFormats)
    if (name_of(format) == name) return format;
  throw UsageError("unknown format \"" + std::string(name) +
                   "\"; allowed: " + list(kNames, [](std::string_view n) { return n; }));
}

std::span<const ProcessGraphFormat> process_formats() { return kFormats; }

ProcessGraphFormat process_format_of_path(const std::string& path) {
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

ProcessGraph read_process_graph(const std::string& path) { return parse_any(path, read_whole(path)); }

ProcessGraph read_process_graph(const std::string& path, ProcessGraphFormat format) {
  return parse_graph(path, read_whole(path), format);
}

void write_process_graph(const std::string& path, const ProcessGraph& graph, ProcessGraphFormat format) {
  if (graph.ranks() < 1) throw InputError("cannot write " + path + ": a graph without ranks; allowed: at least one");
  std::string bytes;
  switch (format) {
    case ProcessGraphFormat::binary:
      bytes = print_binary(graph);
      break;
    case ProcessGraphFormat::adjacency:
      bytes = print_adjacency(graph);
      break;
    case ProcessGraphFormat::pairs:
      bytes = print_pairs(graph);
      break;
    case ProcessGraphFormat::matrix_market:
      bytes = print_matrix_market(graph);
      break;
    case ProcessGraphFormat::metis:
      bytes = print_metis(path, graph);
      break;
  }
  write_file(path, bytes);
}

}  // namespace merganser::graphs
