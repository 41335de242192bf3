/// The whole flow model: reference numbers, conservation, the same bits over ranks, decompositions, models and vectors.
#include "merganser/flow/model.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <limits>

#include "merganser/base/error.hpp"
#include "merganser/comm/collectives.hpp"
#include "merganser/flow/cases.hpp"
#include "tests/flow/every_target.hpp"
#include "tests/support/ranks.hpp"
#include "tests/support/total_digest.hpp"

namespace {

using namespace merganser;
using namespace merganser::flow;
using namespace merganser::test;

CaseOptions on_cells(std::int64_t cells) {
  CaseOptions options;
  options.cells = cells;
  return options;
}

/// Options with which few cells split and merge parcels within some steps.
FlowOptions hurried() {
  FlowOptions options;
  options.min_volume_ratio = 10;
  options.max_aspect_ratio = 1.5;
  options.alpha = 0.5;
  return options;
}

Parcels begin_with(const comm::Transport& t, const Decomposition& blocks, Case which, const CaseOptions& options) {
  return fill(blocks, t.rank(), case_fields(which, options));
}

Digest total_digest(comm::Transport& t, const Model& model) {
  return test::total_digest(t, without_registers(model.parcels()));
}

/// Runs on one rank within this process, even if a launcher has started it as one of several.
void on_one_rank(const std::function<void(comm::Transport&)>& body) {
  comm::RunOptions one;
  one.backend = "threads";
  one.ranks = 1;
  one.within_process = true;
  comm::run(one, body);
}

/// Result of a run: digest of the parcels, and statistics.
struct Came {
  Digest digest;
  std::vector<Statistics> rows;
};

Came run_model(comm::Transport& t, const Decomposition& blocks, Case which, const CaseOptions& initial,
               const FlowOptions& options, int steps) {
  Model model(t, blocks, options);
  model.begin(begin_with(t, blocks, which, initial));
  for (int i = 0; i < steps; ++i) model.step();
  model.observe();
  model.conclude();
  model.drain_statistics();
  return {total_digest(t, model), model.pop_statistics()};
}

constexpr int kSteps = 9;

struct Setting {
  Case which;
  CaseOptions initial;
  FlowOptions options;
};

Setting setting_of(Case which) {
  Setting run{which, on_cells(8), hurried()};
  apply_case(which, run.options);
  run.options.keep_surface_vorticity = which == Case::rayleigh_taylor;
  return run;
}

/// Returns the result of a run on one rank.
Came alone(Case which) {
  const Setting run = setting_of(which);
  Came came;
  on_one_rank([&](comm::Transport& t) {
    came = run_model(t, flow::decompose(case_grid(which, run.initial), 1), which, run.initial, run.options, kSteps);
  });
  return came;
}

class EveryModel : public testing::TestWithParam<Setup> {};
INSTANTIATE_TEST_SUITE_P(Models, EveryModel, testing::ValuesIn(setups({""}, {"chaos:1", "checked"})),
                         setup_name<testing::TestParamInfo<Setup>>);

TEST_P(EveryModel, gives_the_bits_of_one_rank) {
  static const Came rt = alone(Case::rayleigh_taylor);
  static const Came tg = alone(Case::taylor_green);
  std::int64_t merges = 0, splits = 0;
  for (const Statistics& row : rt.rows) {
    merges += row.counts.merges;
    splits += row.counts.splits;
  }
  EXPECT_GT(merges, 0);
  EXPECT_GT(splits, 0);
  on_ranks(GetParam(), [](comm::Transport& t) {
    const auto compare = [&](Case which, const std::string& shape, const Came& one) {
      const Setting run = setting_of(which);
      const Grid grid = case_grid(which, run.initial);
      const Came here = run_model(t, flow::decompose(grid, t.size(), shape), which, run.initial, run.options, kSteps);
      EXPECT_EQ(here.digest.to_string(), one.digest.to_string()) << shape;
      EXPECT_TRUE(here.rows == one.rows) << shape;
    };
    compare(Case::rayleigh_taylor, std::to_string(t.size()) + "x1x1", rt);
    if (!GetParam().decorators.empty()) return;
    compare(Case::rayleigh_taylor, "auto", rt);
    compare(Case::taylor_green, "auto", tg);
  });
}

TEST(Model, gives_the_same_bits_with_all_kinds_of_vectors) {
  const Came want = alone(Case::rayleigh_taylor);
  for_every_target([&](const char* name) {
    const Came got = alone(Case::rayleigh_taylor);
    EXPECT_EQ(got.digest.to_string(), want.digest.to_string()) << name;
    EXPECT_TRUE(got.rows == want.rows) << name;
  });
}

TEST_P(EveryModel, goes_on_from_a_state_as_if_nothing_had_been) {
  on_ranks(GetParam(), [](comm::Transport& t) {
    const CaseOptions initial = on_cells(8);
    const Decomposition blocks = flow::decompose(case_grid(Case::rayleigh_taylor, initial), t.size());
    Model first(t, blocks, hurried());
    first.begin(begin_with(t, blocks, Case::rayleigh_taylor, initial));
    for (int i = 0; i < 7; ++i) first.step();
    RunState state = first.state();
    state.counts = {};
    Parcels kept = without_registers(first.parcels());
    for (int i = 0; i < 5; ++i) first.step();
    Model second(t, blocks, hurried());
    second.begin(std::move(kept), state);
    for (int i = 0; i < 5; ++i) second.step();
    EXPECT_EQ(total_digest(t, second).to_string(), total_digest(t, first).to_string());
    EXPECT_EQ(second.state().time, first.state().time);
    EXPECT_EQ(second.state().step, 12);
  });
}

TEST(Model, names_the_step_and_the_place_where_a_number_is_lost) {
  on_one_rank([](comm::Transport& t) {
    const CaseOptions initial = on_cells(8);
    const Decomposition blocks = flow::decompose(case_grid(Case::rayleigh_taylor, initial), 1);
    const auto message = [&](const char* attribute, double bad) -> std::string {
      Model model(t, blocks, {});
      Parcels parcels = begin_with(t, blocks, Case::rayleigh_taylor, initial);
      parcels.row(3)[parcels.schema().offset(attribute)] = bad;
      try {
        model.begin(std::move(parcels));
        for (int i = 0; i < 3; ++i) model.step();
      } catch (const InputError& e) {
        return e.what();
      }
      return {};
    };
    const double nan = std::numeric_limits<double>::quiet_NaN();
    for (const auto& [attribute, bad] :
         {std::pair("buoyancy", nan), std::pair("buoyancy", 1e300), std::pair("B", nan), std::pair("vorticity", 1e160)})
      EXPECT_NE(message(attribute, bad).find("step 0, t = 0"), std::string::npos) << message(attribute, bad);
    EXPECT_NE(message("vorticity", nan).find("nan"), std::string::npos);
  });
}

TEST(Reference, the_first_steps_on_16_cells_are_those_of_the_published_program) {
  on_one_rank([](comm::Transport& t) {
    const CaseOptions initial = on_cells(16);
    const Grid grid = case_grid(Case::rayleigh_taylor, initial);
    const Decomposition blocks = flow::decompose(grid, 1);
    Model model(t, blocks, {});
    model.begin(begin_with(t, blocks, Case::rayleigh_taylor, initial));
    model.observe();
    EXPECT_NEAR(model.dt(), 0.19181683505829897, 1e-14);
    for (int i = 0; i < 5; ++i) model.step();
    model.observe();
    model.conclude();
    model.drain_statistics();
    const std::vector<Statistics> rows = model.pop_statistics();
    ASSERT_EQ(rows.size(), 6U);
    EXPECT_NEAR(rows[5].time, 0.953144531076, 1e-11);
    EXPECT_NEAR(0.2 / rows[5].strain, 1.0800095015, 1e-8);
    const double box = grid.box.extent[0] * grid.box.extent[1] * grid.box.extent[2];
    for (const Statistics& row : rows) {
      EXPECT_EQ(row.parcels, 8 * 16 * 16 * 16);
      EXPECT_NEAR(row.volume, box, 1e-13 * box);
    }
    EXPECT_LT(std::fabs(rows[0].kinetic_energy), 1e-20);
    EXPECT_GT(rows[5].kinetic_energy, 0);
  });
}

TEST(Reference, the_sixteenth_step_has_its_number_of_parcels) {
  on_one_rank([](comm::Transport& t) {
    const CaseOptions initial = on_cells(16);
    const Decomposition blocks = flow::decompose(case_grid(Case::rayleigh_taylor, initial), 1);
    Model model(t, blocks, {});
    model.begin(begin_with(t, blocks, Case::rayleigh_taylor, initial));
    for (int i = 0; i < 15; ++i) model.step();
    model.observe();
    model.conclude();
    model.drain_statistics();
    const Statistics row = model.pop_statistics().back();
    EXPECT_NEAR(row.time, 2.650644084648, 1e-9);
    EXPECT_NEAR(0.2 / row.strain, 0.2171568757, 1e-7);
    EXPECT_EQ(row.parcels, 32834);
  });
}

TEST(Model, refuses_a_flow_that_nothing_moves) {
  on_one_rank([](comm::Transport& t) {
    const Decomposition blocks = flow::decompose(case_grid(Case::rayleigh_taylor, on_cells(8)), 1);
    Model model(t, blocks, {});
    model.begin(fill(blocks, 0, [](const Vec3&) { return NodeValues{}; }));
    EXPECT_THROW(model.observe(), InputError);
  });
}

TEST(Model, refuses_options_that_the_command_refuses) {
  on_one_rank([](comm::Transport& t) {
    const Grid grid = case_grid(Case::thermal, on_cells(8));
    for (double FlowOptions::*field : {&FlowOptions::alpha, &FlowOptions::min_volume_ratio, &FlowOptions::coriolis_z})
      for (const double bad : {1e300, -1e300, std::nan("")}) {
        FlowOptions options;
        options.*field = bad;
        EXPECT_THROW(Model(t, flow::decompose(grid, 1), options), UsageError) << bad;
      }
  });
}

TEST(Model, refuses_a_step_that_does_not_advance_the_time) {
  on_one_rank([](comm::Transport& t) {
    const Grid grid = case_grid(Case::rayleigh_taylor, on_cells(8));
    const Decomposition blocks = flow::decompose(grid, 1);
    Model model(t, blocks, {});
    RunState late;
    late.time = 1e18;
    model.begin(begin_with(t, blocks, Case::rayleigh_taylor, on_cells(8)), late);
    try {
      model.observe();
      FAIL() << "no error";
    } catch (const InputError& e) {
      EXPECT_NE(std::string(e.what()).find("does not advance the time"), std::string::npos) << e.what();
    }
  });
}

TEST(Model, refuses_to_begin_without_parcels) {
  on_one_rank([](comm::Transport& t) {
    Model model(t, flow::decompose(case_grid(Case::rayleigh_taylor, on_cells(8)), 1), {});
    EXPECT_THROW(model.begin(Parcels()), InputError);
  });
}

}  // namespace
