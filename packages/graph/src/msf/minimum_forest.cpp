// Minimum spanning forests of distributed graphs: choice of the method, filter-Kruskal, local contraction, and filter-Boruvka.
#include "merganser/msf/minimum_forest.hpp"

#include <algorithm>
#include <string>

#include "merganser/base/error.hpp"
#include "merganser/base/id_table.hpp"
#include "merganser/base/simulated.hpp"
#include "merganser/comm/collectives.hpp"
#include "merganser/comm/detail/uniform_values.hpp"
#include "merganser/msf/detail/describe_minimum_forest.hpp"
#include "merganser/msf/local_forest.hpp"
#include "merganser/msf/partition.hpp"
#include "src/msf/boruvka.hpp"
#include "src/msf/kruskal_ranks.hpp"
#include "src/msf/local/union_find.hpp"

namespace merganser::msf {
namespace {

using graphs::EdgeList;

/// Validates the options of minimum_spanning_forest(). Local. @throws UsageError for options out of range
void check(const ForestOptions& options) {
  if (options.threads < 1 || options.threads > 1024)
    throw UsageError("threads: " + std::to_string(options.threads) + "; allowed: 1 to 1024");
  const auto check_value = [](const char* name, int value, int most) {
    if (value > most)
      throw UsageError(std::string(name) + ": " + std::to_string(value) +
                       "; allowed: a value of its enumeration, 0 to " + std::to_string(most));
  };
  check_value("method", static_cast<int>(options.method), static_cast<int>(ForestMethod::local));
  check_value("policy", static_cast<int>(options.policy), static_cast<int>(links::Policy::trees));
  check_value("sense", static_cast<int>(options.sense), static_cast<int>(Sense::maximum));
}

/// Complements the bits of the weights of edges, which reverses their order, so that a maximum spanning forest is found as a
/// minimum one; a second call restores the weights.
template <class Edge>
void complement(std::vector<Edge>& edges) {
  using Bits = typename Edge::bits_type;
  for (Edge& e : edges) e.weight = static_cast<Bits>(~e.weight);
}

/// Returns the share of the graph's edges whose ends two different ranks own, in permille, by a sample of all ranks' edges; 0
/// without edges. Collective. @param ranges  vertices that the ranks own
template <class Edge>
std::int64_t cut_permille(std::span<const Edge> edges, const graphs::Ranges& ranges, comm::Transport& transport) {
  constexpr std::size_t kSample = 2048;
  std::int64_t counts[2] = {0, 0};
  const std::size_t stride = std::max<std::size_t>(1, edges.size() / kSample);
  for (std::size_t i = 0; i < edges.size(); i += stride) {
    ++counts[0];
    counts[1] += ranges.owner(edges[i].low) != ranges.owner(edges[i].high) ? 1 : 0;
  }
  transport.all_reduce(counts, comm::Op::sum);
  return counts[0] == 0 ? 0 : 1000 * counts[1] / counts[0];
}

/// Returns whether one rank may hold a label for every vertex of the graph: 4 bytes each then take at most 8 bytes for each of its edges.
bool fits_edges(std::uint64_t vertices, std::size_t edges) {
  constexpr std::uint64_t kMaxVertices = std::uint64_t{1} << 32;
  return vertices <= std::min<std::uint64_t>(kMaxVertices, 2 * std::uint64_t{edges});
}

/// Result of contract_locally(): edges of the spanning forest, and components, that one rank finds without communication.
template <class Edge>
struct LocalContraction {
  std::vector<Edge> forest;           ///< edges of the spanning forest of the whole graph
  std::vector<Edge> left;             ///< edges left to the global rounds; of two ranks' edge the owner of `low` has it
  std::vector<std::uint64_t> parent;  ///< per vertex of this rank: the vertex that names its component
};

/// Dense numbering of the vertices at the ends of one rank's edges, for its local spanning forest: its vertices first .. end - 1,
/// and those of other ranks (ghosts), in the order of ids. Since it keeps the order, edges compare alike by dense numbers and by
/// ids.
class DenseIds {
 public:
  template <class Edge>
  DenseIds(const std::vector<Edge>& edges, std::uint64_t first, std::uint64_t end, std::uint64_t vertices)
      : first_(first), end_(end), table_(edges.size(), vertices) {
    for (const Edge& e : edges)
      for (const std::uint64_t v : {std::uint64_t{e.low}, std::uint64_t{e.high}})
        if (!own(v)) table_.insert(v);
    away_ = table_.keys();
    std::sort(away_.begin(), away_.end());
    below_ = static_cast<std::size_t>(std::lower_bound(away_.begin(), away_.end(), first) - away_.begin());
    place_.resize(away_.size());
    for (std::size_t i = 0; i < away_.size(); ++i) place_[table_.insert(away_[i])] = i;
  }
  /// Returns whether this rank owns the vertex of id v.
  [[nodiscard]] bool own(std::uint64_t v) const { return v >= first_ && v < end_; }
  /// Returns the number of vertices that are numbered: this rank's and ghosts.
  [[nodiscard]] std::uint64_t size() const { return away_.size() + (end_ - first_); }
  /// Returns the dense number of the vertex of id v, which is this rank's or an end of its edges.
  [[nodiscard]] std::uint64_t dense(std::uint64_t v) {
    if (own(v)) return below_ + (v - first_);
    const std::uint64_t at = place_[table_.insert(v)];
    return v < first_ ? at : at + (end_ - first_);
  }
  /// Returns the id of the vertex with a dense number.
  [[nodiscard]] std::uint64_t id(std::uint64_t dense) const {
    if (dense < below_) return away_[static_cast<std::size_t>(dense)];
    if (dense < below_ + (end_ - first_)) return first_ + (dense - below_);
    return away_[static_cast<std::size_t>(dense - (end_ - first_))];
  }

