/// Python bindings of spanning forests: NumPy arrays of the edges, totals over all ranks, and the class Forest of _core.
#include "python/src/forest.hpp"

#include <nanobind/stl/shared_ptr.h>
#include <nanobind/stl/string.h>

#include <algorithm>

#include "merganser/comm/open.hpp"
#include "python/src/themes.hpp"

namespace merganser::python {

ForestObject::ForestObject(std::shared_ptr<Team> team, msf::Forest forest, Numbering own)
    : team_(std::move(team)), forest_(std::move(forest)), own_(std::move(own)) {
  if (team_->is_local()) return;
  team_->run([this](comm::Transport& transport, const Interrupt&) { totals_ = msf::totals(forest_, transport); });
}

// Forest of this process for the arrays of Python: sorted at the first use, under a lock, since any thread may call it.
const msf::Forest& ForestObject::sorted() {
  const nb::gil_scoped_release free;
  const std::lock_guard lock(mutex_);
  if (!sorted_) std::sort(forest_.edges.begin(), forest_.edges.end());
  sorted_ = true;
  return forest_;
}

// View of this rank's forest edges for NumPy: an edge is three words (low, high, weight), so rows are strided by 3.
nb::object ForestObject::edges(const nb::handle& self) {
  const auto& edges = nb::cast<ForestObject&>(self).sorted().edges;
  static_assert(sizeof(graphs::Edge24) == 3 * sizeof(std::int64_t));
  static constexpr std::int64_t kNone[3] = {};
  const auto* const first = edges.empty() ? kNone : reinterpret_cast<const std::int64_t*>(edges.data());
  const std::size_t shape[] = {edges.size(), 2};
  const std::int64_t strides[] = {3, 1};
  return nb::cast(nb::ndarray<nb::numpy, const std::int64_t>(first, 2, shape, self, strides));
}

namespace {

/// Converts the weights of spanning forest edges, held as order-preserving bits, to a NumPy array of T. @param number  weight of
/// bits
template <class T, class Number>
nb::object convert_weights(const std::vector<graphs::Edge24>& edges, const Number& number) {
  std::vector<T> out(edges.size());
  std::transform(edges.begin(), edges.end(), out.begin(),
                 [&](const auto& e) { return static_cast<T>(number(e.weight)); });
  return nb::cast(move_to_numpy(std::move(out)));
}

}  // namespace

// Weights of this rank's forest edges in the type that the graph had, restored from order-preserving bits.
nb::object ForestObject::weights() {
  using graphs::WeightKind;
  const auto& all = sorted();
  const auto as_double = [&](std::uint64_t bits) { return graphs::weight_from_bits(all.kind, bits); };
  switch (all.kind) {
    case WeightKind::unsigned_integer:
      return convert_weights<std::uint64_t>(all.edges, [](std::uint64_t bits) { return bits; });
    case WeightKind::signed_integer:
      return convert_weights<std::int64_t>(all.edges,
                                           [](std::uint64_t bits) { return bits ^ (std::uint64_t{1} << 63); });
    case WeightKind::float32:
      return convert_weights<float>(all.edges, as_double);
    case WeightKind::float64:
      break;
  }
  return convert_weights<double>(all.edges, as_double);
}

// Totals of the spanning forest: over a communicator the constructor has computed them, else the first call does, alone.
const msf::ForestTotals& ForestObject::totals() {
  const nb::gil_scoped_release free;
  const std::lock_guard lock(mutex_);
  if (!totals_) totals_ = msf::totals(forest_, *comm::open_alone());
  return *totals_;
}

// Appends the forest edges that one rank, a thread of this process, has found.
void ForestShares::add(msf::Forest&& share) {
  const std::lock_guard lock(mutex_);
  all_.vertices = share.vertices;
  all_.kind = share.kind;
  if (all_.edges.empty()) {
    all_.edges = std::move(share.edges);
  } else {
    all_.edges.insert(all_.edges.end(), share.edges.begin(), share.edges.end());
  }
}

// Registers the class Forest, the result of euclidean_tree() and minimum_spanning_forest().
void bind_forest(nb::module_& m) {
  nb::class_<ForestObject>(m, "Forest",
                           "A spanning forest. Every edge is held by one rank: without a communicator by this process.")
      .def_prop_ro(
          "edges", &ForestObject::edges, nb::sig("def edges(self) -> numpy.typing.NDArray[numpy.int64]"),
          "Ends of this process's edges, (m, 2) int64, low before high, in ascending order of (weight, low, high). "
          "Read only, without a copy.")
      .def_prop_ro(
          "weights", &ForestObject::weights, nb::sig("def weights(self) -> numpy.typing.NDArray"),
          "Weights of `edges`, in that order: float64 for points, else of the type that the graph had. A copy.")
      .def_prop_ro(
          "digest", [](ForestObject& f) { return f.totals().digest; },
          "32 hexadecimal digits of an order-independent hash of all ranks' edges and weights: equal for equal "
          "forests.")
      .def_prop_ro(
          "total_weight", [](ForestObject& f) { return f.totals().weight_value; },
          "Sum of all ranks' weights, exact and then rounded.")
      .def_prop_ro(
          "total_weight_text", [](ForestObject& f) { return f.totals().weight; },
          "Sum of all ranks' weights as text: an integer in full, or the shortest text of the rounded sum.")
      .def_prop_ro(
          "total_edges", [](ForestObject& f) { return f.totals().edges; }, "Number of all ranks' edges.")
      .def_prop_ro(
          "components", [](ForestObject& f) { return f.totals().components; },
          "Number of trees, single vertices included.")
      .def_prop_ro("vertices", &ForestObject::vertices, "Number of vertices, over all ranks.")
      .def_prop_ro(
          "own", [](const ForestObject& f) { return f.own().count; },
          "Number of vertices that this process passed, for which it receives labels.")
      .def_prop_ro(
          "own_ids",
          [](const ForestObject& f) -> nb::object {
            if (f.own().ids.empty()) return nb::none();
            return nb::cast(move_to_numpy(std::vector<std::uint64_t>(f.own().ids)));
          },
          "Numbers of those vertices in the order in which this process passed them, a copy; None: consecutive.")
      .def_prop_ro("team", &ForestObject::team, "Team whose ranks hold the forest.");
}

}  // namespace merganser::python
