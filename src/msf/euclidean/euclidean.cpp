#include "merganser/msf/euclidean.hpp"

#include "msf/euclidean/deal.hpp"
#include "msf/euclidean/state.hpp"

namespace merganser::msf {

using namespace euclidean;

Forest euclidean_forest(const PointSet& points, comm::Transport& transport, const EuclideanOptions& options,
                        Report& report) {
  Dealt dealt;
  {
    const Report::Scope scope(report, "distribute", transport);
    dealt = deal(points, transport);
  }
  State state;
  {
    const Report::Scope scope(report, "tree", transport);
    state.tree = PointTree(dealt.items, metric_of(points), static_cast<std::uint32_t>(options.leaf),
                           static_cast<std::uint32_t>(std::max(options.min_samples, 2)));
    dealt.items = {};
  }
  {
    const Report::Scope scope(report, "neighbours", transport);
    find_lists(state, options.neighbours, options.threads);
  }
  {
    const Report::Scope scope(report, "local rounds", transport);
    state.edges.reserve(state.tree.size() + state.tree.folds().size());
    for (const auto& fold : state.tree.folds()) state.add_edge({0, fold.low, fold.high});
    report.fact("euclidean_local_rounds", local_rounds(state, {}));
  }
  report.fact("euclidean_searches", state.searches);
  return {dealt.total, graphs::WeightKind::float64, std::move(state.edges)};
}

}  // namespace merganser::msf
