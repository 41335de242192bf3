#include "python/src/growth.hpp"

#include <nanobind/stl/shared_ptr.h>

#include <algorithm>

#include "merganser/comm/collectives.hpp"
#include "merganser/msf/nearest_lists.hpp"
#include "python/src/forest.hpp"
#include "python/src/themes.hpp"

namespace merganser::python {
namespace {

void find(Growth& growth, const msf::Forest& mine, const msf::NearestLists* nearest, comm::Transport& transport) {
  const bool alone = transport.size() == 1;
  const msf::Forest all = alone ? msf::Forest{} : msf::gather_forest(mine, transport);
  comm::agree(transport, [&] {
    if (transport.rank() != 0) return;
    growth.edges = msf::grow(alone ? mine : all, nearest != nullptr ? nearest->view() : msf::NearestPoints{});
  });
}

std::shared_ptr<Growth> grow(const std::shared_ptr<ForestObject>& forest,
                             const std::shared_ptr<msf::NearestLists>& nearest) {
  const auto growth = std::make_shared<Growth>();
  const Team& team = *forest->team();
  const auto body = [=](comm::Transport& transport, const Interrupt&) {
    forest->read([&](const msf::Forest& mine) { find(*growth, mine, nearest.get(), transport); });
  };
  if (team.here()) {
    Team(1).run(body);
  } else {
    team.run(body);
  }
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
          nb::rv_policy::automatic, "Weights of the edges, a copy; none on ranks other than 0.");
  m.def("grow", &grow, nb::arg("forest"), nb::arg("nearest").none(),
        "The order of a forest's edges, for hdbscan(ties='sequential'). Collective.");
}

}  // namespace merganser::python
