/// Python bindings of growths: the edges of a spanning tree in the order in which Prim's algorithm takes them.
#include "python/src/growth.hpp"

#include <nanobind/stl/shared_ptr.h>

#include <algorithm>

#include "merganser/base/error.hpp"
#include "merganser/comm/collectives.hpp"
#include "python/src/forest.hpp"
#include "python/src/themes.hpp"

namespace merganser::python {
namespace {

/// Gathers the spanning tree edges of all ranks and, on rank 0, orders them as Prim's algorithm takes them from vertex 0.
/// Collective.
/// @param points  gathered points with core distances, to compare all edges of equal weight; null: the forest's edges alone
void compute_growth(Growth& growth, const msf::Forest& mine, const msf::GatheredPoints* points,
                    comm::Transport& transport) {
  const bool alone = transport.size() == 1;
  const msf::Forest all = alone ? msf::Forest{} : msf::gather_forest(mine, transport);
  comm::agree(transport, [&] {
    if (transport.rank() != 0) return;
    growth = msf::grow(alone ? mine : all, points != nullptr ? *points : msf::GatheredPoints());
  });
}

/// Returns the edges of a spanning tree in the order of Prim's algorithm, for HDBSCAN* labels that equal scikit-learn's; empty on
/// ranks other than 0. Collective over the forest's team.
std::shared_ptr<Growth> grow(const std::shared_ptr<ForestObject>& forest,
                             const std::shared_ptr<msf::GatheredPoints>& points) {
  const auto growth = std::make_shared<Growth>();
  const Team& team = *forest->team();
  const auto body = [=](comm::Transport& transport, const Interrupt&) {
    forest->read([&](const msf::Forest& mine) { compute_growth(*growth, mine, points.get(), transport); });
  };
  if (team.is_local()) {
    Team(1).run(body);
  } else {
    team.run(body);
  }
  return growth;
}

/// Creates a Growth from the ends and weights of spanning tree edges that Python has computed in the order of Prim's algorithm.
/// Local. @param exact  Growth::exact
/// @throws UsageError for arrays of different lengths
std::shared_ptr<Growth> make_growth(const Line<std::uint32_t>& from, const Line<std::uint32_t>& to,
                                    const Line<double>& weights, bool exact) {
  if (from.size() != weights.size() || to.size() != weights.size())
    throw UsageError("growth: " + std::to_string(from.size()) + ", " + std::to_string(to.size()) + " and " +
                     std::to_string(weights.size()) + " numbers; allowed: as many in each");
  const auto growth = std::make_shared<Growth>();
  growth->exact = exact;
  for (std::size_t i = 0; i < weights.size(); ++i)
    growth->edges.push_back({from.data()[i], to.data()[i], weights.data()[i]});
  return growth;
}

}  // namespace

// Registers the class Growth and grow(), which orders the edges of a forest.
void bind_growth(nb::module_& m) {
  nb::class_<Growth>(m, "Growth",
                     "The edges of a tree in the order in which Prim's algorithm takes them, from vertex 0.")
      .def_prop_ro(
          "weights",
          [](const Growth& growth) {
            std::vector<double> weights(growth.edges.size());
            std::transform(growth.edges.begin(), growth.edges.end(), weights.begin(),
                           [](const msf::GrownEdge& e) { return e.weight; });
            return move_to_numpy(std::move(weights));
          },
          nb::rv_policy::automatic, "Weights of the edges, a copy; none on ranks other than 0.")
      .def_prop_ro(
          "targets",
          [](const Growth& growth) {
            std::vector<std::uint32_t> targets(growth.edges.size());
            std::transform(growth.edges.begin(), growth.edges.end(), targets.begin(),
                           [](const msf::GrownEdge& e) { return e.to; });
            return move_to_numpy(std::move(targets));
          },
          nb::rv_policy::automatic, "Vertices in the order in which they were added, without the first, a copy.")
      .def_ro("exact", &Growth::exact,
              "True if all edges of equal weight were compared, not those of the forest alone; on rank 0.")
      .def_static("of", &make_growth, nb::arg("sources").noconvert(), nb::arg("targets").noconvert(),
                  nb::arg("weights").noconvert(), nb::arg("exact") = true,
                  "Creates a growth from edges in the order in which they were found.");
  m.def("grow", &grow, nb::arg("forest"), nb::arg("points").none(),
        "Orders the edges of a forest as Prim's algorithm takes them, for hdbscan(ties='sequential'). Collective.");
}

}  // namespace merganser::python
