// Reading and writing of whole process graph files: formats by name, extension and contents, dispatch to parsers and serializers.
#include "merganser/graphs/process_graph_files.hpp"

#include <algorithm>
#include <filesystem>
#include <iterator>

#include "merganser/base/error.hpp"
#include "merganser/base/lines.hpp"
#include "merganser/base/output_file.hpp"
#include "merganser/base/resources.hpp"
#include "merganser/base/text.hpp"
#include "merganser/base/text_table.hpp"
#include "src/graphs/files/disk.hpp"
#include "src/graphs/process_files/formats.hpp"
#include "src/graphs/process_files/parsing.hpp"

namespace merganser::graphs {
namespace {

using namespace detail;

/// Format of files of process graphs, and an extension of file names that stands for the format.
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

constexpr std::size_t kBinaryBytes = 16;  ///< with a byte 0 among the first ones a file is binary

/// Reads the bytes of a whole process graph file into memory; a text without its byte order mark. Local.
/// @throws InputError if it is no plain file, cannot be read, is compressed, or is larger than half the memory available
std::string read_whole(const std::string& path) {
  const File file(path);
  // The graph that is made of them takes as much again, and more.
  if (const auto there = available_bytes(); there > 0 && file.size() > static_cast<std::uint64_t>(there) / 2)
    throw InputError("cannot read " + path + ": it has " + bytes_text(static_cast<double>(file.size())) +
                     "; allowed: up to half the memory that is there, " + bytes_text(static_cast<double>(there)));
  std::string bytes(static_cast<std::size_t>(file.size()), '\0');
  bytes.resize(file.read(0, bytes.data(), bytes.size()));  // fewer if it was cut meanwhile
  if (const auto what = known_signature(bytes); !what.empty()) throw InputError(path + ": " + what);
  if (bytes.substr(0, kBinaryBytes).find('\0') != std::string::npos) return bytes;
  if (bytes.starts_with(kUtf8Mark)) bytes.erase(0, kUtf8Mark.size());
  for (auto at = bytes.find('\r'); at != std::string::npos && at + 1 < bytes.size(); at = bytes.find('\r', at + 1))
    if (bytes[at + 1] != '\n') FileBytes(path, bytes).fail(at, std::string(kBareReturnText));
  return bytes;
}

/// Determines the format of a file of a process graph by its first bytes and its first line that is no comment. @throws
/// InputError if the file has no known format
ProcessGraphFormat detect_process_format(const std::string& path, const std::string& bytes) {
  if (bytes.empty()) throw InputError(path + ": the file is empty; allowed: a process graph");
  if (bytes.substr(0, kBinaryBytes).find('\0') != std::string::npos) return ProcessGraphFormat::binary;
  bool ranks_told = false;  // a comment gives the number of ranks; a graph without arcs has nothing else
  const FileBytes file(path, bytes);
  for (LineWalk walk(bytes); walk.next();) {
    const std::string_view line = walk.line(), first = BlankWords(line).next();
    if (line.starts_with("%%")) return ProcessGraphFormat::matrix_market;
    if (first.empty() || first.starts_with('%')) continue;
    if (first.starts_with('#')) {
      ranks_told = ranks_told || !rank_comment(line).empty();
      continue;
    }
    if (line.find(':') != std::string_view::npos) return ProcessGraphFormat::adjacency;
    if (line.find(',') != std::string_view::npos) return ProcessGraphFormat::pairs;
    if (line.find_first_not_of("0123456789 \t") == std::string_view::npos) return ProcessGraphFormat::metis;
    file.fail(walk.at(), quote(line) + "; allowed: a process graph as " + joined(kNames));
  }
  if (ranks_told) return ProcessGraphFormat::pairs;
  file.fail(0, "the file holds only comments; allowed: a process graph");
}

/// Parses the bytes of a process graph file by the parser of a format. @throws InputError naming the place
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
  throw UsageError("unknown format; allowed: " + joined(kNames));
}

}  // namespace

std::string_view to_string(ProcessGraphFormat format) { return kNames[static_cast<std::size_t>(format)]; }

ProcessGraphFormat parse_process_format(std::string_view name) {
  for (const ProcessGraphFormat format : kFormats)
    if (to_string(format) == name) return format;
  throw UsageError("unknown format \"" + std::string(name) + "\"; allowed: " + joined(kNames));
}

std::span<const ProcessGraphFormat> process_formats() { return kFormats; }

// Format of a process graph file to be written, by its extension.
ProcessGraphFormat process_format_from_path(const std::string& path) {
  const std::string extension = std::filesystem::path(path).extension().string();
  for (const Extension& e : kExtensions)
    if (e.text == extension) return e.format;
  throw UsageError(path + " has " + (extension.empty() ? "no extension" : "the extension " + extension) +
                   "; allowed, unless the format is named: " + joined(kExtensions, ", ", &Extension::text));
}

ProcessGraph detail::parse_any(const std::string& path, const std::string& bytes) {
  return parse_graph(path, bytes, detect_process_format(path, bytes));
}

ProcessGraph read_process_graph(const std::string& path) { return parse_any(path, read_whole(path)); }

ProcessGraph read_process_graph(const std::string& path, ProcessGraphFormat format) {
  return parse_graph(path, read_whole(path), format);
}

// Writer of process graphs: the file is serialized in memory and appears whole or not at all.
void write_process_graph(const std::string& path, const ProcessGraph& graph, ProcessGraphFormat format) {
  if (graph.ranks() < 1) throw InputError("cannot write " + path + ": a graph without ranks; allowed: at least one");
  std::string bytes;
  switch (format) {
    case ProcessGraphFormat::binary:
      bytes = serialize_binary(graph);
      break;
    case ProcessGraphFormat::adjacency:
      bytes = serialize_adjacency(graph);
      break;
    case ProcessGraphFormat::pairs:
      bytes = serialize_pairs(graph);
      break;
    case ProcessGraphFormat::matrix_market:
      bytes = serialize_matrix_market(graph);
      break;
    case ProcessGraphFormat::metis:
      bytes = serialize_metis(path, graph);
      break;
  }
  write_file(path, bytes);
}

}  // namespace merganser::graphs
