// The C interface of measurements: conversion of graphs, options and results.
#include "merganser/capi/measure.h"

#include <sstream>

#include "merganser/capi/detail/objects.hpp"
#include "merganser/kernels/exchange.hpp"
#include "merganser/topology/measure.hpp"

namespace merganser::capi {
namespace {

/// Object behind an mg_measurement handle: the results of one call of mg_measure().
class MeasurementObject final : public Object {
 public:
  static constexpr const char* kKind = "measurement";
  /// Takes the results of topology::measure().
  explicit MeasurementObject(topology::Measurement m) : found(std::move(m)) {}
  const topology::Measurement found;
};

/// Converts the process graph of a C caller, checking every offset before it is used. @param bytes  weight of arcs where the caller
/// gives none @throws UsageError naming the member
graphs::ProcessGraph to_process_graph(const mg_process_graph* given, double bytes) {
  const auto record = read_record(given, "graph");
  check_range(record.ranks, 1, 1 << 20, "graph: ranks");
  check_not_null(record.offsets, "graph: offsets");
  if (record.offsets[0] != 0) throw_range("graph: offsets[0]", std::to_string(record.offsets[0]), "0");
  std::vector<std::vector<graphs::ProcessGraph::Arc>> rows(static_cast<std::size_t>(record.ranks));
  for (std::size_t r = 0; r < rows.size(); ++r) {
    const auto first = record.offsets[r];
    const auto last = record.offsets[r + 1];
    check_range<std::int64_t>(last, first, first + record.ranks, "graph: an offset");
    check_not_null(record.heads, static_cast<std::size_t>(last - first), "graph: heads");
    for (auto k = first; k < last; ++k)
      rows[r].push_back({record.heads[k], record.bytes != nullptr ? record.bytes[k] : bytes});
  }
  return graphs::ProcessGraph(std::move(rows));
}

/// Parses mg_measure_options.kernels, names of exchange kernels separated by commas; NULL: all of the completion class `notified`.
/// @throws UsageError for an unknown name
std::vector<std::string> parse_kernels(const char* names) {
  std::vector<std::string> list;
  if (names == nullptr) {
    for (const auto& kernel : kernels::kernels())
      if (kernel.completion == kernels::Completion::notified) list.emplace_back(kernel.name);
    return list;
  }
  std::istringstream text(names);
  for (std::string name; std::getline(text, name, ',');) list.emplace_back(kernels::kernel(name).name);
  if (list.empty()) throw UsageError("options: kernels is empty; allowed: names with commas between, or null");
  return list;
}

/// Converts graph and options of mg_measure() to those of topology::measure(), zeros to defaults. @throws UsageError naming the
/// member
topology::MeasureOptions to_measure_options(const mg_process_graph* graph, const mg_measure_options* given) {
  const auto record = read_options(given, "options");
  topology::MeasureOptions options;
  const double bytes = record.bytes != 0 ? record.bytes : 8;
  if (!(bytes > 0 && bytes <= 1e12)) throw_range("options: bytes", std::to_string(bytes), "above 0, up to 1e12");
  options.graphs = {{"the caller's", to_process_graph(graph, bytes)}};
  options.kernels = parse_kernels(record.kernels);
  options.sizes = {{.bytes = 1, .weights = true}};
  options.seconds = record.seconds != 0 ? record.seconds : 10;
  if (!(options.seconds > 0 && options.seconds <= 1e6))
    throw_range("options: seconds", std::to_string(record.seconds), "above 0, up to a million");
  return options;
}

/// Converts the result of a measured kernel to the C interface; its texts point into `cell`.
mg_measured to_measured(const topology::CellResult& cell) {
  mg_measured m{};
  const Interval p50 = cell.p50();
  m.kernel = cell.kernel.c_str();
  m.median_ns = p50.value;
  m.low_ns = p50.low;
  m.high_ns = p50.high;
  m.messages = cell.messages_total;
  m.bytes = cell.bytes_total;
  m.samples = cell.exchange.count();
  return m;
}

/// Converts a kernel that could not be measured to the C interface, with its reason; its texts point into `cell`.
mg_measured to_measured(const topology::UnusableCell& cell) {
  mg_measured m{};
  m.kernel = cell.kernel.c_str();
  m.reason = cell.reason.c_str();
  return m;
}

}  // namespace
}  // namespace merganser::capi

using namespace merganser;
using namespace merganser::capi;

extern "C" {

// Benchmark of kernels for C callers. All ranks agree on errors of arguments before they measure.
int mg_measure(mg_transport* transport, const mg_process_graph* graph, const mg_measure_options* options,
               mg_measurement** measurement) {
  return guard([&] {
    const auto over = object_from<TransportObject>(transport);
    topology::MeasureOptions what;
    comm::agree(over->get(), [&] {
      check_not_null(measurement, "measurement");
      what = to_measure_options(graph, options);
    });
    make_handle<MeasurementObject>(measurement, topology::measure(over->get(), what));
  });
}

int mg_measurement_count(mg_measurement* measurement, size_t* count) {
  return guard_get<MeasurementObject>(measurement, count, "count", [](auto& object) {
    return object.found.cells.size() + object.found.unusable.size();
  });
}

// Results by index for C callers: measured configurations first, then those that could not be measured.
int mg_measurement_get(mg_measurement* measurement, size_t index, mg_measured* measured) {
  return guard<MeasurementObject>(measurement, [&](MeasurementObject& object) {
    const auto& cells = object.found.cells;
    const auto& unusable = object.found.unusable;
    if (index >= cells.size() + unusable.size())
      throw_range("index", std::to_string(index), "below " + std::to_string(cells.size() + unusable.size()));
    write_record(index < cells.size() ? to_measured(cells[index]) : to_measured(unusable[index - cells.size()]),
                 measured, "measured");
  });
}

int mg_measurement_free(mg_measurement* measurement) { return guard_free<MeasurementObject>(measurement); }

}  // extern "C"
