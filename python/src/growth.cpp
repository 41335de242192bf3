#include "python/src/growth.hpp"

#include <nanobind/stl/optional.h>
#include <nanobind/stl/shared_ptr.h>

#include <algorithm>
#include <numeric>

#include "merganser/base/error.hpp"
#include "merganser/comm/collectives.hpp"
#include "python/src/forest.hpp"
#include "python/src/themes.hpp"

namespace merganser::python {
namespace {

/// The nearest points of this process's own points, as Python gives them.
struct Nearest {
  Rows<std::int64_t> points;
  Line<double> core_distances;
};

/// Everybody's, by vertex, on rank 0.
struct AllNearest {
  std::size_t each = 0;
  std::vector<std::int64_t> points;
  std::vector<double> core_distances;

  [[nodiscard]] msf::NearestPoints view() const { return {each, points, core_distances}; }
};

AllNearest gathered(const Nearest& mine, const Numbering& own, std::uint64_t vertices, comm::Transport& transport) {
  std::vector<std::uint64_t> ids = own.ids;
  if (ids.empty()) {
    ids.resize(own.count);
    std::iota(ids.begin(), ids.end(), own.first);
  }
  const auto all_ids = comm::gather_to_first(transport, ids);
  const auto all_points = comm::gather_to_first(transport, span_of(mine.points));
  const auto all_cores = comm::gather_to_first(transport, span_of(mine.core_distances));
  AllNearest all{mine.points.shape(1), {}, {}};
  if (transport.rank() != 0) return all;
  all.points.resize(static_cast<std::size_t>(vertices) * all.each);
  all.core_distances.resize(static_cast<std::size_t>(vertices));
  for (std::size_t r = 0; r < static_cast<std::size_t>(transport.size()); ++r) {
    for (std::size_t i = 0; i < all_ids[r].size(); ++i) {
      const auto id = static_cast<std::size_t>(all_ids[r][i]);
      std::copy_n(all_points[r].begin() + static_cast<std::ptrdiff_t>(i * all.each), all.each,
                  all.points.begin() + static_cast<std::ptrdiff_t>(id * all.each));
      all.core_distances[id] = all_cores[r][i];
    }
  }
  return all;
}

void check(const Nearest& nearest, const Numbering& own) {
  if (nearest.points.shape(0) != own.count || nearest.core_distances.size() != own.count)
    throw UsageError("nearest: " + std::to_string(nearest.points.shape(0)) + " rows and " +
                     std::to_string(nearest.core_distances.size()) + " distances; allowed: one for each of " +
                     std::to_string(own.count) + " points");
}

void find(Growth& growth, ForestObject& forest, const Nearest* nearest, comm::Transport& transport) {
  if (nearest != nullptr) comm::agree(transport, [&] { check(*nearest, forest.own()); });
  const bool alone = transport.size() == 1;
  AllNearest others;
  msf::NearestPoints near;
  if (nearest != nullptr && alone)
    near = {nearest->points.shape(1), span_of(nearest->points), span_of(nearest->core_distances)};
  if (nearest != nullptr && !alone) {
    others = gathered(*nearest, forest.own(), forest.vertices(), transport);
    near = others.view();
  }
  const msf::Forest all = alone ? msf::Forest{} : msf::gather_forest(forest.sorted_forest(), transport);
  comm::agree(transport, [&] {
    if (transport.rank() == 0) growth.edges = msf::grow(alone ? forest.sorted_forest() : all, near);
  });
}

std::shared_ptr<Growth> grow(const std::shared_ptr<ForestObject>& forest, std::optional<Rows<std::int64_t>> points,
                             std::optional<Line<double>> core_distances) {
  std::shared_ptr<const Nearest> nearest;
  if (points && core_distances)
    nearest = std::make_shared<Nearest>(Nearest{std::move(*points), std::move(*core_distances)});
  const auto growth = std::make_shared<Growth>();
  forest->sorted();
  const Team& team = *forest->team();
  const auto body = [=](comm::Transport& transport, const Interrupt&) {
    find(*growth, *forest, nearest.get(), transport);
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
  m.def("grow", &grow, nb::arg("forest"), nb::arg("points").noconvert().none() = nb::none(),
        nb::arg("core_distances").noconvert().none() = nb::none(),
        "The order of a forest's edges, for hdbscan(ties='sequential'). Collective.");
}

}  // namespace merganser::python
