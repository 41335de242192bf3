/// Fuzz test of io: files with bytes changed, removed or cut off are read or refused, without crash, hang or huge allocation.
#include <gtest/gtest.h>

#include <cmath>
#include <fstream>
#include <iterator>

#include "merganser/base/error.hpp"
#include "merganser/io/parcel_file.hpp"
#include "tests/io/epic_file.hpp"
#include "tests/io/folder.hpp"
#include "tests/support/mutated.hpp"
#include "tests/support/ranks.hpp"

namespace {

using namespace merganser;
using namespace merganser::test;

struct Counts {
  int read = 0;
  int refused = 0;
};

/// Reads a file; anything but success and InputError is a failure of the test.
void read_one(comm::Transport& t, const std::string& path, std::uint64_t seed, Counts& counts) {
  try {
    const io::ParcelFileInfo info = io::read_info(path);
    const Parcels parcels = io::read_parcels(path, info, t);
    for (std::size_t i = 0; i < parcels.size(); ++i) {
      ASSERT_TRUE(std::isfinite(parcels.site(i).x) && parcels.site(i).volume > 0) << "seed " << seed;
    }
    ++counts.read;
  } catch (const InputError& e) {
    ASSERT_NE(std::string(e.what()).find(path), std::string::npos) << "seed " << seed << ": " << e.what();
    ++counts.refused;
  } catch (const std::exception& e) {
    FAIL() << "seed " << seed << ": " << e.what();
  }
}

TEST(MutatedFiles, are_read_or_refused_and_never_more) {
  const Folder folder;
  const std::string good = folder.file("good.nc"), path = folder.file("mutated.nc");
  EpicFile().make(good);
  const std::string bytes = read_bytes(good);
  Counts counts;
  comm::run({"threads", 1, ""}, [&](comm::Transport& t) {
    for (std::uint64_t seed = 1; seed <= 2500 && !testing::Test::HasFatalFailure(); ++seed) {
      std::ofstream(path, std::ios::binary) << mutated(bytes, seed, 64);
      read_one(t, path, seed, counts);
    }
  });
  EXPECT_GT(counts.read, 250);  // changes where nothing is stored, and of values
  EXPECT_GT(counts.refused, 250);
}

TEST(MutatedFiles, every_byte_of_a_header_may_be_wrong) {
  const Folder folder;
  const std::string good = folder.file("good.nc"), path = folder.file("mutated.nc");
  EpicFile().make(good);
  const std::string bytes = read_bytes(good);
  Counts counts;
  comm::run({"threads", 1, ""}, [&](comm::Transport& t) {
    for (std::size_t at = 0; at < 1500 && !testing::Test::HasFatalFailure(); ++at) {
      std::string spoiled = bytes;
      spoiled[at] = static_cast<char>(~spoiled[at]);
      std::ofstream(path, std::ios::binary) << spoiled;
      read_one(t, path, at, counts);
    }
  });
  EXPECT_GT(counts.refused, 100);
}

}  // namespace
