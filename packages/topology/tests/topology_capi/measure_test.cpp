// The C interface of measurements: results, errors, lifetime.
#include "merganser/capi/measure.h"

#include <gtest/gtest.h>

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
    return mg_measurement_free(found);
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
    graph.heads = nullptr;
    EXPECT_EQ(mg_measure(t, &graph, nullptr, &found), MG_USAGE);
    EXPECT_EQ(mg_measure(t, nullptr, nullptr, &found), MG_USAGE);
    return MG_OK;
  }));
}

}  // namespace
