// Migration of rows along the links of a StarFinder: rows of a type against their bytes, and nothing after a refused find.
#include <gtest/gtest.h>

#include <cstring>

#include "merganser/base/error.hpp"
#include "merganser/cluster/star_finder.hpp"
#include "merganser/comm/runtime.hpp"
#include "tests/cluster/star_clouds.hpp"
#include "tests/support/refusal.hpp"

namespace {

using namespace merganser;
using namespace merganser::test;

/// Row of a caller's, without a default constructor.
struct Drop {
  Drop(double m, std::int64_t i, char c) : mass(m), id(i), code(c) {}
  double mass;
  std::int64_t id;
  char code;
};

TEST(StarMigration, migrates_rows_of_any_trivially_copyable_type_as_it_does_their_bytes) {
  if (comm::launched()) GTEST_SKIP() << "threads only";
  const Cloud all = random_cloud(900, 15);
  for (const int ranks : {1, 2, 3, 4, 7}) {
    comm::run({"threads", ranks}, [&](comm::Transport& t) {
      const Decomposition d(all.grid, t.size());
      const Cloud mine = Share(all, d, t.rank()).cloud;
      std::vector<Drop> drops;
      for (const std::int64_t id : mine.ids)
        drops.emplace_back(0.5 * static_cast<double>(id), id, static_cast<char>('m' + id % 3));
      StarFinder finder(t, d);
      finder.find(PointView::rows(mine.xyz.data(), mine.size()), mine.small, mine.ids);
      std::vector<Drop> typed(3, Drop(0, 0, 'x'));
      finder.migrate(drops, typed);
      std::vector<std::byte> bytes;
      finder.migrate_bytes(std::as_bytes(std::span(drops)), sizeof(Drop), bytes);
      ASSERT_EQ(typed.size(), finder.receives().size());
      ASSERT_EQ(bytes.size(), typed.size() * sizeof(Drop));
      EXPECT_EQ(typed.empty(), ranks == 1);
      for (std::size_t k = 0; k < typed.size(); ++k) {
        EXPECT_EQ(typed[k].id, finder.receives()[k].source_id);
        EXPECT_EQ(typed[k].mass, 0.5 * static_cast<double>(typed[k].id));
        EXPECT_EQ(typed[k].code, static_cast<char>('m' + typed[k].id % 3));
        Drop same(0, 0, 'x');
        std::memcpy(&same, bytes.data() + k * sizeof same, sizeof same);
        EXPECT_EQ(same.id, typed[k].id);
        EXPECT_EQ(same.mass, typed[k].mass);
        EXPECT_EQ(same.code, typed[k].code);
      }
    });
  }
}

TEST(StarMigration, has_nothing_to_send_after_a_find_that_was_refused) {
  if (comm::launched()) GTEST_SKIP() << "threads only";
  const Cloud all = random_cloud(400, 14);
  comm::RunOptions options{"threads", 3};
  options.decorators = "checked";
  comm::run(options, [&](comm::Transport& t) {
    const Decomposition d(all.grid, t.size());
    const Cloud mine = Share(all, d, t.rank()).cloud;
    StarFinder finder(t, d);
    finder.find(PointView::rows(mine.xyz.data(), mine.size()), mine.small, mine.ids);
    EXPECT_FALSE(finder.sends().empty());
    // One point, which is nowhere: positions of the last find are beyond what is there now.
    const double nowhere[] = {1e9, 0, 0};
    const std::uint8_t small[] = {1};
    EXPECT_NE(refusal<InputError>([&] {
                finder.find(PointView::rows(nowhere, 1), small);
              }).find("outside of its rank's block"),
              std::string::npos);
    EXPECT_TRUE(finder.links().empty() && finder.sends().empty() && finder.receives().empty());
    int packed = 0;
    std::vector<std::byte> received;
    finder.migrate_packed(
        1, [&](std::uint32_t, std::byte*) { ++packed; }, received);
    EXPECT_EQ(packed, 0);
    EXPECT_TRUE(received.empty());
  });
}

}  // namespace
