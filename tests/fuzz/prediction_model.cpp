// requires: graph
/// Reads a prediction model of HDBSCAN* from a file: the input, and the hash of it that such a file ends with.
#include <optional>

#include "src/msf/linkage/prediction_state.hpp"
#include "tests/fuzz/support/files.hpp"
#include "tests/fuzz/support/target.hpp"

namespace merganser::fuzz {
namespace {

bool feed_prediction_model(std::string_view input) {
  const std::string path = make_file("model", msf::with_hash(std::string(input)));
  std::optional<msf::PredictionModel> model;
  if (!read_or_refuse([&] { model.emplace(msf::PredictionModel::read(path)); })) return false;
  const auto dimension = static_cast<std::size_t>(model->space().dimension);
  std::vector<double> places(3 * dimension, 0);  // bits, with a direction about their mean: every metric takes them
  for (std::size_t i = 0; i < 3; ++i) places[i * dimension] = 1;
  const msf::Predictions found = model->predict(places);
  for (std::size_t i = 0; i < found.labels.size(); ++i) {
    require(found.joined[i] >= 0 && static_cast<std::uint64_t>(found.joined[i]) < model->points(),
            "a point that is not there");
    require(found.labels[i] >= -1 && found.labels[i] < std::int64_t{model->clusters()}, "a label that is not there");
    require(found.strengths[i] >= 0 && found.strengths[i] <= 1, "a strength out of range");
  }
  const std::string copy = make_path("model-again");
  model->write(copy);
  const msf::Predictions again = msf::PredictionModel::read(copy).predict(places);
  require(again.labels == found.labels && again.joined == found.joined, "what was written predicts something else");
  return true;
}

}  // namespace

extern const Target prediction_model_target{"prediction_model", 4096, feed_prediction_model};

}  // namespace merganser::fuzz
