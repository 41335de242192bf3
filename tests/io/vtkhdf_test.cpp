/// Tests of VTKHDF files of parcels: written, read bit for bit, converted, refused.
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>

#include "merganser/base/error.hpp"
#include "merganser/comm/collectives.hpp"
#include "merganser/io/output_name.hpp"
#include "merganser/io/parcel_file.hpp"
#include "merganser/parcels/generate.hpp"
#include "tests/io/folder.hpp"
#include "tests/io/openpmd_file.hpp"
#include "tests/support/ranks.hpp"
#include "tests/support/refusal.hpp"
#include "tests/support/total_digest.hpp"

namespace {

using namespace merganser;
using namespace merganser::test;
using comm::Transport;

class Vtkhdf : public testing::TestWithParam<Setup> {};
INSTANTIATE_TEST_SUITE_P(Models, Vtkhdf, testing::ValuesIn(setups()), setup_name<testing::TestParamInfo<Setup>>);

TEST_P(Vtkhdf, parcels_are_read_back_bit_for_bit_and_as_epic_again) {
  on_ranks(GetParam(), [](Transport& t) {
    const Folder folder(t);
    const Grid grid{{{-1, 0.5, 2}, {2, 1.5, 1}, {true, false, true}}, {8, 6, 4}};
    const Decomposition decomposition(grid, t.size());
    RandomParcels random;
    random.per_cell = 5;
    const Parcels parcels = generate_random(random, decomposition, t.rank());
    const Digest expected = total_digest(t, parcels);
    const std::string path = folder.file("a.vtkhdf");
    io::write_parcels(path, parcels, decomposition, 1.25, t);
    const io::ParcelFileInfo info = io::read_info(path, t);
    EXPECT_EQ(info.metadata.format, io::FileFormat::vtkhdf);
    EXPECT_EQ(info.grid, grid);
    EXPECT_TRUE(info.says_grid && info.says_periodic && info.has_ids);
    EXPECT_EQ(info.time, 1.25);
    EXPECT_EQ(info.schema, Schema::epic());
    EXPECT_TRUE(io::unread_variables(info).empty());
    const Parcels back = io::read_parcels(path, info, t);
    EXPECT_EQ(total_digest(t, back), expected);
    io::write_parcels(folder.file("b.nc"), back, decomposition, info.time, t, info.metadata);
    EXPECT_EQ(total_digest(t, io::read_parcels(folder.file("b.nc"), io::read_info(folder.file("b.nc"), t), t)),
              expected);
    t.barrier();
  });
}

TEST_P(Vtkhdf, species_and_momenta_of_openpmd_come_back) {
  on_ranks(GetParam(), [](Transport& t) {
    const Folder folder(t);
    if (t.rank() == 0) make_openpmd(folder.file("in.h5"), {});
    t.barrier();
    io::ParcelFileInfo info = io::read_info(folder.file("in.h5"), t);
    info.says_periodic = true;
    const Parcels parcels = io::read_parcels(folder.file("in.h5"), info, t);
    const std::string path = folder.file("a.vtkhdf");
    EXPECT_EQ(io::list_losses(info.metadata, path).size(), 1U);
    io::write_parcels(path, parcels, Decomposition(info.grid, t.size()), info.time, t, info.metadata);
    const io::ParcelFileInfo again = io::read_info(path, t);
    EXPECT_EQ(again.grid, info.grid);
    EXPECT_EQ(again.schema.attributes().size(), info.schema.attributes().size());
    EXPECT_EQ(total_digest(t, io::read_parcels(path, again, t)), total_digest(t, parcels));
    const std::string wrong = refusal<InputError>([&] {
      io::write_parcels(folder.file("b.nc"), parcels, Decomposition(info.grid, t.size()), 0, t, info.metadata);
    });
    EXPECT_NE(wrong.find("no shapes B"), std::string::npos) << wrong;
    t.barrier();
  });
}

TEST_P(Vtkhdf, points_of_floats_stay_floats) {
  on_ranks(GetParam(), [](Transport& t) {
    const Folder folder(t);
    const std::string path = folder.file("a.vtkhdf");
    if (t.rank() == 0) {
      const io::NetcdfLock lock(path);
      io::hdf5::File file = io::hdf5::File::create(path, path);
      file.make_group("/VTKHDF/PointData");
      file.put("/VTKHDF", "Type", std::string_view("PolyData"));
      file.make_dataset("/VTKHDF/Points", io::FileType::f32, std::array<std::int64_t, 2>{2, 3}, {});
      const std::array<double, 6> xyz{0.1, 0.2, 0.3, 0.7, 0.8, 0.9};
      file.write("/VTKHDF/Points", io::FileType::f64, {0, 2, 3}, xyz.data());
      file.make_dataset("/VTKHDF/PointData/volume", io::FileType::i32, std::array<std::int64_t, 1>{2}, {});
      const std::array<double, 2> volumes{3, 4};
      file.write("/VTKHDF/PointData/volume", io::FileType::f64, {0, 2}, volumes.data());
      file.close();
    }
    t.barrier();
    io::ParcelFileInfo info = io::read_info(path, t);
    EXPECT_FALSE(info.says_grid || info.says_periodic || info.has_ids);
    info.grid = Grid{{{0, 0, 0}, {1, 1, 1}, {true, true, true}}, {6, 6, 6}};
    info.says_grid = info.says_periodic = true;
    Parcels parcels = io::read_parcels(path, info, t);
    for (std::size_t i = 0; i < parcels.size(); ++i) {
      parcels.site(i).x += 0.01;  // no float
      parcels.site(i).volume += 0.5;
    }
    io::fit_to_file("b", parcels, info.grid.box, info.metadata, t);
    io::write_parcels(folder.file("b.vtkhdf"), parcels, Decomposition(info.grid, t.size()), 0, t, info.metadata);
    const Parcels back = io::read_parcels(folder.file("b.vtkhdf"), io::read_info(folder.file("b.vtkhdf"), t), t);
    EXPECT_EQ(total_digest(t, back), total_digest(t, parcels));
    t.barrier();
  });
}

/// Expects that rows of a series, from `begin`, are those of the file of one step, in all arrays and the points.
void expect_equal_rows(const std::string& series, std::int64_t begin, const std::string& alone, std::int64_t count) {
  const io::NetcdfLock lock(series);
  const io::hdf5::File a = io::hdf5::File::open(series), b = io::hdf5::File::open(alone);
  std::vector<std::string> names{"/VTKHDF/Points"};
  for (const std::string& name : b.members("/VTKHDF/PointData")) names.push_back("/VTKHDF/PointData/" + name);
  ASSERT_GT(names.size(), 5U);
  for (const std::string& at : names) {
    const io::hdf5::DatasetInfo about = b.dataset(at);
    const std::int64_t width = about.shape.size() == 2 ? about.shape[1] : 0;
    std::vector<std::int64_t> left(static_cast<std::size_t>(count * std::max<std::int64_t>(1, width)));
    std::vector<std::int64_t> right(left.size(), -1);
    a.read(at, *about.type, {begin, count, width, io::hdf5::File::kAllColumns}, left.data());
    b.read(at, *about.type, {0, count, width, io::hdf5::File::kAllColumns}, right.data());
    EXPECT_EQ(left, right) << at;
  }
}

TEST_P(Vtkhdf, a_series_grows_by_a_step_and_its_last_is_read) {
  on_ranks(GetParam(), [](Transport& t) {
    const Folder folder(t);
    const Grid grid{{{0, 0, 0}, {1, 1, 1}, {true, true, false}}, {4, 4, 4}};
    const Decomposition decomposition(grid, t.size());
    const std::string path = folder.file("run.vtkhdf");
    std::vector<Digest> digests;
    std::vector<std::int64_t> counts;
    for (int step = 0; step < 3; ++step) {
      RandomParcels random;
      random.per_cell = 3 + 2 * (step % 2);
      random.seed = static_cast<std::uint64_t>(step);
      const Parcels parcels = generate_random(random, decomposition, t.rank());
      digests.push_back(total_digest(t, parcels));
      counts.push_back(t.all_reduce(static_cast<std::int64_t>(parcels.size()), comm::Op::sum));
      // The first step is a file without a series, which becomes one.
      io::write_parcels(path + (step == 0 ? "" : ":series"), parcels, decomposition, 0.5 * step, t);
      io::write_parcels(folder.file("alone" + std::to_string(step) + ".vtkhdf"), parcels, decomposition, 0.5 * step, t);
      const io::ParcelFileInfo info = io::read_info(path, t);
      EXPECT_EQ(info.time, 0.5 * step);
      EXPECT_EQ(info.parcels, counts.back());
      if (step > 0) {
        ASSERT_EQ(info.notes.size(), 1U);
        EXPECT_EQ(info.notes[0], "time step " + std::to_string(step) + ", the last of " + std::to_string(step + 1));
      }
      EXPECT_EQ(total_digest(t, io::read_parcels(path, info, t)), digests.back());
    }
    EXPECT_FALSE(digests[0] == digests[1]);
    // Earlier steps are there with every value: compared with the file of each step alone.
    if (t.rank() == 0) {
      std::int64_t begin = 0;
      for (std::size_t step = 0; step < 3; ++step) {
        expect_equal_rows(path, begin, folder.file("alone" + std::to_string(step) + ".vtkhdf"), counts[step]);
        begin += counts[step];
      }
    }
    if (t.rank() == 0) {
      const io::NetcdfLock lock(path);
      const io::hdf5::File file = io::hdf5::File::open(path);
      std::vector<std::int64_t> begins(3);
      file.read("/VTKHDF/Steps/PointOffsets", io::FileType::i64, {0, 3}, begins.data());
      EXPECT_EQ(begins, (std::vector<std::int64_t>{0, counts[0], counts[0] + counts[1]}));
      file.read("/VTKHDF/Vertices/NumberOfCells", io::FileType::i64, {0, 3}, begins.data());
      EXPECT_EQ(begins, counts);
      const std::int64_t all = counts[0] + counts[1] + counts[2];
      std::vector<std::int64_t> offsets(static_cast<std::size_t>(all) + 3);
      file.read("/VTKHDF/Vertices/Offsets", io::FileType::i64, {0, all + 3}, offsets.data());
      std::vector<std::int64_t> expected;
      for (const std::int64_t count : counts)
        for (std::int64_t i = 0; i <= count; ++i) expected.push_back(i);
      EXPECT_EQ(offsets, expected);
      EXPECT_EQ(file.dataset("/VTKHDF/PointData/vorticity").shape, (std::vector<std::int64_t>{all, 3}));
      std::vector<double> volumes(static_cast<std::size_t>(all));
      file.read("/VTKHDF/PointData/volume", io::FileType::f64, {0, all}, volumes.data());
      EXPECT_TRUE(std::all_of(volumes.begin(), volumes.end(), [](double v) { return v > 0; }));
    }
    t.barrier();
  });
}

TEST_P(Vtkhdf, what_cannot_be_the_next_step_is_refused_and_the_series_stays) {
  on_ranks(GetParam(), [](Transport& t) {
    const Folder folder(t);
    const Grid grid{{{0, 0, 0}, {1, 1, 1}, {true, true, false}}, {4, 4, 4}};
    const Decomposition decomposition(grid, t.size());
    const Parcels parcels = generate_random({}, decomposition, t.rank());
    const std::string path = folder.file("run.vtkhdf");
    io::write_parcels(path + ":series", parcels, decomposition, 1, t);
    io::write_parcels(path + ":series", parcels, decomposition, 2, t);
    const Digest before = total_digest(t, parcels);
    const auto refused = [&](const std::string& file, const Parcels& next, const Decomposition& blocks, double time) {
      return refusal<InputError>([&] { io::write_parcels(file + ":series", next, blocks, time, t); });
    };
    EXPECT_NE(refused(path, parcels, decomposition, 2).find("its last step is of time 2"), std::string::npos);
    Grid other = grid;
    other.box.periodic[0] = false;
    EXPECT_NE(refused(path, parcels, Decomposition(other, t.size()), 3).find("another box"), std::string::npos);
    Parcels bare(Schema(std::vector<Attribute>{}));
    for (std::size_t i = 0; i < parcels.size(); ++i) {
      bare.append(parcels.site(i), parcels.row(i));
      bare.set_id(i, parcels.id(i));
    }
    EXPECT_NE(refused(path, bare, decomposition, 3).find("the parcels have none"), std::string::npos);
    io::FileMetadata ratio;
    io::set_min_volume_ratio(ratio, 20);
    EXPECT_NE(refusal<InputError>([&] {
                io::write_parcels(path + ":series", parcels, decomposition, 3, t, ratio);
              }).find("another volume ratio"),
              std::string::npos);
    EXPECT_NE(refusal<UsageError>([&] {
                io::write_parcels(folder.file("a.pvd:series"), parcels, decomposition, 3, t);
              }).find("a series is a VTKHDF file"),
              std::string::npos);
    if (t.rank() == 0) {
      std::filesystem::copy_file(path, folder.file("more.vtkhdf"));
      const io::NetcdfLock lock(path);
      const io::hdf5::File from = io::hdf5::File::open(path);
      io::hdf5::File more = io::hdf5::File::create(folder.file("more.vtkhdf"), "more");
      more.copy(from, "/VTKHDF", "/VTKHDF");
      more.make_group("/VTKHDF/FieldData");
      more.close();
    }
    t.barrier();
    EXPECT_NE(refused(folder.file("more.vtkhdf"), parcels, decomposition, 3).find("FieldData"), std::string::npos);
    if (t.rank() == 0) std::ofstream(folder.file("other.vtkhdf")) << "no HDF5";
    t.barrier();
    EXPECT_NE(refused(folder.file("other.vtkhdf"), parcels, decomposition, 3), "nothing was thrown");
    const io::ParcelFileInfo info = io::read_info(path, t);
    EXPECT_EQ(info.time, 2);
    EXPECT_EQ(total_digest(t, io::read_parcels(path, info, t)), before);
    t.barrier();
  });
}

/// Writes a VTKHDF file of two points with a volume. @param volumes  length of the array; -1: a group in its place @param parts  numbers of points that it tells @param steps  NSteps; 0: no steps
void make_points(const std::string& path, const std::string& type, bool volume, std::int64_t volumes,
                 const std::vector<std::int64_t>& parts = {}, std::int64_t steps = 0) {
  const io::NetcdfLock lock(path);
  io::hdf5::File file = io::hdf5::File::create(path, path);
  file.make_group("/VTKHDF/PointData");
  file.put("/VTKHDF", "Type", std::string_view(type));
  file.make_dataset("/VTKHDF/Points", io::FileType::f64, std::array<std::int64_t, 2>{2, 3}, {});
  if (volume && volumes < 0) file.make_group("/VTKHDF/PointData/volume");
  if (volume && volumes >= 0)
    file.make_dataset("/VTKHDF/PointData/volume", io::FileType::f64, std::array<std::int64_t, 1>{volumes}, {});
  const auto put = [&](const std::string& at, const std::vector<std::int64_t>& list) {
    const auto count = static_cast<std::int64_t>(list.size());
    file.make_dataset(at, io::FileType::i64, std::array<std::int64_t, 1>{count}, {});
    file.write(at, io::FileType::i64, {0, count}, list.data());
  };
  if (!parts.empty()) put("/VTKHDF/NumberOfPoints", parts);
  if (steps > 0) {
    for (const char* name : {"Values", "PartOffsets", "PointOffsets", "PointDataOffsets/volume"})
      put("/VTKHDF/Steps/" + std::string(name), {0});
    file.put("/VTKHDF/Steps", "NSteps", io::FileType::i64, std::array<std::int64_t, 1>{steps}, false);
  }
  file.close();
}

TEST(VtkhdfFiles, faults_are_refused_by_name) {
  const Folder folder;
  const auto refused = [&](const std::string& type, bool volume, std::int64_t volumes) {
    make_points(folder.file("a.vtkhdf"), type, volume, volumes);
    return refusal<InputError>([&] { static_cast<void>(io::read_info(folder.file("a.vtkhdf"))); });
  };
  EXPECT_EQ(refused("PolyData", true, 2), "nothing was thrown");
  EXPECT_NE(refused("ImageData", true, 2).find("ImageData"), std::string::npos);
  EXPECT_NE(refused("PolyData", false, 2).find("no array volume"), std::string::npos);
  EXPECT_NE(refused("PolyData", true, 1).find("truncated or damaged"), std::string::npos);
  EXPECT_NE(refused("PolyData", true, -1)
                .find("volumes cannot be read from the array volume, without numbers in one or two dimensions"),
            std::string::npos);
  const auto told = [&](const std::vector<std::int64_t>& parts, std::int64_t steps = 0) {
    make_points(folder.file("b.vtkhdf"), "PolyData", true, 2, parts, steps);
    return refusal<InputError>([&] { static_cast<void>(io::read_info(folder.file("b.vtkhdf"))); });
  };
  EXPECT_EQ(told({2}), "nothing was thrown");
  EXPECT_EQ(told({1, 0, 1}), "nothing was thrown");
  for (const auto& parts : std::vector<std::vector<std::int64_t>>{{1}, {3}, {1, 2}, {3, -1}, {INT64_MAX, INT64_MAX}})
    EXPECT_NE(told(parts).find("and the 2 points that are there differ"), std::string::npos);
  EXPECT_EQ(told({2}, 1), "nothing was thrown");
  EXPECT_NE(told({2}, 2).find("NSteps is 2, /VTKHDF/Steps/Values has 1 times"), std::string::npos);
  make_points(folder.file("a.vtkhdf"), "UnstructuredGrid", true, 2);
  std::filesystem::resize_file(folder.file("a.vtkhdf"), std::filesystem::file_size(folder.file("a.vtkhdf")) - 20);
  EXPECT_NE(refusal<InputError>([&] { static_cast<void>(io::read_info(folder.file("a.vtkhdf"))); }),
            "nothing was thrown");
}

}  // namespace
