/// Python bindings of scores of HDBSCAN* clusters: outlier scores, persistence, exemplars, relative validity, memberships.
#include <nanobind/stl/optional.h>
#include <nanobind/stl/shared_ptr.h>
#include <nanobind/stl/string.h>

#include "merganser/base/exact_sum.hpp"
#include "merganser/comm/collectives.hpp"
#include "merganser/msf/cluster_scores.hpp"
#include "merganser/msf/memberships.hpp"
#include "merganser/msf/validity.hpp"
#include "python/src/forest.hpp"
#include "python/src/points.hpp"
#include "python/src/themes.hpp"

namespace merganser::python {
namespace {

using TreePointer = std::shared_ptr<msf::CondensedTree>;

/// Makes a condensed tree from its arrays, as a result of merganser.hdbscan() has them or a pickled estimator.
TreePointer make_tree(const Line<std::int64_t>& parent, const Line<std::int64_t>& size, const Line<double>& birth,
                      const Line<std::uint32_t>& cluster_of, const Line<double>& lambda,
                      const std::optional<Line<double>>& weights) {
  auto tree = std::make_shared<msf::CondensedTree>();
  for (std::size_t c = 0; c < parent.size(); ++c)
    tree->clusters.push_back(
        {static_cast<std::uint32_t>(parent.data()[c]), static_cast<std::uint32_t>(size.data()[c]), birth.data()[c]});
  tree->cluster_of.assign(cluster_of.data(), cluster_of.data() + cluster_of.size());
  tree->lambda.assign(lambda.data(), lambda.data() + lambda.size());
  if (weights) tree->weights.assign(weights->data(), weights->data() + weights->size());
  return tree;
}

/// Finds the exemplars of each label. @return arrays (first entry of each label and their number, numbers of the points)
nb::tuple exemplars(const msf::CondensedTree& tree, const Line<std::uint32_t>& selected) {
  msf::Exemplars found = msf::exemplars(tree, to_span(selected));
  return nb::make_tuple(move_to_numpy(std::move(found.begin)), move_to_numpy(std::move(found.points)));
}

/// Computes the relative validity of labels from the edges of a spanning tree: their ends, (m, 2), and distances.
double relative_validity(const Rows<std::int64_t>& ends, const Line<double>& distances,
                         const Line<std::int64_t>& labels, std::uint32_t clusters) {
  std::vector<msf::ScoredEdge> edges(distances.size());
  for (std::size_t i = 0; i < edges.size(); ++i)
    edges[i] = {static_cast<std::uint64_t>(ends.data()[2 * i]), static_cast<std::uint64_t>(ends.data()[2 * i + 1]),
                distances.data()[i]};
  return msf::relative_validity(edges, to_span(labels), clusters);
}

/// Gathers the edges of a forest on rank 0, in ascending order. Collective over the forest's team. @return arrays (ends of shape
/// (m, 2), weights as float64); None on other ranks of a communicator
nb::object gather_edges(const std::shared_ptr<ForestObject>& forest) {
  forest->sorted();
  const auto all = std::make_shared<msf::Forest>();
  const Team& team = *forest->team();
  const bool mine = team.is_local() || team.rank() == 0;
  const auto body = [=](comm::Transport& transport, const Interrupt&) {
    *all = msf::gather_forest(forest->sorted_forest(), transport);
  };
  if (team.is_local())
    Team(1).run(body);
  else
    team.run(body);
  if (!mine) return nb::none();
  std::vector<std::int64_t> ends;
  std::vector<double> weights;
  ends.reserve(2 * all->edges.size());
  weights.reserve(all->edges.size());
  for (const auto& e : all->edges) {
    ends.push_back(static_cast<std::int64_t>(e.low));
    ends.push_back(static_cast<std::int64_t>(e.high));
    weights.push_back(graphs::weight_from_bits(all->kind, e.weight));
  }
  return nb::make_tuple(move_rows_to_numpy(std::move(ends), 2), move_to_numpy(std::move(weights)));
}

using MembershipsPointer = std::shared_ptr<const msf::Memberships>;
/// Memberships that Python owns.
struct MembershipsObject {
  MembershipsPointer of;
};

/// Constructs Memberships at `place` from a condensed tree, its labels and the coordinates of their exemplars.
void make_memberships(MembershipsObject* place, const msf::CondensedTree& tree, const Line<std::uint32_t>& selected,
                      const Line<std::uint64_t>& begin, const Rows<double>& coordinates, const std::string& metric) {
  msf::Exemplars found;
  found.begin.assign(begin.data(), begin.data() + begin.size());
  auto tables = msf::membership_tables(tree, to_span(selected), make_space(coordinates.shape(1), metric), found);
  tables.exemplars.assign(coordinates.data(), coordinates.data() + coordinates.size());
  new (place) MembershipsObject{std::make_shared<const msf::Memberships>(std::move(tables))};
}

/// Arguments and results of a computation of memberships, which an interrupted call may outlive.
struct MembershipTask {
  MembershipsPointer of;
  Rows<double> points;
  Line<std::uint32_t> cluster_of;
  Line<double> lambda;
  msf::MembershipRule rule;
  std::vector<double> all;
  msf::TopMemberships top;

