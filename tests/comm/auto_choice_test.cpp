/// Tests of the choice of a model by measurement, among models of the tests: their graph and turns, errors, the line
/// for people; and of the end of a process as a rank.
#include "src/comm/detail/auto_choice.hpp"

#include <gtest/gtest.h>

#include <algorithm>

#include "merganser/base/error.hpp"
#include "src/comm/detail/models.hpp"
#include "src/comm/detail/process.hpp"
#include "tests/support/refusal.hpp"

namespace {

using namespace merganser;
using comm::Graph;
using comm::MeasuredModel;
using comm::detail::BackendEntry;
using test::refusal;

const BackendEntry kFirst{{"first", "of the tests", true}, nullptr, nullptr};
const BackendEntry kSecond{{"second", "of the tests", true}, nullptr, nullptr};
const BackendEntry kThird{{"third", "of the tests", true}, nullptr, nullptr};

using Names = std::vector<std::string>;

/// Visits that run over threads, and what was visited.
struct Visits {
  Names names;
  std::string failing;  ///< model that fails
  bool agreed = true;   ///< by an error that all ranks throw alike

  [[nodiscard]] auto visit() {
    return [this](const BackendEntry& entry, const BackendEntry::Each& each) {
      names.emplace_back(entry.info.name);
      if (entry.info.name == failing) {
        if (agreed) comm::detail::note_agreed_error("no window");
        throw CommError("no window");
      }
      comm::detail::run_process(comm::detail::find_model("threads").start, each);
    };
  }
};

TEST(AutoChoiceTest, every_model_is_measured_in_each_pass_the_odd_ones_backwards) {
  Visits visits;

  const auto choose = [&](std::span<const MeasuredModel> models) {
    EXPECT_EQ(models.size(), 3U);
    for (const auto& m : models) {
      EXPECT_EQ(m.passes_ns.size(), 3U);
      for (const auto& pass : m.passes_ns) {
        EXPECT_EQ(pass.size(), 7U);
        for (const double ns : pass) EXPECT_GE(ns, 1.0);
      }
      std::vector<double> medians;  // the slow way: sorted, the middle one
      for (auto pass : m.passes_ns) {
        std::sort(pass.begin(), pass.end());
        medians.push_back(pass[3]);
      }
      std::sort(medians.begin(), medians.end());
      EXPECT_EQ(m.time_ns, medians[1]);
    }
    return comm::ModelChoice{1, {2, 0}};
  };
  const auto chosen = comm::detail::measure_and_choose({{&kFirst, &kSecond, &kThird}, visits.visit(), nullptr, choose});
  EXPECT_EQ(visits.names, (Names{"first", "second", "third", "third", "second", "first", "first", "second", "third"}));
  EXPECT_EQ(chosen.entry, &kSecond);
  EXPECT_TRUE(chosen.line.starts_with("auto measured a wave and a round of records in turns: first ")) << chosen.line;
  EXPECT_TRUE(chosen.line.ends_with(
      " us; also within 5 % of the fastest, or not told apart from it: third, first; picked second"))
      << chosen.line;
}

TEST(AutoChoiceTest, a_model_that_fails_on_all_ranks_is_left_out_and_named) {
  Visits visits;
  visits.failing = "second";
  std::size_t asked = 0;
  const auto choose = [&](std::span<const MeasuredModel> models) {
    asked = models.size();
    EXPECT_EQ(models[1].name, "third");
    return comm::ModelChoice{1, {}};
  };
  const auto chosen = comm::detail::measure_and_choose({{&kFirst, &kSecond, &kThird}, visits.visit(), nullptr, choose});
  EXPECT_EQ(asked, 2U);
  EXPECT_EQ(chosen.entry, &kThird);
  EXPECT_NE(chosen.line.find(", second failed (no window), third "), std::string::npos) << chosen.line;
  EXPECT_EQ(std::count(visits.names.begin(), visits.names.end(), "second"), 1) << "it must not be tried again";
}

TEST(AutoChoiceTest, an_error_of_one_rank_alone_passes_through) {
  comm::detail::note_agreed_error("another one");
  Visits visits;
  visits.failing = "first";
  visits.agreed = false;
  EXPECT_EQ(refusal<CommError>([&] {
              (void)comm::detail::measure_and_choose({{&kFirst, &kSecond}, visits.visit(), nullptr, nullptr});
            }),
            "no window");
  EXPECT_EQ(visits.names, Names{"first"});
}

TEST(AutoChoiceTest, where_no_model_works_the_errors_are_told) {
  Visits visits;
  visits.failing = "first";
  const std::string what = refusal<UsageError>([&] {
    (void)comm::detail::measure_and_choose({{&kFirst}, visits.visit(), nullptr, nullptr});
  });
  EXPECT_TRUE(what.starts_with("there are several ranks, but no model of processes works here")) << what;
  EXPECT_TRUE(what.ends_with("; auto measured a wave and a round of records in turns: first failed (no window)"))
      << what;
  EXPECT_THROW((void)comm::detail::measure_and_choose({{}, visits.visit(), nullptr, nullptr}), UsageError);
}

TEST(AutoChoiceTest, a_decision_for_a_model_that_is_not_there_is_refused) {
  Visits visits;
  for (const auto& decision : {comm::ModelChoice{2, {}}, comm::ModelChoice{0, {1, 2}}}) {
    EXPECT_EQ(
        refusal<UsageError>([&] {
          (void)comm::detail::measure_and_choose(
              {{&kFirst, &kSecond}, visits.visit(), nullptr, [&](std::span<const MeasuredModel>) { return decision; }});
        }),
        "the decision names model 2; allowed: 0 to 1");
  }
}

TEST(AutoChoiceTest, models_are_measured_on_the_graph_that_is_given) {
  Visits visits;
  int asked = 0;
  const auto pattern = [&](int rank, int size) {
    ++asked;
    EXPECT_EQ(rank, 0);
    EXPECT_EQ(size, 1);
    return Graph::symmetric({0});
  };
  (void)comm::detail::measure_and_choose({{&kFirst}, visits.visit(), pattern, nullptr});
  EXPECT_EQ(asked, 3);
}

TEST(FirstOfTheFastestTest, agrees_with_a_search_at_the_border_of_five_percent) {
  const auto choice = [](const std::vector<double>& times) {
    std::vector<MeasuredModel> models;
    for (const double time : times) models.push_back({"m", {{time}}, time});
    return comm::first_of_the_fastest(models);
  };
  EXPECT_EQ(choice({105, 100}).chosen, 0U);
  EXPECT_EQ(choice({105.001, 100}).chosen, 1U);
  EXPECT_EQ(choice({105.001, 100}).equals, std::vector<std::size_t>());
  EXPECT_EQ(choice({200, 104, 300, 100, 105}).equals, (std::vector<std::size_t>{3, 4}));
  EXPECT_EQ(choice({7}).chosen, 0U);
  EXPECT_EQ(refusal<UsageError>([&] { (void)choice({}); }), "a choice among no models; allowed: at least one");
}

/// Transport of one rank that notes when its collective resources are freed.
std::unique_ptr<comm::detail::TransportBase> start_threads() { return comm::detail::find_model("threads").start(); }

TEST(RunProcessTest, closes_the_transport_at_the_end_and_after_errors_of_all_ranks) {
  std::unique_ptr<comm::Mailbox> kept;
  const auto make = [&](comm::detail::TransportBase& t) { kept = t.mailbox(Graph::symmetric({0})); };
  comm::detail::run_process(start_threads, [&](comm::detail::TransportBase& t) {
    make(t);
    kept->step();
  });
  EXPECT_THROW(kept->step(), CommError);
  EXPECT_EQ(refusal<InputError>([&] {
              comm::detail::run_process(start_threads, [&](comm::detail::TransportBase& t) {
                comm::agree(t, [] { throw InputError("bad file"); });
              });
            }),
            "bad file");
  EXPECT_FALSE(comm::detail::failed_locally()) << "all ranks have thrown the same: collective calls are safe";
}

TEST(RunProcessTest, an_error_of_one_rank_forbids_collective_calls_until_the_end) {
  // In a process of its own: the mark stays.
  const auto ends_with_mark = [](const std::function<void()>& what) {
    try {
      what();
    } catch (...) {
    }
    std::_Exit(comm::detail::failed_locally() ? 7 : 0);
  };
  testing::FLAGS_gtest_death_test_style = "fast";
  using comm::detail::TransportBase;
  EXPECT_EXIT(ends_with_mark(
                  [] { comm::detail::run_process(start_threads, [](TransportBase&) { throw InputError("mine"); }); }),
              testing::ExitedWithCode(7), "");
  EXPECT_EXIT(ends_with_mark([] { comm::detail::run_process(start_threads, [](TransportBase&) { throw 3; }); }),
              testing::ExitedWithCode(7), "");
  EXPECT_EXIT(ends_with_mark([] {
                comm::detail::run_process([]() -> std::unique_ptr<TransportBase> { throw CommError("no library"); },
                                          [](TransportBase&) {});
              }),
              testing::ExitedWithCode(7), "");
  EXPECT_EXIT(ends_with_mark([] { comm::detail::mark_local_failure(); }), testing::ExitedWithCode(7), "");
  EXPECT_EXIT(ends_with_mark([] {
                comm::detail::run_process(start_threads,
                                          [](TransportBase& t) { comm::agree(t, [] { throw InputError("all"); }); });
              }),
              testing::ExitedWithCode(0), "");
}

}  // namespace
