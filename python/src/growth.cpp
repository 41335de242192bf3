#include "python/src/growth.hpp"

#include <nanobind/stl/shared_ptr.h>

#include <algorithm>

#include "merganser/base/error.hpp"
#include "merganser/comm/collectives.hpp"
#include "python/src/forest.hpp"
#include "python/src/themes.hpp"

namespace merganser::python {
namespace {

void find(Growth& growth, const msf::Forest& mine, const msf::GatheredPoints* points, comm::Transport& transport) {
  const bool alone = transport.size() == 1;
  const msf::Forest all = alone ? msf::Forest{} : msf::gather_forest(mine, transport);
  comm::agree(transport, [&] {
    if (transport.rank() != 0) return;
    growth = msf::grow(alone ? mine : all, points != nullptr ? *points : msf::GatheredPoints());
  });
}

std::shared_ptr<Growth> grow(const std::shared_ptr<ForestObject>& forest,
                             const std::shared_ptr<msf::GatheredPoints>& points) {
  const auto growth = std::make_shared<Growth>();
  const Team& team = *forest->team();
  const auto body = [=](comm::Transport& transport, const Interrupt&) {
    forest->read([&](const msf::Forest& mine) { find(*growth, mine, points.get(), transport); });
  };
  if (team.here()) {
    Team(1).run(body);
  } else {
    team.run(body);
  }
  return growth;
}

/// Edges that Python has found in that order.
std::shared_ptr<Growth> growth_of(const Line<std::uint32_t>& from, const Line<std::uint32_t>& to,
                                  const Line<double>& weights) {
  if (from.size() != weights.size() || to.size() != weights.size())
    throw UsageError("growth: " + std::to_string(from.size()) + ", " + std::to_string(to.size()) + " and " +
                     std::to_string(weights.size()) + " numbers; allowed: as many in each");
  const auto growth = std::make_shared<Growth>();
  growth->exact = true;
  for (std::size_t i = 0; i < weights.size(); ++i)
    growth->edges.push_back({from.data()[i], to.data()[i], weights.data()[i]});
  return growth;
}

}  // namespace

void bind_growth(nb::module_& m) {
  nb::class_<Growth>(m, "Growth",
                     "The edges of a tree in the order in which Prim's algorithm takes them, from vertex 0.")
      .def_prop_ro(
          "weights",
          [](const Growth& growth) {
            std::vector<double> weights(growth.edges.size());
            std::transform(growth.edges.begin(), growth.edges.end(), weights.begin(),
                           [](const msf::GrownEdge& e) { return e.weight; });
            return give(std::move(weights));
          },
          nb::rv_policy::automatic, "Weights of the edges, a copy; none on ranks other than 0.")
      .def_ro("exact", &Growth::exact,
              "Whether the choice was among all edges of equal weight, not those of the forest alone; on rank 0.")
      .def_static("of", &growth_of, nb::arg("sources").noconvert(), nb::arg("targets").noconvert(),
                  nb::arg("weights").noconvert(), "Edges in the order in which they were found.");
  m.def("grow", &grow, nb::arg("forest"), nb::arg("points").none(),
        "The order of a forest's edges, for hdbscan(ties='sequential'). Collective.");
}

}  // namespace merganser::python
