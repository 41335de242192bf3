// Formats of graph files by name, extension and contents; reading of a graph by the reader of its format; forecasts of its size.
#include "merganser/graphs/files.hpp"

#include <algorithm>
#include <array>
#include <filesystem>

#include "merganser/base/error.hpp"
#include "merganser/base/text.hpp"
#include "merganser/base/text_table.hpp"
#include "merganser/comm/collectives.hpp"
#include "merganser/comm/hosts.hpp"
#include "merganser/graphs/decompressor.hpp"
#include "merganser/graphs/weights.hpp"
#include "src/graphs/files/disk.hpp"
#include "src/graphs/files/one_rank.hpp"
#include "src/graphs/files/raw.hpp"
#include "src/graphs/files/text.hpp"

namespace merganser::graphs {
namespace {

using namespace detail;

constexpr std::array kFormats{Format::edge_list, Format::matrix_market, Format::metis, Format::dimacs, Format::parhip,
                              Format::bvgraph,   Format::binary,        Format::pajek, Format::gml,    Format::graphml};
constexpr std::array<std::string_view, kFormats.size()> kNames{
    "edge-list", "matrix-market", "metis", "dimacs", "parhip", "bvgraph", "binary", "pajek", "gml", "graphml"};

/// Formats whose vertices may have names that are text.
constexpr std::array kNamed{Format::edge_list, Format::pajek, Format::gml, Format::graphml};

/// Format of graph files, and an extension of file names that stands for the format.
struct Extension {
  std::string_view text;
  Format format;
};
constexpr std::array kExtensions{Extension{".txt", Format::edge_list},     Extension{".tsv", Format::edge_list},
                                 Extension{".csv", Format::edge_list},     Extension{".el", Format::edge_list},
                                 Extension{".edges", Format::edge_list},   Extension{".wel", Format::edge_list},
                                 Extension{".mtx", Format::matrix_market}, Extension{".metis", Format::metis},
                                 Extension{".graph", Format::metis},       Extension{".gr", Format::dimacs},
                                 Extension{".col", Format::dimacs},        Extension{".dimacs", Format::dimacs},
                                 Extension{".parhip", Format::parhip},     Extension{".bgf", Format::parhip},
                                 Extension{".mgr", Format::binary},        Extension{".net", Format::pajek},
                                 Extension{".gml", Format::gml},           Extension{".graphml", Format::graphml}};

/// Finds the graph format that the extension of a path stands for (the one before ".gz" and the like, if that is there); null if there is none.
const Extension* find_extension(const std::string& path) {
  const std::string text = std::filesystem::path(without_compression(path)).extension().string();
  const auto found =
      std::find_if(kExtensions.begin(), kExtensions.end(), [&](const Extension& e) { return e.text == text; });
  return found == kExtensions.end() ? nullptr : &*found;
}

/// Returns a word in lower case.
std::string lower_case(std::string_view word) {
  std::string out(word);
  for (char& c : out) c = static_cast<char>(c >= 'A' && c <= 'Z' ? c - 'A' + 'a' : c);
  return out;
}

/// Returns true for a line that begins a GML file: a graph, or a key that stands before it with a value that no edge list has there.
/// @param lower  first word of the line, in lower case
bool begins_gml(std::string_view lower, std::string_view line) {
  if (lower == "graph" || lower == "graph[" || lower == "creator") return true;
  Words words(line);
  static_cast<void>(words.next());
  const std::string_view value = words.next();
  if (lower == "version") return CellKind::number == cell_kind(value) && words.next().empty();
  return lower == "comment" && value.starts_with('"');
}

/// Determines the format of a graph file by its first bytes and its first line that is no comment. A METIS file cannot
/// be told from an edge list and needs its extension. @throws InputError for an empty file, and for a file that is no
/// graph
Format detect_by_contents(const std::string& path) {
  std::string head = read_head(path);
  if (head.empty()) throw InputError(path + ": the file is empty; allowed: a graph");
  if (head.starts_with("MRGNGRPH")) return Format::binary;
  // Text in UTF-16 has zeros too; it is refused by read_text_head() below, not taken for a binary ParHIP header.
  const bool two_bytes =
      head.size() > 3 && (head[0] == '\0') != (head[1] == '\0') && (head[2] == '\0') != (head[3] == '\0');
  if (!two_bytes && head.substr(0, 24).find('\0') != std::string::npos) return Format::parhip;
  head = read_text_head(path);
  if (Words(head).rest().starts_with("%%MatrixMarket")) return Format::matrix_market;
  for (LineWalk walk(head); walk.next();) {
    const std::string_view first = Words(walk.line()).next();
    const std::string lower = lower_case(first);
    if (first == "p") return Format::dimacs;
    if (first.starts_with("<?xml") || first.starts_with("<graphml")) return Format::graphml;
    if (begins_gml(lower, walk.line())) return Format::gml;
    if (lower.starts_with("*vertices") || lower.starts_with("*network")) return Format::pajek;
    if (first != "c" && !first.empty() && walk.line().front() != '%' && walk.line().front() != '#') break;
  }
  return Format::edge_list;
}

/// Reads this rank's arcs of a graph file by the reader of its format, any but merganser's binary format. Collective.
Raw read_raw(const Source& source, Format format) {
  switch (format) {
    case Format::edge_list:
      return read_edge_list(source);
    case Format::matrix_market:
      return read_matrix_market(source);
    case Format::metis:
      return read_metis(source);
    case Format::dimacs:
      return read_dimacs(source);
    case Format::parhip:
      return read_parhip(source);
    case Format::pajek:
      return read_pajek(source);
    case Format::gml:
      return read_gml(source);
    case Format::graphml:
      return read_graphml(source);
    default:
      return read_bvgraph(source);
  }
}

/// Replaces the weights of this rank's edges, read from a binary graph file, by generated ones. Local; the size of edges may
/// change.
void replace_weights(EdgeList& graph, const ReadOptions& options, ReadLog& log) {
  const WeightMaker make = parse_weights(options.weights, options.seed);
  graph.kind = make.kind();
  const auto fill = [&]<class To, class From>(const std::vector<From>& from, To) {
    std::vector<To> to;
    to.reserve(from.size());
    for (const From& e : from) to.push_back(make_edge<To>(e.low, e.high, std::uint64_t{make(e.low, e.high)}));
    graph.edges = std::move(to);
  };
  const auto before = std::move(graph.edges);
  std::visit(
      [&](const auto& edges) {
        if (graph.vertices > (std::uint64_t{1} << 32))
          fill(edges, Edge24{});
        else if (make.bits() == 64)
          fill(edges, Edge16{});
        else
          fill(edges, Edge12{});
      },
      before);
  log.lines.push_back("weights of the file not used: made ones (" + options.weights +
                      ", a hash of both ends and seed " + std::to_string(options.seed) + ")");
}

/// Returns the format of a graph file: the one that the options name, else the one that the file shows. Local. @throws UsageError
/// for an unknown name, InputError for a file that cannot be read, or is compressed in a binary format
Format choose_format(const std::string& path, const ReadOptions& options) {
  const Format format = options.format.empty() ? detect_format(path) : parse_format(options.format);
  if (format == Format::parhip || format == Format::binary) check_unpacked(path);
  return format;
}

/// Checks the name of generated weights in the options of a graph file reader. @throws UsageError for weights that cannot be
/// generated for a file (euclidean)
void check_weights(const ReadOptions& options) {
  if (options.weights.empty()) return;
  if (parse_weights(options.weights, 0).model == WeightModel::euclidean)
    throw UsageError("weights \"euclidean\" for a file; allowed: for made points (rgg2d, rgg3d) only");
}

/// Checks that vertices of a format may have names that are text, if the options ask for them. @throws UsageError if not
void check_names(const ReadOptions& options, Format format) {
  if (options.names && std::find(kNamed.begin(), kNamed.end(), format) == kNamed.end())
    throw UsageError("names of vertices in format \"" + std::string(to_string(format)) +
                     "\", whose vertices have numbers alone; allowed: " +
                     joined(kNamed, ", ", [](Format f) { return to_string(f); }));
}

/// Returns the size on disk of the file that holds a graph's edges (of a BVGraph PATH.graph), in bytes.
std::uint64_t file_size(const std::string& path, Format format) {
  return File(format == Format::bvgraph ? path + ".graph" : path).size();
}

}  // namespace

std::string_view to_string(Format format) { return kNames[static_cast<std::size_t>(format)]; }

std::span<const Format> formats() { return kFormats; }

Format parse_format(std::string_view name) {
  for (const Format format : kFormats)
    if (to_string(format) == name) return format;
  throw UsageError("format \"" + std::string(name) +
                   "\"; allowed: " + joined(kFormats, ", ", [](Format f) { return to_string(f); }));
}

// Formats that are written with names: of those that may have some, edge lists alone are written.
bool holds_names(Format format) { return format == Format::edge_list; }

// Format of a graph file to be written, by its extension alone.
Format format_from_path(const std::string& path) {
  if (const Extension* e = find_extension(path)) return e->format;
  std::vector<std::string_view> writable;
  for (const Extension& e : kExtensions)
    if (is_writable(e.format)) writable.push_back(e.text);
  throw UsageError(
      path + " has no extension that tells a format; allowed, unless the format is named: " + joined(writable, ", "));
}

// Format of a graph file: the parts of a BVGraph come first, since their extension .graph is that of METIS files too.
Format detect_format(const std::string& path) {
  if (std::filesystem::exists(path + ".properties") && std::filesystem::exists(path + ".graph")) return Format::bvgraph;
  // A BVGraph is named without extension; the extension .graph is that of METIS files too, which are text.
  const auto refuse_half = [](const std::string& name) {
    throw InputError(name + ".graph is there, " + name + ".properties is not; allowed: both, if it is a BVGraph");
  };
  if (!std::filesystem::exists(path) && std::filesystem::exists(path + ".graph")) refuse_half(path);
  const File file(path);
  if (file.size() == 0) throw InputError(path + ": the file is empty; allowed: a graph");
  if (path.ends_with(".graph") && read_head(path).find('\0') != std::string::npos &&
      !std::filesystem::exists(path.substr(0, path.size() - 6) + ".properties"))
    refuse_half(path.substr(0, path.size() - 6));
  if (path.ends_with(".graph") && std::filesystem::exists(path.substr(0, path.size() - 6) + ".properties")) {
    throw InputError(path + " is part of a BVGraph; allowed: its name without extension, " +
                     path.substr(0, path.size() - 6));
  }
  if (const Extension* e = find_extension(path)) return e->format;
  return detect_by_contents(path);
}

// Reader of graph files: format and options are checked on all ranks, arcs read by the format's reader and made edges.
EdgeList read_graph(const std::string& path, const ReadOptions& options, comm::Transport& transport, ReadLog& log) {
  log = {};
  agree_first(transport, [&] {
    check_weights(options);
    log.format = choose_format(path, options);
    check_names(options, log.format);
    log.file_bytes = file_size(path, log.format);
  });
  const Source source{path, transport, log, comm::count_host_ranks(transport).ranks, false, options.names};
  if (log.format != Format::binary) return build_edge_list(read_raw(source, log.format), options, transport, log);
  EdgeList graph = read_binary(source, options);
  if (!options.weights.empty()) replace_weights(graph, options, log);
  return graph;
}

// Forecast of the size of a graph file and of the memory of its reader, from the header or the first lines.
Forecast forecast_file(const std::string& path, const ReadOptions& options, int ranks) {
  check_weights(options);
  const Format format = choose_format(path, options);
  check_names(options, format);
  Sizes sizes;
  if (format == Format::edge_list)
    sizes = read_edge_list_sizes(path, read_text_head(path), options.names);
  else if (format == Format::matrix_market)
    sizes = read_matrix_market_sizes(path, read_text_head(path));
  else if (format == Format::metis)
    sizes = read_metis_sizes(path, read_text_head(path));
  else if (format == Format::dimacs)
    sizes = read_dimacs_sizes(path, read_text_head(path));
  else if (format == Format::parhip)
    sizes = read_parhip_sizes(path);
  else if (format == Format::bvgraph)
    sizes = read_bvgraph_sizes(path);
  else if (format == Format::pajek)
    sizes = estimate_sizes(path, read_head(path), "\n");
  else if (format == Format::gml)
    sizes = estimate_sizes(path, read_head(path), "edge");
  else if (format == Format::graphml)
    sizes = estimate_sizes(path, read_head(path), "<edge");
  else
    sizes = read_binary_sizes(path);
  Forecast forecast;
  forecast.vertices = sizes.vertices;
  forecast.edges = sizes.twice ? sizes.arcs / 2 : sizes.arcs;
  forecast.exact = format == Format::binary;
  if (!options.weights.empty()) sizes.edge_bytes = parse_weights(options.weights, 0).bits() == 32 ? 0 : sizeof(Edge16);
  forecast.edge_bytes = sizes.edge_bytes > 0 ? sizes.edge_bytes : sizeof(Edge12);
  if (sizes.vertices > (std::uint64_t{1} << 32)) forecast.edge_bytes = sizeof(Edge24);
  const std::uint64_t share = (sizes.on_one_rank ? sizes.arcs : sizes.arcs / static_cast<std::uint64_t>(ranks)) + 1;
  // Arcs as read and, beside them, the edges that they become; lists that grow hold twice what they need for a while.
  const std::uint64_t each = format == Format::binary ? forecast.edge_bytes : 2 * sizeof(Arc) + forecast.edge_bytes;
  forecast.bytes_per_rank = share < UINT64_MAX / each ? share * each : UINT64_MAX;
  if (ranks > 1 && format != Format::binary)
    forecast.bytes_per_rank +=
        std::min(3 * std::min(share, comm::kRoundBytes) * forecast.edge_bytes, 3 * comm::kRoundBytes);
  return forecast;
}

}  // namespace merganser::graphs
