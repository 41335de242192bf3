/// Tests of errors on ranks that are threads: the error that caused the others is rethrown, with its exit code; and of the choice
/// between measured models.
#include "apps/frame/ranks.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <new>
#include <system_error>

#include "apps/frame/command.hpp"
#include "merganser/base/random.hpp"

namespace {

using namespace merganser;

Error catch_error(int ranks, const std::function<void(comm::Transport&)>& body) {
  try {
    app::run_on_ranks({"threads", ranks, ""}, body);
  } catch (const Error& e) {
    return e;
  }
  return {"nothing was thrown", 0};
}

TEST(OnRanksTest, an_error_of_one_rank_is_not_masked_by_those_who_waited_for_it) {
  for (int culprit = 0; culprit < 4; ++culprit) {
    const Error e = catch_error(4, [&](comm::Transport& t) {
      if (t.rank() == culprit) throw InputError("bad parcel");
      t.barrier();
    });
    EXPECT_EQ(e.exit_code(), 3);
    EXPECT_EQ(e.what(), "rank " + std::to_string(culprit) + ": bad parcel");
  }
}

TEST(OnRanksTest, nor_is_it_where_they_take_their_errors_for_known_to_all) {
  for (int i = 0; i < 10; ++i) {
    const Error e = catch_error(3, [](comm::Transport& t) {
      if (t.rank() == 2) throw UsageError("ratio: -1");
      app::collective_try([&] { t.barrier(); });
    });
    EXPECT_EQ(e.exit_code(), 2);
    EXPECT_STREQ(e.what(), "rank 2: ratio: -1");
  }
}

TEST(OnRanksTest, an_error_that_all_ranks_share_names_none) {
  const Error e =
      catch_error(3, [](comm::Transport&) { app::collective_try([] { throw InputError("in.nc: no such file"); }); });
  EXPECT_EQ(e.exit_code(), 3);
  EXPECT_STREQ(e.what(), "in.nc: no such file");
}

TEST(OnRanksTest, errors_of_the_system_are_told_with_the_exit_code_of_their_kind) {
  const auto thrown = [](const auto& what) {
    return catch_error(3, [&](comm::Transport& t) {
      if (t.rank() == 1) throw what;
      t.barrier();
    });
  };
  const auto none = std::make_error_code(std::errc::no_such_file_or_directory);
  const Error file = thrown(std::filesystem::filesystem_error("cannot look", "no/such", none));
  EXPECT_EQ(file.exit_code(), InputError("").exit_code());
  EXPECT_NE(std::string(file.what()).find("rank 1: "), std::string::npos) << file.what();
  EXPECT_NE(std::string(file.what()).find("no/such"), std::string::npos) << file.what();
  const Error system = thrown(std::system_error(std::make_error_code(std::errc::resource_unavailable_try_again)));
  EXPECT_EQ(system.exit_code(), CommError("").exit_code());
  const Error memory = thrown(std::bad_alloc());
  EXPECT_EQ(memory.exit_code(), app::kInternalError);
  EXPECT_STREQ(memory.what(), "rank 1: out of memory; use more ranks or a smaller input");
  const Error other = thrown(std::logic_error("never"));
  EXPECT_EQ(other.exit_code(), app::kInternalError);
  EXPECT_STREQ(other.what(), "rank 1: never");
}

TEST(ChooseModelTest, takes_what_the_library_would_take_and_names_at_least_its_equals) {
  for (std::uint64_t seed = 0; seed < 200; ++seed) {
    Random random(seed, 0, 0);
    std::vector<comm::MeasuredModel> models;
    for (const auto name : {"a", "b", "c", "d"}) {
      const double middle = 100 + 12 * random.uniform();
      comm::MeasuredModel m{name, {{}, {}, {}}, 0};
      // The passes do not overlap, so that the median over passes of their medians is that of the second pass.
      for (int pass = 0; pass < 3; ++pass)
        for (const double off : {-1.0, 0.0, 1.0}) m.passes_ns[pass].push_back(middle + 3 * (pass - 1) + off);
      m.time_ns = middle;
      models.push_back(std::move(m));
    }
    const auto mine = app::choose_model(models), library = comm::first_of_the_fastest(models);
    ASSERT_EQ(mine.chosen, library.chosen) << seed;
    for (const auto equal : library.equals)
      EXPECT_NE(std::find(mine.equals.begin(), mine.equals.end(), equal), mine.equals.end()) << seed;
  }
}

}  // namespace
