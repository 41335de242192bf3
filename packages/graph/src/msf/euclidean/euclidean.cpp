// Euclidean minimum spanning trees up to kMaxAxes axes: distribution of the points, a tree of boxes on each rank, neighbour
// lists, local rounds of Boruvka's algorithm, then global rounds.
#include "merganser/msf/euclidean.hpp"

#include <algorithm>
#include <numeric>
#include <optional>
#include <utility>

#include "merganser/base/error.hpp"
#include "merganser/base/release_memory.hpp"
#include "merganser/base/text.hpp"
#include "merganser/comm/collectives.hpp"
#include "merganser/comm/detail/uniform_values.hpp"
#include "merganser/msf/detail/describe_euclidean.hpp"
#include "src/msf/euclidean/core_neighbours.hpp"
#include "src/msf/euclidean/distribute_points.hpp"
#include "src/msf/euclidean/pairs.hpp"
#include "src/msf/euclidean/remote_boxes.hpp"
#include "src/msf/euclidean/state.hpp"

namespace merganser::msf {
namespace euclidean {
namespace {

/// Validates an option of a spanning tree of points. @throws UsageError, which names the option, for a value outside [least, most]
void check_range(const char* name, int value, int least, int most) {
  if (value < least || value > most)
    throw UsageError(std::string(name) + " " + std::to_string(value) + "; allowed: " + std::to_string(least) + " to " +
                     std::to_string(most));
}

/// Validates the options of euclidean_forest(), a spanning tree of points. Local. @throws UsageError for options out of range
void check_options(const EuclideanOptions& o) {
  check_range("threads", o.threads, 1, 1024);
  if (o.leaf != 0) check_range("leaf", o.leaf, 4, static_cast<int>(kMaxLeafPoints));
  check_range("neighbours", o.neighbours, 1, 32);
  check_range("min-samples", o.min_samples, 1, 1 << 20);
  if (!(o.alpha >= 1e-3 && o.alpha <= 1e3))
    throw UsageError("alpha " + number_text(o.alpha) + "; allowed: 0.001 to 1000");
}

/// Returns a function that passes the share done of a phase of euclidean_forest() to the progress callback of the report; empty on
/// ranks other than 0, and where there is no callback.
std::function<void(double)> make_progress(const Report& report, const char* phase, const comm::Transport& transport) {
  if (!report.progress || transport.rank() != 0) return {};
  return [&report, phase](double share) { report.progress(phase, share); };
}

/// Result of prepare_points(), the common first part of euclidean_forest() and core_distances() on one rank.
template <std::size_t D>
struct PreparedPoints {
  DistributedPoints<D> distributed;  ///< the points that this rank owns (moved into the tree), and where they came from
  SurplusPoints<D> surplus;          ///< points of this rank that were not distributed
  PointTree<D> tree;                 ///< tree of boxes over the points that this rank owns
  std::optional<RemoteBoxes<D>> others;  ///< upper boxes of the other ranks' trees; none on one rank
  std::vector<double> core;              ///< squared core distances of the tree's points; empty: plain distances
  NearPoints near;                       ///< nearest points of the tree's points, if they were asked for
};

/// Returns how many nearest points of each point the search for core distances keeps for the rounds: some more than it needs, so that
/// the order by mutual reachability distances is known for the first; 0 where there would be too many.
std::uint32_t near_points(const EuclideanOptions& options) {
  constexpr int kMore = 4;
  constexpr int kMax =
      14;  // up to so many, the search is a fast one: by lists of keys, or filtered in single precision
  static_assert(kMax <= static_cast<int>(NearPoints::kMax));
  const int needed = options.min_samples - 1;
  return static_cast<std::uint32_t>(needed > kMax ? 0 : std::min(needed + kMore, kMax));
}

/// Purpose of a call of prepare_points(): core distances, a spanning tree of points, or both.
struct Purpose {
  bool returns_cores;  ///< core distances go back to the ranks that passed the points
  bool makes_tree;     ///< a spanning tree is computed, which uses the lists of nearest points
};

/// Performs the common first part of euclidean_forest() and core_distances(): distributes the points by place, builds this rank's
/// tree of boxes, and computes core distances where options.min_samples is above 1. Collective.
template <std::size_t D>
PreparedPoints<D> prepare_points(const CheckedPoints& given, comm::Transport& transport,
                                 const EuclideanOptions& options, const Purpose& purpose, Report& report) {
  PreparedPoints<D> ground;
  // min_samples equal points have core distance 0 whatever others there are: one can stand for all.
  const auto fold = static_cast<std::uint32_t>(std::max(options.min_samples, 2));
  {
    const Report::Scope scope(report, "distribute", transport);
    ground.distributed = distribute_points(given, fold, transport, ground.surplus, purpose.returns_cores);
  }
  {
    const Report::Scope scope(report, "tree", transport);
    ground.tree = PointTree<D>(ground.distributed.items, given.template metric<D>(), leaf_capacity(options, D), fold,
                               options.threads);
    release_memory(ground.distributed.items);
    if (transport.size() > 1) ground.others.emplace(ground.tree, transport);
  }
  if (options.min_samples > 1) {
    const Report::Scope scope(report, "neighbours", transport);
    if (purpose.makes_tree) ground.near.keep = near_points(options);
    ground.core = core_squares(ground.tree, static_cast<std::uint32_t>(options.min_samples), options.threads,
                               ground.others ? &*ground.others : nullptr, transport,
                               ground.near.keep > 0 ? &ground.near : nullptr);
  }
  return ground;
}

/// Validates the option min_samples of mutual reachability distances against the number of points on all ranks. @throws InputError
/// for more samples than points
void check_samples(const EuclideanOptions& options, std::uint64_t total) {
  if (total > 0 && static_cast<std::uint64_t>(options.min_samples) > total)
    throw InputError("min-samples " + std::to_string(options.min_samples) + " of " + std::to_string(total) +
                     " points; allowed: up to their number");
}

/// Returns the core distances of this rank's points in the order of the input, from the ranks that own the places of the points.
/// Collective.
/// @param distributed  with the ranks that points came from and went to; emptied of them
/// @param core  squared core distances of the tree's points; empty: all are 0
template <std::size_t D>
std::vector<double> return_cores(DistributedPoints<D>& distributed, const PointTree<D>& tree,
                                 const std::vector<double>& core, comm::Transport& transport) {
  if (transport.size() == 1) {  // ids are the numbers below the total, each once
    std::vector<double> by_id(static_cast<std::size_t>(distributed.total));
    for (std::uint32_t v = 0; v < tree.size() && !core.empty(); ++v) by_id[tree.id(v)] = tree.metric().weight(core[v]);
    std::vector<double> out;
    out.reserve(by_id.size());
    for (const auto id : std::exchange(distributed.came[0], {})) out.push_back(by_id[id]);
    distributed.went = {};
    return out;
  }
  // Points of the tree by id; points that another one represents have enough points at distance 0, and are not among them. Lists are
  // released as soon as they have been read, since this is where a search takes most memory.
  std::vector<std::vector<double>> back(distributed.came.size());
  {
    std::vector<std::uint32_t> by_id(tree.size());
    std::iota(by_id.begin(), by_id.end(), 0U);
    std::sort(by_id.begin(), by_id.end(), [&](std::uint32_t a, std::uint32_t b) { return tree.id(a) < tree.id(b); });
    for (std::size_t r = 0; r < back.size(); ++r) {
      const auto ids = std::exchange(distributed.came[r], {});
      back[r].reserve(ids.size());
      for (const auto id : ids) {
        const auto at = std::lower_bound(by_id.begin(), by_id.end(), id,
                                         [&](std::uint32_t v, std::uint64_t wanted) { return tree.id(v) < wanted; });
        const bool known = at != by_id.end() && tree.id(*at) == id && !core.empty();
        back[r].push_back(known ? tree.metric().weight(core[*at]) : 0);
      }
    }
  }
  const auto by_owner = comm::all_to_all(transport, std::move(back));
  const auto went = std::exchange(distributed.went, {});
  std::vector<std::size_t> next(by_owner.size(), 0);
  std::vector<double> out;
  out.reserve(went.size());
  for (const int owner : went) {
    if (owner < 0) {
      out.push_back(0);
      continue;
    }
    const auto r = static_cast<std::size_t>(owner);
    out.push_back(by_owner[r][next[r]++]);
  }
  return out;
}

/// Computes this rank's share of the Euclidean minimum spanning tree: neighbour lists, local rounds, global rounds.
/// Collective.
template <std::size_t D>
Forest compute_forest(const CheckedPoints& given, comm::Transport& transport, const EuclideanOptions& options,
                      Report& report, std::vector<double>* cores, NeighboursPointer* neighbours) {
  PreparedPoints<D> ground = prepare_points<D>(given, transport, options, {cores != nullptr, true}, report);
  if (cores != nullptr) *cores = return_cores(ground.distributed, ground.tree, ground.core, transport);
  // A list needs one point more than are within the core distance.
  const auto samples = static_cast<std::uint32_t>(options.min_samples);
  std::shared_ptr<CoreNeighbours> lists;
  if (neighbours != nullptr && transport.size() == 1 && options.alpha == 1 && samples > 1 &&
      ground.near.keep >= samples && given.total() <= CoreNeighbours::kMaxPoints)
    lists = std::make_shared<CoreNeighbours>(ground.tree, ground.near, ground.core, samples, given.total(),
                                             options.threads);
  const Stretch stretch = given.stretch(options.alpha);
  stretch.stretch(ground.core, transport);
  BoruvkaState<D> state;
  state.tree = std::move(ground.tree);
  state.core = std::move(ground.core);
  state.threads = options.threads;
  const Metric<D>& metric = state.tree.metric();
  state.checks_ties = D <= 3 && lists != nullptr && !metric.sphere && metric.divisor == 0 &&
                      !ground.distributed.surplus && state.tree.folds().empty();
  std::vector<double> remote_bounds;
  std::vector<OpenEdge> open;
  {
    const Report::Scope scope(report, "neighbours", transport);
    const auto progress = make_progress(report, "neighbours", transport);
    if (ground.near.keep > 0) {
      find_reach_lists(state, ground.near, options.neighbours, static_cast<std::uint32_t>(options.min_samples),
                       !ground.others && state.tree.folds().empty() && options.alpha == 1);
      if (progress) progress(1);
    } else {
      find_lists(state, options.neighbours, options.threads, progress);
    }
    if (ground.others) remote_bounds = ground.others->bounds(state);
  }
  {
    const Report::Scope scope(report, "local rounds", transport);
    state.edges.reserve(state.tree.size() + state.tree.folds().size());
    for (const auto& fold : state.tree.folds()) state.add_edge({0, fold.low, fold.high});
    if (ground.distributed.surplus)
      for (const auto& edge : make_surplus_edges(ground.surplus.groups(), state.tree.folds(), transport))
        state.add_edge({0, edge.low, edge.high});
    report.fact("euclidean_local_rounds",
                local_rounds(state, remote_bounds, make_progress(report, "local rounds", transport)));
    if (ground.others) open = find_open_edges(state);
  }
  if (state.checks_ties) {
    std::transform(state.tied.begin(), state.tied.end(), state.tied.begin(),
                   [&](double d2) { return metric.weight(d2); });
    lists->complete(std::move(state.tied));
  } else if (lists != nullptr) {
    lists->leave_incomplete();
  }
  if (neighbours != nullptr) *neighbours = std::move(lists);
  if (ground.others) {
    const Report::Scope scope(report, "global rounds", transport);
    global_rounds(state, std::move(open), *ground.others, std::move(remote_bounds), transport, report);
  }
  report.fact("euclidean_searches", state.searches);
  stretch.divide(state.edges);
  return {ground.distributed.total, graphs::WeightKind::float64, std::move(state.edges)};
}

/// Computes the core distances of this rank's points, in the order of the input. Collective.
template <std::size_t D>
std::vector<double> compute_cores(const CheckedPoints& given, comm::Transport& transport,
                                  const EuclideanOptions& options, Report& report) {
  PreparedPoints<D> ground = prepare_points<D>(given, transport, options, {true, false}, report);
  return return_cores(ground.distributed, ground.tree, ground.core, transport);
}

}  // namespace

void check_uniform_options(const EuclideanOptions& options, comm::Transport& transport) {
  comm::agree(transport, [&] { check_options(options); });
  comm::check_uniform_across_ranks(transport, "Euclidean tree", comm::uniform_values(options));
}

}  // namespace euclidean

// Entry of spanning trees of points: a tree of boxes for few axes, comparison of all pairs for many.
Forest euclidean_forest(const PointSet& points, comm::Transport& transport, const EuclideanOptions& options,
                        Report& report, std::vector<double>* cores, euclidean::NeighboursPointer* neighbours) {
  if (neighbours != nullptr) *neighbours = nullptr;
  euclidean::check_uniform_options(options, transport);
  const euclidean::CheckedPoints given(points, transport);
  euclidean::check_samples(options, given.total());
  if (given.axes() > euclidean::kMaxAxes) return euclidean::forest_by_pairs(given, transport, options, report, cores);
  return euclidean::with_axes(given.axes(), [&](auto axes) {
    return euclidean::compute_forest<axes.value>(given, transport, options, report, cores, neighbours);
  });
}

// Entry of core distances alone, for HDBSCAN*.
std::vector<double> core_distances(const PointSet& points, int k, comm::Transport& transport,
                                   const EuclideanOptions& options, Report& report) {
  EuclideanOptions with_k = options;
  with_k.min_samples = k;
  euclidean::check_uniform_options(with_k, transport);
  const euclidean::CheckedPoints given(points, transport);
  euclidean::check_samples(with_k, given.total());
  if (given.axes() > euclidean::kMaxAxes) return euclidean::core_distances_by_pairs(given, transport, with_k, report);
  return euclidean::with_axes(
      given.axes(), [&](auto axes) { return euclidean::compute_cores<axes.value>(given, transport, with_k, report); });
}

}  // namespace merganser::msf
