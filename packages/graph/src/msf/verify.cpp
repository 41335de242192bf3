// Verification of minimum spanning forests of graphs by the cycle property, in checks of increasing cost.
#include "merganser/msf/verify.hpp"

#include <algorithm>
#include <array>
#include <optional>
#include <utility>
#include <vector>

#include "merganser/base/error.hpp"
#include "merganser/base/text.hpp"
#include "merganser/comm/collectives.hpp"
#include "src/msf/verify/hierarchy.hpp"
#include "src/msf/verify/routing.hpp"

namespace merganser::msf {
namespace {

using detail::Violation;
using graphs::Edge24;

/// Conversion of edges by which a maximum spanning forest is verified as a minimum one: the weights, which compare by their bits,
/// are complemented. A second conversion restores an edge.
struct Oriented {
  graphs::WeightKind kind;  ///< kind of the edge weights
  bool flipped;             ///< weights are complemented: a maximum forest is verified

  /// Returns an edge with its weight complemented if a maximum forest is verified.
  [[nodiscard]] Edge24 operator()(Edge24 e) const {
    if (flipped) e.weight = ~e.weight;
    return e;
  }
  /// Returns the description of a converted edge for the witness of a fault, with its original weight: "(3, 7) of weight 5".
  [[nodiscard]] std::string text(const Edge24& e) const {
    return "(" + std::to_string(e.low) + ", " + std::to_string(e.high) + ") of weight " + weight((*this)(e).weight);
  }

 private:
  /// Returns the number that the bits of an original edge weight stand for, as text.
  [[nodiscard]] std::string weight(std::uint64_t bits) const {
    switch (kind) {
      case graphs::WeightKind::unsigned_integer:
        return std::to_string(bits);
      case graphs::WeightKind::signed_integer:
        return std::to_string(static_cast<std::int64_t>(bits ^ (std::uint64_t{1} << 63)));
      case graphs::WeightKind::float32:
      case graphs::WeightKind::float64:
        break;
    }
    return number_text(graphs::weight_from_bits(kind, bits));
  }
};

/// Returns, of the violations of the cycle property that the ranks have found in a forest, the one with the least edge; none if no
/// rank has found any; the same on every rank. Collective.
std::optional<Violation> global_least(const std::optional<Violation>& mine, comm::Transport& transport) {
  std::vector<Violation> found;
  if (mine) found.push_back(*mine);
  found = comm::all_gather(transport, found).flat();
  const auto least = std::min_element(found.begin(), found.end(),
                                      [](const Violation& a, const Violation& b) { return a.edge < b.edge; });
  return least == found.end() ? std::nullopt : std::optional(*least);
}

/// Returns the least of the faulty edges that the ranks have found in the verification of a forest, as a violation without
/// `greatest`; the same on every rank. Collective.
std::optional<Violation> global_least(const std::optional<Edge24>& mine, comm::Transport& transport) {
  return global_least(mine ? std::optional(Violation{*mine, {}}) : std::nullopt, transport);
}

/// Replaces the least faulty edge found so far by `edge` if that is less.
void keep_least(std::optional<Edge24>& least, const Edge24& edge) {
  if (!least || edge < *least) least = edge;
}

/// One rank's part of the spanning forest that is verified, distributed by a hash of both ends of an edge, so that no rank gets all
/// edges of a hub; it records which of its edges the graph has too.
class ForestShare {
 public:
  /// Sends the converted edges of the forest to their owners. Collective.
  ForestShare(const Forest& forest, const Oriented& oriented, comm::Transport& transport) : transport_(transport) {
    std::vector<Edge24> mine(forest.edges);
    for (auto& e : mine) e = oriented(e);
    edges = comm::send_to_owners_in_rounds(
        transport, std::move(mine), [this](const Edge24& e) { return owner(e); }, detail::kRound);
    std::sort(edges.begin(), edges.end());
    in_graph_.assign(edges.size(), 0);
  }

  std::vector<Edge24> edges;  ///< edges of the forest on this rank, converted, ascending

  /// Returns the least edge that this rank's part of the verified forest has twice, if any. Equal edges have the same owner, so
  /// that each rank checks its part alone. Local.
  [[nodiscard]] std::optional<Edge24> find_duplicate() const {
    const auto at = std::adjacent_find(edges.begin(), edges.end());
    return at == edges.end() ? std::nullopt : std::optional(*at);
  }

