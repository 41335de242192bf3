/// Numbers derived from the published tables of spanning forests against those printed.
#include "merganser/studies/msf_published.hpp"

#include <gtest/gtest.h>

#include <string_view>

namespace {

using namespace merganser::studies;

TEST(MsfPublished, derived_numbers_follow_from_the_tables_as_recomputed_by_hand) {
  const auto derived = derived_numbers();
  const auto value = [&](std::string_view what) {
    for (const auto& d : derived)
      if (d.what == what) return d.recomputed;
    ADD_FAILURE() << what;
    return 0.0;
  };
  EXPECT_NEAR(value("mean improvement, percent (abstract)"), 30.855, 5e-4);
  EXPECT_NEAR(value("Pearson with edges"), 0.714, 5e-4);
  EXPECT_NEAR(value("Pearson with size"), 0.708, 5e-4);
  EXPECT_NEAR(value("Pearson with E/V"), 0.861, 5e-4);
  EXPECT_NEAR(value("more API calls, percent"), 34.15, 5e-3);
  EXPECT_NEAR(value("more lines, percent"), 18.01, 5e-3);
  EXPECT_NEAR(value("mean of the two, percent"), 26.1, 0.05);
  EXPECT_EQ(value("API calls of the four functions, SHMEM"), 72);
  EXPECT_EQ(value("lines of the four functions, MPI"), 546);
}

TEST(MsfPublished, edges_are_arcs_per_vertex_times_vertices) {
  for (const auto& g : kWebgraphs) EXPECT_NEAR(g.arcs / g.vertices / g.arcs_per_vertex, 1, 0.01) << g.name;
}

}  // namespace
