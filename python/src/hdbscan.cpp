/// Python bindings of HDBSCAN*: cluster labels of a spanning forest's vertices, condensed trees, and validated options.
#include "merganser/msf/hdbscan.hpp"

#include <nanobind/stl/map.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/shared_ptr.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>

#include <tuple>
#include <vector>

#include "merganser/base/error.hpp"
#include "merganser/base/numbers.hpp"
#include "merganser/base/text.hpp"
#include "merganser/msf/cluster_scores.hpp"
#include "python/src/clusters.hpp"
#include "python/src/growth.hpp"
#include "python/src/themes.hpp"

namespace merganser::python {
namespace {

/// Result of merganser.hdbscan() on one rank: cluster labels and probabilities of the points that this process passed, and on rank
/// 0 the condensed tree that they were taken from.
struct HdbscanResult {
  msf::Hdbscan labels;
  msf::CondensedTree tree;
};

/// Names of HDBSCAN* parameters in the Python function that the user called, by the names of the fields of HdbscanOptions.
using Names = std::map<std::string, std::string>;

/// Returns the name that the user's function has for a field of HdbscanOptions, for error messages; the field itself without one.
std::string name_of(const Names& names, std::string_view field) {
  const auto at = names.find(std::string(field));
  return at != names.end() ? at->second : std::string(field);
}

/// Converts a Python string to a value of an enumeration of HDBSCAN* options. @throws UsageError naming the parameter and the
/// allowed words, for other strings and other objects
template <class E>
E parse_choice(nb::handle given, const std::string& name, const Choices<E>& choices) {
  for (const auto& [word, value] : choices.words)
    if (nb::isinstance<nb::str>(given) && nb::cast<std::string>(given) == word) return value;
  throw UsageError(name + ": " + nb::cast<std::string>(nb::repr(given)) + "; allowed: " +
                   joined(choices.words, ", ", [](const auto& word) { return "'" + word.first + "'"; }));
}

/// Constructs HdbscanOptions at `place` from Python's keyword arguments, and validates them. @throws UsageError that names the
/// parameter as the user's function does
void make_options(msf::HdbscanOptions* place, std::int64_t min_cluster_size, nb::handle selection, double epsilon,
                  bool allow_single_cluster, std::int64_t max_cluster_size, nb::handle ties, double epsilon_max,
                  double persistence, const Names& names) {
  msf::HdbscanOptions options{.min_cluster_size = min_cluster_size,
                              .epsilon = epsilon,
                              .allow_single_cluster = allow_single_cluster,
                              .max_cluster_size = max_cluster_size,
                              .epsilon_max = epsilon_max,
                              .persistence = persistence};
  options.selection = parse_choice(selection, name_of(names, "selection"), msf::selections());
  options.ties = parse_choice(ties, name_of(names, "ties"), msf::hdbscan_ties());
  msf::check(options, [&](std::string_view field) { return name_of(names, field); });
  new (place) msf::HdbscanOptions(options);
}

/// Computes the single-linkage dendrogram of a spanning forest on rank 0: in the order of `sequence` (Prim's algorithm), else, if
/// it is null, by ascending (weight, low, high). Other ranks return it empty. Collective.
msf::Dendrogram compute_dendrogram(const Sequence* sequence, ForestObject& forest, comm::Transport& transport) {
  if (sequence == nullptr) return gather_dendrogram(forest, msf::Apart::join, transport);
  msf::Dendrogram d;
  comm::agree(transport, [&] {
    if (transport.rank() == 0 && forest.vertices() > 0)
      d = msf::dendrogram_in_order(sequence->growth->edges, to_span(sequence->order));
  });
  return d;
}

/// Computes HDBSCAN* on one rank: dendrogram, condensed tree and labels on rank 0, then labels and probabilities are scattered to
/// the ranks that passed the points. Collective.
/// @param weights  on rank 0: weights of all points; empty: one each
void cluster_forest(HdbscanResult& found, ForestObject& forest, const Sequence* sequence,
                    std::span<const double> weights, const msf::HdbscanOptions& options, comm::Transport& transport) {
  const msf::Dendrogram d = compute_dendrogram(sequence, forest, transport);
  comm::agree(transport, [&] {
    if (transport.rank() != 0) return;
    found.tree = msf::condense(d, options, weights);
    found.labels = msf::hdbscan(found.tree, options);
  });
  found.labels.labels = own_values(found.labels.labels, forest.own(), transport);
  found.labels.probabilities = own_values(found.labels.probabilities, forest.own(), transport);
}

/// Clusters the vertices of a spanning forest for merganser.hdbscan(). Collective over the forest's team. @return (labels and
/// probabilities of this process's points, condensed tree or None on ranks other than 0, selected clusters)
nb::tuple hdbscan(const std::shared_ptr<ForestObject>& forest, const msf::HdbscanOptions& options,
                  std::shared_ptr<Growth> growth, std::optional<Line<std::uint32_t>> order,
                  std::optional<Line<double>> weights) {
  std::shared_ptr<const Sequence> sequence;
  if (growth && order) sequence = std::make_shared<Sequence>(Sequence{std::move(growth), std::move(*order)});
  const auto found = std::make_shared<HdbscanResult>();
  if (!sequence) forest->sorted();
  const Team& team = *forest->team();
  const bool mine = team.is_local() || team.rank() == 0;
  const auto body = [=](comm::Transport& transport, const Interrupt&) {
    const auto weights_of = weights ? to_span(*weights) : std::span<const double>();
    cluster_forest(*found, *forest, sequence.get(), weights_of, options, transport);
  };
  if (team.is_local()) {
    Team(1).run(body);
  } else {
    team.run(body);
  }
  nb::object tree = mine ? nb::cast(std::make_shared<msf::CondensedTree>(std::move(found->tree))) : nb::none();
  return nb::make_tuple(move_to_numpy(std::move(found->labels.labels)),
                        move_to_numpy(std::move(found->labels.probabilities)), tree,
                        move_to_numpy(std::move(found->labels.selected)));
}

/// Copies one field (parent, size, birth) of all clusters of a condensed tree to a NumPy array of T; clusters are few.
template <class T, class Field>
Given<T> cluster_field(const msf::CondensedTree& tree, Field msf::CondensedTree::Cluster::*which) {
  std::vector<T> out;
  out.reserve(tree.clusters.size());
  for (const auto& c : tree.clusters) out.push_back(static_cast<T>(c.*which));
  return move_to_numpy(std::move(out));
}

/// Returns the state of a condensed tree for pickle: parent, size, birth by cluster, cluster, lambda and weight by point (no weights: one
/// each), as arrays.
nb::tuple get_state(const msf::CondensedTree& tree) {
  return nb::make_tuple(cluster_field<std::int64_t>(tree, &msf::CondensedTree::Cluster::parent),
                        cluster_field<std::int64_t>(tree, &msf::CondensedTree::Cluster::size),
                        cluster_field<double>(tree, &msf::CondensedTree::Cluster::birth),
                        move_to_numpy(std::vector<std::uint32_t>(tree.cluster_of)),
                        move_to_numpy(std::vector<double>(tree.lambda)),
                        move_to_numpy(std::vector<double>(tree.weights)));
}

/// State of a condensed tree as get_state() returns it.
using TreeState =
    std::tuple<Line<std::int64_t>, Line<std::int64_t>, Line<double>, Line<std::uint32_t>, Line<double>, Line<double>>;

/// Constructs a condensed tree at `place` from its state for pickle. @throws InputError for a parent that is no cluster of lower
/// number, a point in no cluster, a weight that is not finite or below 0, and arrays of different lengths
void set_state(msf::CondensedTree& place, const TreeState& state) {
  const auto& [parent, size, birth, cluster_of, lambda, weights] = state;
  if (size.size() != parent.size() || birth.size() != parent.size() || lambda.size() != cluster_of.size() ||
      (weights.size() != 0 && weights.size() != cluster_of.size()))
    throw InputError("condensed tree: arrays of different lengths; allowed: one number per cluster, or per point");
  msf::CondensedTree tree;
  for (std::size_t c = 0; c < parent.size(); ++c) {
    if (parent.data()[c] < 0 || (c > 0 && static_cast<std::size_t>(parent.data()[c]) >= c))
      throw InputError("condensed tree: parent " + std::to_string(parent.data()[c]) + " of cluster " +
                       std::to_string(c) + "; allowed: clusters of lower number");
    tree.clusters.push_back(
        {static_cast<std::uint32_t>(parent.data()[c]), static_cast<std::uint32_t>(size.data()[c]), birth.data()[c]});
  }
  for (std::size_t i = 0; i < cluster_of.size(); ++i)
    if (cluster_of.data()[i] >= parent.size())
      throw InputError("condensed tree: cluster " + std::to_string(cluster_of.data()[i]) + " of point " +
                       std::to_string(i) + "; allowed: below " + std::to_string(parent.size()));
  tree.cluster_of.assign(cluster_of.data(), cluster_of.data() + cluster_of.size());
  for (std::size_t i = 0; i < weights.size(); ++i)
    if (!(weights.data()[i] >= 0 && weights.data()[i] < kInfinity))
      throw InputError("condensed tree: weight " + number_text(weights.data()[i]) + " of point " + std::to_string(i) +
                       "; allowed: finite numbers from 0");
  tree.lambda.assign(lambda.data(), lambda.data() + lambda.size());
  tree.weights.assign(weights.data(), weights.data() + weights.size());
  new (&place) msf::CondensedTree(std::move(tree));
}

/// Returns a read-only NumPy array over numbers by point in the memory of a condensed tree, which `self` keeps alive.
template <class T>
nb::object numpy_view(const nb::handle& self, const std::vector<T>& numbers) {
  static constexpr T kNone{};
  const std::size_t shape[] = {numbers.size()};
  return nb::cast(nb::ndarray<nb::numpy, const T>(numbers.empty() ? &kNone : numbers.data(), 1, shape, self));
}

}  // namespace

// Registers the classes CondensedTree and HdbscanOptions, and the function behind merganser.hdbscan().
void bind_hdbscan(nb::module_& m) {
  using Tree = msf::CondensedTree;
  constexpr auto kOwn = nb::rv_policy::move;  // arrays that are made anew
  nb::class_<Tree>(m, "CondensedTree",
                   "A dendrogram without its small clusters. Cluster 0 is all points; lambda is 1 / height.")
      .def("__getstate__", &get_state)
      .def("__setstate__", &set_state)
      .def_prop_ro(
          "parent", [](const Tree& t) { return cluster_field<std::int64_t>(t, &Tree::Cluster::parent); }, kOwn,
          "By cluster: the cluster it splits from, below its own number; that of cluster 0 is 0.")
      .def_prop_ro(
          "size", [](const Tree& t) { return cluster_field<std::int64_t>(t, &Tree::Cluster::size); }, kOwn,
          "By cluster: its number of points where it splits from its parent.")
      .def_prop_ro(
          "birth", [](const Tree& t) { return cluster_field<double>(t, &Tree::Cluster::birth); }, kOwn,
          "By cluster: lambda (1 / height) at which it splits from its parent.")
      .def_prop_ro(
          "cluster_of", [](const nb::handle& self) { return numpy_view(self, nb::cast<const Tree&>(self).cluster_of); },
          "By point: the cluster that it falls out of. Read only, without a copy.")
      .def_prop_ro(
          "lambda_", [](const nb::handle& self) { return numpy_view(self, nb::cast<const Tree&>(self).lambda); },
          "By point: lambda at which it falls out of its cluster; infinite for points at one place. Read only, without "
          "a copy.")
      .def_prop_ro(
          "weights",
          [](const nb::handle& self) -> nb::object {
            const auto& tree = nb::cast<const Tree&>(self);
            return tree.weights.empty() ? nb::none() : numpy_view(self, tree.weights);
          },
          "By point: its weight; None: one each. Read only, without a copy.")
      .def_prop_ro(
          "stabilities", [](const Tree& t) { return move_to_numpy(msf::stabilities(t)); }, kOwn,
          "By cluster: excess of mass, the sum of (lambda - birth) over the points that leave it.");
  using Options = msf::HdbscanOptions;
  nb::class_<Options>(m, "HdbscanOptions", "Parameters of HDBSCAN*, checked when they are made.")
      .def("__init__", &make_options, nb::arg("min_cluster_size"), nb::arg("selection").none(), nb::arg("epsilon"),
           nb::arg("allow_single_cluster"), nb::arg("max_cluster_size"), nb::arg("ties").none(), nb::arg("epsilon_max"),
           nb::arg("persistence"), nb::arg("names") = Names(),
           "`names`: what the caller calls the parameters, for errors.")
      .def_ro("min_cluster_size", &Options::min_cluster_size, "Fewest points of a cluster.")
      .def_prop_ro(
          "sequential", [](const Options& o) { return o.ties == msf::HdbscanTies::sequential; },
          "True if merges of one height are undone one by one.");
  m.def("hdbscan", &hdbscan, nb::arg("forest"), nb::arg("options"), nb::arg("growth").none() = nb::none(),
        nb::arg("order").noconvert().none() = nb::none(), nb::arg("weights").noconvert().none() = nb::none(),
        "Clusters of any density: see merganser.hdbscan().");
}

}  // namespace merganser::python
