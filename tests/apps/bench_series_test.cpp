/// Test of the round trip of a benchmark series through the run record of a launched job.
#include <gtest/gtest.h>

#include "apps/bench/series.hpp"

namespace {

using merganser::app::BenchSeries;
using merganser::app::Json;
using merganser::app::parse_series;
using merganser::app::to_json;

TEST(BenchSeries, comes_back_from_its_record_with_every_number_in_its_place) {
  BenchSeries series;
  auto& total = series.total;
  total.counters = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10};
  total.pruning = {11, 12, 13, 14, 15};
  total.before = 100;
  total.small = 50;
  total.merged = 40;
  total.after = 60;
  total.cross_links = 16;
  total.merged_into_big = 17;
  total.unmatched = 18;
  total.clusters = {{2, 19}, {3, 20}};
  series.cycles.resize(1);
  series.cycles[0].stages.resize(1);
  series.cycles[0].copy = {0.5};
  const Json json = to_json(series);
  const BenchSeries back = parse_series(json);
  EXPECT_EQ(back.total.counters, total.counters);
  EXPECT_EQ(json["counters_all_cycles"]["collectives"], 10);
  EXPECT_EQ(to_json(back), json);
}

}  // namespace