 private:
  std::uint64_t first_;
  std::uint64_t end_;
  IdTable table_;                     // ghosts: ends of edges outside this rank's range
  std::vector<std::uint64_t> away_;   // ids of ghosts, ascending
  std::vector<std::uint64_t> place_;  // by entry of table_: position in away_
  std::size_t below_ = 0;             // number of ghosts with ids below the range
};

/// Kruskal's algorithm with halting on one rank's edges in ascending order, for the local contraction before Boruvka's rounds. A
/// component is halted once an edge to another rank has left it: that edge is its least one. An edge between two components of
/// which one is not halted is the least edge of that one, hence an edge of the spanning forest.
template <class Edge>
class HaltingKruskal {
 public:
  HaltingKruskal(std::uint64_t first, std::uint64_t end)
      : first_(first), end_(end), sets_(end - first), halted_(end - first) {}

  /// Processes this rank's next edge in ascending order: it joins two components, halts one, stays undecided, or is dropped.
  void add(const Edge& e) {
    // An edge to another rank is undecided; the owner of `low` keeps it, so that it is kept once.
    const bool low_own = own(e.low);
    if (!low_own || !own(e.high)) {
      halted_[root(low_own ? e.low : e.high)] = 1;
      if (low_own) left_.push_back(e);
      return;
    }
    const std::uint32_t a = root(e.low);
    const std::uint32_t b = root(e.high);
    if (a == b) return;
    if (halted_[a] != 0 && halted_[b] != 0) {
      left_.push_back(e);
      return;
    }
    const std::uint8_t halted = halted_[a] | halted_[b];
    sets_.join(a, b);
    halted_[sets_.find(a)] = halted;
    forest_.push_back(e);
  }

  /// Returns the edges of the forest, the undecided edges between different components, and the components of this rank's vertices.
  LocalContraction<Edge> result() {
    sets_.flatten();
    LocalContraction<Edge> out;
    for (const Edge& e : left_)
      if (!own(e.high) || sets_.labels()[e.low - first_] != sets_.labels()[e.high - first_]) out.left.push_back(e);
    out.forest = std::move(forest_);
    out.parent.resize(static_cast<std::size_t>(end_ - first_));
    for (std::size_t v = 0; v < out.parent.size(); ++v) out.parent[v] = first_ + sets_.labels()[v];
    return out;
  }

 private:
  /// Returns whether this rank owns vertex v of the graph.
  [[nodiscard]] bool own(std::uint64_t v) const { return v >= first_ && v < end_; }
  /// Returns the component of vertex v, which this rank owns, as its least vertex less first_.
  std::uint32_t root(std::uint64_t v) { return sets_.find(static_cast<std::uint32_t>(v - first_)); }

