#pragma once
/// State of a prediction model, and its conversion to the bytes of a file and back.
#include <memory>
#include <string>
#include <vector>

#include "merganser/msf/prediction_model.hpp"
#include "src/msf/euclidean/place_search.hpp"

namespace merganser::msf {

/// All numbers of a prediction model, from which its search is built: what its file contains.
struct PredictionTables {
  PointSpace space;                       ///< space of the fitted points
  euclidean::PlaceMetric metric;          ///< metric of their canonical coordinates
  std::uint64_t min_samples = 1;          ///< k of the core distances
  std::vector<double> places;             ///< by id: canonical coordinates
  std::vector<double> cores;              ///< by id: core distance
  std::vector<std::uint32_t> cluster_of;  ///< by id: cluster of the condensed tree that the point leaves last
  std::vector<double> lambda;             ///< by id: lambda at which it leaves that
  std::vector<std::uint32_t> parent;      ///< by cluster: its parent, of lower number
  std::vector<double> birth;              ///< by cluster: lambda of its birth
  std::vector<std::uint32_t> selected;    ///< by label: its cluster
};

/// Returns the metric of the canonical coordinates of points of a space. Local.
[[nodiscard]] euclidean::PlaceMetric place_metric(const PointSpace& space);
/// Validates tables of a prediction model: their lengths and numbers. Local. @throws InputError with what is wrong
void check_tables(const PredictionTables& tables);
/// Returns bytes, cut to a multiple of 8, with the hash behind them that a file of a prediction model ends with. Local.
[[nodiscard]] std::string with_hash(std::string bytes);
/// Converts tables to the bytes of a file. Local.
[[nodiscard]] std::string to_bytes(const PredictionTables& tables);
/// Converts the bytes of a file to tables, after validation. Local. @throws InputError for bytes that are no model, damaged, or of
/// another version or byte order
[[nodiscard]] PredictionTables from_bytes(const std::string& bytes);

}  // namespace merganser::msf
