// Tests of merge policies through the C interface (capi/clusterer.h) against the C++ one, and of records of older programs.
#include <gtest/gtest.h>

#include <cstddef>
#include <cstring>
#include <functional>
#include <string>
#include <vector>

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

/// Parcels, policy and digest after two steps, the same in tests/python/test_policies.py: every language gives these bits.
struct Known {
  const char* policy;
  const char* digest;
};
constexpr Known kKnown[] = {
    {"", "938c03d911586c2209e419cd1f0b6a45"},
    {"crowded:6->4, within:1cell, place:member, seed:3", "da8d0bb833ff99c395d489a13d56bede"},
    {"small, pairs, within:0.5spacing, members:3, rounds:2", "dfddf60e3152b0a66d07eb6a9428c5f7"},
    {"crowded:6->4, greedy:2, split:4, along:axis", "3ba1ad92f6e9cb83b3792d3380a0bb00"}};

RandomParcels known_input() {
  RandomParcels o;
  o.per_cell = 8;
  o.small_fraction = 0.5;
  o.min_volume_ratio = 20;
  o.seed = 1;
  return o;
}
Grid unit_grid() { return {{{0, 0, 0}, {1, 1, 1}, {true, true, true}}, {8, 8, 8}}; }
/// Grid of the input, which has walls: random_parcels() of Python has no periodic axes.
Grid walled_grid() { return {{{0, 0, 0}, {1, 1, 1}, {false, false, false}}, {8, 8, 8}}; }

/// What two steps give: the digest of the parcels, and the sum over ranks of the last report.
struct PolicySteps {
  std::string digest;
  StepReport report;
};

PolicySteps policy_steps_in_cpp(int ranks, const ClusterOptions& options) {
  PolicySteps out;
  comm::run({.backend = "threads", .ranks = ranks}, [&](comm::Transport& t) {
    const Decomposition d(unit_grid(), ranks);
    Parcels p = generate_random(known_input(), Decomposition(walled_grid(), ranks), t.rank());
    distribute(p, d, t);
    Clusterer clusterer(t, d, p.schema(), options);
    StepReport report;
    for (int i = 0; i < 2; ++i) {
      report = clusterer.step(p);
      clusterer.redistribute(p);
    }
    Digest all;
    for (const Digest& part : comm::all_gather_value(t, digest(p))) all += part;
    const StepNumbers& numbers = report;
    const auto every = comm::all_gather_value(t, numbers);
    if (t.rank() != 0) return;
    out.digest = all.to_string();
    for (const StepNumbers& n : every) out.report += StepReport{n, {}, {}};
  });
  return out;
}

/// Makes two steps over C. `digest` and `last`, the report of each rank's last step, are set by rank.
int policy_steps_in_c(mg_transport* t, const mg_clusterer_options& options, std::string& digest,
                      std::vector<mg_step_numbers>& last) {
  int rank = 0;
  int ranks = 0;
  mg_transport_rank(t, &rank);
  mg_transport_size(t, &ranks);
  const mg_box box = {sizeof(mg_box), {0, 0, 0}, {1, 1, 1}, {1, 1, 1}, 0};
  const int64_t cells[3] = {8, 8, 8};
  mg_decomposition* blocks = nullptr;
  mg_schema* schema = nullptr;
  mg_clusterer* clusterer = nullptr;
  if (int s = mg_decomposition_new(&box, cells, ranks, nullptr, &blocks)) return s;
  if (int s = mg_schema_epic(&schema)) return s;
  if (int s = mg_clusterer_new(t, blocks, schema, &options, &clusterer)) return s;
  ColumnArrays mine(generate_random(known_input(), Decomposition(walled_grid(), ranks), rank));
  const mg_columns columns = mine.record();
  if (int s = mg_clusterer_put(clusterer, &columns)) return s;
  if (int s = mg_clusterer_distribute(clusterer)) return s;  // blocks of a periodic grid may be others
  mg_step_numbers& numbers = last[static_cast<std::size_t>(rank)];
  numbers.struct_size = sizeof numbers;
  for (int i = 0; i < 2; ++i) {
    if (int s = mg_clusterer_step(clusterer, &numbers)) return s;
    if (int s = mg_clusterer_redistribute(clusterer, nullptr)) return s;
  }
  uint64_t step = 0;
  if (int s = mg_clusterer_policy_step(clusterer, &step)) return s;
  EXPECT_EQ(step, options.policy_step + (options.policy != nullptr && *options.policy != '\0' ? 2 : 0));
  char text[33];
  if (int s = mg_clusterer_digest(clusterer, text)) return s;
  if (rank == 0) digest = text;
  mg_clusterer_free(clusterer);
  mg_schema_free(schema);
  return mg_decomposition_free(blocks);
}

