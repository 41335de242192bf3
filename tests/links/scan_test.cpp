/// Vectorised list passes of the single-pass pruning against plain loops, on every vector target of this machine.
#include <gtest/gtest.h>
#include <hwy/targets.h>

#include <random>
#include <vector>

#include "merganser/links/links.hpp"
#include "src/links/scan.hpp"

namespace {

using namespace merganser;

/// Calls an action with every vector target that this machine can run, one after the other.
template <class Action>
void with_each_target(Action&& action) {
  action();  // on the target in use, which is chosen in the first call
  for (const std::int64_t target : hwy::SupportedAndGeneratedTargets()) {
    hwy::SetSupportedTargetsForTest(target);
    hwy::GetChosenTarget().Update(hwy::SupportedTargets());
    SCOPED_TRACE(hwy::TargetName(target));
    action();
  }
  hwy::SetSupportedTargetsForTest(0);
  hwy::GetChosenTarget().Update(hwy::SupportedTargets());
}

TEST(Scan, lists_local_links_as_a_plain_loop_does) {
  with_each_target([] {
    std::mt19937 random(7);
    for (const std::uint32_t n : {1U, 2U, 7U, 8U, 9U, 16U, 33U, 64U, 65U, 1000U})
      for (int repeat = 0; repeat < 20; ++repeat) {
        std::vector<std::uint32_t> target(n);
        for (std::uint32_t& t : target) {
          const auto vertex = static_cast<std::uint32_t>(random() % n);
          const std::uint32_t any[] = {vertex, links::kNone, links::kAway | vertex, n - 1};
          t = any[random() % 4];
        }
        std::vector<std::uint32_t> expected;
        std::size_t unlinked = 0;
        for (std::uint32_t v = 0; v < n; ++v) {
          if (target[v] < n) expected.push_back(v);
          unlinked += target[v] == links::kNone;
        }
        std::vector<std::uint32_t> list(n + links::kListSlack);
        const links::LocalLinks found = links::list_local(target.data(), n, list.data());
        list.resize(found.local);
        EXPECT_EQ(list, expected);
        EXPECT_EQ(found.unlinked, unlinked);
      }
  });
}

TEST(Scan, splits_a_list_by_kind_as_a_plain_loop_does) {
  with_each_target([] {
    std::mt19937 random(9);
    for (const std::size_t n : {0U, 1U, 7U, 8U, 9U, 16U, 33U, 64U, 65U, 1000U})
      for (int repeat = 0; repeat < 20; ++repeat) {
        std::vector<std::uint8_t> kinds(n + links::kListSlack);
        std::vector<std::uint32_t> list(n + links::kListSlack);
        std::vector<std::uint32_t> kept, apart;
        for (std::size_t k = 0; k < n; ++k) {
          kinds[k] = static_cast<std::uint8_t>(random() % 4);
          list[k] = static_cast<std::uint32_t>(random());
          if (kinds[k] == links::kKept) kept.push_back(list[k]);
          if (kinds[k] == links::kApart) apart.push_back(list[k]);
        }
        std::vector<std::uint32_t> other(n + links::kListSlack);
        const links::SplitLinks split = links::split_list(kinds.data(), list.data(), n, other.data());
        list.resize(split.kept);
        other.resize(split.apart);
        EXPECT_EQ(list, kept);
        EXPECT_EQ(other, apart);
      }
  });
}

}  // namespace
