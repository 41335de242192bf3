// Kinds of generated process graphs: names, parameters in the text of an option, checks of options, dispatch to the generators.
#include "merganser/graphs/process_graph_kinds.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>

#include "merganser/base/error.hpp"
#include "merganser/base/options.hpp"
#include "merganser/base/text.hpp"
#include "merganser/graphs/detail/strip_graph.hpp"
#include "merganser/graphs/process_graph_files.hpp"
#include "src/graphs/process/random.hpp"
#include "src/graphs/process/regular.hpp"

namespace merganser::graphs {
namespace {

using namespace detail;

constexpr ProcessGraphKind kKinds[] = {
    {"chain", "", "ranks in a row"},
    {"complete", "", "every pair of ranks"},
    {"geometric", "DEGREE", "ranks as random points of a periodic square, near ones joined"},
    {"grid", "NXxNYxNZ", "a grid with walls"},
    {"grid1d", "", "a grid with walls, as equal as can be"},
    {"grid2d", "", "a grid with walls, as equal as can be"},
    {"grid3d", "", "a grid with walls, as equal as can be"},
    {"incast", "SENDERS", "ranks 1 to SENDERS send to rank 0; directed"},
    {"power-law", "DEGREE", "preferential attachment"},
    {"random", "DEGREE", "every rank has the same number of random neighbours"},
    {"rgg", "PERCENT", "random geometric graph of vertices, ranks hold strips; cross edges in percent"},
    {"ring", "", "a closed chain"},
    {"small-world", "DEGREE", "a ring of near neighbours, a tenth of the edges moved"},
    {"torus", "NXxNYxNZ", "a periodic grid"},
    {"torus1d", "", "a periodic grid, as equal as can be"},
    {"torus2d", "", "a periodic grid, as equal as can be"},
    {"torus3d", "", "a periodic grid, as equal as can be"},
};

/// Returns the kind of process graph with a name; null if there is none.
const ProcessGraphKind* find_kind(std::string_view name) {
  const auto* at =
      std::find_if(std::begin(kKinds), std::end(kKinds), [&](const ProcessGraphKind& k) { return k.name == name; });
  return at == std::end(kKinds) ? nullptr : at;
}

/// Throws the error of an unknown kind of process graph. @param beside  appended to the list of kinds
/// @throws UsageError with the closest name or the list of kinds
[[noreturn]] void unknown_kind(std::string_view name, const char* beside = "") {
  std::string known;
  std::vector<std::string> names;
  for (const ProcessGraphKind& k : kKinds) {
    names.emplace_back(k.name);
    known +=
        (known.empty() ? "" : ", ") + names.back() + (k.parameter.empty() ? "" : "[:" + std::string(k.parameter) + "]");
  }
  const std::string near = closest(name, names);
  const std::string what = "unknown process graph \"" + std::string(name) + "\"; ";
  if (!near.empty()) throw UsageError(what + "did you mean " + near + '?');
  throw UsageError(what + "allowed: " + known + beside);
}

/// Returns the degree of a regular process graph by its options: `o.degree`, checked to be a whole (or even) number of [least,
/// ranks - 1]; for 0 the default `usual`, limited to what the number of ranks allows. @throws UsageError
int whole_degree(const ProcessGraphOptions& o, std::string_view kind, int least, int usual, bool even) {
  const int most = o.ranks - 1;
  if (o.degree == 0) {
    int degree = std::min(usual, most);
    if (even && degree % 2 == 1) --degree;
    return std::max(degree, 0);
  }
  if (!(o.degree >= least && o.degree <= most && o.degree == std::floor(o.degree)) ||
      (even && std::fmod(o.degree, 2) != 0)) {
    throw UsageError(std::string(kind) + " on " + std::to_string(o.ranks) + " ranks of degree " +
                     number_text(o.degree) + "; allowed: " + (even ? "even" : "whole") + " numbers from " +
                     std::to_string(least) + " to " + std::to_string(most));
  }
  return static_cast<int>(o.degree);
}

/// Checks the options of a random regular process graph and generates its rows. @throws UsageError for a degree out of range, or if
/// ranks times degree is odd
Rows make_random(const ProcessGraphOptions& o) {
  int degree = whole_degree(o, "random", 0, 4, false);
  if (static_cast<std::int64_t>(degree) * o.ranks % 2 == 1) {
    if (o.degree != 0) {
      throw UsageError("random on " + std::to_string(o.ranks) + " ranks of degree " + number_text(o.degree) +
                       "; allowed: an even product of the two");
    }
    --degree;  // a regular graph of odd degree needs an even number of ranks
  }
  check_arcs(static_cast<double>(o.ranks) * degree);
  return random_regular(o.ranks, degree, o.seed);
}

/// Checks the options of a small-world process graph (degree, probability of rewiring) and generates its rows. @throws UsageError
Rows make_small_world(const ProcessGraphOptions& o) {
  if (!(o.rewire >= 0 && o.rewire <= 1))
    throw UsageError("a probability of rewiring of " + number_text(o.rewire) + "; allowed: 0 to 1");
  if (o.degree == 0 && o.ranks <= 2) return chain(o.ranks);
  const int degree = whole_degree(o, "small-world", 2, 4, true);
  check_arcs(static_cast<double>(o.ranks) * degree);
  return small_world(o.ranks, degree, o.rewire, o.seed);
}

/// Checks the options of a power-law process graph (preferential attachment) and generates its rows. @throws UsageError
Rows make_power_law(const ProcessGraphOptions& o) {
  if (o.degree == 0) {
    check_arcs(4.0 * o.ranks);
    return power_law(o.ranks, std::min(2, o.ranks - 1), o.seed);
  }
  const double most = 2.0 * (o.ranks - 1);
  if (!(o.degree >= 2 && o.degree <= most && std::fmod(o.degree, 2) == 0)) {
    throw UsageError("power-law on " + std::to_string(o.ranks) + " ranks of degree " + number_text(o.degree) +
                     "; allowed: even numbers from 2 to " + number_text(most));
  }
  check_arcs(o.ranks * o.degree);
  return power_law(o.ranks, static_cast<int>(o.degree) / 2, o.seed);
}

/// Checks the options of a random geometric process graph, generates its rows, and sets `radius` to the one that gives the mean
/// degree.
/// @throws UsageError
Rows make_geometric(const ProcessGraphOptions& o, double& radius) {
  const double others = o.ranks - 1, most = others * std::numbers::pi / 4;
  if (o.degree < 0 || !(o.degree <= most)) {
    throw UsageError("geometric on " + std::to_string(o.ranks) + " ranks of degree " + number_text(o.degree) +
                     "; allowed: 0 to " + number_text(most));
  }
  const double degree = o.degree == 0 ? std::min(6.0, most) : o.degree;
  check_arcs(o.ranks * degree);
  // A rank has each of the others as a neighbour with probability pi radius^2, in a periodic square.
  radius = others > 0 ? std::sqrt(degree / (std::numbers::pi * others)) : 0;
  return geometric(o.ranks, radius, o.seed);
}

/// Returns the lengths of the axes of a torus or grid of ranks as "4x2x1".
std::string dims_text(const std::vector<int>& dims) {
  return joined(dims, "x", [](int d) { return std::to_string(d); });
}

/// Checks the options of a torus or grid of ranks ("torus", "grid2d", ...), generates its rows, and sets `dims` to the lengths of
/// its axes. @throws UsageError
Rows make_torus(std::string_view kind, const ProcessGraphOptions& o, std::vector<int>& dims) {
  const bool open = kind.starts_with("grid");
  const char digit = kind[kind.size() - 2];  // of "torus2d"
  const int axes = digit >= '1' && digit <= '3' ? digit - '0' : 0;
  dims = o.dims;
  if (dims.empty()) dims = equal_dims(o.ranks, axes == 0 ? 2 : axes);
  if (dims.size() > 3 || (axes != 0 && dims.size() != static_cast<std::size_t>(axes))) {
    throw UsageError(std::string(kind) + " of " + std::to_string(dims.size()) + " axes (" + dims_text(dims) +
                     "); allowed: " + (axes == 0 ? "1 to 3" : std::to_string(axes)));
  }
  std::int64_t product = 1;
  for (const int d : dims) {
    if (d < 1)
      throw UsageError("a " + std::string(kind) + " of " + dims_text(dims) + "; allowed: lengths of at least 1");
    product = std::min<std::int64_t>(product * d, std::int64_t{1} << 31);  // capped, so that no product overflows
  }
  if (product != o.ranks) {
    throw UsageError("a " + std::string(kind) + " of " + dims_text(dims) + " ranks for " + std::to_string(o.ranks) +
                     " ranks; allowed: lengths whose product is the number of ranks");
  }
  check_arcs(6.0 * o.ranks);
  const bool periodic[3] = {!open && o.periodic[0], !open && o.periodic[1], !open && o.periodic[2]};
  return torus(dims, std::span(periodic).first(dims.size()));
}

/// Checks the options of an incast, the process graph whose ranks 1 to fan_in send to rank 0, and generates its rows. @throws
/// UsageError
Rows make_incast(const ProcessGraphOptions& o) {
  const int most = std::max(0, o.ranks - 1);
  if (o.fan_in < 0 || o.fan_in > most) {
    throw UsageError("incast of " + std::to_string(o.fan_in) + " senders on " + std::to_string(o.ranks) +
                     " ranks; allowed: 0 (all others) to " + std::to_string(most));
  }
  return incast(o.ranks, o.fan_in == 0 ? most : o.fan_in);
}

/// Generates the rows of a process graph of a known kind; sets the dims, radius and counts that `out` records. @throws UsageError
/// for options out of range
Rows make_rows(std::string_view kind, const ProcessGraphOptions& o, GeneratedProcessGraph& out) {
  if (kind == "chain") return chain(o.ranks);
  if (kind == "ring") return ring(o.ranks);
  if (kind == "complete") return complete(o.ranks);
  if (kind == "incast") return make_incast(o);
  if (kind == "random") return make_random(o);
  if (kind == "small-world") return make_small_world(o);
  if (kind == "power-law") return make_power_law(o);
  if (kind == "geometric") return make_geometric(o, out.radius);
  if (kind == "rgg") {
    StripGraph g = std::move(strip_graphs(o, std::span(&o.cross, 1)).front());
    out.vertex_edges = g.vertex_edges;
    out.cross_edges = g.cross_edges;
    out.radius = g.radius;
    return std::move(g.rows);
  }
  return make_torus(kind, o, out.dims);
}

/// Sets the option that the parameter of a kind of process graph stands for ("4x2" of "torus:4x2"). @throws UsageError for a
/// malformed parameter
void set_parameter(const ProcessGraphKind& kind, const std::string& text, ProcessGraphOptions& o) {
  if (kind.name == "incast") {
    o.fan_in = merganser::detail::parse_int(text);
    if (o.fan_in < 1) merganser::detail::reject(text, "at least 1 sender");
  } else if (kind.name == "torus" || kind.name == "grid") {
    std::string commas = text;
    std::replace(commas.begin(), commas.end(), 'x', ',');
    for (const std::string& piece : split_commas(commas)) o.dims.push_back(merganser::detail::parse_int(piece));
    if (o.dims.empty()) merganser::detail::reject(text, "lengths as 4x2");
  } else if (kind.name == "rgg") {
    o.cross = merganser::detail::parse_number(text);
  } else {
    o.degree = merganser::detail::parse_number(text);
    if (!(o.degree > 0)) merganser::detail::reject(text, "a degree greater than 0");
  }
}

}  // namespace

std::span<const ProcessGraphKind> process_graph_kinds() { return kKinds; }

// Generator of process graphs by the name of their kind; also records the values of options that defaults have set.
GeneratedProcessGraph generate_process_graph(std::string_view kind, const ProcessGraphOptions& o) {
  if (find_kind(kind) == nullptr) unknown_kind(kind);
  if (o.ranks < 1) throw UsageError("a process graph of " + std::to_string(o.ranks) + " ranks; allowed: at least 1");
  check_arcs(o.ranks);
  GeneratedProcessGraph out;
  out.graph = ProcessGraph(make_rows(kind, o, out));
  return out;
}

// Parser of the text of an option that names a process graph, "KIND" or "KIND:PARAMETER".
std::string_view parse_process_graph_text(const std::string& text, ProcessGraphOptions& options) {
  const auto colon = std::min(text.find(':'), text.size());
  const ProcessGraphKind* kind = find_kind(std::string_view(text).substr(0, colon));
  if (kind == nullptr) unknown_kind(text.substr(0, colon));
  if (colon == text.size()) return kind->name;
  if (kind->parameter.empty()) {
    throw UsageError("\"" + text + "\": " + std::string(kind->name) +
                     " takes no parameter; allowed: " + std::string(kind->name));
  }
  try {
    set_parameter(*kind, text.substr(colon + 1), options);
  } catch (const UsageError& e) {
    throw UsageError("the parameter of \"" + text + "\": " + e.what());
  }
  return kind->name;
}

// Process graph of an option's text: generated if the text names a kind, else read from a file.
ProcessGraph make_process_graph(const std::string& text, int ranks, std::uint64_t seed) {
  // A known kind takes precedence over a file of that name; a path always has a '.' or '/'.
  const bool known = find_kind(std::string_view(text).substr(0, text.find(':'))) != nullptr;
  if (!known && text.find_first_of("./") != std::string::npos) {
    ProcessGraph graph = read_process_graph(text);
    if (graph.ranks() == ranks) return graph;
    throw InputError(text + ": a graph of " + std::to_string(graph.ranks()) + " ranks for a run on " +
                     std::to_string(ranks) + "; allowed: the same number" +
                     (graph.ranks() > ranks
                          ? " (merganser topo convert --ranks " + std::to_string(ranks) + " makes a graph coarser)"
                          : ""));
  }
  if (!known) unknown_kind(text.substr(0, text.find(':')), ", or a file (with . or / in its name)");
  ProcessGraphOptions options;
  options.ranks = ranks;
  options.seed = seed;
  const std::string_view kind = parse_process_graph_text(text, options);
  return generate_process_graph(kind, options).graph;
}

}  // namespace merganser::graphs
