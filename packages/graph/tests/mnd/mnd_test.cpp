// Tests of multi-node Boruvka, and of its record exchanges, over every communication model.
#include <array>

#include "merganser/base/error.hpp"
#include "src/mnd/exchange.hpp"
#include "tests/mnd/mnd_variants.hpp"
#include "tests/support/ranks.hpp"

namespace {

using namespace merganser;
using namespace merganser::test;

class MndTest : public testing::TestWithParam<Setup> {};
INSTANTIATE_TEST_SUITE_P(Models, MndTest, testing::ValuesIn(setups({""}, {"chaos:5", "checked,chaos:6"})),
                         setup_name<testing::TestParamInfo<Setup>>);

TEST_P(MndTest, finds_the_forest_of_kruskal_in_every_way) {
  const std::vector<Shape> few = {random_shape(3, 150, 400, 3), triangles_shape(20, true),
                                  skewed_shape(2, 8, 700, 1000), path_shape(60)};
  on_ranks(GetParam(), [&](comm::Transport& t) {
    for (const auto& shape : few) {
      const auto graph = distribute(shape, t);
      const auto wanted = msf::totals(oracle_forest(graph, t), t);
      for (const auto& v : variants()) expect_oracle(graph, wanted, t, v.options, shape.name + ", " + v.name);
    }
  });
}

TEST_P(MndTest, works_in_many_cycles_that_follow_each_other_closely) {
  on_ranks(GetParam(), [&](comm::Transport& t) {
    const auto graph = distribute(random_shape(9, 150, 450, 50), t);
    const auto wanted = msf::totals(oracle_forest(graph, t), t);
    for (auto v : variants()) {
      if (t.capabilities().one_sided && v.options.carrier == mnd::MndCarrier::messages) continue;  // slow: many windows
      v.options.mst_threshold = 0;
      v.options.stall_threshold = 0;
      v.options.ring_share = 0.3;
      expect_oracle(graph, wanted, t, v.options, v.name);
    }
  });
}

/// Words from one rank to another in one exchange, in records of three: the same on both ends. Some pairs have none.
mnd::detail::Words letter(int round, int from, int to) {
  Random random(static_cast<std::uint64_t>(round), static_cast<std::uint64_t>(from), static_cast<std::uint32_t>(to));
  const std::uint64_t records = random.below(4) * random.below(9);
  mnd::detail::Words words;
  for (std::uint64_t i = 0; i < 3 * records; ++i) words.push_back(random.bits());
  return words;
}
std::vector<std::array<std::uint64_t, 3>> records(const mnd::detail::Words& words) {
  std::vector<std::array<std::uint64_t, 3>> all(words.size() / 3);
  if (!words.empty()) std::memcpy(all.data(), words.data(), words.size() * sizeof(std::uint64_t));
  std::sort(all.begin(), all.end());
  return all;
}
bool are_partners(int round, int a, int b) {
  return Random(static_cast<std::uint64_t>(round), 99, static_cast<std::uint32_t>(a * b + a + b)).below(3) != 0;
}

/// Sizes differ from exchange to exchange and ranks are not held together, so a slot that is written too early, or read
/// twice, or memory that is used again too early, would show.
TEST_P(MndTest, letters_of_many_exchanges_do_not_mix) {
  on_ranks(GetParam(), [](comm::Transport& t) {
    for (const auto& v : variants()) {
      if (v.options.post == mnd::MndPost::leader) continue;
      const bool windows = t.capabilities().one_sided && v.options.carrier == mnd::MndCarrier::messages;
      const auto exchange = mnd::detail::make_record_exchange(t, v.options);
      for (int round = 0; round < (windows ? 3 : 25); ++round) {
        mnd::detail::Letters letters(t.size(), 3);
        for (int r = 0; r < t.size(); ++r) {
          if (r == t.rank() || !are_partners(round, std::min(r, t.rank()), std::max(r, t.rank()))) continue;
          letters.add_partner(r);
          letters[r] = letter(round, t.rank(), r);
        }
        const auto partner = letters.partner;
        std::vector<mnd::detail::Words> came(static_cast<std::size_t>(t.size()));
        exchange->run(letters, [&](int from, std::span<const std::uint64_t> words) {
          EXPECT_EQ(words.size() % 3, 0U);
          auto& box = came[static_cast<std::size_t>(from)];
          box.insert(box.end(), words.begin(), words.end());
        });
        for (int r = 0; r < t.size(); ++r) {
          const bool there = partner[static_cast<std::size_t>(r)] != 0;
          ASSERT_EQ(records(came[static_cast<std::size_t>(r)]),
                    records(there ? letter(round, r, t.rank()) : mnd::detail::Words{}))
              << v.name << ", exchange " << round << ", from rank " << r;
        }
      }
    }
  });
}

TEST_P(MndTest, ranks_that_are_given_different_options_are_told_so) {
  on_ranks(GetParam(), [](comm::Transport& t) {
    if (t.size() == 1) return;
    const bool other = t.rank() == t.size() - 1;
    msf::Report report;
    const auto expect_refusal = [&](const mnd::MndOptions& options) {
      graphs::EdgeList graph;
      graph.vertices = 5;
      EXPECT_THROW((void)mnd::mnd(graph, t, options, report), UsageError);
    };
    expect_refusal({.style = other ? mnd::MndStyle::baseline : mnd::MndStyle::tuned});
    expect_refusal({.post = other ? mnd::MndPost::leader : mnd::MndPost::single});
    expect_refusal({.mst_threshold = other ? 0.5 : 0.24});
    expect_refusal({.chunk = other ? 1 : 2});
    expect_refusal({.carrier = static_cast<mnd::MndCarrier>(9)});
    t.barrier();
  });
}

}  // namespace
