/// Tests of the limit of waits and who may set it, of the wait itself, and of options as values that ranks compare.
#include <gtest/gtest.h>

#include <chrono>
#include <cstdlib>
#include <thread>

#include "merganser/base/choices.hpp"
#include "merganser/base/error.hpp"
#include "merganser/comm/detail/uniform_values.hpp"
#include "src/comm/detail/waiter.hpp"
#include "tests/support/ranks.hpp"
#include "tests/support/refusal.hpp"

namespace {

using namespace merganser;
using comm::detail::set_default_wait_limit;
using comm::detail::update_wait_limit;
using comm::detail::wait_limit;
using comm::detail::Waiter;
using test::refusal;

/// Puts the limit back to none, as it is at the start of the program.
class WaitLimitRulesTest : public testing::Test {
 protected:
  void TearDown() override {
    ::unsetenv("MERGANSER_WAIT_LIMIT");
    comm::detail::read_wait_limit();
  }
  static void set_variable(const char* text) { ::setenv("MERGANSER_WAIT_LIMIT", text, 1); }
};

TEST_F(WaitLimitRulesTest, a_default_holds_unless_the_variable_has_set_the_limit) {
  comm::detail::read_wait_limit();
  EXPECT_EQ(wait_limit(), 0);
  set_default_wait_limit(7);
  EXPECT_EQ(wait_limit(), 7);
  update_wait_limit();
  EXPECT_EQ(wait_limit(), 7) << "without the variable an update keeps what is set";
  set_variable("2.5");
  update_wait_limit();
  EXPECT_EQ(wait_limit(), 2.5);
  set_default_wait_limit(9);
  EXPECT_EQ(wait_limit(), 2.5) << "a default must not override the user";
  set_variable("0");
  update_wait_limit();
  set_default_wait_limit(9);
  EXPECT_EQ(wait_limit(), 0) << "0 is a limit that the user has set: none";
  set_variable("");
  update_wait_limit();
  set_default_wait_limit(9);
  EXPECT_EQ(wait_limit(), 9) << "an empty variable is none";
  comm::detail::read_wait_limit();
  EXPECT_EQ(wait_limit(), 0) << "a run starts without a limit";
}

TEST_F(WaitLimitRulesTest, what_is_no_time_is_refused_and_changes_nothing) {
  set_variable("3");
  update_wait_limit();
  for (const char* text : {"-1", "1 s", "nan", "x"}) {
    set_variable(text);
    EXPECT_EQ(refusal<UsageError>([] { update_wait_limit(); }),
              "MERGANSER_WAIT_LIMIT is '" + std::string(text) + "'; allowed: seconds >= 0, 0 waits for ever");
    EXPECT_EQ(wait_limit(), 3);
  }
}

/// What a wait says that is asked so often, at most, whether its limit has passed.
std::string give_up(Waiter& waiter, int most) {
  return refusal<CommError>([&] {
    for (int i = 0; i < most; ++i) {
      waiter.check_limit();
      std::this_thread::sleep_for(std::chrono::milliseconds(2));
    }
  });
}

TEST_F(WaitLimitRulesTest, a_wait_ends_after_the_limit_with_its_description) {
  set_default_wait_limit(0.02);
  int described = 0;
  Waiter waiter([&] {
    ++described;
    return std::string("rank 4 in Mailbox 2");
  });
  const std::string text = give_up(waiter, 1000);
  EXPECT_TRUE(text.starts_with("waited ")) << text;
  EXPECT_TRUE(text.ends_with(" s (MERGANSER_WAIT_LIMIT is 0.02): rank 4 in Mailbox 2")) << text;
  EXPECT_EQ(described, 1) << "the description may be costly";
}

TEST_F(WaitLimitRulesTest, progress_begins_the_limit_anew_and_no_limit_never_ends) {
  set_default_wait_limit(30);
  Waiter waiter([] { return std::string("too soon"); });
  waiter.check_limit();
  set_default_wait_limit(0.02);
  std::this_thread::sleep_for(std::chrono::milliseconds(40));
  waiter.reset();  // progress: what has passed does not count
  EXPECT_NO_THROW(waiter.check_limit());
  std::this_thread::sleep_for(std::chrono::milliseconds(40));
  EXPECT_THROW(waiter.check_limit(), CommError);
  set_default_wait_limit(0);
  EXPECT_NO_THROW(waiter.check_limit());
}

TEST_F(WaitLimitRulesTest, an_idle_wait_comes_to_the_limit_by_itself) {
  set_default_wait_limit(0.01);
  Waiter waiter([] { return std::string("nobody comes"); });
  EXPECT_NE(refusal<CommError>([&] {
              for (int i = 0; i < 1'000'000; ++i) waiter.idle();
            }).find("nobody comes"),
            std::string::npos);
}

TEST_F(WaitLimitRulesTest, checked_sets_a_limit_where_nobody_has) {
  test::on_ranks({"threads", 2, "checked"}, [](comm::Transport&) { EXPECT_EQ(wait_limit(), 120); });
  test::on_ranks({"threads", 2, ""}, [](comm::Transport&) { EXPECT_EQ(wait_limit(), 0); });
  set_variable("40");
  test::on_ranks({"threads", 2, "checked"}, [](comm::Transport&) { EXPECT_EQ(wait_limit(), 40); });
}

enum class Shade { light, dark };
struct Tuning {
  int depth = 3;
  double ratio = 0.5;
  bool loud = false;
  Shade shade = Shade::dark;
  std::string name = "any";
};
template <class V>
void describe(Tuning& o, V&& option) {
  option("depth", o.depth, "how deep");
  option("ratio", o.ratio, "a ratio");
  option("loud", o.loud, "say more");
  option("shade", o.shade, "which", Choices<Shade>{{{"light", Shade::light}, {"dark", Shade::dark}}});
  option("name", o.name, "a name");
}

TEST(UniformValuesTest, are_every_option_by_its_name_in_text_that_tells_values_apart) {
  const auto values = comm::uniform_values(Tuning{});
  std::vector<std::string> names;
  for (const auto& value : values) names.push_back(value.name);
  EXPECT_EQ(names, (std::vector<std::string>{"depth", "ratio", "loud", "shade", "name"}));
  const std::vector<Tuning> others{{4},
                                   {3, 0.5000000000000001},
                                   {3, 0.5, true},
                                   {3, 0.5, false, Shade::light},
                                   {3, 0.5, false, Shade::dark, "another"}};
  for (std::size_t i = 0; i < others.size(); ++i) {
    const auto theirs = comm::uniform_values(others[i]);
    ASSERT_EQ(theirs.size(), values.size());
    for (std::size_t k = 0; k < values.size(); ++k)
      EXPECT_EQ(theirs[k].value == values[k].value, k != i) << values[k].name << ": " << theirs[k].value;
  }
}

TEST(UniformValuesTest, options_that_differ_between_ranks_are_refused_on_all) {
  test::on_ranks({"threads", 3, ""}, [](comm::Transport& t) {
    Tuning mine;
    comm::check_uniform_across_ranks(t, "tuning", comm::uniform_values(mine));
    if (t.rank() == 2) mine.depth = 9;
    EXPECT_EQ(refusal<UsageError>([&] { comm::check_uniform_across_ranks(t, "tuning", comm::uniform_values(mine)); }),
              "tuning: depth is 3 on rank 0 and depth is 9 on rank 2; every rank must give the same");
  });
}

}  // namespace