  /// Marks the edges of the verified forest, on all ranks, that are among this rank's edges `found` of the graph, as common to
  /// forest and graph. Collective.
  void mark(std::span<const Edge24> found) {
    const auto mark_here = [this](std::span<const Edge24> theirs) {
      for (const auto& e : theirs) {
        const auto at = std::lower_bound(edges.begin(), edges.end(), e);
        if (at != edges.end() && *at == e) in_graph_[static_cast<std::size_t>(at - edges.begin())] = 1;
      }
    };
    comm::send_to_owners_in_rounds(
        transport_, found, [this](const Edge24& e) { return owner(e); }, mark_here, detail::kRound);
  }
  /// Returns the least edge of this rank's part of the verified forest that was not marked, if any: it is not in the graph. Local.
  [[nodiscard]] std::optional<Edge24> find_foreign() const {
    const auto at = std::find(in_graph_.begin(), in_graph_.end(), std::uint8_t{0});
    return at == in_graph_.end() ? std::nullopt
                                 : std::optional(edges[static_cast<std::size_t>(at - in_graph_.begin())]);
  }

 private:
  /// Returns the rank that holds an edge of the verified forest, by a hash of its ends.
  [[nodiscard]] int owner(const Edge24& e) const {
    // By both ends: a hub's edges spread over all ranks. Independent of Ranges and of the hashes that forests are made with.
    std::uint64_t h = (e.low * 0x9e3779b97f4a7c15ULL) ^ (e.high + 0x7f4a7c159e3779b9ULL) * 0xbf58476d1ce4e5b9ULL;
    h = (h ^ (h >> 29)) * 0x94d049bb133111ebULL;
    return static_cast<int>((h >> 33) % static_cast<std::uint64_t>(transport_.size()));
  }

  comm::Transport& transport_;
  std::vector<std::uint8_t> in_graph_;  ///< by position in `edges`: 1: the graph has the edge too
};

/// Validates that the ends of all ranks' edges of the graph are vertices in ascending order, before a forest is verified against
/// it. Collective. @throws InputError on every rank
void require_vertices(const graphs::EdgeList& graph, comm::Transport& transport) {
  comm::agree(transport, [&] {
    graph.for_each([&](const auto& e) {
      if (e.low <= e.high && e.high < graph.vertices) return;
      throw InputError("edge (" + std::to_string(e.low) + ", " + std::to_string(e.high) +
                       ") of the graph; allowed: ends in ascending order below " + std::to_string(graph.vertices));
    });
  });
}

/// Returns access to this rank's edges of the graph for the verification of a forest, with weights converted by `oriented`.
detail::EdgeSource make_edge_source(const graphs::EdgeList& graph, const Oriented& oriented) {
  const auto read = [&graph, oriented](std::size_t first, std::span<Edge24> to) {
    std::visit(
        [&](const auto& list) {
          for (std::size_t i = 0; i < to.size(); ++i) {
            const auto& e = list[first + i];
            to[i] = oriented(Edge24{e.low, e.high, e.weight});
          }
        },
        graph.edges);
  };
  return {graph.size(), read};
}

/// Verification of a spanning forest against its graph, check by check. Each check records a fault in `result`; a check may be
/// called only if the earlier ones have passed.
class Verifier {
 public:
  Verifier(const graphs::EdgeList& graph, const Forest& forest, Sense sense, comm::Transport& transport)
      : graph_(graph), forest_(forest), oriented_{graph.kind, sense == Sense::maximum}, transport_(transport) {}

  Verification result;  ///< fault found so far, and the counts of edges and trees; the same on every rank

  /// Counts the edges of graph and forest and the forest's trees, over all ranks, into `result`. Collective.
  void count() {
    std::array<std::int64_t, 3> counts{static_cast<std::int64_t>(graph_.size()),
                                       static_cast<std::int64_t>(forest_.edges.size()),
                                       forest_.vertices != graph_.vertices || forest_.kind != graph_.kind ? 1 : 0};
    transport_.all_reduce(counts, comm::Op::sum);
    result.graph_edges = counts[0];
    result.forest_edges = counts[1];
    result.trees = static_cast<std::int64_t>(graph_.vertices) - counts[1];
    different_ = counts[2] > 0;
  }

