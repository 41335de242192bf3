#include <gtest/gtest.h>

#include <new>

#include "merganser/base/error.hpp"
#include "tests/comm/graphs.hpp"
#include "tests/support/ranks.hpp"

namespace {

using namespace merganser;
using comm::Op;
using comm::Transport;
using namespace merganser::test;

class CollectivesTest : public testing::TestWithParam<Setup> {};
INSTANTIATE_TEST_SUITE_P(Models, CollectivesTest,
                         testing::ValuesIn(setups({"", "checked,chaos:2"}, {"chaos:1", "checked"})),
                         setup_name<testing::TestParamInfo<Setup>>);

TEST_P(CollectivesTest, the_model_asked_for_is_the_one_that_runs) {
  const auto setup = GetParam();
  on_ranks(setup, [&](Transport& t) {
    EXPECT_EQ(t.name(), setup.backend);
    EXPECT_EQ(t.size(), setup.ranks);
    EXPECT_GE(t.rank(), 0);
    EXPECT_LT(t.rank(), t.size());
    EXPECT_EQ(t.capabilities().processes, setup.backend != "threads");
  });
}

TEST_P(CollectivesTest, reductions_give_every_rank_the_same) {
  on_ranks(GetParam(), [](Transport& t) {
    const std::int64_t n = t.size();
    EXPECT_EQ(t.all_reduce(std::int64_t{t.rank() + 1}, Op::sum), n * (n + 1) / 2);
    EXPECT_EQ(t.all_reduce(std::int64_t{t.rank()}, Op::min), 0);
    EXPECT_EQ(t.all_reduce(std::int64_t{t.rank()}, Op::max), n - 1);
    std::vector<double> values{0.1 * t.rank(), -1.0 * t.rank()};
    double expected = 0;
    for (int r = 0; r < t.size(); ++r) expected = r == 0 ? 0.1 * r : expected + 0.1 * r;
    t.all_reduce(std::span(values), Op::sum);
    EXPECT_EQ(values[0], expected);  // in rank order, so equal bits
    EXPECT_EQ(t.counters().collectives, 4);
    t.barrier();
    EXPECT_EQ(t.counters().collectives, 5);
  });
}

TEST_P(CollectivesTest, gathers_and_exchanges_carry_any_length) {
  on_ranks(GetParam(), [](Transport& t) {
    for (const std::size_t unit : {std::size_t{0}, std::size_t{1}, std::size_t{100'003}}) {
      const auto me = static_cast<std::size_t>(t.rank());
      const std::vector<std::byte> mine(unit * me, static_cast<std::byte>(me));
      const auto all = t.all_gather(mine);
      ASSERT_EQ(all.size(), static_cast<std::size_t>(t.size()));
      for (std::size_t r = 0; r < all.size(); ++r) {
        ASSERT_EQ(all[r], std::vector<std::byte>(unit * r, static_cast<std::byte>(r)));
      }
      std::vector<std::vector<std::byte>> to;
      for (std::size_t r = 0; r < all.size(); ++r)
        to.emplace_back(unit * (r + 2 * me), static_cast<std::byte>(7 * me + r));
      const auto came = t.all_to_all(to);
      for (std::size_t r = 0; r < came.size(); ++r) {
        ASSERT_EQ(came[r], std::vector<std::byte>(unit * (me + 2 * r), static_cast<std::byte>(7 * r + me)));
      }
    }
    EXPECT_THROW((void)t.all_to_all({}), CommError);
  });
}

TEST_P(CollectivesTest, a_subset_is_a_transport_of_its_own) {
  on_ranks(GetParam(), [](Transport& t) {
    const bool odd = t.rank() % 2 == 1;
    if (!t.capabilities().sub_transports) {
      EXPECT_THROW((void)t.subset(odd), CommError);
      return;
    }
    for (int i = 0; i < 3; ++i) {
      const auto part = t.subset(odd);
      ASSERT_EQ(part != nullptr, odd);
      if (!part) continue;
      EXPECT_EQ(part->size(), t.size() / 2);
      EXPECT_EQ(part->rank(), t.rank() / 2);
      EXPECT_EQ(part->name(), t.name());
      const auto box = part->mailbox(ring(*part));
      box->post(0, t.rank());
      box->step();
      const int left = (part->rank() + part->size() - 1) % part->size();
      EXPECT_EQ(box->records<int>(0)[0], 2 * left + 1);
      auto words = part->segment<std::uint32_t>(complete(*part), 1);
      EXPECT_TRUE(words.sync_any(part->rank() == 0));
    }
    EXPECT_EQ(t.subset(false), nullptr);
  });
}

template <class E>
void agreed(Transport& t, int who, const E& error, int exit_code) {
  try {
    comm::agree(t, [&] {
      if (t.rank() == who || t.rank() == t.size() - 1) throw error;
    });
    ADD_FAILURE() << "nothing thrown";
  } catch (const E& e) {
    EXPECT_STREQ(e.what(), error.what());
    if (const auto* ours = dynamic_cast<const Error*>(&e)) {
      EXPECT_EQ(ours->exit_code(), exit_code);
    }
  }
}

TEST_P(CollectivesTest, an_error_on_one_rank_is_thrown_alike_on_all) {
  on_ranks(GetParam(), [](Transport& t) {
    const int who = t.size() / 2;
    comm::agree(t, [] {});
    agreed(t, who, InputError("volume of parcel 7 is -1"), 3);
    agreed(t, who, UsageError("u"), 2);
    agreed(t, who, VerificationError("v"), 1);
    agreed(t, who, CommError("c"), 4);
    agreed(t, who, Error("e", 70), 70);
    agreed(t, who, std::runtime_error("r"), 0);
    agreed(t, who, std::bad_alloc(), 0);
    t.barrier();
  });
}

TEST_P(CollectivesTest, an_agreed_error_leaves_the_library_usable) {
  const auto setup = GetParam();
  comm::RunOptions options{.backend = setup.backend, .ranks = setup.ranks, .decorators = setup.decorators};
  for (int i = 0; i < 3; ++i) {
    EXPECT_THROW(comm::run(options,
                           [](Transport& t) {
                             const auto box = t.mailbox(complete(t));
                             comm::agree(t, [&] {
                               if (t.rank() == 0) throw InputError("bad file");
                             });
                           }),
                 InputError);
    on_ranks(setup, [](Transport& t) { t.barrier(); });
  }
}

}  // namespace
