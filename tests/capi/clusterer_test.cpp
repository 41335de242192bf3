// Tests of the C interface of the clusterer (capi/clusterer.h) against the C++ one: bitwise equal parcels, and errors.
#include "merganser/capi/clusterer.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <limits>
#include <mutex>

#include "merganser/cluster/cluster.hpp"
#include "merganser/comm/collectives.hpp"
#include "merganser/comm/runtime.hpp"
#include "merganser/parcels/generate.hpp"
#include "merganser/parcels/statistics.hpp"
#include "tests/capi/columns.hpp"
#include "tests/capi/ranks.hpp"

namespace {

using namespace merganser;
using namespace merganser::test;

constexpr int kSteps = 3;

RandomParcels input() {
  RandomParcels o;
  o.per_cell = 10;
  o.min_volume_ratio = 20;
  return o;
}

std::string digest_by_cpp(int ranks, const ClusterOptions& options) {
  std::string text;
  comm::run({.backend = "threads", .ranks = ranks}, [&](comm::Transport& t) {
    const Decomposition d(the_grid(), ranks);
    Parcels p = generate_random(input(), d, t.rank());
    Clusterer clusterer(t, d, p.schema(), options);
    for (int i = 0; i < kSteps; ++i) {
      clusterer.step(p);
      clusterer.redistribute(p);
    }
    Digest all;
    for (const Digest& part : comm::all_gather_value(t, digest(p))) all += part;
    if (t.rank() == 0) text = all.to_string();
  });
  return text;
}

/// Makes the steps over C, and hands the columns to `look` in the end.
int steps_in_c(mg_transport* t, const mg_clusterer_options& options, std::string& digest,
               const std::function<void(const Parcels&)>& look) {
  int rank = 0;
  int ranks = 0;
  mg_transport_rank(t, &rank);
  mg_transport_size(t, &ranks);
  const mg_box box = the_box();
  const int64_t cells[3] = {8, 8, 8};
  mg_decomposition* blocks = nullptr;
  mg_schema* schema = nullptr;
  mg_clusterer* clusterer = nullptr;
  if (int s = mg_decomposition_new(&box, cells, ranks, nullptr, &blocks)) return s;
  if (int s = mg_schema_epic(&schema)) return s;
  if (int s = mg_clusterer_new(t, blocks, schema, &options, &clusterer)) return s;
  ColumnArrays mine(generate_random(input(), Decomposition(the_grid(), ranks), rank));
  const mg_columns columns = mine.record();
  if (int s = mg_clusterer_put(clusterer, &columns)) return s;
  for (int i = 0; i < kSteps; ++i) {
    mg_step_numbers numbers{};
    numbers.struct_size = sizeof numbers;
    if (int s = mg_clusterer_step(clusterer, &numbers)) return s;
    EXPECT_LE(numbers.after, numbers.before);
    if (int s = mg_clusterer_redistribute(clusterer, nullptr)) return s;
  }
  size_t left = 0;
  if (int s = mg_clusterer_get(clusterer, &columns, &left)) return s;
  EXPECT_LT(left, mine.ids.size());
  look(mine.parcels(left));
  char text[33];
  if (int s = mg_clusterer_digest(clusterer, text)) return s;
  if (rank == 0) digest = text;
  mg_clusterer_free(clusterer);
  mg_schema_free(schema);
  return mg_decomposition_free(blocks);
}

TEST(ClustererInC, gives_the_bits_of_cpp_on_any_number_of_ranks) {
  ClusterOptions options;
  options.min_volume_ratio = 20;
  const std::string expected = digest_by_cpp(1, options);
  mg_clusterer_options in_c{};
  in_c.struct_size = sizeof in_c;
  in_c.min_volume_ratio = 20;
  for (const int ranks : {1, 2, 4}) {
    EXPECT_EQ(digest_by_cpp(ranks, options), expected);
    std::string found;
    Digest columns;
    std::mutex mutex;
    EXPECT_OK(run_threads(ranks, [&](mg_transport* t) {
      return steps_in_c(t, in_c, found, [&](const Parcels& p) {
        const std::lock_guard lock(mutex);
        columns += digest(p);
      });
    }));
    EXPECT_EQ(found, expected) << ranks;
    EXPECT_EQ(columns.to_string(), expected) << ranks;
  }
}

TEST(ClustererInC, prunes_and_searches_as_published_if_asked) {
  ClusterOptions options;
  options.search = Search::cells8;
  options.prune = Prune::iterative;
  options.min_volume_ratio = 20;
  mg_clusterer_options in_c{};
  in_c.struct_size = sizeof in_c;
  in_c.min_volume_ratio = 20;
  in_c.search = 1;
  in_c.prune = 1;
  std::string found;
  EXPECT_OK(run_threads(2, [&](mg_transport* t) { return steps_in_c(t, in_c, found, [](const Parcels&) {}); }));
  EXPECT_EQ(found, digest_by_cpp(1, options));
}

/// A clusterer on one rank whose box is the unit cube of one cell, and its columns.
struct Alone {
  explicit Alone(
      mg_transport* t, const std::function<int(mg_schema*)>& fill = [](mg_schema*) { return 0; }) {
    const mg_box box = {sizeof(mg_box), {0, 0, 0}, {1, 1, 1}, {0, 0, 0}, 0};
    const int64_t cells[3] = {1, 1, 1};
    EXPECT_OK(mg_decomposition_new(&box, cells, 1, nullptr, &blocks));
    EXPECT_OK(mg_schema_new(&schema));
    EXPECT_OK(fill(schema));
    mg_clusterer_options options{};
    options.struct_size = sizeof options;
    options.min_volume_ratio = 10;
    EXPECT_OK(mg_clusterer_new(t, blocks, schema, &options, &clusterer));
  }
  ~Alone() {
    EXPECT_OK(mg_clusterer_free(clusterer));
    EXPECT_OK(mg_schema_free(schema));
    EXPECT_OK(mg_decomposition_free(blocks));
  }
  mg_decomposition* blocks = nullptr;
  mg_schema* schema = nullptr;
  mg_clusterer* clusterer = nullptr;
};

TEST(ClustererInC, merges_attributes_by_rules_and_by_functions_of_the_caller) {
  EXPECT_OK(run_threads(1, [](mg_transport* t) {
    const auto fill = [](mg_schema* schema) {
      EXPECT_OK(mg_schema_add(schema, "salt", 1, MG_SUM));
      return mg_schema_add_callback(
          schema, "hottest", 2,
          [](size_t members, const double* values, const double* volumes, double* out, void* user) {
            EXPECT_EQ(volumes[1], 0.05);
            out[0] = values[0];
            for (size_t m = 1; m < members; ++m) out[0] = std::max(out[0], values[2 * m]);
            out[1] = *static_cast<double*>(user) + static_cast<double>(members);
          },
          [] {
            static double forty = 40;
            return static_cast<void*>(&forty);
          }());
    };
    Alone alone(t, fill);
    ColumnArrays arrays(3, 3);
    arrays.xyz = {0.1, 0.1, 0.1, 0.12, 0.1, 0.1, 0.9, 0.9, 0.9};
    arrays.volume = {0.2, 0.05, 0.3};
    arrays.attributes = {{1, 2, 4}, {300, 310, 290}, {0, 0, 7}};
    arrays.ids = {10, 11, 12};
    const mg_columns columns = arrays.record();
    EXPECT_OK(mg_clusterer_put(alone.clusterer, &columns));
    EXPECT_OK(mg_clusterer_step(alone.clusterer, nullptr));
    size_t left = 0;
    EXPECT_OK(mg_clusterer_get(alone.clusterer, &columns, &left));
    EXPECT_EQ(left, 2U);
    const std::size_t merged = arrays.ids[0] == 10 ? 0 : 1;
    EXPECT_EQ(arrays.ids[merged], 10);
    EXPECT_EQ(arrays.volume[merged], 0.25);
    EXPECT_EQ(arrays.attributes[0][merged], 3);
    EXPECT_EQ(arrays.attributes[1][merged], 310);
    EXPECT_EQ(arrays.attributes[2][merged], 42);
    return MG_OK;
  }));
}

TEST(ClustererInC, refuses_columns_that_it_cannot_use_and_keeps_what_it_has) {
  EXPECT_OK(run_threads(1, [](mg_transport* t) {
    Alone alone(t, [](mg_schema* schema) { return mg_schema_add(schema, "salt", 1, MG_SUM); });
    ColumnArrays good(2, 1);
    good.xyz = {0.1, 0.1, 0.1, 0.2, 0.2, 0.2};
    good.volume = {1, 1};
    good.ids = {1, 2};
    mg_columns columns = good.record();
    EXPECT_OK(mg_clusterer_put(alone.clusterer, &columns));
    const auto refused = [&](const std::function<void(ColumnArrays&, mg_columns&)>& spoil, int status,
                             const char* text) {
      ColumnArrays bad = good;
      mg_columns record = bad.record();
      spoil(bad, record);
      EXPECT_EQ(mg_clusterer_put(alone.clusterer, &record), status) << text;
      EXPECT_NE(std::string(mg_error()).find(text), std::string::npos) << mg_error();
      size_t count = 0;
      EXPECT_OK(mg_clusterer_count(alone.clusterer, &count));
      EXPECT_EQ(count, 2U);
    };
    const double nan = std::numeric_limits<double>::quiet_NaN();
    refused([&](auto& a, auto&) { a.xyz[4] = nan; }, MG_INPUT, "parcel 1: y is nan");
    refused([&](auto& a, auto&) { a.volume[0] = 0; }, MG_INPUT, "parcel 0: volume is 0; allowed: 1e-120");
    refused([&](auto& a, auto&) { a.volume[1] = 1e-310; }, MG_INPUT, "parcel 1: volume is 1e-310; allowed: 1e-120");
    refused([&](auto& a, auto&) { a.attributes[0][1] = 1 / 0.0; }, MG_INPUT, "parcel 1: an attribute is inf");
    refused([&](auto& a, auto&) { a.ids[1] = 1; }, MG_INPUT, "parcel 1: id 1 stands twice");
    refused([&](auto&, auto& r) { r.attributes = 2; }, MG_USAGE, "columns: 2 of attributes; the schema has 1");
    refused([&](auto&, auto& r) { r.ids = nullptr; }, MG_USAGE, "columns: ids: a null pointer");
    refused([&](auto& a, auto&) { a.pointers[0] = nullptr; }, MG_USAGE, "columns: the data of a column");
    columns.count = 1;
    EXPECT_EQ(mg_clusterer_get(alone.clusterer, &columns, nullptr), MG_USAGE);
    EXPECT_STREQ(mg_error(), "columns: count: 1; allowed: at least 2");
    return MG_OK;
  }));
}

}  // namespace
