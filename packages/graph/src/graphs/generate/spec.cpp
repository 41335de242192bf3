// Parser of the names of synthetic graphs ("rmat:20:16"): family, sizes, and limits on both.
#include "src/graphs/generate/spec.hpp"

#include <cmath>

#include "merganser/base/detail/real_from_chars.hpp"
#include "merganser/base/error.hpp"
#include "merganser/base/lines.hpp"
#include "merganser/base/text.hpp"

namespace merganser::graphs::detail {
namespace {

constexpr std::string_view kAllowed =
    "rmat:N:DEG, rgg2d:N:DEG, rgg3d:N:DEG, gnm:N:DEG, ba:N:DEG, grid:AxB[xC][:periodic], path:V, star:V, complete:V";
constexpr std::uint64_t kMaxVertices = std::uint64_t{1} << 48;
constexpr double kMaxEdges = 0x1p48;
constexpr std::uint64_t kFewestPlain = 64;  ///< from here on N of a name is the number of vertices, below its logarithm

/// Throws the error of a synthetic graph's name. @throws UsageError "graph "TEXT": why"
[[noreturn]] void refuse(std::string_view text, const std::string& why) {
  throw UsageError("graph \"" + std::string(text) + "\": " + why);
}

/// Parses a whole number of [low, high] in the name of a synthetic graph. @param text  the whole name, for messages
/// @throws UsageError for another word or a number out of range
std::uint64_t parse_in_range(std::string_view text, std::string_view piece, std::uint64_t low, std::uint64_t high) {
  std::uint64_t value = 0;
  if (!parse_id(piece, value) || value < low || value > high)
    refuse(text, "\"" + std::string(piece) + "\"; allowed: " + std::to_string(low) + " to " + std::to_string(high));
  return value;
}

/// Parses the number of vertices in the name of a synthetic graph: 2^N for N below 64, else N. @throws UsageError above 2^48
std::uint64_t parse_num_vertices(std::string_view text, std::string_view piece) {
  const std::uint64_t n = parse_in_range(text, piece, 0, kMaxVertices);
  if (n >= kFewestPlain) return n;
  if (n > 48) refuse(text, "2^" + std::string(piece) + " vertices; allowed: at most 2^48");
  return std::uint64_t{1} << n;
}

/// Parses the mean number of edges per vertex, from 0 on, in the name of a synthetic graph. @throws UsageError for another word
double parse_degree(std::string_view text, std::string_view piece) {
  double degree = 0;
  const auto [end, error] = merganser::detail::real_from_chars(piece.data(), piece.data() + piece.size(), degree);
  if (piece.empty() || error != std::errc() || end != piece.data() + piece.size() || !(degree >= 0 && degree < 0x1p40))
    refuse(text, "\"" + std::string(piece) + "\" edges per vertex; allowed: a number from 0 on");
  return degree;
}

/// Returns n (n - 1) / 2, the number of pairs of n vertices; dividing first avoids overflow.
std::uint64_t num_pairs(std::uint64_t n) { return n % 2 == 0 ? n / 2 * (n - 1) : n * (n / 2); }

/// Parses the parameters "N:DEG" of a random graph (rmat, rgg2d, rgg3d, gnm, ba) into its sizes. @throws UsageError for sizes that
/// the family does not have
void parse_random(Spec& spec, std::string_view text, const std::vector<std::string_view>& p) {
  if (p.size() != 3)
    refuse(text, "needs a number of vertices and edges per vertex; allowed: " + std::string(p[0]) + ":N:DEG");
  spec.vertices = parse_num_vertices(text, p[1]);
  const double degree = parse_degree(text, p[2]);
  const double edges = degree * static_cast<double>(spec.vertices);
  if (edges > kMaxEdges) refuse(text, "more than 2^48 edges; allowed: at most 2^48");
  spec.edges = static_cast<std::uint64_t>(edges);
  const std::uint64_t n = spec.vertices;
  if (spec.shape == Shape::rmat && !std::has_single_bit(n)) {
    refuse(text, std::to_string(n) + " vertices; allowed: a power of two, as " + std::to_string(std::bit_floor(n)) +
                     " or " + std::to_string(std::bit_ceil(n)));
  }
  if (spec.shape == Shape::gnm && n > (std::uint64_t{1} << 32)) refuse(text, "allowed: at most 2^32 vertices");
  if (spec.shape == Shape::gnm && spec.edges > num_pairs(n)) {
    refuse(text, std::to_string(spec.edges) + " edges; allowed: at most one for each of the " +
                     std::to_string(num_pairs(n)) + " pairs of vertices");
  }
  if (spec.shape == Shape::ba) {
    if (degree != std::floor(degree) || degree < 1)
      refuse(text, "allowed: a whole number of edges per vertex, from 1 on");
    spec.edges = static_cast<std::uint64_t>(degree) * (n - 1);
    spec.extent[0] = static_cast<std::uint64_t>(degree);
  }
  if (spec.shape == Shape::points && static_cast<double>(spec.edges) > max_point_edges(spec)) {
    refuse(text, std::to_string(spec.edges) + " edges; allowed: at most " +
                     std::to_string(static_cast<std::uint64_t>(max_point_edges(spec))) + " for so many points");
  }
}

/// Parses the parameters "AxB[xC][:periodic]" of a grid graph into its sizes. @throws UsageError
void parse_grid(Spec& spec, std::string_view text, const std::vector<std::string_view>& p) {
  spec.periodic = p.size() == 3 && p[2] == "periodic";
  if (p.size() != 2 && !spec.periodic) refuse(text, "allowed: grid:AxB, grid:AxBxC, with :periodic behind or without");
  const auto extents = split_at(p[1], 'x');
  if (extents.size() < 2 || extents.size() > 3) refuse(text, "allowed: two or three extents, as 100x100 or 30x30x30");
  spec.dimension = static_cast<int>(extents.size());
  spec.vertices = 1;
  for (std::size_t axis = 0; axis < extents.size(); ++axis) {
    spec.extent[axis] = parse_in_range(text, extents[axis], 1, kMaxVertices / spec.vertices);
    spec.vertices *= spec.extent[axis];
  }
  for (std::size_t axis = 0; axis < extents.size(); ++axis) {
    const std::uint64_t e = spec.extent[axis];
    spec.edges += spec.vertices / e * (spec.periodic && e > 2 ? e : e - 1);
  }
}

/// Parses the parameter "V", the number of vertices, of a path, star or complete graph into its sizes. @throws UsageError
void parse_plain(Spec& spec, std::string_view text, const std::vector<std::string_view>& p) {
  if (p.size() != 2) refuse(text, "needs a number of vertices; allowed: " + std::string(p[0]) + ":V");
  spec.vertices = parse_in_range(text, p[1], 0, spec.shape == Shape::complete ? 1ULL << 24 : kMaxVertices);
  const std::uint64_t n = spec.vertices;
  spec.edges = spec.shape == Shape::complete ? num_pairs(n) : (n > 0 ? n - 1 : 0);
}

}  // namespace

// Parser of the names of synthetic graphs, by the family before the first colon.
Spec parse_spec(std::string_view text) {
  Spec spec;
  spec.text = text;
  const auto p = split_at(text, ':');
  const std::string_view name = p[0];
  if (name == "rmat" || name == "gnm" || name == "ba" || name == "rgg2d" || name == "rgg3d") {
    spec.shape = name == "rmat" ? Shape::rmat : name == "gnm" ? Shape::gnm : name == "ba" ? Shape::ba : Shape::points;
    if (spec.shape == Shape::points) spec.dimension = name == "rgg2d" ? 2 : 3;
    parse_random(spec, text, p);
  } else if (name == "grid") {
    spec.shape = Shape::grid;
    parse_grid(spec, text, p);
  } else if (name == "path" || name == "star" || name == "complete") {
    spec.shape = name == "path" ? Shape::path : name == "star" ? Shape::star : Shape::complete;
    parse_plain(spec, text, p);
  } else {
    throw UsageError("graph \"" + std::string(text) + "\" is none that is known; allowed: " + std::string(kAllowed));
  }
  return spec;
}

// Pair of vertices at a position in the list of all pairs, for generators that number edges by pairs.
Pair pair_at(std::uint64_t position) {
  // The square root is rounded; the loops correct the estimate, which is off by few.
  auto a = static_cast<std::uint64_t>((1 + std::sqrt(1 + 8 * static_cast<double>(position))) / 2);
  while (a * (a - 1) / 2 > position) --a;
  while ((a + 1) * a / 2 <= position) ++a;
  return {a, position - a * (a - 1) / 2};
}

}  // namespace merganser::graphs::detail
