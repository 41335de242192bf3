/// Tests of io/parcel_file.hpp: parcels that are written and read again, EPIC's layout, and errors agreed on by all ranks.
#include "merganser/io/parcel_file.hpp"

#include <gtest/gtest.h>
#include <netcdf.h>

#include <fstream>

#include "merganser/base/error.hpp"
#include "merganser/comm/collectives.hpp"
#include "merganser/parcels/generate.hpp"
#include "merganser/parcels/statistics.hpp"
#include "tests/data/graph_cases.hpp"
#include "tests/io/folder.hpp"
#include "tests/io/full_disk.hpp"
#include "tests/support/folders.hpp"
#include "tests/support/ranks.hpp"
#include "tests/support/total_digest.hpp"

namespace {

using namespace merganser;
using namespace merganser::test;
using comm::Transport;

class ParcelFile : public testing::TestWithParam<Setup> {};
INSTANTIATE_TEST_SUITE_P(Models, ParcelFile, testing::ValuesIn(setups()), setup_name<testing::TestParamInfo<Setup>>);

Grid some_grid() { return {{{-1, 0.5, 2}, {2, 1.5, 1}, {true, true, false}}, {8, 6, 4}}; }

TEST_P(ParcelFile, what_is_written_is_read_bit_for_bit) {
  on_ranks(GetParam(), [](Transport& t) {
    const Folder folder(t);
    const Decomposition decomposition(some_grid(), t.size());
    RandomParcels random;
    random.per_cell = 7;
    const Parcels parcels = generate_random(random, decomposition, t.rank());
    const Digest expected = total_digest(t, parcels);
    io::write_parcels(folder.file("a.nc"), parcels, decomposition, 1.25, t);

    const io::ParcelFileInfo info = io::read_info(folder.file("a.nc"), t);
    EXPECT_EQ(info.grid, some_grid());
    EXPECT_EQ(info.parcels, 8 * 6 * 4 * 7);
    EXPECT_EQ(info.time, 1.25);
    EXPECT_TRUE(info.has_ids);
    EXPECT_EQ(info.schema, Schema::epic());
    const Parcels back = io::read_parcels(folder.file("a.nc"), info, t);
    EXPECT_EQ(total_digest(t, back), expected);
    EXPECT_LE(std::abs(static_cast<std::int64_t>(back.size()) * t.size() - info.parcels), t.size());
    EXPECT_EQ(folder.list(), std::vector<std::string>{"a.nc"});
    t.barrier();
  });
}

TEST_P(ParcelFile, blocks_that_do_not_divide_the_slices_are_put_together) {
  on_ranks(GetParam(), [](Transport& t) {
    const Folder folder(t);
    // Only one rank has parcels, and more than a block of the way through rank 0 holds.
    const Decomposition decomposition(some_grid(), t.size());
    Parcels parcels;
    if (t.rank() == t.size() - 1) {
      RandomParcels random;
      random.per_cell = 150;
      parcels = generate_random(random, Decomposition(some_grid(), 1), 0);
    }
    const Digest expected = total_digest(t, parcels);
    io::write_parcels(folder.file("a.nc"), parcels, decomposition, 0, t);
    const Parcels back = io::read_parcels(folder.file("a.nc"), io::read_info(folder.file("a.nc"), t), t);
    EXPECT_EQ(total_digest(t, back), expected);
    t.barrier();
  });
}

TEST_P(ParcelFile, columns_with_and_without_filters_are_read_bit_for_bit) {
  on_ranks(GetParam(), [](Transport& t) {
    const Folder folder(t);
    // More parcels per rank than are read together, so that the parts of one column alternate with those of others.
    const Decomposition decomposition(some_grid(), t.size());
    RandomParcels random;
    random.per_cell = 370 * t.size();
    const Parcels parcels = generate_random(random, decomposition, t.rank());
    const Digest expected = total_digest(t, parcels);
    io::write_parcels(folder.file("a.nc"), parcels, decomposition, 0, t);
    io::ParcelFileInfo info = io::read_info(folder.file("a.nc"), t);
    for (io::FileVariable& v : info.metadata.columns) {
      if (v.name == "y_position") v.storage.deflate = 1;
      if (v.name == "B11") v.storage.checksum = true;
      if (v.name == "B22") v.storage.chunk = 1000;
    }
    io::write_parcels(folder.file("b.nc"), parcels, decomposition, 0, t, info.metadata);
    for (const char* name : {"a.nc", "b.nc"}) {
      const io::ParcelFileInfo read = io::read_info(folder.file(name), t);
      EXPECT_EQ(total_digest(t, io::read_parcels(folder.file(name), read, t)), expected) << name;
    }
    t.barrier();
  });
}

TEST_P(ParcelFile, no_parcels_and_fewer_parcels_than_ranks_work) {
  on_ranks(GetParam(), [](Transport& t) {
    const Folder folder(t);
    const Decomposition decomposition(some_grid(), t.size());
    for (const std::size_t n : {std::size_t{0}, std::size_t{1}}) {
      Parcels parcels;
      if (n == 1 && t.rank() == 0) add_sphere(parcels, 0, {0, 1, 2.5}, 0.1);
      const Digest expected = total_digest(t, parcels);
      io::write_parcels(folder.file("few.nc"), parcels, decomposition, 0, t);
      const io::ParcelFileInfo info = io::read_info(folder.file("few.nc"), t);
      EXPECT_EQ(info.parcels, static_cast<std::int64_t>(n));
      EXPECT_EQ(total_digest(t, io::read_parcels(folder.file("few.nc"), info, t)), expected);
    }
    t.barrier();
  });
}

TEST_P(ParcelFile, walls_and_periods_of_every_axis_are_kept) {
  on_ranks(GetParam(), [](Transport& t) {
    const Folder folder(t);
    Grid grid = some_grid();
    grid.box.periodic = {false, true, true};
    io::write_parcels(folder.file("a.nc"), Parcels(), Decomposition(grid, t.size()), 0, t);
    EXPECT_EQ(io::read_info(folder.file("a.nc"), t).grid, grid);
    t.barrier();
  });
}

std::vector<int> ints(int file, const char* name, std::size_t n) {
  std::vector<int> values(n);
  int variable = 0;
  EXPECT_EQ(nc_inq_varid(file, name, &variable), NC_NOERR) << name;
  EXPECT_EQ(nc_get_var_int(file, variable, values.data()), NC_NOERR) << name;
  return values;
}

std::string text(int file, int variable, const char* name) {
  std::size_t length = 0;
  EXPECT_EQ(nc_inq_attlen(file, variable, name, &length), NC_NOERR) << name;
  std::string value(length, ' ');
  EXPECT_EQ(nc_get_att_text(file, variable, name, value.data()), NC_NOERR) << name;
  return value;
}

TEST_P(ParcelFile, has_the_shape_that_epic_reads) {
  on_ranks(GetParam(), [](Transport& t) {
    const Folder folder(t);
    const Decomposition decomposition(some_grid(), t.size());
    RandomParcels random;
    random.per_cell = 2;
    const Parcels parcels = generate_random(random, decomposition, t.rank());
    io::write_parcels(folder.file("a.nc"), parcels, decomposition, 0.5, t);
    if (t.rank() == 0) {
      int file = 0;
      ASSERT_EQ(nc_open(folder.file("a.nc").c_str(), NC_NOWRITE, &file), NC_NOERR);
      EXPECT_EQ(text(file, NC_GLOBAL, "file_type"), "parcels");
      EXPECT_EQ(text(file, NC_GLOBAL, "Conventions"), "CF-1.8");
      int dimension = 0;
      std::size_t length = 0;
      ASSERT_EQ(nc_inq_dimid(file, "world%size", &dimension), NC_NOERR);
      ASSERT_EQ(nc_inq_dimlen(file, dimension, &length), NC_NOERR);
      EXPECT_EQ(length, static_cast<std::size_t>(t.size()));
      for (const char* name : {"x_position", "volume", "buoyancy", "z_vorticity", "B23"}) {
        int variable = 0;
        ASSERT_EQ(nc_inq_varid(file, name, &variable), NC_NOERR) << name;
        int dimensions[2];
        ASSERT_EQ(nc_inq_vardimid(file, variable, dimensions), NC_NOERR);
        char first[NC_MAX_NAME + 1];
        ASSERT_EQ(nc_inq_dimname(file, dimensions[0], first), NC_NOERR);
        EXPECT_STREQ(first, "t");
        EXPECT_FALSE(text(file, variable, "units").empty());
        EXPECT_FALSE(text(file, variable, "long_name").empty());
      }
      const auto n = static_cast<std::size_t>(t.size());
      const std::vector<int> start = ints(file, "start_index", n);
      const std::vector<int> xlo = ints(file, "xlo", n);
      const std::vector<int> yhi = ints(file, "yhi", n);
      std::int64_t at = 1;
      for (int r = 0; r < t.size(); ++r) {
        const auto c = decomposition.coordinates(r);
        EXPECT_EQ(start[static_cast<std::size_t>(r)], at);
        EXPECT_EQ(xlo[static_cast<std::size_t>(r)], decomposition.cut(0, c[0]));
        EXPECT_EQ(yhi[static_cast<std::size_t>(r)], decomposition.cut(1, c[1] + 1) - 1);
        at += static_cast<std::int64_t>(generate_random(random, decomposition, r).size());
      }
      nc_close(file);
    }
    t.barrier();
  });
}

TEST_P(ParcelFile, leaves_out_the_boxes_if_a_parcel_is_not_in_its_ranks) {
  on_ranks(GetParam(), [](Transport& t) {
    if (t.size() == 1) return;
    const Folder folder(t);
    const Decomposition decomposition(some_grid(), t.size());
    Parcels parcels;  // every rank holds a parcel of rank 0
    const auto block = decomposition.block(0);
    add_sphere(parcels, t.rank(), block.lower, 0.1);
    io::write_parcels(folder.file("a.nc"), parcels, decomposition, 0, t);
    if (t.rank() == 0) {
      int file = 0;
      int variable = 0;
      ASSERT_EQ(nc_open(folder.file("a.nc").c_str(), NC_NOWRITE, &file), NC_NOERR);
      EXPECT_NE(nc_inq_varid(file, "xlo", &variable), NC_NOERR);
      EXPECT_NE(nc_inq_varid(file, "start_index", &variable), NC_NOERR);
      nc_close(file);
    }
    t.barrier();  // the NetCDF library is used by one thread at a time
    EXPECT_EQ(io::read_info(folder.file("a.nc"), t).parcels, t.size());
    t.barrier();
  });
}

TEST_P(ParcelFile, other_attributes_are_written_under_the_names_of_their_components) {
  on_ranks(GetParam(), [](Transport& t) {
    const Folder folder(t);
    const Schema schema({{"mass", 2, Rule::sum, {"m1", "m2"}, "kg"}});
    Parcels parcels(schema);
    const double row[4] = {0, 5, 7, 0};
    parcels.append({0, 1, 2.5, 1}, row);
    parcels.set_id(0, t.rank());
    io::write_parcels(folder.file("a.nc"), parcels, Decomposition(some_grid(), t.size()), 0, t);
    if (t.rank() == 0) {
      int file = 0;
      int variable = 0;
      std::vector<double> values(static_cast<std::size_t>(t.size()));
      ASSERT_EQ(nc_open(folder.file("a.nc").c_str(), NC_NOWRITE, &file), NC_NOERR);
      ASSERT_EQ(nc_inq_varid(file, "m2", &variable), NC_NOERR);
      ASSERT_EQ(nc_get_var_double(file, variable, values.data()), NC_NOERR);
      EXPECT_EQ(values, std::vector<double>(values.size(), 7));
      EXPECT_EQ(text(file, variable, "units"), "kg");
      nc_close(file);
    }
    t.barrier();
  });
}

/// The error that every rank must get, the same on each.
std::string error_message(Transport& t, const std::function<void()>& body) {
  std::string what = "no error";
  try {
    body();
  } catch (const InputError& e) {
    what = e.what();
  }
  for (const auto other : comm::all_gather(t, what)) EXPECT_EQ(std::string(other.begin(), other.end()), what);
  return what;
}

TEST_P(ParcelFile, a_place_that_cannot_be_written_is_refused_on_every_rank) {
  on_ranks(GetParam(), [](Transport& t) {
    const Folder folder(t);
    const Decomposition decomposition(some_grid(), t.size());
    for (const std::string& path : {folder.file("missing/a.nc"), std::string("/dev/null"), folder.path().string(),
                                    std::string("/proc/self/a.nc")}) {
      const std::string what = error_message(t, [&] { io::write_parcels(path, Parcels(), decomposition, 0, t); });
      EXPECT_NE(what.find("cannot write"), std::string::npos) << path << ": " << what;
    }
    t.barrier();
  });
}

TEST_P(ParcelFile, a_full_disk_is_an_error_on_every_rank_and_leaves_the_old_file) {
  on_ranks(GetParam(), [](Transport& t) {
    const Folder folder(t);
    const Decomposition decomposition(some_grid(), t.size());
    RandomParcels random;
    random.per_cell = 100;
    const Parcels parcels = generate_random(random, decomposition, t.rank());
    const std::string path = folder.file("a.nc");
    if (t.rank() == 0) std::ofstream(path) << "old";
    t.barrier();
    std::string what;
    {
      std::optional<FullDisk> full;
      if (t.rank() == 0 || t.capabilities().processes) full.emplace(100'000);
      t.barrier();
      what = error_message(t, [&] { io::write_parcels(path, parcels, decomposition, 0, t); });
      t.barrier();
    }
    EXPECT_NE(what.find("cannot write " + path + ": it needs"), std::string::npos) << what;
    EXPECT_NE(what.find("bytes are free"), std::string::npos) << what;
    if (t.rank() == 0) {
      EXPECT_EQ(read_bytes(path), "old");
      EXPECT_EQ(folder.list(), std::vector<std::string>{"a.nc"});
    }
    t.barrier();
    io::write_parcels(path, parcels, decomposition, 0, t);  // and works again when there is room
    EXPECT_EQ(io::read_info(path, t).parcels, 8 * 6 * 4 * 100);
    t.barrier();
  });
}

TEST_P(ParcelFile, a_decomposition_over_other_ranks_is_refused) {
  on_ranks(GetParam(), [](Transport& t) {
    EXPECT_THROW(io::write_parcels("never.nc", Parcels(), Decomposition(some_grid(), t.size() + 1), 0, t), UsageError);
  });
}

TEST_P(ParcelFile, the_rayleigh_taylor_file_is_the_same_for_every_number_of_ranks) {
  const std::filesystem::path file = test::shared_folder() / "data" / "epic-rt32-early.nc";
  if (!std::filesystem::exists(file)) GTEST_SKIP() << file << " is not here";
  on_ranks(GetParam(), [&](Transport& t) {
    const io::ParcelFileInfo info = io::read_info(file.string(), t);
    EXPECT_EQ(info.parcels, 374900);
    EXPECT_NEAR(info.time, 3.106, 1e-3);
    const Parcels parcels = io::read_parcels(file.string(), info, t);
    EXPECT_EQ(total_digest(t, parcels).to_string(), "ceb77ebe2374edb94eff685a219f4ca1");
  });
}

}  // namespace
