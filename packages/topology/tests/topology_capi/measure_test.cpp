// The C interface of measurements: results, errors, lifetime.
#include "merganser/capi/measure.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "merganser/kernels/exchange.hpp"
#include "tests/capi/ranks.hpp"

namespace {

using namespace merganser::test;

TEST(MeasurementsInC, have_a_time_for_every_kernel_that_can_be_used) {
  EXPECT_OK(run_threads(3, [](mg_transport* t) {
    int rank = 0;
    mg_transport_rank(t, &rank);
    const int64_t offsets[] = {0, 2, 3, 4};
    const int32_t heads[] = {1, 2, 2, 0};
    const double bytes[] = {64, 8, 128, 1000};
    const mg_process_graph graph = {sizeof graph, 3, 0, offsets, heads, bytes};
    mg_measure_options options{};
    options.struct_size = sizeof options;
    options.seconds = 0.3;
    options.kernels = "threads.copy";
    for (const auto& kernel : merganser::kernels::kernels())
      if (kernel.model == "threads" && kernel.completion == merganser::kernels::Completion::notified)
        options.kernels = kernel.name.data();
    mg_measurement* found = nullptr;
    if (int s = mg_measure(t, &graph, &options, &found)) return s;
    size_t count = 9;
    EXPECT_OK(mg_measurement_count(found, &count));
    EXPECT_EQ(count, rank == 0 ? 1U : 0U);
    mg_measured cell{};
    cell.struct_size = sizeof cell;
    if (rank == 0) {
      EXPECT_OK(mg_measurement_get(found, 0, &cell));
      EXPECT_STREQ(cell.kernel, options.kernels);
      EXPECT_EQ(cell.reason, nullptr);
      EXPECT_GT(cell.median_ns, 0);
      EXPECT_LE(cell.low_ns, cell.median_ns);
      EXPECT_GE(cell.high_ns, cell.median_ns);
      EXPECT_EQ(cell.messages, 4);
      EXPECT_EQ(cell.bytes, 1200);
      EXPECT_GT(cell.samples, 0U);
    }
    EXPECT_EQ(mg_measurement_get(found, count, &cell), MG_USAGE);
    EXPECT_EQ(std::string(mg_error()), rank == 0 ? "index: 1; allowed: below 1" : "index: 0; allowed: below 0");
    return mg_measurement_free(found);
  }));
}

/// Measures a ring of all ranks and returns the record of each kernel; `reasons` are those of kernels that could not be measured.
struct Found {
  std::vector<std::string> kernels, reasons;
  std::vector<int64_t> messages, bytes;
};
int measure_ring(mg_transport* t, const mg_measure_options* options, Found& found) {
  int size = 0;
  mg_transport_size(t, &size);
  std::vector<int64_t> offsets{0};
  std::vector<int32_t> heads;
  for (int r = 0; r < size; ++r) {
    heads.push_back((r + 1) % size);
    offsets.push_back(r + 1);
  }
  const mg_process_graph graph = {sizeof graph, size, 0, offsets.data(), heads.data(), nullptr};
  mg_measurement* measurement = nullptr;
  if (int s = mg_measure(t, &graph, options, &measurement)) return s;
  size_t count = 0;
  EXPECT_OK(mg_measurement_count(measurement, &count));
  for (size_t i = 0; i < count; ++i) {
    mg_measured cell{};
    cell.struct_size = sizeof cell;
    EXPECT_OK(mg_measurement_get(measurement, i, &cell));
    found.kernels.emplace_back(cell.kernel);
    found.reasons.emplace_back(cell.reason != nullptr ? cell.reason : "");
    found.messages.push_back(cell.messages);
    found.bytes.push_back(cell.bytes);
  }
  mg_measured none{};
  none.struct_size = sizeof none;
  EXPECT_EQ(mg_measurement_get(measurement, count, &none), MG_USAGE);
  const std::string number = std::to_string(count);
  EXPECT_EQ(std::string(mg_error()), "index: " + number + "; allowed: below " + number);
  return mg_measurement_free(measurement);
}

// Kernels of processes cannot be measured on threads: they are counted after the others, each with its reason.
TEST(MeasurementsInC, list_what_could_be_measured_before_what_could_not) {
  std::string of_threads, of_processes;
  for (const auto& kernel : merganser::kernels::kernels()) {
    if (kernel.completion != merganser::kernels::Completion::notified) continue;
    (kernel.model == "threads" ? of_threads : of_processes) = kernel.name;
  }
  if (of_processes.empty()) GTEST_SKIP() << "this build has kernels of threads alone";
  const std::string names = of_processes + "," + of_threads;
  EXPECT_OK(run_threads(2, [&](mg_transport* t) -> int {
    int rank = 0;
    mg_transport_rank(t, &rank);
    mg_measure_options options{};
    options.struct_size = sizeof options;
    options.seconds = 0.05;
    options.kernels = names.c_str();
    for (const double bytes : {0.0, 24.0}) {
      options.bytes = bytes;
      Found found;
      if (int s = measure_ring(t, &options, found)) return s;
      if (rank != 0) continue;
      EXPECT_EQ(found.kernels, (std::vector<std::string>{of_threads, of_processes}));
      if (found.kernels.size() != 2) continue;
      EXPECT_EQ(found.reasons[0], "");
      EXPECT_NE(found.reasons[1].find("processes"), std::string::npos) << found.reasons[1];
      EXPECT_EQ(found.messages[0], 2);
      EXPECT_EQ(found.bytes[0], bytes == 0 ? 2 * 8 : 2 * 24) << "0 is the default of 8 bytes an arc";
      EXPECT_EQ(found.messages[1], 0);
    }
    return MG_OK;
  }));
}

TEST(MeasurementsInC, refuse_options_with_what_is_allowed) {
  EXPECT_OK(run_threads(2, [](mg_transport* t) {
    const auto refused = [t](double bytes, double seconds, const char* kernels) {
      mg_measure_options options{};
      options.struct_size = sizeof options;
      options.bytes = bytes;
      options.seconds = seconds;
      options.kernels = kernels;
      Found found;
      EXPECT_EQ(measure_ring(t, &options, found), MG_USAGE) << bytes << ' ' << seconds;
      return std::string(mg_error());
    };
    EXPECT_EQ(refused(-1, 0.01, nullptr), "options: bytes: -1.000000; allowed: above 0, up to 1e12");
    EXPECT_NE(refused(2e12, 0.01, nullptr).find("options: bytes: 2000000000000"), std::string::npos);
    EXPECT_EQ(refused(8, -1, nullptr), "options: seconds: -1.000000; allowed: above 0, up to a million");
    EXPECT_EQ(refused(8, 2e6, nullptr), "options: seconds: 2000000.000000; allowed: above 0, up to a million");
    EXPECT_EQ(refused(8, 1, ""), "options: kernels is empty; allowed: names with commas between, or null");
    EXPECT_NE(refused(8, 1, "threads.copi").find("threads.copi"), std::string::npos);
    return MG_OK;
  }));
}

TEST(MeasurementsInC, refuse_graphs_that_are_none) {
  EXPECT_OK(run_threads(1, [](mg_transport* t) {
    const int64_t offsets[] = {0, 1, 0};
    const int32_t heads[] = {1};
    mg_process_graph graph = {sizeof graph, 2, 0, offsets, heads, nullptr};
    mg_measurement* found = nullptr;
    EXPECT_EQ(mg_measure(t, &graph, nullptr, &found), MG_USAGE);
    EXPECT_STREQ(mg_error(), "graph: an offset: 0; allowed: 1 to 3");
    graph.ranks = 1;
    EXPECT_EQ(mg_measure(t, &graph, nullptr, &found), MG_INPUT);  // an arc to a rank that is not there
    const int64_t late[] = {1, 1, 1};
    graph.offsets = late;
    EXPECT_EQ(mg_measure(t, &graph, nullptr, &found), MG_USAGE);
    EXPECT_STREQ(mg_error(), "graph: offsets[0]: 1; allowed: 0");
    graph.offsets = offsets;
    graph.ranks = 0;
    EXPECT_EQ(mg_measure(t, &graph, nullptr, &found), MG_USAGE);
    EXPECT_EQ(std::string(mg_error()), "graph: ranks: 0; allowed: 1 to 1048576");
    graph.ranks = (1 << 20) + 1;
    EXPECT_EQ(mg_measure(t, &graph, nullptr, &found), MG_USAGE);
    EXPECT_EQ(std::string(mg_error()), "graph: ranks: 1048577; allowed: 1 to 1048576");
    graph.ranks = 1;
    EXPECT_EQ(mg_measure(t, &graph, nullptr, nullptr), MG_USAGE);
    EXPECT_NE(std::string(mg_error()).find("measurement"), std::string::npos);
    graph.heads = nullptr;
    EXPECT_EQ(mg_measure(t, &graph, nullptr, &found), MG_USAGE);
    EXPECT_EQ(mg_measure(t, nullptr, nullptr, &found), MG_USAGE);
    return MG_OK;
  }));
}

}  // namespace