mg_clusterer_options policy_options(const char* policy) {
  mg_clusterer_options o{};
  o.struct_size = sizeof o;
  o.min_volume_ratio = 20;
  o.policy = policy;
  return o;
}

TEST(PolicyInC, gives_the_known_bits_on_any_number_of_ranks) {
  for (const Known& known : kKnown) {
    ClusterOptions options;
    options.min_volume_ratio = 20;
    options.policy = parse_policy(known.policy);
    const PolicySteps want = policy_steps_in_cpp(1, options);
    EXPECT_EQ(want.digest, known.digest) << known.policy;
    for (const int ranks : {1, 2, 4}) {
      std::string found;
      std::vector<mg_step_numbers> last(static_cast<std::size_t>(ranks));
      EXPECT_OK(run_threads(
          ranks, [&](mg_transport* t) { return policy_steps_in_c(t, policy_options(known.policy), found, last); }));
      EXPECT_EQ(found, want.digest) << ranks << " ranks: " << known.policy;
      double before = 0;
      double after = 0;
      int64_t refused = 0;
      int64_t split = 0;
      for (const mg_step_numbers& n : last) {
        EXPECT_EQ(n.rounds, want.report.policy.rounds);
        EXPECT_EQ(n.unsettled, want.report.policy.unsettled);
        refused += n.refused;
        split += n.split;
        before += n.weight_before;
        after += n.weight_after;
      }
      EXPECT_EQ(refused, want.report.policy.refused);
      EXPECT_EQ(split, want.report.policy.split);
      EXPECT_NEAR(before, want.report.policy.weight_before, 1e-9);
      EXPECT_NEAR(after, before, 1e-9);
    }
  }
}

TEST(PolicyInC, takes_a_predicate_and_the_number_of_the_step) {
  static int called = 0;
  const auto west = [](const double position[3], void* user) {
    ++*static_cast<int*>(user);
    return position[0] < 0.5 ? 1 : 0;
  };
  mg_clusterer_options in_c = policy_options("within:0.4cell, place:member");
  in_c.policy_step = 5;
  in_c.allowed = west;
  in_c.allowed_user = &called;
  ClusterOptions options;
  options.min_volume_ratio = 20;
  options.policy = parse_policy(in_c.policy);
  options.policy.step = 5;
  options.policy.allowed = [](const Vec3& x) { return x[0] < 0.5; };
  std::string found;
  std::vector<mg_step_numbers> last(1);
  EXPECT_OK(run_threads(1, [&](mg_transport* t) { return policy_steps_in_c(t, in_c, found, last); }));
  const PolicySteps want = policy_steps_in_cpp(1, options);
  EXPECT_EQ(found, want.digest);
  EXPECT_EQ(last[0].refused, want.report.policy.refused);
  EXPECT_GT(last[0].refused, 0);
  EXPECT_GT(called, 100);
  options.policy.step = 0;
  EXPECT_NE(found, policy_steps_in_cpp(1, options).digest);
}

TEST(PolicyInC, refuses_a_bad_policy_on_every_rank) {
  for (const auto& [policy, text] : {std::pair("crowd:6->4", "policy: 'crowd:6->4'; allowed: the parts small"),
                                     std::pair("same:buoyancy", "allowed: centre or largest"),
                                     std::pair("friends:0.1", "does not support"), std::pair("pairs,", "empty part")})
    EXPECT_OK(run_threads(3, [&](mg_transport* t) {
      std::string digest;
      std::vector<mg_step_numbers> last(3);
      EXPECT_EQ(policy_steps_in_c(t, policy_options(policy), digest, last), MG_USAGE);
      EXPECT_NE(std::string(mg_error()).find(text), std::string::npos) << mg_error();
      return MG_OK;
    }));
  EXPECT_OK(run_threads(2, [&](mg_transport* t) {  // ranks that differ
    int rank = 0;
    mg_transport_rank(t, &rank);
    std::string digest;
    std::vector<mg_step_numbers> last(2);
    EXPECT_EQ(policy_steps_in_c(t, policy_options(rank == 0 ? "pairs" : "small:1"), digest, last), MG_USAGE);
    return MG_OK;
  }));
}

