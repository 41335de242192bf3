/// Tests of the links in the run record of cluster --picture: before and after pruning, for any number of ranks.
#include <gtest/gtest.h>

#include <fstream>
#include <set>

#include "tests/apps/json.hpp"
#include "tests/apps/program.hpp"
#include "tests/io/folder.hpp"

namespace {

using namespace merganser::test;

TEST(ClusterLinks, records_the_links_of_the_picture_before_and_after_pruning) {
  const Folder folder;
  const std::string in = folder.file("in.nc"), json = folder.file("r.json");
  ASSERT_EQ(run({"gen", "random", "--cells", "8,8,8", "--per-cell", "10", "-o", in}).code, 0);
  Json first;
  for (const char* ranks : {"1", "2", "3"}) {
    ASSERT_EQ(run({"cluster", in, "--ranks", ranks, "--json", json, "--picture", folder.file("p.svg")}).code, 0);
    const Json links = read_json_file(json)["links"];
    if (first.is_null()) first = links;
    EXPECT_EQ(links, first) << ranks;
  }
  const std::size_t count = first["from"].size();
  ASSERT_GT(count, 50U);
  EXPECT_EQ(first["left_out"], 0);
  std::set<std::size_t> sources, merged, centres;
  for (std::size_t i = 0; i < count; ++i) {
    const std::size_t from = first["from"][i], to = first["to"][i];
    EXPECT_TRUE(first["small"][from].get<bool>());
    EXPECT_TRUE(sources.insert(from).second) << "a parcel has one link";
    if (!first["kept"][i].get<bool>()) continue;
    merged.insert(from);
    centres.insert(to);
  }
  EXPECT_GT(merged.size(), count / 2);
  EXPECT_LT(merged.size(), count);
  for (const std::size_t centre : centres) EXPECT_FALSE(merged.contains(centre)) << "a centre stays";
  // What is not kept has an end that merges elsewhere, or is the other half of a pair.
  for (std::size_t i = 0; i < count; ++i) {
    const std::size_t from = first["from"][i], to = first["to"][i];
    if (first["kept"][i].get<bool>() || !sources.contains(to)) continue;
    EXPECT_TRUE(centres.contains(from) || merged.contains(to)) << from << " to " << to;
  }
  ASSERT_EQ(run({"cluster", in, "--json", json}).code, 0);
  EXPECT_FALSE(read_json_file(json).contains("links"));
  ASSERT_EQ(run({"cluster", in, "--search", "cells8", "--json", json, "--picture", folder.file("p.svg")}).code, 0);
  EXPECT_FALSE(read_json_file(json).contains("links"));  // they would be those of the exact search
}

TEST(ClusterLinks, records_the_links_of_parcels_on_the_lower_faces_of_the_box) {
  const Folder folder;
  const std::string in = folder.file("lattice.csv"), json = folder.file("r.json");
  std::ofstream file(in);
  file << "merganser_id,x_position,y_position,z_position,volume\n";
  int id = 0;
  for (int x = 0; x < 8; ++x)
    for (int y = 0; y < 8; ++y)
      for (int z = 0; z < 8; ++z) file << ++id << ',' << 0.5 * x << ',' << 0.5 * y << ',' << 0.5 * z << ",0.01\n";
  file.close();
  ASSERT_EQ(run({"cluster", in, "--cells", "4,4,4", "--origin", "0,0,0", "--extent", "4,4,4", "--periodic", "xyz",
                 "--min-volume-ratio", "40", "--json", json, "--picture", folder.file("p.svg")})
                .code,
            0);
  const Json links = read_json_file(json)["links"];
  EXPECT_EQ(links["left_out"], 0);
  EXPECT_EQ(links["from"].size(), 128U);  // 8 x 8 in the window, two layers in its cells
}

}  // namespace