  std::uint64_t first_;
  std::uint64_t end_;
  UnionFind sets_;                    // components of this rank's vertices
  std::vector<std::uint8_t> halted_;  // by root of a component
  std::vector<Edge> forest_;          // edges of the spanning forest
  std::vector<Edge> left_;            // undecided edges
};

/// Contracts the components of this rank's vertices first .. end - 1 along their least edges as long as these end in such vertices
/// too: a component whose least edge leaves the rank halts, but another one may still be joined to it. Local. Only edges of the
/// spanning forest of this rank's edges are processed: by the cycle property, no other edge is in the forest of the whole graph.
/// @param edges     all edges of the graph with an end in the range, without loops
/// @param vertices  of the whole graph
/// Cost: that of local_forest() and, where labels of all vertices would not fit beside the edges, a sort of the ends beyond the range.
template <class Edge>
LocalContraction<Edge> contract_locally(std::vector<Edge> edges, std::uint64_t first, std::uint64_t end,
                                        std::uint64_t vertices, int threads) {
  using Id = typename Edge::id_type;
  if (fits_edges(vertices, edges.size())) {
    const auto least = local_forest<Edge>(edges, vertices, threads);
    edges = std::vector<Edge>();
    HaltingKruskal<Edge> halting(first, end);
    for (const Edge& e : least) halting.add(e);
    return halting.result();
  }
  DenseIds ids(edges, first, end, vertices);
  for (Edge& e : edges) e = {static_cast<Id>(ids.dense(e.low)), static_cast<Id>(ids.dense(e.high)), e.weight};
  const auto least = local_forest<Edge>(edges, ids.size(), threads);
  edges = std::vector<Edge>();
  HaltingKruskal<Edge> halting(first, end);
  for (const Edge& e : least) halting.add({static_cast<Id>(ids.id(e.low)), static_cast<Id>(ids.id(e.high)), e.weight});
  return halting.result();
}

/// Computation of the spanning forest of a distributed graph whose edges are of one C++ type, by the method in ForestOptions.
template <class Edge>
class ForestSearch {
 public:
  ForestSearch(const EdgeList& graph, comm::Transport& transport, const ForestOptions& options, Report& report)
      : graph_(graph),
        edges_(std::get<std::vector<Edge>>(graph.edges)),
        transport_(transport),
        options_(options),
        report_(report) {}

  /// Selects the method of minimum_spanning_forest() and computes this rank's share of the forest with it. Collective.
  std::vector<Edge> run() {
    ForestMethod method = options_.method;
    if (method == ForestMethod::automatic && prefers_kruskal()) method = ForestMethod::kruskal;
    std::vector<Edge> forest;
    if (method == ForestMethod::kruskal)
      forest = by_kruskal();
    else
      forest = by_contraction(method);
    report_.fact("method", static_cast<std::int64_t>(method));
    if (options_.sense == Sense::maximum) complement(forest);
    return forest;
  }

 private:
  /// Returns whether the automatic method is Kruskal's, which repeats the joining of trees on every rank, yet takes less time than
  /// contraction: on one rank 0.4 s where `filter` takes 2.6 s (2^20 vertices and 2^24 edges at random). Collective.
  bool prefers_kruskal() {
    const auto ranks = static_cast<std::uint64_t>(transport_.size());
    if (ranks == 1 || graph_.vertices <= options_.base_case) return true;
    const auto edges =
        static_cast<std::uint64_t>(transport_.all_reduce(static_cast<std::int64_t>(edges_.size()), comm::Op::sum));
    // This bounds the memory: 20 bytes per vertex are then at most four times the memory of the rank's edges.
    constexpr std::uint64_t kMaxVertices = std::uint64_t{1} << 32;
    return options_.base_case > 0 && graph_.vertices <= std::min(kMaxVertices, 2 * edges / ranks);
  }

  /// Computes the forest by filter-Kruskal. Collective. @return this rank's share
  std::vector<Edge> by_kruskal() {
    const bool flip = options_.sense == Sense::maximum;
    std::function<void(double)> progress;
    if (report_.progress && transport_.rank() == 0)
      progress = [this](double share) { report_.progress("local forest", share); };
    std::vector<Edge> forest;
    if (transport_.size() > 1) {
      KruskalRanks ranks(transport_, report_);
      ForestProgress told(progress, 2 * edges_.size() + kSortCost * 2 * static_cast<std::size_t>(graph_.vertices));
      forest = FilterKruskal<Edge, KruskalRanks>(graph_.vertices, options_.threads, flip, ranks, told).run(edges_);
    } else {
      const Report::Scope scope(report_, "local forest", transport_);
      const MeasuredWork work;
      forest = local_forest<Edge>(edges_, graph_.vertices, options_.threads, flip, progress);
    }
    report_.fact("local edges", static_cast<std::int64_t>(forest.size()));
    return forest;
  }

