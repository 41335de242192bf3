// Conversion of arcs, as the readers of all formats give them, into a distributed list of undirected edges: bipartite ids are
// shifted, sparse ids relabelled, loops and repeated edges dropped, weights brought to one type.
#include <algorithm>
#include <array>
#include <bit>
#include <span>

#include "merganser/base/aligned_memory.hpp"
#include "merganser/comm/collectives.hpp"
#include "merganser/graphs/weights.hpp"
#include "src/graphs/files/disk.hpp"
#include "src/graphs/files/ends_sort.hpp"
#include "src/graphs/files/raw.hpp"
#include "src/graphs/files/vertex_names.hpp"

namespace merganser::graphs::detail {
namespace {

constexpr std::uint64_t kSparse = 8;  ///< vertex ids are sparse with more of them per end of an arc
constexpr std::uint64_t kAlwaysDense = std::uint64_t{1} << 20;  ///< up to this many ids are never relabelled
constexpr std::uint64_t kShortIds = std::uint64_t{1} << 32;     ///< number of ids that 32 bits hold

/// Returns the sum of a number over all ranks. Collective.
std::uint64_t global_sum(comm::Transport& transport, std::uint64_t mine) {
  return static_cast<std::uint64_t>(transport.all_reduce(static_cast<std::int64_t>(mine), comm::Op::sum));
}
/// Returns the greatest value of a number over all ranks. Collective.
std::uint64_t global_max(comm::Transport& transport, std::uint64_t mine) {
  return static_cast<std::uint64_t>(transport.all_reduce(static_cast<std::int64_t>(mine), comm::Op::max));
}

/// Shifts the vertex ids in the second column of a bipartite graph file behind those in the first, in this rank's arcs. Collective.
/// @throws InputError on every rank if ids do not fit
void shift_right_side(Raw& raw, comm::Transport& transport) {
  if (!raw.bipartite) return;
  const std::uint64_t left = global_max(transport, raw.left);
  agree_first(transport, [&] {
    raw.arcs.for_each([&](Arc& arc) {
      const auto refuse = [&](const std::string& allowed) {  // ids of these files count from 1
        throw InputError(raw.path + ": vertex " + std::to_string(arc.to + 1) + " of the second column, behind " +
                         std::to_string(left) + " of the first; allowed: " + allowed);
      };
      if (arc.to >= (std::uint64_t{1} << 63) - left) refuse("below 2^63 together");
      if (raw.vertices_known && arc.to + left >= raw.vertices)
        refuse(std::to_string(raw.vertices) + " together, as the file says");
      arc.to += left;
    });
  });
}

/// Relabels the distinct vertex ids of all ranks' arcs of a graph file, and of its named vertices, in ascending order. Sets
/// `raw.vertices`. Collective. @return the original ids of this rank's range of Ranges::even()
std::vector<std::uint64_t> relabel(Raw& raw, comm::Transport& transport) {
  std::vector<std::uint64_t> wanted;
  wanted.reserve(2 * raw.arcs.size() + raw.names.size());
  raw.arcs.for_each([&](const Arc& arc) {
    wanted.push_back(arc.from);
    wanted.push_back(arc.to);
  });
  for (const VertexName& named : raw.names) wanted.push_back(named.vertex);
  NewIds ids = relabel_ids(std::move(wanted), transport);
  raw.arcs.for_each([&](Arc& arc) { arc = {ids.of(arc.from), ids.of(arc.to), arc.weight}; });
  for (VertexName& named : raw.names) named.vertex = ids.of(named.vertex);
  raw.vertices = ids.vertices;
  return std::move(ids.originals);
}

/// Determines the number of vertices of a graph if its file does not give it, and relabels sparse vertex ids. Collective.
/// @return the original ids of this rank's range of vertices; empty if they were kept
std::vector<std::uint64_t> determine_vertices(Raw& raw, comm::Transport& transport, ReadLog& log) {
  if (raw.named && !raw.vertices_known) {  // ids are the places of names in the file
    static_cast<void>(relabel(raw, transport));
    return {};
  }
  if (raw.vertices_known) return {};
  std::uint64_t vertices = 0;
  raw.arcs.for_each([&](const Arc& arc) { vertices = std::max({vertices, arc.from + 1, arc.to + 1}); });
  // One less, since the greatest id + 1 may be 2^63.
  std::uint64_t last = vertices > 0 ? vertices - 1 : 0;
  last = global_max(transport, last);
  const bool any = log.arcs > 0;
  raw.vertices = any ? last + 1 : 0;
  if (!any || raw.vertices <= kAlwaysDense || raw.vertices / kSparse <= 2 * log.arcs) return {};
  log.relabelled = true;
  return relabel(raw, transport);
}

/// Converts the weights of all ranks' arcs to order-preserving bits of one type, or generates weights where the file has none or
/// the options name some. Collective. @return the type
/// @throws InputError on every rank for integers of both signs of which 64 bits cannot hold all, and for integers that double
/// precision cannot hold beside weights that are no integers
WeightKind determine_weights(Raw& raw, const ReadOptions& options, comm::Transport& transport) {
  if (!raw.weighted || !options.weights.empty()) {
    const WeightMaker make = parse_weights(options.weights.empty() ? "uniform" : options.weights, options.seed);
    raw.arcs.for_each([&](Arc& arc) { arc.weight = make(std::min(arc.from, arc.to), std::max(arc.from, arc.to)); });
    return make.kind();
  }
  std::array<std::int64_t, 2> any{raw.negative ? 1 : 0, raw.real ? 1 : 0};
  transport.all_reduce(std::span<std::int64_t>(any), comm::Op::max);
  const bool negative = any[0] != 0, real = any[1] != 0;
  agree_first(transport, [&] {
    if (negative && !real && raw.beyond_signed != 0) raw.refuse_beyond_signed();
    if (real && !raw.beyond_real.empty()) raw.refuse_beyond_real();
  });
  if (!negative && !real) return WeightKind::unsigned_integer;
  raw.widen(real ? Numbers::real : Numbers::integer);
  raw.arcs.for_each([&](Arc& arc) {
    arc.weight =
        real ? ordered_bits(std::bit_cast<double>(arc.weight)) : ordered_bits(static_cast<std::int64_t>(arc.weight));
  });
  return real ? WeightKind::float64 : WeightKind::signed_integer;
}

/// Loops among this rank's arcs of a graph file, and the bits that its weights need.
struct ArcSurvey {
  std::uint64_t loops = 0;
  std::uint64_t weight_bits = 0;  ///< weights of all arcs but loops, by bitwise or
};
/// Counts loops and finds the bits that weights need in this rank's arcs of a graph file, whose weights are order-preserving bits.
/// Local.
ArcSurvey survey_arcs(ArcList& arcs) {
  ArcSurvey all;
  arcs.for_each([&](const Arc& arc) {
    const bool loop = arc.from == arc.to;
    all.loops += loop ? 1U : 0U;
    all.weight_bits |= loop ? 0U : arc.weight;
  });
  return all;
}

/// Converts this rank's arcs of a graph file to edges, without the loops. Local. Memory of the arcs is freed meanwhile.
template <class Edge>
std::vector<Edge> make_edges(ArcList arcs, std::uint64_t loops) {
  std::vector<Edge> edges;
  edges.reserve(arcs.size() - loops);
  std::array<Edge, 512> buffer;
  arcs.use_up([&](std::span<const Arc> part) {
    while (!part.empty()) {
      const auto some = part.first(std::min(part.size(), buffer.size()));
      std::size_t used = 0;
      for (const Arc& arc : some) {
        buffer[used] = make_edge<Edge>(arc.from, arc.to, arc.weight);
        used += arc.from != arc.to ? 1U : 0U;  // a loop is written over
      }
      edges.insert(edges.end(), buffer.begin(), buffer.begin() + static_cast<std::ptrdiff_t>(used));
      part = part.subspan(some.size());
    }
  });
  return edges;
}

/// Sends the edges of a graph to the owners of their lower ends, sorts them there by (low, high, weight), and drops equal ones,
/// such as the reverse arcs of an undirected graph. Collective. @param edges  of this rank
template <class Edge>
std::vector<Edge> distribute_and_sort(std::vector<Edge> edges, std::uint64_t vertices, comm::Transport& transport) {
  const Ranges ranges = Ranges::even(vertices, transport.size());
  edges =
      comm::send_to_owners_in_rounds(transport, std::move(edges), [&](const Edge& e) { return ranges.owner(e.low); });
  {
    const RawBuffer scratch(edges.size() * sizeof(Edge));
    EndsSort<Edge>::sort(edges, {reinterpret_cast<Edge*>(scratch.data()), edges.size()});
  }
  edges.erase(std::unique(edges.begin(), edges.end()), edges.end());
  return edges;
}

/// Counts the graph edges of this rank that join the same vertices as the edge before; edges are sorted by their ends. Local.
std::uint64_t count_parallel(const EdgeList& graph) {
  return std::visit(
      [](const auto& edges) {
        std::uint64_t count = 0;
        for (std::size_t i = 1; i < edges.size(); ++i)
          count += edges[i].low == edges[i - 1].low && edges[i].high == edges[i - 1].high ? 1U : 0U;
        return count;
      },
      graph.edges);
}

/// Appends notes for the user to the log of the graph file reader: loops and repetitions dropped, vertex ids relabelled, weights
/// generated. Local. @param edges, parallel  counts over all ranks
void append_notes(const Raw& raw, const ReadOptions& options, std::uint64_t edges, std::uint64_t parallel,
                  ReadLog& log) {
  log.lines.insert(log.lines.end(), raw.lines.begin(), raw.lines.end());
  if (log.relabelled)
    log.lines.push_back("ids are sparse: the vertices that edges have are numbered anew, in the order of their ids");
  const bool twice = log.format == Format::metis || log.format == Format::parhip;  // so every edge is repeated
  if (log.directed) {
    log.lines.push_back("directed: " + std::to_string(log.arcs) + " arcs became " + std::to_string(edges) +
                        " undirected edges (" + std::to_string(log.loops) + " loops dropped, " +
                        std::to_string(log.repeated) + " arcs were the reverse or a repetition of another)");
  } else if (log.loops > 0 || log.repeated != (twice ? edges : 0)) {
    log.lines.push_back(std::to_string(log.arcs) + " entries became " + std::to_string(edges) + " edges (" +
                        std::to_string(log.loops) + " loops dropped, " + std::to_string(log.repeated) +
                        " repeated another)");
  }
  if (parallel > 0)
    log.lines.push_back(std::to_string(parallel) +
                        " edges are parallel to another one of a different weight (two directions, for one); all stay");
  const std::string made = (options.weights.empty() ? "uniform" : options.weights) + ", a hash of both ends and seed " +
                           std::to_string(options.seed);
  if (!raw.weighted)
    log.lines.push_back("no weights in the file: made ones (" + made + ")");
  else if (!log.weighted)
    log.lines.push_back("weights of the file not used: made ones (" + made + ")");
}

}  // namespace

// Last step of reading a graph file: arcs of all ranks become undirected edges, each on the owner of its lower end.
EdgeList build_edge_list(Raw raw, const ReadOptions& options, comm::Transport& transport, ReadLog& log) {
  log.arcs = global_sum(transport, raw.arcs.size());
  log.directed = raw.directed;
  log.weighted = raw.weighted && options.weights.empty();
  shift_right_side(raw, transport);
  EdgeList graph;
  graph.names = determine_vertices(raw, transport, log);
  graph.vertices = raw.vertices;
  log.named = raw.named;
  if (raw.named) graph.text_names = distribute_names(raw.names, raw.vertices, transport);
  graph.kind = determine_weights(raw, options, transport);
  const ArcSurvey survey = survey_arcs(raw.arcs);
  log.loops = global_sum(transport, survey.loops);

  // The smallest type of edge that holds all ranks' ids and weights.
  const bool may_be_short = graph.kind == WeightKind::unsigned_integer || graph.kind == WeightKind::float32;
  const bool narrow = global_max(transport, survey.weight_bits >> 32) == 0 && may_be_short;
  const auto build = [&]<class Edge>(Edge) {
    graph.edges = distribute_and_sort(make_edges<Edge>(std::move(raw.arcs), survey.loops), graph.vertices, transport);
  };
  if (graph.vertices > kShortIds)
    build(Edge24{});
  else if (narrow)
    build(Edge12{});
  else
    build(Edge16{});
  const std::uint64_t edges = global_sum(transport, graph.size());
  log.repeated = log.arcs - log.loops - edges;
  append_notes(raw, options, edges, global_sum(transport, count_parallel(graph)), log);
  return graph;
}

}  // namespace merganser::graphs::detail
