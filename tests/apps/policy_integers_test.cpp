/// Columns of 64-bit integers, and species, in a merge policy of the command.
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <sstream>

#include "tests/apps/program.hpp"
#include "tests/io/folder.hpp"
#include "tests/io/openpmd_file.hpp"

namespace {

using namespace merganser::test;

/// Writes three parcels with an integer of 64 bits: the nearest of the small one differs in it, the next does not.
void write_integers(const std::string& path, const std::string& first) {
  std::ofstream(path) << "id,x,y,z,volume,g\n1,.5,.5,.5,.1," << first << "\n2,.6,.5,.5,.5,7\n3,1.4,.5,.5,.5," << first
                      << "\n";
}

// Integers of 64 bits are kept as their bits where merging does not compute with them, and policies read the integers.
TEST(PolicyIntegers, are_read_as_integers_from_files) {
  const Folder folder;
  const std::string in = folder.file("in.csv");
  const std::string out = folder.file("out.csv");
  const Arguments base{"cluster",     in,         "--cells",   "4,4,4",
                       "--origin",    "0,0,0",    "--extent",  "4,4,4",
                       "--periodic",  "xyz",      "--columns", "x_position=x,y_position=y,z_position=z,merganser_id=id",
                       "--attribute", "g:largest"};
  for (const char* first : {"0", "-3"})
    for (const char* policy : {"small:0.2, phase:g*10", "small:0.2, same:g", "friends:1.2, same:g"}) {
      SCOPED_TRACE(std::string(policy) + " of " + first);
      write_integers(in, first);
      std::filesystem::remove(out);
      const Outcome o = run(base + Arguments{"--policy", policy, "--reference", "-o", out});
      ASSERT_EQ(o.code, 0) << o.text();
      std::ifstream file(out);
      std::stringstream text;
      text << file.rdbuf();
      EXPECT_NE(text.str().find("\n2,0.6,"), std::string::npos) << text.str();  // the parcel of another integer stays
      EXPECT_EQ(text.str().find("1.4,"), std::string::npos) << text.str();
    }
  write_integers(in, "9007199254740993");
  const Outcome o = run(base + Arguments{"--policy", "small:0.2, same:g"});
  EXPECT_NE(o.code, 0);
  EXPECT_TRUE(says(o, "allowed: integers of magnitude up to 2^53")) << o.text();
}

TEST(SeveralSpecies, are_warned_of_where_parcels_of_different_ones_may_merge) {
  const Folder folder;
  const std::string in = folder.file("in.h5");
  make_openpmd(in, {});
  const std::string warning = "has the species electrons, ions: parcels of different ones may merge";
  const Arguments base{"cluster", in, "--periodic", "xyz", "--policy"};
  const auto warned = [&](const Arguments& command) {
    const Outcome o = run(command);
    EXPECT_EQ(o.code, 0) << o.text();
    return says(o.err, warning);
  };
  EXPECT_TRUE(warned(base + Arguments{"small:1"}));
  EXPECT_FALSE(warned(base + Arguments{"small:1, same:species"}));
  EXPECT_FALSE(warned(base + Arguments{"small:1", "--species", "ions"}));
  EXPECT_FALSE(warned({"convert", in, folder.file("out.h5"), "--periodic", "xyz"}));  // merges nothing
}

}  // namespace