  /// Methods `boruvka`, `filter` and `local`: computes this rank's share of the spanning forest by distributed Boruvka's algorithm,
  /// with filtering or local contraction. Collective. @param method  `automatic` is replaced by the method chosen
  std::vector<Edge> by_contraction(ForestMethod& method) {
    graphs::Ranges ranges;
    {
      const Report::Scope scope(report_, "partition", transport_);
      ranges = balanced_ranges(graph_, transport_);
      const std::int64_t cut = cut_permille<Edge>(edges_, ranges, transport_);
      report_.fact("cut permille", cut);
      // Vertices assigned at random would give a share of 1 - 1 / ranks: then ids have no locality to exploit.
      const std::int64_t local = 500 - 500 / transport_.size();
      if (method == ForestMethod::automatic) method = cut < local ? ForestMethod::local : ForestMethod::filter;
    }
    std::vector<Edge> forest;
    if (transport_.size() == 1 && method != ForestMethod::boruvka && fits_edges(graph_.vertices, edges_.size())) {
      (void)reduce_edges(forest);  // the forest of one rank's edges is that of the graph
      return forest;
    }
    // Labels of stars are sent directly between ranks; the mailbox needs the same arcs, to separate their rounds.
    Peers peers(transport_, options_.policy == links::Policy::stars ? transport_.size() : Peers::kMaxDirectRanks);
    Components components(ranges, peers);
    std::vector<Edge> left;  // memory of `edges`, unless these are the input itself
    std::span<const Edge> edges = edges_;
    if (method == ForestMethod::local) {
      contract_here(components, forest, left);
      edges = left;
    } else if (method == ForestMethod::filter) {
      edges = reduce_edges(left);
    } else if (options_.sense == Sense::maximum) {
      left = edges_;
      complement(left);
      edges = left;
    }
    Boruvka<Edge> rounds(components, peers, {options_.policy, options_.base_case}, report_);
    if (method == ForestMethod::boruvka)
      rounds.run(edges, forest);
    else
      filter(rounds, edges, left, forest);
    return forest;
  }

  /// First stage of method `filter`: where this rank has at least half as many edges as the graph has vertices, computes the spanning
  /// forest of these edges alone. None of its other edges can be in the forest of the whole graph (cycle property), so that later
  /// look-ups and messages are those of fewer edges than vertices. The labels of all vertices, 4 bytes each, then take at most 8 bytes
  /// for each edge of this rank. Every rank decides by its own edges; without communication.
  /// @param left  memory of the edges returned, unless these are the input itself
  /// @return edges for the global rounds, with complemented weights for a maximum spanning forest
  std::span<const Edge> reduce_edges(std::vector<Edge>& left) {
    const bool flip = options_.sense == Sense::maximum;
    const Report::Scope scope(report_, "local forest", transport_);
    const MeasuredWork work;
    const bool reduces = fits_edges(graph_.vertices, edges_.size());
    if (reduces) {
      left = local_forest<Edge>(edges_, graph_.vertices, options_.threads, flip);
    } else if (flip) {
      left = edges_;
      complement(left);
    }
    const std::span<const Edge> edges = reduces || flip ? left : edges_;
    report_.fact("local edges", static_cast<std::int64_t>(edges.size()));
    return edges;
  }

  /// First stage of method `local`: redistributes the graph's edges to the owners of their ends, and contracts this rank's
  /// components without communication. Collective. @param left  result: edges for the global rounds
  void contract_here(Components& components, std::vector<Edge>& forest, std::vector<Edge>& left) {
    // The owner of a vertex has all edges at it, so that the least edge out of every component of its vertices is known here.
    std::vector<Edge> mine;
    {
      const Report::Scope scope(report_, "partition", transport_);
      EdgeList distributed = distribute_edges(graph_, components.ranges(), transport_);
      mine = std::move(std::get<std::vector<Edge>>(distributed.edges));
      if (options_.sense == Sense::maximum) complement(mine);
    }
    const Report::Scope scope(report_, "local forest", transport_);
    const MeasuredWork work;
    auto done =
        contract_locally<Edge>(std::move(mine), components.first(), components.first() + components.parent().size(),
                               graph_.vertices, options_.threads);
    forest = std::move(done.forest);
    left = std::move(done.left);
    components.change_parents() = std::move(done.parent);
    report_.fact("local edges", static_cast<std::int64_t>(forest.size()));
  }

