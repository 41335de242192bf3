// Writers of formats of adjacency lists, METIS and ParHIP: every edge is sent to the owners of both of its ends, which then hold
// the lists of consecutive vertices.
#include <algorithm>
#include <bit>
#include <span>

#include "merganser/comm/collectives.hpp"
#include "merganser/comm/shared_output.hpp"
#include "src/graphs/files/blocks.hpp"
#include "src/graphs/files/disk.hpp"
#include "src/graphs/files/metis.hpp"
#include "src/graphs/files/raw.hpp"

namespace merganser::graphs::detail {
namespace {

constexpr std::uint64_t kSign = std::uint64_t{1} << 63;

/// Adjacency lists of this rank's vertices, concatenated, as METIS and ParHIP files hold them.
struct AdjacencyLists {
  std::uint64_t first = 0, last = 0;  ///< this rank's vertices, from first on and below last
  std::vector<Arc> arcs;              ///< arcs that leave these vertices, by (from, to); weights as signed integers
  std::uint64_t before = 0;           ///< arcs of the ranks before this one
  std::uint64_t all = 0;              ///< arcs of all ranks
};

/// Returns both arcs of every graph edge on this rank but loops, for METIS and ParHIP files. Local. @throws InputError for weights
/// that are no signed 64-bit integers
std::vector<Arc> arcs_of_edges(const EdgeList& graph, const std::string& path) {
  const bool natural = graph.kind == WeightKind::unsigned_integer;
  if (!natural && graph.kind != WeightKind::signed_integer)
    throw InputError("cannot write " + path + ": weights " + std::string(to_string(graph.kind)) +
                     "; allowed: integers in METIS and ParHIP files");
  std::vector<Arc> arcs;
  arcs.reserve(2 * graph.size());
  graph.for_each([&](const auto& e) {
    if (e.low == e.high) return;
    const std::uint64_t weight = natural ? std::uint64_t{e.weight} : e.weight ^ kSign;
    if (natural && weight >= kSign)
      throw InputError("cannot write " + path + ": weight " + std::to_string(weight) + "; allowed: below 2^63");
    arcs.push_back({e.low, e.high, weight});
    arcs.push_back({e.high, e.low, weight});
  });
  return arcs;
}

/// Sends both arcs of every graph edge to the owners of their tails and sorts them there, for the writers of METIS and ParHIP
/// files. Collective. @throws InputError on every rank for weights that are no signed 64-bit integers
AdjacencyLists distribute_rows(const EdgeList& graph, const std::string& path, comm::Transport& transport) {
  AdjacencyLists rows;
  agree_first(transport, [&] { rows.arcs = arcs_of_edges(graph, path); });
  const Ranges ranges = Ranges::even(graph.vertices, transport.size());
  rows.first = ranges.first[static_cast<std::size_t>(transport.rank())];
  rows.last = ranges.first[static_cast<std::size_t>(transport.rank()) + 1];
  rows.arcs = comm::send_to_owners_in_rounds(transport, std::move(rows.arcs),
                                             [&](const Arc& arc) { return ranges.owner(arc.from); });
  std::sort(rows.arcs.begin(), rows.arcs.end(), [](const Arc& a, const Arc& b) {
    if (a.from != b.from) return a.from < b.from;
    return a.to != b.to ? a.to < b.to : a.weight < b.weight;
  });
  const auto share = comm::compute_share(transport, rows.arcs.size());
  rows.before = share.before;
  rows.all = share.all;
  return rows;
}

}  // namespace

// Writer of METIS files: each rank formats the lines of its vertices, and rank 0 writes them.
void write_metis(const std::string& path, const EdgeList& graph, comm::Transport& transport) {
  const AdjacencyLists rows = distribute_rows(graph, path, transport);
  std::uint64_t vertex = rows.first;
  std::size_t arc = 0;
  write_blocks(path, metis_head(graph.vertices, rows.all / 2, true), transport, [&](std::string& block) {
    for (; vertex < rows.last && block.size() < kBlockBytes; ++vertex) {
      const std::size_t begin = arc;
      while (arc < rows.arcs.size() && rows.arcs[arc].from == vertex) ++arc;
      append_metis_row(block, std::span(rows.arcs).subspan(begin, arc - begin), true,
                       [](const Arc& a) { return static_cast<std::int64_t>(a.weight); });
    }
    return vertex < rows.last;
  });
}

namespace {

/// Writes numbers of 64 bits at offset `at` of a ParHIP file, little-endian on machines of any byte order. Local.
void write_little_endian(comm::SharedOutput& file, std::uint64_t at, std::span<std::uint64_t> numbers) {
  if constexpr (std::endian::native != std::endian::little) {
    for (std::uint64_t& number : numbers) {
      const auto bytes = std::as_writable_bytes(std::span(&number, 1));
      std::reverse(bytes.begin(), bytes.end());
    }
  }
  file.write(at, numbers.data(), numbers.size_bytes());
}

}  // namespace

// Writer of ParHIP files: each rank writes its part of offsets, neighbours and weights in place.
void write_parhip(const std::string& path, const EdgeList& graph, comm::Transport& transport) {
  const AdjacencyLists rows = distribute_rows(graph, path, transport);
  constexpr std::uint64_t word = 8, version = 2;  // weights of arcs, none of vertices, all of 64 bits
  const std::uint64_t offsets_at = 3 * word, ids_at = offsets_at + (graph.vertices + 1) * word;
  const std::uint64_t weights_at = ids_at + rows.all * word;
  std::vector<std::uint64_t> offsets, ids, weights;
  std::uint64_t arc = 0;
  for (std::uint64_t vertex = rows.first; vertex < rows.last; ++vertex) {
    offsets.push_back(ids_at + (rows.before + arc) * word);
    while (arc < rows.arcs.size() && rows.arcs[arc].from == vertex) ++arc;
  }
  for (const Arc& a : rows.arcs) {
    ids.push_back(a.to);
    weights.push_back(a.weight);
  }
  comm::SharedOutput file(path, transport);
  agree_first(transport, [&] {
    write_little_endian(file, offsets_at + rows.first * word, offsets);
    write_little_endian(file, ids_at + rows.before * word, ids);
    write_little_endian(file, weights_at + rows.before * word, weights);
    if (transport.rank() != 0) return;
    std::array<std::uint64_t, 3> head{version, graph.vertices, rows.all};
    std::array<std::uint64_t, 1> last{weights_at};
    write_little_endian(file, 0, head);
    write_little_endian(file, offsets_at + graph.vertices * word, last);
  });
  file.commit();
}

}  // namespace merganser::graphs::detail
