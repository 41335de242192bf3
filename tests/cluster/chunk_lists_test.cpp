/// Vectorised work lists of the merge against plain loops, on every vector target of this machine.
#include <gtest/gtest.h>
#include <hwy/targets.h>

#include <random>
#include <vector>

#include "merganser/links/links.hpp"
#include "src/cluster/chunk_lists.hpp"

namespace {

using namespace merganser;
using namespace merganser::cluster;

/// Calls an action with every vector target that this machine can run, one after the other.
template <class Action>
void on_every_vector_target(Action&& action) {
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

/// Returns codes of all kinds in random order; `kind` >= 0: of that kind only.
std::vector<std::uint32_t> codes(std::mt19937& random, std::size_t n, int kind) {
  std::vector<std::uint32_t> all(n);
  for (std::uint32_t& code : all) {
    const std::uint32_t low = random() % 4 == 0 ? kEnd : static_cast<std::uint32_t>(random()) & kEnd;
    const std::uint32_t kinds[] = {links::kNone, low, kSource | low, kHead | low, kHead | kMany | low, kGone};
    code = kinds[kind >= 0 ? static_cast<std::uint32_t>(kind) : random() % 6];
  }
  return all;
}

void expect_plain_lists(const std::vector<std::uint32_t>& target, std::uint32_t begin, std::uint32_t end) {
  std::vector<std::uint32_t> linked, survivors, pairs, stars;
  for (std::uint32_t v = begin; v < end; ++v) {
    const std::uint32_t code = target[v];
    const bool head = (code & (kSource | kHead)) == kHead;
    if (code != links::kNone && !head) linked.push_back(v);
    if ((code & kSource) != 0 && code != links::kNone) continue;
    if (head) ((code & kMany) != 0 ? stars : pairs).push_back(static_cast<std::uint32_t>(survivors.size()));
    survivors.push_back(v);
  }
  std::vector<std::uint32_t> list(end - begin + kLaneSlack);
  list.resize(list_linked(target.data(), begin, end, list.data()));
  EXPECT_EQ(list, linked);
  static ChunkWork work;
  sort_chunk(target.data(), begin, end, work);
  EXPECT_EQ(std::vector(work.survivors, work.survivors + work.survivor_count), survivors);
  EXPECT_EQ(std::vector(work.pairs, work.pairs + work.pair_count), pairs);
  EXPECT_EQ(std::vector(work.stars, work.stars + work.star_count), stars);
}

TEST(ChunkLists, are_those_of_plain_loops_for_any_codes_and_lengths) {
  on_every_vector_target([] {
    std::mt19937 random(3);
    for (int kind = -1; kind < 6; ++kind)
      for (const std::uint32_t n : {0U, 1U, 3U, 4U, 7U, 8U, 15U, 16U, 17U, 31U, 100U, 1000U}) {
        const auto target = codes(random, n, kind);
        for (const std::uint32_t begin : {0U, 1U, 5U})
          if (begin <= n) expect_plain_lists(target, begin, n);
      }
    for (int i = 0; i < 20; ++i) expect_plain_lists(codes(random, kChunk, -1), 0, kChunk);
  });
}

}  // namespace
