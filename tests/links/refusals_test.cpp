// Refusal of invalid links by both prunings, and graphs at their limits. On threads only.
#include <gtest/gtest.h>

#include "merganser/base/error.hpp"
#include "tests/links/distribute_links.hpp"
#include "tests/support/ranks.hpp"

namespace {

using namespace merganser;
using namespace merganser::test;

struct Refusal {
  const char* name;
  std::vector<std::uint32_t> target;
  const char* says;
};
void PrintTo(const Refusal& refusal, std::ostream* out) { *out << refusal.name; }

class RefusalTest : public testing::TestWithParam<Refusal> {};
INSTANTIATE_TEST_SUITE_P(
    Bad, RefusalTest,
    testing::Values(Refusal{"cycle_of_three", {1, 2, 0}, "global id 100"},
                    Refusal{"cycle_of_four_behind_a_chain", {1, 2, 3, 4, 5, 2}, "cycle of three"},
                    Refusal{"self_link", {0, 0}, "itself"}, Refusal{"target_out_of_range", {1, 7}, "leave the rank"},
                    Refusal{"cross_rank_link_that_is_not_listed", {links::kAway, 0}, "leave the rank"}),
    [](const auto& info) { return info.param.name; });

TEST_P(RefusalTest, bad_links_are_named) {
  on_ranks({"threads", 1, ""}, [](comm::Transport& t) {
    Wiring wiring(t);
    links::Links links;
    links.target = GetParam().target;
    std::vector<std::int64_t> id(links.target.size());
    std::iota(id.begin(), id.end(), 100);
    const links::Ids ids{reinterpret_cast<const std::byte*>(id.data())};
    try {
      prune_single_pass(links, ids, wiring.channels);
      FAIL() << "nothing was thrown";
    } catch (const InputError& e) {
      EXPECT_NE(std::string(e.what()).find(GetParam().says), std::string::npos) << e.what();
    }
  });
}

TEST(Refusals, a_cycle_that_a_leaf_settles_is_none) {
  on_ranks({"threads", 1, ""}, [](comm::Transport& t) {
    // 0 -> 1, and 1 -> 2 -> 3 -> 4 -> 1: vertex 1 takes 0 and drops its link, then 2 joins 3 and 4 joins 1.
    Wiring wiring(t);
    PartOfGraph part = distribute_links(make_graph({1, 2, 3, 4, 1}), {0, 0, 0, 0, 0}, 0, {}, 1);
    EXPECT_EQ(prune_single_pass(part.links, part.ids(), wiring.channels).kept, 3);
  });
}

TEST(Refusals, wrongly_numbered_cross_rank_links_are_named) {
  on_ranks({"threads", 2, ""}, [](comm::Transport& t) {
    Wiring wiring(t);
    PartOfGraph part = distribute_links(chain(4), {0, 1, 0, 1}, t.rank(), wiring.neighbours, 1);
    part.links.in.at(0).slot = 5;
    EXPECT_THROW(prune_single_pass(part.links, part.ids(), wiring.channels), InputError);
    EXPECT_THROW(prune_iterative(part.links, part.ids(), wiring.channels), InputError);
  });
}

TEST(SinglePass, takes_a_chain_and_a_star_of_a_million) {
  on_ranks({"threads", 1, ""}, [](comm::Transport& t) {
    constexpr std::uint32_t kMany = 1'000'000;
    Wiring wiring(t);
    links::SinglePass pruner;
    std::vector<std::int64_t> id(kMany);
    std::iota(id.begin(), id.end(), 0);
    const links::Ids ids{reinterpret_cast<const std::byte*>(id.data())};
    links::Links chained;
    for (std::uint32_t v = 1; v < kMany; ++v) chained.target.push_back(v);
    chained.target.push_back(links::kNone);
    EXPECT_EQ(pruner.prune(chained, ids, wiring.channels).kept, kMany / 2);
    links::Links starred;
    starred.target.assign(kMany, 0);
    starred.target[0] = 1;
    EXPECT_EQ(pruner.prune(starred, ids, wiring.channels).kept, kMany - 1);
    EXPECT_EQ(starred.target[0], links::kNone);
  });
}

}  // namespace
