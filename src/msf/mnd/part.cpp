#include "part.hpp"

#include <string>
#include <utility>

#include "merganser/base/error.hpp"
#include "name_table.hpp"

namespace merganser::msf::published {
namespace {

void check_sizes(std::uint64_t vertices, std::size_t edges) {
  constexpr std::uint64_t kMost = std::uint64_t{1} << 31U;
  if (vertices <= kMost && edges <= kMost) return;
  throw InputError("one rank's share of the graph has " + std::to_string(vertices) + " vertices and " +
                   std::to_string(edges) + " edges; allowed: 0 to " + std::to_string(kMost) + " of each");
}

/// Numbers of both ends of every edge, own ones by their place in the range, others in the order of appearance.
template <class Edge>
void number_ends(Part& part, const std::vector<Edge>& mine, std::uint64_t first, Sense sense, NameTable& ghosts) {
  part.edges.reserve(mine.size());
  const auto number = [&](std::uint64_t vertex) {
    const std::uint64_t at = vertex - first;
    return at < part.own ? static_cast<std::uint32_t>(at) : part.own + ghosts.insert(vertex);
  };
  for (const Edge& e : mine) {
    const std::uint32_t low = number(e.low);
    const std::uint32_t high = number(e.high);
    const graphs::Edge24 edge{e.low, e.high, directed(e.weight, sense)};
    part.edges.push_back(part.is_own(low) ? Live{low, high, edge} : Live{high, low, edge});
  }
}

}  // namespace

Part first_part(const graphs::EdgeList& mine, const graphs::Ranges& ranges, int rank, Sense sense) {
  check_sizes(ranges.size(rank), mine.size());
  const std::uint64_t first = ranges.first[static_cast<std::size_t>(rank)];
  Part part;
  part.rank = rank;
  part.own = static_cast<std::uint32_t>(ranges.size(rank));
  NameTable ghosts;
  std::visit([&](const auto& edges) { number_ends(part, edges, first, sense, ghosts); }, mine.edges);
  part.names.reserve(part.own + ghosts.names().size());
  for (std::uint64_t v = 0; v < part.own; ++v) part.names.push_back(first + v);
  for (const std::uint64_t vertex : ghosts.names()) {
    part.names.push_back(vertex);
    part.ghost_owner.push_back(ranges.owner(vertex));
  }
  drop_idle(part);
  return part;
}

void drop_parallel(Part& part) {
  std::vector<std::uint32_t> begin(part.own + std::size_t{1});
  for (Live& e : part.edges) {
    if (e.b < e.a) std::swap(e.a, e.b);
    ++begin[e.a];
  }
  std::uint32_t sum = 0;
  for (auto& at : begin) sum += std::exchange(at, sum);
  std::vector<std::uint32_t> order(part.edges.size());
  for (std::uint32_t i = 0; i < part.edges.size(); ++i) order[begin[part.edges[i].a]++] = i;

  // The edge kept so far to every component from the present one; what is left of an earlier one has another `a`.
  std::vector<std::uint32_t> kept(part.names.size(), Part::kNone);
  std::vector<bool> dropped(part.edges.size());
  for (const std::uint32_t i : order) {
    std::uint32_t& best = kept[part.edges[i].b];
    if (best == Part::kNone || part.edges[best].a != part.edges[i].a) {
      best = i;
      continue;
    }
    const bool better = part.edges[i].edge < part.edges[best].edge;
    dropped[better ? best : i] = true;
    if (better) best = i;
  }
  std::size_t count = 0;
  for (std::size_t i = 0; i < part.edges.size(); ++i)
    if (!dropped[i]) part.edges[count++] = part.edges[i];
  part.edges.resize(count);
}

void drop_idle(Part& part) {
  std::vector<std::uint32_t> number(part.names.size(), Part::kNone);
  for (const Live& e : part.edges) number[e.a] = number[e.b] = 0;
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
  for (Live& e : part.edges) {
    e.a = number[e.a];
    e.b = number[e.b];
  }
}

}  // namespace merganser::msf::published
