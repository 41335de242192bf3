/// Tests of the forecast of memory and disk: what is refused, with which exit code and message.
#include "apps/frame/forecast.hpp"

#include <gtest/gtest.h>

#include <limits>

#include "merganser/base/error.hpp"
#include "merganser/comm/runtime.hpp"
#include "tests/base/system.hpp"

namespace {

using namespace merganser;
using app::Need;
using merganser::test::System;
constexpr double kMiB = 1 << 20;

/// Returns exit code and message, as "3: message", of the error that every rank throws; empty if none does.
std::string refusal_message(const Need& need, int ranks, bool force = false) {
  std::vector<std::string> all(static_cast<std::size_t>(ranks));
  comm::run({"threads", ranks, "", {}}, [&](comm::Transport& t) {
    try {
      app::require(need, force, t);
    } catch (const Error& e) {
      all[static_cast<std::size_t>(t.rank())] = std::to_string(e.exit_code()) + ": " + e.what();
    }
  });
  for (const auto& other : all) EXPECT_EQ(other, all[0]);
  return all[0];
}

TEST(Forecast, ranks_of_one_machine_share_its_memory) {
  const System system;
  system.memory(100);
  Need need;
  need.what = "17 geese";
  need.help = "fewer geese";
  need.rank_bytes = 40 * kMiB;
  EXPECT_EQ(refusal_message(need, 1), "");
  EXPECT_EQ(refusal_message(need, 2), "");
  EXPECT_EQ(refusal_message(need, 3),
            "2: 17 geese: needs about 40.0 MiB of memory on each of 3 ranks; there is 100 MiB for 3 ranks on a host; "
            "fewer geese, or --force to go on anyway");
  EXPECT_EQ(refusal_message(need, 3, true), "");
}

TEST(Forecast, what_a_file_asks_for_is_an_input_error_and_what_options_ask_for_one_of_usage) {
  const System system;
  system.memory(100);
  Need need;
  need.what = "in.nc";
  need.first_bytes = 101 * kMiB;
  EXPECT_EQ(refusal_message(need, 1),
            "2: in.nc: needs about 101 MiB of memory; there is 100 MiB; --force to go on anyway");
  need.of_file = true;
  EXPECT_EQ(
      refusal_message(need, 2),
      "3: in.nc: needs about 101 MiB of memory on rank 0; there is 100 MiB for 2 ranks on a host; --force to go on "
      "anyway");
  EXPECT_THROW(app::require(need, false), InputError);
  EXPECT_NO_THROW(app::require(need, true));
}

TEST(Forecast, a_disk_that_is_too_small_is_named_before_anything_is_written) {
  Need need;
  need.what = "geese";
  need.disk_bytes = 1e24;
  EXPECT_EQ(refusal_message(need, 2), "") << "nothing is written";
  need.file = "/tmp/geese.nc";
  const std::string why = refusal_message(need, 2);
  EXPECT_NE(why.find("on the disk of /tmp/geese.nc; there is "), std::string::npos) << why;
  need.file = "-";
  EXPECT_EQ(refusal_message(need, 2), "");
}

TEST(Forecast, a_system_that_does_not_tell_and_numbers_beyond_all_are_no_trouble) {
  Need need;
  need.what = "geese";
  need.rank_bytes = std::numeric_limits<double>::infinity();
  EXPECT_NE(refusal_message(need, 1), "");
  const System system;
  EXPECT_EQ(refusal_message(need, 1), "");
}

}  // namespace
