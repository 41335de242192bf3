// Tests of friends of friends through the C interface (capi/friends.h) against the C++ one, and of refusals.
#include "merganser/capi/friends.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <map>
#include <mutex>
#include <random>
#include <string>
#include <vector>

#include "merganser/cluster/friends.hpp"
#include "merganser/comm/open.hpp"
#include "tests/capi/ranks.hpp"

namespace {

using namespace merganser;
using namespace merganser::test;

constexpr std::size_t kFriendPoints = 600;
const mg_box kFriendBox = {sizeof(mg_box), {0, 0, 0}, {1, 1, 1}, {1, 1, 0}, 0};
constexpr int64_t kFriendCells[3] = {4, 4, 4};

/// Points with columns, all of them or those of one rank.
struct FriendCloud {
  std::vector<double> xyz, mass, velocity, species;
  std::vector<std::int64_t> ids;
  void add(const FriendCloud& from, std::size_t i) {
    xyz.insert(xyz.end(), {from.xyz[3 * i], from.xyz[3 * i + 1], from.xyz[3 * i + 2]});
    velocity.insert(velocity.end(), {from.velocity[3 * i], from.velocity[3 * i + 1], from.velocity[3 * i + 2]});
    mass.push_back(from.mass[i]);
    species.push_back(from.species[i]);
    ids.push_back(from.ids[i]);
  }
};

FriendCloud friend_cloud() {
  std::mt19937 random(7);
  std::uniform_real_distribution<double> uniform(0, 1);
  FriendCloud c;
  for (std::size_t i = 0; i < kFriendPoints; ++i) {
    for (int a = 0; a < 3; ++a) c.xyz.push_back(uniform(random));
    for (int a = 0; a < 3; ++a) c.velocity.push_back(uniform(random) - 0.5);
    c.mass.push_back(0.1 + uniform(random));
    c.species.push_back(static_cast<double>(i % 2));
    c.ids.push_back(static_cast<std::int64_t>((i * 7919) % 100003));
  }
  return c;
}

FriendLabels labels_in_cpp(const FriendCloud& c) {
  const auto t = comm::open_alone();
  const Grid grid{{{0, 0, 0}, {1, 1, 1}, {true, true, false}}, {4, 4, 4}};
  FriendsOfFriends friends(*t, Decomposition(grid, 1), {.linking = {0.7, Length::Unit::spacing}, .least_members = 2});
  const double* const v = c.velocity.data();
  return friends.label(PointView::rows(c.xyz.data(), kFriendPoints), c.ids,
                       {{c.mass.data(), 1}, {{c.species.data(), 1}}, {{v, 3}, {v + 1, 3}, {v + 2, 3}}});
}

mg_friends_options friend_options(const char* length, int64_t least) {
  return {sizeof(mg_friends_options), length, least};
}

mg_points friend_points_of(const FriendCloud& c) {
  return {sizeof(mg_points), c.ids.size(), c.xyz.data(), c.xyz.data() + 1, c.xyz.data() + 2, 3};
}

TEST(FriendsInC, are_those_of_cpp_on_any_number_of_ranks) {
  const FriendCloud all = friend_cloud();
  const FriendLabels want = labels_in_cpp(all);
  std::map<std::int64_t, std::int64_t> label;
  for (std::size_t i = 0; i < kFriendPoints; ++i) label[all.ids[i]] = want.group[i];
  ASSERT_GT(want.groups.size(), 20U);
  for (const int ranks : {1, 2, 4}) {
    std::map<std::int64_t, mg_friend_group> groups;
    std::size_t labelled = 0;
    std::mutex mutex;
    EXPECT_OK(run_threads(ranks, [&](mg_transport* t) {
      int rank = 0;
      mg_transport_rank(t, &rank);
      mg_decomposition* blocks = nullptr;
      mg_friends* friends = nullptr;
      EXPECT_OK(mg_decomposition_new(&kFriendBox, kFriendCells, ranks, nullptr, &blocks));
      FriendCloud mine;
      std::vector<int32_t> owners(kFriendPoints);
      EXPECT_OK(mg_decomposition_owners(blocks, all.xyz.data(), kFriendPoints, owners.data()));
      for (std::size_t i = 0; i < kFriendPoints; ++i)
        if (owners[i] == rank) mine.add(all, i);
      const mg_friends_options how = friend_options("0.7spacing", 2);
      EXPECT_OK(mg_friends_new(t, blocks, &how, &friends));
      const mg_points points = friend_points_of(mine);
      const double* const same[1] = {mine.species.data()};
      mg_friend_columns columns{};
      columns.struct_size = sizeof columns;
      columns.mass = mine.mass.data();
      for (int a = 0; a < 3; ++a) columns.velocity[a] = mine.velocity.data() + a;
      columns.velocity_stride = 3;
      columns.same = 1;
      columns.same_columns = same;
      std::vector<int64_t> found(mine.ids.size());
      EXPECT_OK(mg_friends_label(friends, &points, mine.ids.data(), &columns, found.data()));
      const mg_friend_group* list = nullptr;
      std::size_t n = 0;
      EXPECT_OK(mg_friends_groups(friends, &list, &n));
      double length = 0;
      EXPECT_OK(mg_friends_length(friends, &length));
      EXPECT_EQ(length, want.numbers.length);
      {
        const std::lock_guard lock(mutex);
        for (std::size_t i = 0; i < found.size(); ++i) EXPECT_EQ(found[i], label[mine.ids[i]]);
        labelled += found.size();
        for (std::size_t k = 0; k < n; ++k) groups[list[k].id] = list[k];
      }
      EXPECT_OK(mg_friends_free(friends));
      return mg_decomposition_free(blocks);
    }));
    EXPECT_EQ(labelled, kFriendPoints);
    EXPECT_EQ(groups.size(), want.groups.size());
    for (const FriendGroup& g : want.groups) {
      const mg_friend_group& f = groups[g.id];
      EXPECT_EQ(f.members, g.members);
      EXPECT_EQ(f.mass, g.mass);
      EXPECT_EQ(f.winds, g.winds ? 1 : 0);
      for (std::size_t a = 0; a < 3; ++a) {
        EXPECT_TRUE(f.centre[a] == g.centre[a] || (g.winds && std::isnan(f.centre[a])));
        EXPECT_EQ(f.velocity[a], g.velocity[a]);
      }
    }
  }
}

TEST(FriendsInC, take_points_in_two_dimensions_without_columns) {
  EXPECT_OK(run_threads(1, [](mg_transport* t) {
    mg_decomposition* blocks = nullptr;
    mg_friends* friends = nullptr;
    EXPECT_OK(mg_decomposition_new(&kFriendBox, kFriendCells, 1, nullptr, &blocks));
    const mg_friends_options how = friend_options("0.15", 0);
    EXPECT_OK(mg_friends_new(t, blocks, &how, &friends));
    const double x[] = {0.95, 0.5, 0.05};
    const double y[] = {0.5, 0.5, 0.5};
    const mg_points points = {sizeof(mg_points), 3, x, y, nullptr, 0};
    int64_t groups[3] = {-1, -1, -1};
    EXPECT_OK(mg_friends_label(friends, &points, nullptr, nullptr, groups));
    EXPECT_EQ(groups[0], 0);
    EXPECT_EQ(groups[1], 1);
    EXPECT_EQ(groups[2], 0);
    EXPECT_OK(mg_friends_label(friends, &points, nullptr, nullptr, nullptr));
    EXPECT_OK(mg_friends_free(friends));
    return mg_decomposition_free(blocks);
  }));
}

TEST(FriendsInC, refuse_bad_arguments_on_every_rank) {
  EXPECT_OK(run_threads(2, [](mg_transport* t) {
    int rank = 0;
    mg_transport_rank(t, &rank);
    mg_decomposition* blocks = nullptr;
    mg_friends* friends = nullptr;
    EXPECT_OK(mg_decomposition_new(&kFriendBox, kFriendCells, 2, nullptr, &blocks));
    const auto refused = [&](const char* length, int64_t least, const char* text) {
      const mg_friends_options how = friend_options(rank == 1 ? length : "0.1", rank == 1 ? least : 0);
      EXPECT_EQ(mg_friends_new(t, blocks, &how, &friends), MG_USAGE) << text;
      EXPECT_NE(std::string(mg_error()).find(text), std::string::npos) << mg_error();
    };
    refused(nullptr, 0, "options: linking_length: a null pointer");
    refused("far", 0, "a positive LENGTH");
    refused("0.1, seed:3", 0, "a positive LENGTH");
    refused("0.1", -1, "least members -1");
    refused("0.2", 0, "");  // ranks that differ
    const mg_friends_options how = friend_options("0.1", 0);
    EXPECT_OK(mg_friends_new(t, blocks, &how, &friends));
    const mg_friend_group* list = nullptr;
    std::size_t n = 0;
    EXPECT_EQ(mg_friends_groups(friends, &list, &n), MG_USAGE);
    double length = 0;
    EXPECT_EQ(mg_friends_length(friends, &length), MG_USAGE);
    double lower[3];
    double upper[3];
    EXPECT_OK(mg_decomposition_block(blocks, rank, lower, upper));
    const double here[3] = {(lower[0] + upper[0]) / 2, (lower[1] + upper[1]) / 2, (lower[2] + upper[2]) / 2};
    mg_points points = {sizeof(mg_points), 1, here, here + 1, here + 2, 3};
    const double nothing = -1;
    mg_friend_columns columns{};
    columns.struct_size = sizeof columns;
    columns.mass = rank == 1 ? &nothing : nullptr;
    EXPECT_EQ(mg_friends_label(friends, &points, nullptr, &columns, nullptr), MG_INPUT);
    EXPECT_NE(std::string(mg_error()).find("mass -1"), std::string::npos) << mg_error();
    columns.mass = nullptr;
    columns.velocity[0] = here;
    EXPECT_EQ(mg_friends_label(friends, &points, nullptr, &columns, nullptr), MG_USAGE);
    EXPECT_NE(std::string(mg_error()).find("columns: velocity: a null pointer"), std::string::npos) << mg_error();
    for (const double*& component : columns.velocity) component = rank == 1 ? here : nullptr;
    EXPECT_EQ(mg_friends_label(friends, &points, nullptr, &columns, nullptr), MG_USAGE);
    EXPECT_NE(std::string(mg_error()).find("from 0 to 3 columns of the velocity on ranks with points"),
              std::string::npos)
        << mg_error();
    if (rank == 1) points.x = nullptr;
    EXPECT_EQ(mg_friends_label(friends, &points, nullptr, nullptr, nullptr), MG_USAGE);
    EXPECT_EQ(mg_friends_groups(friends, &list, &n), MG_USAGE);  // the last search failed
    EXPECT_OK(mg_friends_free(friends));
    return mg_decomposition_free(blocks);
  }));
}

}  // namespace
