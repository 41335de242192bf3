// Refusal of invalid links by both prunings, and graphs at their limits. On threads only.
#include <gtest/gtest.h>

#include "merganser/base/error.hpp"
#include "merganser/links/contract.hpp"
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

/// Runs the contraction of trees on three thread ranks, whose links `spoil` changes on some ranks. Returns the error of each rank.
template <class Spoil>
std::vector<std::string> errors_of_ranks(const LinkGraph& graph, const std::vector<int>& owner, const Spoil& spoil) {
  std::vector<std::string> errors(3);
  comm::RunOptions options;
  options.backend = "threads";
  options.ranks = 3;
  EXPECT_THROW(comm::run(options,
                         [&](comm::Transport& t) {
                           const Wiring wiring(t);
                           PartOfGraph part = distribute_links(graph, owner, t.rank(), wiring.neighbours, 1);
                           spoil(t.rank(), part.links);
                           try {
                             std::vector<std::uint32_t> live(part.vertex.size());
                             std::iota(live.begin(), live.end(), 0U);
                             (void)links::contract(links::Policy::trees, part.links, live, part.ids(), wiring.channels);
                           } catch (const Error& e) {
                             errors[static_cast<std::size_t>(t.rank())] = e.what();
                             throw;
                           }
                         }),
               InputError);
  return errors;
}

TEST(Contraction, of_bad_links_on_one_rank_ends_on_all_ranks) {
  const auto ends_everywhere = [](int vertices, const std::vector<int>& owner, const std::string& says,
                                  const auto& spoil) {
    const auto errors = errors_of_ranks(chain(vertices), owner, spoil);
    for (const std::string& error : errors) EXPECT_NE(error, "") << "a rank without an error; one says " << says;
    EXPECT_NE(errors[1].find(says), std::string::npos) << errors[1];
  };
  // Found in the preparation, before the first reduction: a self link, a cycle of three, a link that is not listed.
  ends_everywhere(6, {0, 1, 1, 1, 1, 2}, "another vertex below", [](int rank, links::Links& links) {
    if (rank != 1) return;
    for (std::uint32_t v = 0; v < links.target.size(); ++v)
      if ((links.target[v] & links::kAway) == 0) links.target[v] = v;
  });
  ends_everywhere(3, {1, 1, 1}, "cycle of three or more links on one rank", [](int rank, links::Links& links) {
    if (rank == 1) links.target = {1, 2, 0};
  });
  ends_everywhere(6, {0, 1, 2, 0, 1, 2}, "whose target is another", [](int rank, links::Links& links) {
    if (rank == 1) links.target[0] = links::kAway | 7;
  });
  // Found in a round: rank 0 asks for a vertex that rank 1 does not have.
  ends_everywhere(6, {0, 1, 2, 0, 1, 2}, "those of its rank", [](int rank, links::Links& links) {
    if (rank != 0) return;
    for (links::CrossLink& link : links.out) link.remote_vertex = 1000;
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
