#include "merganser/msf/euclidean.hpp"

#include <optional>

#include "merganser/base/error.hpp"
#include "merganser/comm/collectives.hpp"
#include "merganser/comm/same.hpp"
#include "src/msf/euclidean/cores.hpp"
#include "src/msf/euclidean/distribute_points.hpp"
#include "src/msf/euclidean/global_rounds.hpp"
#include "src/msf/euclidean/remote_boxes.hpp"
#include "src/msf/euclidean/state.hpp"
#include "src/msf/euclidean/surplus_points.hpp"

namespace merganser::msf {
namespace euclidean {
namespace {

void check_range(const char* name, int value, int least, int most) {
  if (value < least || value > most)
    throw UsageError(std::string(name) + " " + std::to_string(value) + "; allowed: " + std::to_string(least) + " to " +
                     std::to_string(most));
}

void check_options(const EuclideanOptions& o) {
  check_range("threads", o.threads, 1, 1024);
  check_range("leaf", o.leaf, 4, 64);
  check_range("neighbours", o.neighbours, 1, 32);
  check_range("min-samples", o.min_samples, 1, 1 << 20);
}

/// How far a phase is, told on rank 0.
std::function<void(double)> teller(const Report& report, const char* phase, const comm::Transport& transport) {
  if (!report.progress || transport.rank() != 0) return {};
  return [&report, phase](double share) { report.progress(phase, share); };
}

/// What both functions begin with: points distributed, in a tree, with an idea of where those of others are.
struct Ground {
  DistributedPoints distributed;
  SurplusPoints surplus;
  PointTree tree;
  std::optional<RemoteBoxes> others;  ///< none on one rank
  std::vector<double> core;
};

Ground make_ground(const PointSet& points, comm::Transport& transport, const EuclideanOptions& options, bool remember,
                   Report& report) {
  comm::agree(transport, [&] { check_options(options); });
  comm::check_same(transport, "Euclidean tree", comm::same_of(options));
  Ground ground;
  const Given given(points, transport);
  const auto fold = static_cast<std::uint32_t>(std::max(options.min_samples, 2));
  {
    const Report::Scope scope(report, "distribute", transport);
    ground.distributed = distribute_points(given, fold, transport, ground.surplus, remember);
  }
  if (ground.distributed.total > 0 && static_cast<std::uint64_t>(options.min_samples) > ground.distributed.total)
    throw InputError("min-samples " + std::to_string(options.min_samples) + " of " +
                     std::to_string(ground.distributed.total) + " points; allowed: up to their number");
  {
    const Report::Scope scope(report, "tree", transport);
    ground.tree = PointTree(ground.distributed.items, given.metric(), static_cast<std::uint32_t>(options.leaf), fold);
    ground.distributed.items = {};
    if (transport.size() > 1) ground.others.emplace(ground.tree, transport);
  }
  if (options.min_samples > 1) {
    const Report::Scope scope(report, "neighbours", transport);
    ground.core = core_squares(ground.tree, static_cast<std::uint32_t>(options.min_samples), options.threads,
                               ground.others ? &*ground.others : nullptr, transport);
  }
  return ground;
}

}  // namespace
}  // namespace euclidean

Forest euclidean_forest(const PointSet& points, comm::Transport& transport, const EuclideanOptions& options,
                        Report& report) {
  euclidean::Ground ground = euclidean::make_ground(points, transport, options, false, report);
  euclidean::State state;
  state.tree = std::move(ground.tree);
  state.core = std::move(ground.core);
  std::vector<double> remote_bounds;
  {
    const Report::Scope scope(report, "neighbours", transport);
    euclidean::find_lists(state, options.neighbours, options.threads,
                          euclidean::teller(report, "neighbours", transport));
    if (ground.others) remote_bounds = ground.others->bounds(state);
  }
  {
    const Report::Scope scope(report, "local rounds", transport);
    state.edges.reserve(state.tree.size() + state.tree.folds().size());
    for (const auto& fold : state.tree.folds()) state.add_edge({0, fold.low, fold.high});
    if (ground.distributed.surplus)
      for (const auto& edge : ground.surplus.edges(state.tree, transport)) state.add_edge({0, edge.low, edge.high});
    report.fact("euclidean_local_rounds",
                euclidean::local_rounds(state, remote_bounds, euclidean::teller(report, "local rounds", transport)));
  }
  if (ground.others) {
    const Report::Scope scope(report, "global rounds", transport);
    euclidean::global_rounds(state, *ground.others, std::move(remote_bounds), transport, report);
  }
  report.fact("euclidean_searches", state.searches);
  return {ground.distributed.total, graphs::WeightKind::float64, std::move(state.edges)};
}

std::vector<double> core_distances(const PointSet& points, int k, comm::Transport& transport,
                                   const EuclideanOptions& options, Report& report) {
  EuclideanOptions with_k = options;
  with_k.min_samples = k;
  euclidean::Ground ground = euclidean::make_ground(points, transport, with_k, true, report);
  // By id; points that another stands for are at distance 0 from enough others.
  struct Core {
    std::uint64_t id;
    double distance;
  };
  std::vector<Core> cores;
  for (std::uint32_t v = 0; v < ground.tree.size(); ++v)
    cores.push_back({ground.tree.id(v), ground.core.empty() ? 0 : std::sqrt(ground.core[v])});
  const auto by_id = [](const Core& a, const Core& b) { return a.id < b.id; };
  std::sort(cores.begin(), cores.end(), by_id);
  std::vector<std::vector<double>> back;
  for (const auto& ids : ground.distributed.came) {
    auto& to = back.emplace_back();
    for (const auto id : ids) {
      const auto at = std::lower_bound(cores.begin(), cores.end(), Core{id, 0}, by_id);
      to.push_back(at != cores.end() && at->id == id ? at->distance : 0);
    }
  }
  const auto by_owner = comm::all_to_all(transport, std::move(back));
  std::vector<std::size_t> next(by_owner.size(), 0);
  std::vector<double> out;
  for (const int owner : ground.distributed.went) {
    if (owner < 0) {
      out.push_back(0);
      continue;
    }
    const auto r = static_cast<std::size_t>(owner);
    out.push_back(by_owner[r][next[r]++]);
  }
  return out;
}

}  // namespace merganser::msf
