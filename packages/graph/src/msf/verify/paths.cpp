// Verification of a forest, second step: compares every edge of a graph with the greatest edge on the forest's path between its
// ends.
#include "src/msf/verify/hierarchy.hpp"
#include "src/msf/verify/routing.hpp"

namespace merganser::msf::detail {
namespace {

/// Edge of the graph whose ends ascend the hierarchy of the verified forest, level by level.
struct ClimbingEdge {
  std::uint64_t a;  ///< component of one end in the current level
  std::uint64_t b;  ///< component of the other end in the current level
  Edge24 edge;      ///< edge of the graph
  Edge24 greatest;  ///< greatest of the least edges of the components left so far
};

constexpr std::size_t kAhead = 12;  // distance in edges at which components are prefetched

/// Comparison of blocks of the graph's edges with the verified forest: all edges of a block ascend the hierarchy together, level by
/// level.
class PathCheck {
 public:
  /// Prepares the lookup of components at their owners, for every level of the hierarchy. Local.
  PathCheck(const Hierarchy& hierarchy, comm::Transport& transport) : hierarchy_(hierarchy), transport_(transport) {
    for (const auto& level : hierarchy.levels) questions_.emplace_back(transport, level.ranges);
  }

  /// Compares a block of this rank's edges of the graph with the greatest edges on the forest's paths between their ends, records
  /// faults in `findings`, and replaces `equal` by the edges that equal the greatest on their path. Collective.
  void check_block(std::span<const Edge24> edges) {
    equal.clear();
    climbs_.clear();
    for (const auto& e : edges)
      if (e.low != e.high) climbs_.push_back({e.low, e.high, e, {0, 0, 0}});
    for (std::size_t level = 0; level < hierarchy_.levels.size(); ++level) climb(level);
    for (const auto& c : climbs_) record_apart(c.edge);
  }

  std::vector<Edge24> equal;  ///< edges of the last block that are edges of the forest too
  PathFindings findings;      ///< least faults of the forest that this rank's edges have proved so far

 private:
  /// Moves the ends of all edges of the block that are still in different components up one level of the hierarchy. Collective
  /// unless the level is replicated.
  void climb(std::size_t number) {
    // Replicated levels are read in place; others are looked up at the owners, for all edges of the block at once.
    const Level& level = hierarchy_.levels[number];
    std::size_t kept = 0;
    if (level.everywhere) {
      const Node* nodes = level.nodes.data();
      for (std::size_t i = 0; i < climbs_.size(); ++i) {
        if (i + kAhead < climbs_.size()) {
          __builtin_prefetch(nodes + climbs_[i + kAhead].a);
          __builtin_prefetch(nodes + climbs_[i + kAhead].b);
        }
        if (step(climbs_[i], nodes[climbs_[i].a], nodes[climbs_[i].b])) climbs_[kept++] = climbs_[i];
      }
    } else {
      ids_.clear();
      for (const auto& c : climbs_) {
        ids_.push_back(c.a);
        ids_.push_back(c.b);
      }
      ends_.resize(ids_.size());
      questions_[number].query<Node>(ids_, level.nodes, ends_);
      for (std::size_t i = 0; i < climbs_.size(); ++i)
        if (step(climbs_[i], ends_[2 * i], ends_[2 * i + 1])) climbs_[kept++] = climbs_[i];
    }
    climbs_.resize(kept);
  }

  /// Moves the ends of one edge of the graph, in components `a` and `b`, up one level of the hierarchy; where they meet, compares
  /// the edge with the greatest on its path. @return false if they have met, or are in different trees
  bool step(ClimbingEdge& c, const Node& a, const Node& b) {
    // The greatest edge on the forest's path is the greatest of the least edges of the components left on both sides [king1997].
    if (a.parent == kNone || b.parent == kNone) {
      record_apart(c.edge);
      return false;
    }
    if (c.greatest < a.least) c.greatest = a.least;
    if (c.greatest < b.least) c.greatest = b.least;
    c.a = a.parent;
    c.b = b.parent;
    if (c.a != c.b) return true;
    if (c.edge < c.greatest) {
      if (!findings.too_small || c.edge < findings.too_small->edge) findings.too_small = Violation{c.edge, c.greatest};
    } else if (c.edge == c.greatest) {
      equal.push_back(c.edge);
    }
    return false;
  }

  /// Records an edge of the graph between two trees of the forest, which is not spanning then, if it is the least one so far.
  void record_apart(const Edge24& edge) {
    if (!findings.between_trees || edge < *findings.between_trees) findings.between_trees = edge;
  }

  const Hierarchy& hierarchy_;
  comm::Transport& transport_;
  std::vector<DistributedLookup> questions_;
  std::vector<ClimbingEdge> climbs_;  // edges of the block whose ends have not met
  std::vector<std::uint64_t> ids_;    // components of their ends
  std::vector<Node> ends_;            // the same, looked up at their owners
};

}  // namespace

// Verification of a forest, second step: every rank makes the same number of blocks, since lookups are collective.
PathFindings check_paths(const Hierarchy& hierarchy, const EdgeSource& edges, comm::Transport& transport,
                         const std::function<void(std::span<const Edge24>)>& equal,
                         const std::function<void(double)>& done) {
  // On one rank a block fits the cache; on several, larger blocks amortise the latency of the queries.
  const std::size_t at_a_time = transport.size() == 1 ? std::size_t{4096} : kRound / 2;
  const auto mine = static_cast<std::int64_t>((edges.size + at_a_time - 1) / at_a_time);
  const std::int64_t blocks = transport.all_reduce(mine, comm::Op::max);
  PathCheck check(hierarchy, transport);
  std::vector<Edge24> block;
  for (std::int64_t i = 0; i < blocks; ++i) {
    const std::size_t first = std::min(edges.size, static_cast<std::size_t>(i) * at_a_time);
    block.resize(std::min(at_a_time, edges.size - first));
    edges.read(first, block);
    check.check_block(block);
    equal(check.equal);
    if (i % (blocks / 100 + 1) == 0) done(static_cast<double>(i) / static_cast<double>(blocks));
  }
  return check.findings;
}

}  // namespace merganser::msf::detail
