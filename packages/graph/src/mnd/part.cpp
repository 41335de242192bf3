// Multi-node Boruvka: construction of a rank's part of the graph, and removal of parallel edges and of components without edges.
#include "src/mnd/part.hpp"

#include <algorithm>
#include <memory>
#include <numeric>
#include <string>
#include <utility>

#include "merganser/base/error.hpp"
#include "merganser/base/id_table.hpp"

namespace merganser::mnd::detail {
namespace {

constexpr std::uint32_t kGhost = std::uint32_t{1} << 31U;  // mark of a number as that of a ghost

/// Dense numbering of the vertices that a rank owns, for its part of the graph in multi-node Boruvka: the position in the rank's
/// range if that is short, else the order of first occurrence in its edges, since ids may be sparse.
class OwnVertexNumbers {
 public:
  OwnVertexNumbers(const graphs::Ranges& ranges, int rank, std::size_t edges)
      : first_(ranges.first[static_cast<std::size_t>(rank)]),
        length_(ranges.size(rank)),
        dense_(length_ <= 4 * edges + 1024) {
    if (dense_) check_sizes(static_cast<std::size_t>(length_), edges);
  }
  /// Returns whether the rank owns a vertex. Unsigned: vertices below its range become huge differences.
  [[nodiscard]] bool has(std::uint64_t vertex) const { return vertex - first_ < length_; }
  /// Returns the dense number of a vertex that the rank owns; a sparse numbering adds vertices that are new.
  std::uint32_t operator()(std::uint64_t vertex) {
    return dense_ ? static_cast<std::uint32_t>(vertex - first_) : seen_.insert(vertex);
  }
  /// Returns the ids of the numbered vertices of the rank, by dense number.
  [[nodiscard]] std::vector<std::uint64_t> names() const {
    if (!dense_) return seen_.keys();
    std::vector<std::uint64_t> all(static_cast<std::size_t>(length_));
    std::iota(all.begin(), all.end(), first_);
    return all;
  }

 private:
  std::uint64_t first_;   // first vertex of the rank's range
  std::uint64_t length_;  // number of vertices of the rank's range
  bool dense_;            // numbers are positions in the range
  IdTable seen_;          // vertices by order of occurrence, unless dense_
};

/// Fills part.edges from the graph's edges at this rank's vertices: numbers both ends of every edge and orients its weight by the
/// sense. Ghosts are marked by kGhost until the number of own vertices, which they follow, is known.
template <class Edge>
void number_ends(Part& part, const std::vector<Edge>& mine, msf::Sense sense, OwnVertexNumbers& own, IdTable& ghosts) {
  // `a` of an edge is an own component: where `low` is a ghost, `high` is not.
  part.edges.reserve(mine.size());
  const auto number = [&](std::uint64_t vertex) {
    return own.has(vertex) ? own(vertex) : kGhost | ghosts.insert(vertex);
  };
  for (const Edge& e : mine) {
    const std::uint32_t low = number(e.low);
    const std::uint32_t high = number(e.high);
    const graphs::Edge24 edge{e.low, e.high, orient_weight(e.weight, sense)};
    part.edges.push_back((low & kGhost) == 0 ? ComponentEdge{low, high, edge} : ComponentEdge{high, low, edge});
  }
}

}  // namespace

void check_sizes(std::size_t components, std::size_t edges) {
  constexpr std::size_t kMax = kGhost - 1;
  if (components <= kMax && edges <= kMax) return;
  throw InputError("one rank would hold " + std::to_string(components) + " components or vertices and " +
                   std::to_string(edges) + " edges; allowed: 0 to " + std::to_string(kMax) +
                   " of each, so take more ranks");
}

// Start of multi-node Boruvka on a rank: every vertex of its range with an edge becomes a component, named by itself.
Part make_part(const graphs::EdgeList& mine, const graphs::Ranges& ranges, int rank, msf::Sense sense) {
  check_sizes(0, mine.size());
  Part part;
  part.rank = rank;
  OwnVertexNumbers own(ranges, rank, mine.size());
  IdTable ghosts;
  std::visit([&](const auto& edges) { number_ends(part, edges, sense, own, ghosts); }, mine.edges);
  part.names = own.names();
  check_sizes(std::max(part.names.size(), ghosts.keys().size()), mine.size());
  part.own = static_cast<std::uint32_t>(part.names.size());
  for (ComponentEdge& e : part.edges)
    if ((e.b & kGhost) != 0) e.b = part.own + (e.b ^ kGhost);
  part.names.insert(part.names.end(), ghosts.keys().begin(), ghosts.keys().end());
  for (const std::uint64_t vertex : ghosts.keys()) part.ghost_owner.push_back(ranges.owner(vertex));
  drop_idle(part);
  return part;
}

// Merging step of multi-node Boruvka: of all edges between the same two components only the least is kept.
void drop_parallel(Part& part) {
  // Counting sort by the lower end, so that parallel edges are in one group.
  std::vector<std::uint32_t> begin(part.own + std::size_t{1});
  for (ComponentEdge& e : part.edges) {
    if (e.b < e.a) std::swap(e.a, e.b);
    ++begin[e.a];
  }
  std::uint32_t sum = 0;
  for (auto& at : begin) sum += std::exchange(at, sum);
  const auto grouped = std::unique_ptr<ComponentEdge[]>(new ComponentEdge[part.edges.size()]);
  for (const ComponentEdge& e : part.edges) grouped[begin[e.a]++] = e;

  // By component: position of the edge to it that is kept so far. Positions of a group follow those of the group before, so that
  // an entry below `group` is of an earlier group and needs no clearing.
  std::vector<std::uint32_t> kept(part.names.size(), Part::kNone);
  std::uint32_t count = 0;
  std::uint32_t group = 0;
  for (std::size_t i = 0; i < part.edges.size(); ++i) {
    const ComponentEdge& e = grouped[i];
    if (i > 0 && grouped[i - 1].a != e.a) group = count;
    std::uint32_t& at = kept[e.b];
    if (at == Part::kNone || at < group) {
      at = count;
      part.edges[count++] = e;
    } else if (e.edge < part.edges[at].edge) {
      part.edges[at] = e;
    }
  }
  part.edges.resize(count);
}

// Removal of components without edges from a rank's part: names, owners of ghosts and the ends of edges are renumbered.
void drop_idle(Part& part) {
  // Compaction in place: a new number is never above the old one.
  std::vector<std::uint32_t> number(part.names.size(), Part::kNone);
  for (const ComponentEdge& e : part.edges) number[e.a] = number[e.b] = 0;
  std::uint32_t count = 0;
  std::uint32_t own = 0;
  for (std::uint32_t c = 0; c < number.size(); ++c) {
    if (number[c] == Part::kNone) continue;
    if (part.is_own(c))
      ++own;
    else
      part.ghost_owner[count - own] = part.ghost_owner[c - part.own];
    part.names[count] = part.names[c];
    number[c] = count++;
  }
  part.own = own;
  part.names.resize(count);
  part.ghost_owner.resize(count - own);
  for (ComponentEdge& e : part.edges) {
    e.a = number[e.a];
    e.b = number[e.b];
  }
}

}  // namespace merganser::mnd::detail