  /// Checks that forest and graph have the same number of vertices and kind of weights, and that the ends of the forest's edges are
  /// two different vertices; records the fault otherwise. Collective.
  bool has_valid_vertices() {
    if (different_) {
      fail(Fault::vertices, "the forest has " + std::to_string(forest_.vertices) + " vertices and " +
                                std::string(graphs::to_string(forest_.kind)) + " weights, the graph " +
                                std::to_string(graph_.vertices) + " and " +
                                std::string(graphs::to_string(graph_.kind)));
      return false;
    }
    std::optional<Edge24> outside;
    std::optional<Edge24> loop;
    for (const auto& e : forest_.edges) {
      if (e.low > e.high || e.high >= graph_.vertices) keep_least(outside, oriented_(e));
      if (e.low == e.high) keep_least(loop, oriented_(e));
    }
    if (const auto w = global_least(outside, transport_)) {
      fail(Fault::vertices, "the forest's edge " + oriented_.text(w->edge) + ": its ends must ascend and be below " +
                                std::to_string(graph_.vertices));
    } else if (const auto l = global_least(loop, transport_)) {
      fail(Fault::cycle, "the forest's edge " + oriented_.text(l->edge) + " is a loop");
    }
    return result.is_correct();
  }

  /// Distributes and contracts the forest, and checks that it has no cycle; records the least edge that closes one. Collective.
  bool is_acyclic(Report& report) {
    share_.emplace(forest_, oriented_, transport_);
    if (const auto w = global_least(share_->find_duplicate(), transport_)) {
      fail(Fault::cycle, "the forest has the edge " + oriented_.text(w->edge) + " twice");
      return false;
    }
    hierarchy_ = detail::contract(graph_.vertices, share_->edges, transport_);
    report.fact("verify: levels", static_cast<std::int64_t>(hierarchy_.levels.size()));
    if (const auto w = global_least(hierarchy_.closes_cycle, transport_)) {
      fail(Fault::cycle, "edge " + oriented_.text(w->edge) + " closes a cycle with other edges of the forest");
    }
    return result.is_correct();
  }

  /// Compares every edge of the graph with the forest's path between its ends, and records the fault of a forest that is not part
  /// of the graph, not spanning or not minimum. Collective.
  void check_paths(Report& report) {
    const auto progress = [&](double share) {
      if (report.progress && transport_.rank() == 0) report.progress("verify", share);
    };
    const auto found = detail::check_paths(
        hierarchy_, make_edge_source(graph_, oriented_), transport_,
        [this](std::span<const Edge24> equal) { share_->mark(equal); }, progress);
    // Reported in the order of Fault.
    const auto foreign = global_least(share_->find_foreign(), transport_);
    const auto apart = global_least(found.between_trees, transport_);
    const auto small = global_least(found.too_small, transport_);
    if (foreign) {
      fail(Fault::foreign, "the forest's edge " + oriented_.text(foreign->edge) + " is not an edge of the graph");
    } else if (apart) {
      fail(Fault::not_spanning, "edge " + oriented_.text(apart->edge) + " of the graph joins two trees of the forest");
    } else if (small) {
      const char* order = oriented_.flipped ? " comes before edge " : " is less than edge ";
      fail(Fault::not_minimal, "edge " + oriented_.text(small->edge) + order + oriented_.text(small->greatest) +
                                   " on the forest's path between its ends");
    }
  }

 private:
  /// Records a fault of the forest in `result`, with the description of an edge that shows it.
  void fail(Fault fault, std::string witness) {
    result.fault = fault;
    result.witness = std::move(witness);
  }

  const graphs::EdgeList& graph_;
  const Forest& forest_;
  Oriented oriented_;
  comm::Transport& transport_;
  bool different_ = false;            ///< on some rank forest and graph differ in vertices or kind of weights
  std::optional<ForestShare> share_;  ///< set by is_acyclic()
  detail::Hierarchy hierarchy_;       ///< tree over components of the contracted forest, set by is_acyclic()
};

}  // namespace

// Entry of the verification of a spanning forest: checks in the order of Fault, until one fails.
Verification verify_forest(const graphs::EdgeList& graph, const Forest& forest, Sense sense, comm::Transport& transport,
                           Report& report) {
  require_vertices(graph, transport);
  Verifier verifier(graph, forest, sense, transport);
  {
    Report::Scope scope(report, "verify: forest", transport);
    verifier.count();
    if (!verifier.has_valid_vertices() || !verifier.is_acyclic(report)) return verifier.result;
  }
  Report::Scope scope(report, "verify: paths", transport);
  verifier.check_paths(report);
  return verifier.result;
}

}  // namespace merganser::msf