  /// Performs Boruvka's algorithm with filtering (methods `filter` and `local`): on the least edges of all ranks first; heavier
  /// edges within one component by then are dropped. Collective. @param left  memory of the edges after a filter
  void filter(Boruvka<Edge>& rounds, std::span<const Edge> edges, std::vector<Edge>& left, std::vector<Edge>& forest) {
    for (;;) {
      std::int64_t counts[2] = {static_cast<std::int64_t>(edges.size()), static_cast<std::int64_t>(forest.size())};
      transport_.all_reduce(counts, comm::Op::sum);
      const std::int64_t trees = static_cast<std::int64_t>(graph_.vertices) - counts[1];
      // At least twice the trees that are left, so that light edges join most of them, and an eighth, so that passes are few.
      const std::int64_t wanted = std::max(2 * trees, counts[0] / 8);
      if (counts[0] <= 2 * wanted || counts[0] < 4096) break;
      const Edge pivot = common_pivot(edges, counts[0], wanted);
      std::vector<Edge> light;
      for (const Edge& e : edges)
        if (!(pivot < e)) light.push_back(e);
      rounds.run(light, forest);
      light = std::vector<Edge>();
      std::vector<Edge> heavy = rounds.between_components(edges);
      report_.add("filtered", static_cast<std::int64_t>(edges.size() - heavy.size()));
      left = std::move(heavy);
      edges = left;
      if (report_.progress && transport_.rank() == 0)
        report_.progress("edges filtered", 1 - static_cast<double>(left.size()) /
                                                   static_cast<double>(std::max<std::size_t>(1, edges_.size())));
    }
    rounds.run(edges, forest);
  }

  /// Returns the pivot of a filter step of filter-Boruvka: an edge below which about `wanted` of all ranks' `total` edges lie, by a
  /// sample; the same on every rank. Collective.
  Edge common_pivot(std::span<const Edge> edges, std::int64_t total, std::int64_t wanted) {
    constexpr std::int64_t kSample = 8192;
    std::vector<Edge> mine;
    const auto stride = static_cast<std::size_t>(std::max<std::int64_t>(1, total / kSample));
    for (std::size_t i = stride / 2; i < edges.size(); i += stride) mine.push_back(edges[i]);
    std::vector<Edge> sample = comm::all_gather(transport_, mine).flat();
    std::sort(sample.begin(), sample.end());
    const auto at = static_cast<std::size_t>(static_cast<double>(wanted) / static_cast<double>(total) *
                                             static_cast<double>(sample.size()));
    return sample[std::min(at, sample.size() - 1)];
  }

  const EdgeList& graph_;
  const std::vector<Edge>& edges_;
  comm::Transport& transport_;
  const ForestOptions& options_;
  Report& report_;
};

}  // namespace

// Entry of spanning forests of graphs: validation on all ranks, then the method for the type of the edges.
Forest minimum_spanning_forest(const EdgeList& graph, comm::Transport& transport, const ForestOptions& options,
                               Report& report) {
  comm::agree(transport, [&] { check(options); });
  auto uniform = comm::uniform_values(options);
  uniform.push_back({"sense", std::to_string(static_cast<int>(options.sense))});
  uniform.push_back({"the number of vertices", std::to_string(graph.vertices)});
  uniform.push_back({"the kind of weights", std::to_string(static_cast<int>(graph.kind))});
  uniform.push_back({"the width of edges", std::to_string(graph.edges.index())});
  comm::check_uniform_across_ranks(transport, "minimum_spanning_forest", uniform);
  Forest out{graph.vertices, graph.kind, {}};
  std::visit(
      [&]<class Edge>(const std::vector<Edge>&) {
        const auto forest = ForestSearch<Edge>(graph, transport, options, report).run();
        out.edges.reserve(forest.size());
        for (const Edge& e : forest) out.edges.push_back({e.low, e.high, e.weight});
      },
      graph.edges);
  return out;
}

}  // namespace merganser::msf
