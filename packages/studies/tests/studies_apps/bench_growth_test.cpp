/// The command bench growth: power laws, measurements of every algorithm at small sizes, its record and its refusals.
#include <gtest/gtest.h>

#include <cmath>

#include "apps/growth/growth.hpp"
#include "merganser/base/error.hpp"
#include "tests/apps/json.hpp"
#include "tests/apps/program.hpp"
#include "tests/io/folder.hpp"

namespace {

using namespace merganser::app;
using merganser::UsageError;
using merganser::test::Folder;
using merganser::test::Outcome;
using merganser::test::read_json_file;
using merganser::test::run;

TEST(PowerLawTest, exact_laws_are_found_without_error_and_noise_has_the_error_of_a_least_squares_line) {
  const std::vector<double> sizes{10, 100, 1000, 10000};
  for (const double exponent : {-0.5, 0.0, 1.0, 1.25}) {
    std::vector<double> values;
    for (const double n : sizes) values.push_back(3e-9 * std::pow(n, exponent));
    const PowerLaw law = fit_power_law(sizes, values);
    EXPECT_NEAR(law.exponent, exponent, 1e-12);
    EXPECT_NEAR(law.error.value(), 0, 1e-6);
  }
  // Logarithms 0, 1, 3, 4 (in powers of ten) at 1, 2, 3, 4: slope 1.4, residuals -+0.1, 0.2, so the sum of squares is 0.2 / 1.
  const PowerLaw noisy = fit_power_law(sizes, std::vector<double>{1, 10, 1000, 10000});
  EXPECT_NEAR(noisy.exponent, 1.4, 1e-12);
  EXPECT_NEAR(noisy.error.value(), std::sqrt(0.2 / 2 / 5), 1e-12);
  EXPECT_FALSE(fit_power_law(std::vector<double>{1, 10}, std::vector<double>{2, 20}).error);
}

TEST(PowerLawTest, fewer_than_two_points_equal_sizes_and_values_that_are_not_positive_are_refused) {
  using List = std::vector<double>;
  EXPECT_THROW(static_cast<void>(fit_power_law(List{1}, List{1})), UsageError);
  EXPECT_THROW(static_cast<void>(fit_power_law(List{1, 2}, List{1})), UsageError);
  EXPECT_THROW(static_cast<void>(fit_power_law(List{5, 5}, List{1, 2})), UsageError);
  EXPECT_THROW(static_cast<void>(fit_power_law(List{1, 2}, List{1, 0})), UsageError);
  EXPECT_THROW(static_cast<void>(fit_power_law(List{0, 2}, List{1, 1})), UsageError);
}

TEST(GrowthTest, quick_keeps_the_sizes_up_to_a_hundredth_of_the_greatest) {
  const auto all = growth_subjects(false);
  const auto quick = growth_subjects(true);
  ASSERT_EQ(all.size(), quick.size());
  for (std::size_t i = 0; i < all.size(); ++i) {
    EXPECT_GE(all[i].sizes.back() / all[i].sizes.front(), 1e4) << all[i].name << ": four decades";
    ASSERT_GE(quick[i].sizes.size(), 2U) << all[i].name;
    for (const double size : quick[i].sizes) EXPECT_LE(size, all[i].sizes.back() / 100);
  }
}

TEST(GrowthTest, every_algorithm_is_measured_at_its_least_size) {
  for (const GrowthSubject& s : growth_subjects(true)) {
    const GrowthPoint p = measure_growth(s.name, s.sizes.front(), 2);
    EXPECT_EQ(p.seconds.size(), 2U) << s.name;
    EXPECT_EQ(p.processor_seconds.size(), 2U) << s.name;
    EXPECT_GT(p.ns_per_unit(), 0) << s.name;
    EXPECT_GE(p.size, 0.25 * s.sizes.front()) << s.name;
    EXPECT_LE(p.size, 4 * s.sizes.front()) << s.name;
    EXPECT_GT(p.input_bytes, 0) << s.name;
    EXPECT_GT(p.limit, 0) << s.name;
    EXPECT_FALSE(p.result.empty()) << s.name;
  }
  // Four ranks announce their numbers: 0 + 1 + 2 + 3.
  EXPECT_EQ(measure_growth("announcement", 16, 1).result, "4 delivered on each rank, sum 6");
  EXPECT_THROW(static_cast<void>(measure_growth("sort", 1, 1)), UsageError);
}

TEST(BenchGrowth, writes_the_series_of_the_chosen_algorithms_and_refuses_others) {
  const Folder folder;
  const Outcome o = run(
      {"bench", "growth", "--quick", "--only", "announcement,tree", "--repeats", "1", "--json", folder.file("g.json")});
  ASSERT_EQ(o.code, 0) << o.text();
  EXPECT_NE(o.out.find("exponent of processor time"), std::string::npos) << o.out;
  const Json series = read_json_file(folder.file("g.json"))["result"]["growth"];
  ASSERT_EQ(series.size(), 2U);
  EXPECT_EQ(series[0]["subject"], "tree");
  EXPECT_EQ(series[1]["subject"], "announcement");
  for (const Json& s : series) {
    EXPECT_GE(s["points"].size(), 2U);
    EXPECT_TRUE(s["time"]["exponent"].is_number());
    for (const Json& p : s["points"]) {
      EXPECT_GT(p["ns_per_unit"].get<double>(), 0);
      EXPECT_GT(p["times_limit"].get<double>(), 0);
    }
  }
  EXPECT_EQ(run({"bench", "growth", "--only", "sort"}).code, UsageError("").exit_code());
  EXPECT_EQ(run({"bench", "growth", "--only", "tree,tree"}).code, UsageError("").exit_code());
  EXPECT_EQ(run({"bench", "growth", "--repeats", "0"}).code, UsageError("").exit_code());
}

}  // namespace
