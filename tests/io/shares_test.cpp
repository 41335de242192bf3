/// Tests of files of parcels that ranks hold in unequal shares, of several blocks or none: the same files as rank 0 writes alone.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <fstream>
#include <optional>
#include <string>
#include <vector>

#include "merganser/base/error.hpp"
#include "merganser/comm/shared_output.hpp"
#include "merganser/io/parcel_file.hpp"
#include "merganser/parcels/generate.hpp"
#include "src/io/netcdf/nc_file.hpp"
#include "src/io/particles/hdf5_file.hpp"
#include "src/io/tables/tables.hpp"
#include "tests/io/folder.hpp"
#include "tests/io/full_disk.hpp"
#include "tests/support/ranks.hpp"
#include "tests/support/refusal.hpp"

namespace {

using namespace merganser;
using namespace merganser::test;
using comm::Transport;

class Shares : public testing::TestWithParam<Setup> {};
INSTANTIATE_TEST_SUITE_P(Models, Shares, testing::ValuesIn(setups()), setup_name<testing::TestParamInfo<Setup>>);

const Grid kShared{{{-1, 0.5, 2}, {2, 1.5, 1}, {true, false, true}}, {8, 6, 4}};

/// Returns 26,880 parcels, the same on every rank, with an attribute of three components.
Parcels all_parcels() {
  RandomParcels random;
  random.per_cell = 140;
  return generate_random(random, Decomposition(kShared, 1), 0);
}

/// Returns the share of a rank: the last one has more than 17,000 parcels, two blocks of several arrays and a part, and one rank has
/// none where there are several. @param first_has_none  that rank is rank 0; else rank 1, of three and more
Parcels share(const Parcels& all, const Transport& t, bool first_has_none) {
  const std::size_t ranks = static_cast<std::size_t>(t.size()), r = static_cast<std::size_t>(t.rank());
  std::vector<std::size_t> cuts(ranks + 1, 0);
  for (std::size_t k = 1; k < ranks; ++k) cuts[k] = (first_has_none ? k - 1 : k == 2 ? 1 : k) * 9001 / (ranks - 1);
  cuts[ranks] = all.size();
  Parcels mine(all.schema());
  for (std::size_t i = cuts[r]; i < cuts[r + 1]; ++i) {
    mine.append(all.site(i), all.row(i));
    mine.set_id(mine.size() - 1, all.id(i));
  }
  return mine;
}

/// Reads a file of the grid and writes its parcels as NPZ, whose bytes tell every row and their order. Collective. @return the bytes on
/// rank 0
std::string rows_of(const std::string& path, const std::string& npz, Transport& t) {
  io::ParcelFileInfo info = io::read_info(path, t);
  info.grid = kShared;
  info.says_grid = info.says_periodic = true;
  io::write_parcels(npz, io::read_parcels(path, info, t), Decomposition(kShared, t.size()), 0, t);
  const std::string bytes = t.rank() == 0 ? read_bytes(npz) : std::string();
  t.barrier();
  return bytes;
}

TEST_P(Shares, of_any_size_make_the_same_files_of_every_format) {
  on_ranks(GetParam(), [](Transport& t) {
    const Folder folder(t);
    const Decomposition decomposition(kShared, t.size());
    const Parcels whole = all_parcels();
    const Parcels alone = t.rank() == 0 ? whole : Parcels(whole.schema());
    ASSERT_GT(whole.size(), 20'000U);
    io::write_parcels(folder.file("rows.npz"), alone, decomposition, 0, t);
    const std::string rows = t.rank() == 0 ? read_bytes(folder.file("rows.npz")) : std::string();
    for (const bool first_has_none : {true, false}) {
      const Parcels mine = share(whole, t, first_has_none);
      for (const std::string name : {"a.vtu", "a.npz", "a.npy", "a.csv", "a.vtkhdf", "a.h5:openpmd"}) {
        const std::string path = folder.file("1" + name), shared = folder.file("2" + name);
        io::write_parcels(path, alone, decomposition, 0, t);
        io::write_parcels(shared, mine, decomposition, 0, t);
        const std::string file = shared.substr(0, shared.rfind(":openpmd"));
        // HDF5 puts times into its files.
        if (t.rank() == 0 && name.find(".vtkhdf") == std::string::npos && name.find(".h5") == std::string::npos) {
          EXPECT_TRUE(read_bytes(path) == read_bytes(shared)) << name << first_has_none;
        }
        const std::string back = rows_of(file, folder.file("back.npz"), t);
        EXPECT_TRUE(back == rows) << name << first_has_none;
      }
    }
    t.barrier();
  });
}

/// Writes parcels as CSV with a limit for the bytes of lines that a rank keeps. Collective.
void write_csv_keeping(const std::string& path, const Parcels& mine, std::size_t most, Transport& t) {
  const io::FileMetadata metadata;
  io::ParticlesToWrite in{mine, kShared, metadata, io::columns(mine.schema(), metadata), {}};
  in.columns.push_back(io::id_column(metadata));
  comm::SharedOutput output(path, t);
  io::ByteSink sink(output);
  io::write_csv(sink, in, t, most);
  output.commit();
}

TEST_P(Shares, lines_of_csv_that_are_made_again_are_those_made_at_first) {
  on_ranks(GetParam(), [](Transport& t) {
    const Folder folder(t);
    const Parcels whole = all_parcels();
    const std::string path = folder.file("a.csv");
    io::write_parcels(path, t.rank() == 0 ? whole : Parcels(whole.schema()), Decomposition(kShared, t.size()), 0, t);
    const std::string expected = t.rank() == 0 ? read_bytes(path) : std::string();
    for (const bool first_has_none : {true, false}) {
      const Parcels mine = share(whole, t, first_has_none);
      // A block of lines takes 1 to 2 million bytes. So the limits let a rank keep none, none, one of its blocks, and all.
      for (const std::size_t most : {std::size_t{0}, std::size_t{1000}, std::size_t{2'000'000}, std::size_t{1} << 30}) {
        const std::string file = folder.file("b.csv");
        write_csv_keeping(file, mine, most, t);
        if (t.rank() == 0) {
          EXPECT_TRUE(read_bytes(file) == expected) << most << first_has_none;
        }
        t.barrier();
      }
    }
  });
}

/// Returns a dataset of integers of a file, all of it.
std::vector<std::int64_t> integers(const std::string& path, const std::string& at) {
  const io::NetcdfLock lock(path);
  const io::hdf5::File file = io::hdf5::File::open(path);
  std::vector<std::int64_t> all(static_cast<std::size_t>(file.dataset(at).shape.at(0)), -1);
  file.read(at, io::FileType::i64, {0, static_cast<std::int64_t>(all.size())}, all.data());
  return all;
}

TEST_P(Shares, cells_of_a_series_with_empty_steps_are_those_of_its_points) {
  on_ranks(GetParam(), [](Transport& t) {
    const Folder folder(t);
    const Decomposition decomposition(kShared, t.size());
    const Parcels whole = all_parcels();
    const std::string path = folder.file("run.vtkhdf");
    const Parcels none(whole.schema());
    std::vector<std::int64_t> places, ends, numbers;
    const std::vector<Parcels> steps{share(whole, t, true), none, share(whole, t, false), none};
    for (std::size_t step = 0; step < steps.size(); ++step) {
      io::write_parcels(path + ":series", steps[step], decomposition, static_cast<double>(step), t);
      numbers.push_back(step % 2 == 0 ? static_cast<std::int64_t>(whole.size()) : 0);
      for (std::int64_t i = 0; i <= numbers.back(); ++i) {
        ends.push_back(i);
        if (i < numbers.back()) places.push_back(i);
      }
      if (t.rank() == 0) {
        EXPECT_EQ(integers(path, "/VTKHDF/Vertices/NumberOfCells"), numbers);
        EXPECT_TRUE(integers(path, "/VTKHDF/Vertices/Connectivity") == places) << step;
        EXPECT_TRUE(integers(path, "/VTKHDF/Vertices/Offsets") == ends) << step;
        EXPECT_EQ(integers(path, "/VTKHDF/Lines/Offsets"), std::vector<std::int64_t>(step + 1, 0));
      }
      t.barrier();
    }
  });
}

TEST_P(Shares, csv_on_a_full_disk_is_an_error_on_every_rank_and_leaves_the_old_file) {
  on_ranks(GetParam(), [](Transport& t) {
    const Folder folder(t);
    const Decomposition decomposition(kShared, t.size());
    const Parcels whole = all_parcels();
    const std::string path = folder.file("a.csv");
    if (t.rank() == 0) std::ofstream(path) << "old";
    // Rank 0 meets the limit where it has parcels; else the last rank alone.
    for (const bool first_has_none : {true, false}) {
      const Parcels mine = share(whole, t, first_has_none);
      t.barrier();
      std::string what;
      {
        std::optional<FullDisk> full;
        if (t.rank() == 0 || t.capabilities().processes) full.emplace(100'000);
        t.barrier();
        what = refusal<InputError>([&] { io::write_parcels(path, mine, decomposition, 0, t); });
        t.barrier();
      }
      EXPECT_NE(what.find("cannot write " + path), std::string::npos) << what;
      if (t.rank() == 0) {
        EXPECT_EQ(read_bytes(path), "old");
        EXPECT_EQ(folder.list(), std::vector<std::string>{"a.csv"});
      }
      t.barrier();
    }
    io::write_parcels(path, share(whole, t, true), decomposition, 0, t);  // and works again when there is room
    EXPECT_EQ(io::read_info(path, t).parcels, static_cast<std::int64_t>(whole.size()));
    t.barrier();
  });
}

}  // namespace
