/// Python bindings of prediction models: clusters of new points from what a fitted estimator keeps.
#include <nanobind/stl/shared_ptr.h>
#include <nanobind/stl/string.h>

#include "merganser/msf/prediction_model.hpp"
#include "python/src/long_call.hpp"
#include "python/src/points.hpp"
#include "python/src/themes.hpp"

namespace merganser::python {
namespace {

/// Prediction model that Python owns; calls that were interrupted share it.
struct ModelObject {
  std::shared_ptr<const msf::PredictionModel> of;
};

/// Constructs a prediction model at `place` from fitted points, by id, with their core distances and their condensed tree.
void make_model(ModelObject* place, const Rows<double>& points, const Line<double>& cores, const std::string& metric,
                int min_samples, const msf::CondensedTree& tree, const Line<std::uint32_t>& selected) {
  const nb::gil_scoped_release free;
  const msf::PointSet set{make_space(points.shape(1), metric), to_span(points), {}};
  new (place) ModelObject{std::make_shared<const msf::PredictionModel>(
      msf::FittedClusters{set, to_span(cores), min_samples, tree, to_span(selected)})};
}

/// Predicts for new points. @return arrays by point (labels, strengths, numbers of the fitted points that they join, lambdas, outlier
/// scores, clusters of the tree and lambdas of those fitted points)
nb::tuple predict(const ModelObject& model, Rows<double> points, int threads) {
  // A few points take microseconds, fewer than the start of a thread that can be interrupted.
  constexpr std::size_t kFew = 4096;
  struct Task {
    Rows<double> points;
    msf::Predictions found;
  };
  const auto task = std::make_shared<Task>(Task{std::move(points), {}});
  if (task->points.shape(0) < kFew) {
    const nb::gil_scoped_release free;
    task->found = model.of->predict(to_span(task->points), threads);
  } else {
    long_call([task, of = model.of, threads](const Interrupt&) {
      task->found = of->predict(to_span(task->points), threads);
    });
  }
  msf::Predictions& p = task->found;
  return nb::make_tuple(move_to_numpy(std::move(p.labels)), move_to_numpy(std::move(p.strengths)),
                        move_to_numpy(std::move(p.joined)), move_to_numpy(std::move(p.lambdas)),
                        move_to_numpy(std::move(p.scores)), move_to_numpy(std::move(p.cluster_of)),
                        move_to_numpy(std::move(p.joined_lambdas)));
}

}  // namespace

// Registers the class PredictionModel.
void bind_prediction(nb::module_& m) {
  nb::class_<ModelObject>(m, "PredictionModel", "Fitted points and clusters, ready for the prediction of new points.")
      .def("__init__", &make_model, nb::arg("points"), nb::arg("cores"), nb::arg("metric"), nb::arg("min_samples"),
           nb::arg("tree"), nb::arg("selected"))
      .def("predict", &predict, nb::arg("points"), nb::arg("threads"), "Predicts for new points.")
      .def(
          "write", [](const ModelObject& model, const std::string& path) { model.of->write(path); }, nb::arg("path"),
          "Writes the model to a file.")
      .def_static(
          "read",
          [](const std::string& path) {
            return ModelObject{std::make_shared<const msf::PredictionModel>(msf::PredictionModel::read(path))};
          },
          nb::arg("path"), "Reads a model from a file.")
      .def_prop_ro(
          "points", [](const ModelObject& model) { return model.of->points(); }, "Number of fitted points.")
      .def_prop_ro(
          "dimension", [](const ModelObject& model) { return model.of->space().dimension; }, "Coordinates of a point.")
      .def_prop_ro(
          "clusters", [](const ModelObject& model) { return model.of->clusters(); }, "Number of clusters.")
      .def_prop_ro(
          "min_samples", [](const ModelObject& model) { return model.of->min_samples(); },
          "Rank of the neighbour whose distance is a core distance.");
}

}  // namespace merganser::python