  [[nodiscard]] msf::MembershipQuery query() const { return {to_span(points), to_span(cluster_of), to_span(lambda)}; }
};

/// Computes the memberships of points in all clusters, or with `most` the greatest of each. @return an array (points, clusters), or
/// arrays (labels, memberships) of shape (points, most)
nb::object memberships(const MembershipsObject& of, Rows<double> points, Line<std::uint32_t> cluster_of,
                       Line<double> lambda, bool fresh, std::optional<std::size_t> most, int threads) {
  const auto rule = fresh ? msf::MembershipRule::fresh : msf::MembershipRule::fitted;
  const auto task = std::make_shared<MembershipTask>(
      MembershipTask{of.of, std::move(points), std::move(cluster_of), std::move(lambda), rule, {}, {}});
  long_call(
      [task, most, threads](const Interrupt&) {
        if (most)
          task->top = task->of->top(task->query(), task->rule, *most, threads);
        else
          task->all = task->of->all(task->query(), task->rule, threads);
      },
      FreedMemory::returned);
  const std::size_t n = task->lambda.size();
  if (!most) {
    using Numbers = std::vector<double>;
    const std::size_t width = of.of->clusters();
    return nb::cast(
        move_to_numpy<double, Numbers>(std::move(task->all), [](Numbers& v) { return v.data(); }, {n, width}));
  }
  using Labels = std::vector<std::int32_t>;
  using Numbers = std::vector<double>;
  const std::size_t width = task->top.width;
  return nb::make_tuple(
      move_to_numpy<std::int32_t, Labels>(std::move(task->top.labels), [](Labels& v) { return v.data(); }, {n, width}),
      move_to_numpy<double, Numbers>(std::move(task->top.values), [](Numbers& v) { return v.data(); }, {n, width}));
}

/// Computes the validity index of labels of points or of their distances. @return (index, index of each cluster)
nb::tuple validity_index(Rows<double> points, Line<std::int64_t> labels, const std::string& metric, bool distances,
                         double dimension, bool raw, int threads) {
  struct Task {
    Rows<double> points;
    Line<std::int64_t> labels;
    msf::Validity found;
  };
  const auto task = std::make_shared<Task>(Task{std::move(points), std::move(labels), {}});
  long_call([=](const Interrupt& interrupt) {
    msf::ValidityOptions options{.dimension = dimension, .raw_distances = raw, .threads = threads};
    options.progress = [&](double) { interrupt.check(); };
    const auto labels_of = to_span(task->labels);
    if (distances) {
      task->found = msf::validity_of_distances(to_span(task->points), labels_of, options);
    } else {
      const msf::PointSet set{make_space(task->points.shape(1), metric), to_span(task->points), {}};
      task->found = msf::validity_index(set, labels_of, options);
    }
  });
  return nb::make_tuple(task->found.index, move_to_numpy(std::move(task->found.by_cluster)));
}

/// Exact sums, by label and coordinate, of the points of all ranks times their weights.
struct WeightedSums {
  Rows<double> points;
  Line<std::int64_t> labels;
  Line<double> weights;
  std::size_t count;
  std::vector<double> sums;    ///< by label, then coordinate
  std::vector<double> weight;  ///< by label: sum of weights
};

/// Adds exact sums of all ranks and rounds each once. Collective.
std::vector<double> add_exactly(const std::vector<ExactSum>& mine, comm::Transport& transport) {
  constexpr std::size_t kAtOnce = 1024;  // bounds the memory of messages
  std::vector<double> out;
  for (std::size_t begin = 0; begin < mine.size(); begin += kAtOnce) {
    const std::size_t end = std::min(begin + kAtOnce, mine.size());
    std::vector<std::int64_t> words;
    for (std::size_t i = begin; i < end; ++i) {
      const auto of = mine[i].words();
      words.insert(words.end(), of.begin(), of.end());
    }
    const auto all = comm::all_gather(transport, words);
    for (std::size_t i = 0; i < end - begin; ++i) {
      ExactSum sum;
      for (const auto& theirs : all) sum.add(ExactSum::from_words(theirs.data() + i * ExactSum::kWords));
      out.push_back(sum.value());
    }
  }
  return out;
}

/// Computes the weighted sums of the points of each label below `count` over all ranks. Collective over the team. @return arrays (sums
/// of shape (count, d), sums of weights)
nb::tuple weighted_sums(const std::shared_ptr<Team>& team, Rows<double> points, Line<std::int64_t> labels,
                        Line<double> weights, std::size_t count) {
  const auto task = std::make_shared<WeightedSums>(
      WeightedSums{std::move(points), std::move(labels), std::move(weights), count, {}, {}});
  team->run([task](comm::Transport& transport, const Interrupt&) {
    const std::size_t d = task->points.shape(1);
    std::vector<ExactSum> sums(task->count * d);
    std::vector<ExactSum> weight(task->count);
    for (std::size_t i = 0; i < task->labels.size(); ++i) {
      const std::int64_t label = task->labels.data()[i];
      if (label < 0 || static_cast<std::size_t>(label) >= task->count) continue;
      const auto of = static_cast<std::size_t>(label);
      weight[of].add(task->weights.data()[i]);
      for (std::size_t a = 0; a < d; ++a)
        sums[of * d + a].add(task->weights.data()[i] * task->points.data()[i * d + a]);
    }
    task->sums = add_exactly(sums, transport);
    task->weight = add_exactly(weight, transport);
  });
  const std::size_t d = task->points.shape(1);
  return nb::make_tuple(move_rows_to_numpy(std::move(task->sums), d), move_to_numpy(std::move(task->weight)));
}

}  // namespace

// Registers scores of condensed trees, memberships, and the gathering of a forest's edges.
void bind_scores(nb::module_& m) {
  m.def("make_condensed_tree", &make_tree, nb::arg("parent"), nb::arg("size"), nb::arg("birth"), nb::arg("cluster_of"),
        nb::arg("lambda_"), nb::arg("weights").none() = nb::none(), "Makes a condensed tree from its arrays.");
  m.def(
      "outlier_scores", [](const msf::CondensedTree& tree) { return move_to_numpy(msf::outlier_scores(tree)); },
      nb::arg("tree"), "Outlier score (GLOSH) of each point.");
  m.def(
      "persistences",
      [](const msf::CondensedTree& tree, const Line<std::uint32_t>& selected, const Line<double>& sizes) {
        return move_to_numpy(msf::persistences(tree, to_span(selected), to_span(sizes)));
      },
      nb::arg("tree"), nb::arg("selected"), nb::arg("sizes"), "Persistence of each selected cluster.");
  m.def("exemplars", &exemplars, nb::arg("tree"), nb::arg("selected"),
        "Exemplars of each label: first entries, and numbers of points.");
  m.def("relative_validity", &relative_validity, nb::arg("ends"), nb::arg("distances"), nb::arg("labels"),
        nb::arg("clusters"), "Relative validity of labels from the edges of a spanning tree.");
  m.def("weighted_sums", &weighted_sums, nb::arg("team"), nb::arg("points"), nb::arg("labels"), nb::arg("weights"),
        nb::arg("count"), "Exact weighted sums of points by label over all ranks. Collective.");
  m.def("gather_edges", &gather_edges, nb::arg("forest"), "Gathers the edges of a forest on rank 0. Collective.");
  nb::class_<MembershipsObject>(m, "Memberships", "Tables by which memberships of points are computed.")
      .def("__init__", &make_memberships, nb::arg("tree"), nb::arg("selected"), nb::arg("begin"),
           nb::arg("coordinates"), nb::arg("metric"))
      .def("of", &memberships, nb::arg("points"), nb::arg("cluster_of"), nb::arg("lambda_"), nb::arg("fresh"),
           nb::arg("most").none(), nb::arg("threads"), "Memberships of points: all, or the greatest.");
  m.def("validity_index", &validity_index, nb::arg("points"), nb::arg("labels"), nb::arg("metric"),
        nb::arg("distances"), nb::arg("dimension"), nb::arg("raw"), nb::arg("threads"),
        "Validity index (DBCV): see merganser.validity_index().");
}

}  // namespace merganser::python