TEST(PolicyInC, records_of_programs_that_know_no_policies_still_work) {
  mg_clusterer_options old = policy_options("this pointer is not read");
  old.struct_size = offsetof(mg_clusterer_options, policy);
  std::string found;
  std::vector<mg_step_numbers> last(1);
  const auto run = [&](mg_transport* t) {
    mg_decomposition* blocks = nullptr;
    mg_schema* schema = nullptr;
    mg_clusterer* clusterer = nullptr;
    const mg_box box = {sizeof(mg_box), {0, 0, 0}, {1, 1, 1}, {1, 1, 1}, 0};
    const int64_t cells[3] = {8, 8, 8};
    EXPECT_OK(mg_decomposition_new(&box, cells, 1, nullptr, &blocks));
    EXPECT_OK(mg_schema_epic(&schema));
    EXPECT_OK(mg_clusterer_new(t, blocks, schema, &old, &clusterer));
    ColumnArrays mine(generate_random(known_input(), Decomposition(walled_grid(), 1), 0));
    const mg_columns columns = mine.record();
    EXPECT_OK(mg_clusterer_put(clusterer, &columns));
    mg_step_numbers numbers{};
    numbers.struct_size = offsetof(mg_step_numbers, rounds);
    numbers.rounds = 77;
    EXPECT_OK(mg_clusterer_step(clusterer, &numbers));
    EXPECT_GT(numbers.merged, 0);
    EXPECT_EQ(numbers.rounds, 77);  // beyond the caller's record
    numbers.struct_size = offsetof(mg_step_numbers, rounds) - 8;
    EXPECT_EQ(mg_clusterer_step(clusterer, &numbers), MG_USAGE);
    EXPECT_EQ(mg_clusterer_policy_step(clusterer, nullptr), MG_USAGE);
    mg_clusterer_free(clusterer);
    mg_schema_free(schema);
    return mg_decomposition_free(blocks);
  };
  EXPECT_OK(run_threads(1, run));
}

TEST(PolicyInC, parcels_stay_after_an_error_of_their_columns) {
  EXPECT_OK(run_threads(1, [](mg_transport* t) {
    mg_decomposition* blocks = nullptr;
    mg_schema* schema = nullptr;
    mg_clusterer* clusterer = nullptr;
    const mg_box box = {sizeof(mg_box), {0, 0, 0}, {1, 1, 1}, {1, 1, 1}, 0};
    const int64_t cells[3] = {8, 8, 8};
    EXPECT_OK(mg_decomposition_new(&box, cells, 1, nullptr, &blocks));
    EXPECT_OK(mg_schema_new(&schema));
    EXPECT_OK(mg_schema_add(schema, "species", 1, MG_LARGEST));
    const mg_clusterer_options options = policy_options("same:species");
    EXPECT_OK(mg_clusterer_new(t, blocks, schema, &options, &clusterer));
    ColumnArrays mine(50, 1);
    for (std::size_t i = 0; i < 50; ++i) {
      for (std::size_t a = 0; a < 3; ++a) mine.xyz[3 * i + a] = a == 0 ? static_cast<double>(i) / 50 : 0.5;
      mine.volume[i] = 1e-5;
      mine.ids[i] = static_cast<std::int64_t>(i);
      mine.attributes[0][i] = i == 20 ? 0.5 : 1;
    }
    const mg_columns columns = mine.record();
    EXPECT_OK(mg_clusterer_put(clusterer, &columns));
    for (int i = 0; i < 2; ++i) {
      EXPECT_EQ(mg_clusterer_step(clusterer, nullptr), MG_INPUT);
      EXPECT_NE(std::string(mg_error()).find("a column of same is 0.5"), std::string::npos) << mg_error();
      std::size_t n = 0;
      EXPECT_OK(mg_clusterer_count(clusterer, &n));
      EXPECT_EQ(n, 50U);
    }
    mg_clusterer_free(clusterer);
    mg_schema_free(schema);
    return mg_decomposition_free(blocks);
  }));
}

}  // namespace
