/// Tests of openPMD particle files: what is written is read bit for bit; constants, offsets, units, floats, species, faults.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <fstream>

#include "merganser/base/error.hpp"
#include "merganser/comm/collectives.hpp"
#include "merganser/io/output_name.hpp"
#include "merganser/io/parcel_file.hpp"
#include "merganser/parcels/generate.hpp"
#include "tests/io/folder.hpp"
#include "tests/io/openpmd_file.hpp"
#include "tests/support/folders.hpp"
#include "tests/support/ranks.hpp"
#include "tests/support/refusal.hpp"
#include "tests/support/total_digest.hpp"

namespace {

using namespace merganser;
using namespace merganser::test;
using comm::Transport;

class Openpmd : public testing::TestWithParam<Setup> {};
INSTANTIATE_TEST_SUITE_P(Models, Openpmd, testing::ValuesIn(setups()), setup_name<testing::TestParamInfo<Setup>>);

/// Tests of one process, which a launcher has not started.
class OpenpmdFiles : public testing::Test {
 protected:
  void SetUp() override {
    if (setups().front().backend != "threads") GTEST_SKIP() << "started by a launcher";
  }
};

Grid box_of_cells() { return {{{-1, 0.5, 2}, {2, 1.5, 1}, {true, false, true}}, {8, 6, 4}}; }

/// Reads a file whose box must be told: 16^3 cells of a metre, periodic.
Parcels read_all(const std::string& path, io::ParcelFileInfo& info, Transport& t, const std::string& species = {}) {
  info = io::read_info(path, t, species);
  if (!info.says_grid) info.grid = Grid{{{0, 0, 0}, {16, 16, 16}, {true, true, true}}, {16, 16, 16}};
  info.says_grid = info.says_periodic = true;
  return io::read_parcels(path, info, t);
}

/// Writes parcels that were read from a file to another, and expects the same digest and box back.
void expect_same_back(const std::string& out, Parcels parcels, const io::ParcelFileInfo& info, Transport& t) {
  io::fit_to_file(out, parcels, info.grid.box, info.metadata, t);
  const Digest expected = total_digest(t, parcels);
  io::write_parcels(out, parcels, Decomposition(info.grid, t.size()), info.time, t, info.metadata);
  const io::ParcelFileInfo again = io::read_info(out, t);
  EXPECT_EQ(again.grid, info.grid);
  EXPECT_TRUE(again.says_periodic);
  EXPECT_EQ(again.time, info.time);
  EXPECT_EQ(again.schema, info.schema);
  EXPECT_EQ(total_digest(t, io::read_parcels(out, again, t)), expected);
  t.barrier();
}

TEST_P(Openpmd, parcels_of_epic_are_read_back_bit_for_bit) {
  on_ranks(GetParam(), [](Transport& t) {
    const Folder folder(t);
    const Decomposition decomposition(box_of_cells(), t.size());
    RandomParcels random;
    random.per_cell = 7;
    const Parcels parcels = generate_random(random, decomposition, t.rank());
    io::FileMetadata metadata;
    io::set_min_volume_ratio(metadata, 12.5);
    io::set_merge_step(metadata, 7);
    const std::string path = folder.file("a.h5");
    io::write_parcels(path + ":openpmd", parcels, decomposition, 1.25, t, metadata);
    const io::ParcelFileInfo info = io::read_info(path, t);
    EXPECT_EQ(info.metadata.format, io::FileFormat::openpmd);
    EXPECT_EQ(info.grid, box_of_cells());
    EXPECT_TRUE(info.says_grid && info.says_periodic && info.has_ids);
    EXPECT_EQ(info.min_volume_ratio, 12.5);
    EXPECT_EQ(io::merge_step(info.metadata), 7U);
    EXPECT_EQ(info.time, 1.25);
    EXPECT_EQ(info.parcels, 8 * 6 * 4 * 7);
    EXPECT_EQ(info.schema, Schema::epic());
    EXPECT_TRUE(io::unread_variables(info).empty());
    EXPECT_EQ(total_digest(t, io::read_parcels(path, info, t)), total_digest(t, parcels));
    EXPECT_EQ(folder.list(), std::vector<std::string>{"a.h5"});
    t.barrier();
  });
}

TEST_P(Openpmd, a_file_of_a_plasma_code_is_read_and_written) {
  on_ranks(GetParam(), [](Transport& t) {
    const Folder folder(t);
    if (t.rank() == 0) make_openpmd(folder.file("in.h5"), {});
    t.barrier();
    io::ParcelFileInfo info;
    const Parcels parcels = read_all(folder.file("in.h5"), info, t, "electrons");
    EXPECT_EQ(info.parcels, 40);
    ASSERT_TRUE(info.schema.has("momentum"));
    EXPECT_FALSE(info.schema.has("charge"));  // a constant
    EXPECT_TRUE(info.metadata.lost.empty());
    for (std::size_t i = 0; i < parcels.size(); ++i) {
      const auto k = static_cast<double>(parcels.id(i) - 1000);
      EXPECT_EQ(parcels.site(i).x, (0.25 + std::fmod(k, 8)) * 2);  // (position + positionOffset) x unitSI
      EXPECT_EQ(parcels.site(i).y, 0.5 * 2);                       // constants
      EXPECT_EQ(parcels.site(i).volume, 3 + k);
      EXPECT_EQ(parcels.row(i)[parcels.schema().offset("momentum") + 1], 10 * k);
    }
    expect_same_back(folder.file("out.h5"), parcels, info, t);
    // The constants, the mesh and unknown groups are carried.
    if (t.rank() != 0) return t.barrier();  // HDF5 is called by one thread at a time
    const auto file = open_openpmd(folder.file("out.h5"));
    EXPECT_EQ(file.numbers("/data/7/particles/electrons/charge", "value"), std::vector<double>{-1.5});
    EXPECT_EQ(file.numbers("/data/7/particles/electrons/charge", "shape"), std::vector<double>{40});
    EXPECT_EQ(file.numbers("/data/7/particles/electrons/momentum/x", "unitSI"), std::vector<double>{1e-20});
    EXPECT_EQ(file.numbers("/data/7/particles/electrons/momentum", "weightingPower"), std::vector<double>{1});
    EXPECT_EQ(file.kind("/data/7/meshes/E/x"), io::hdf5::ObjectKind::dataset);
    EXPECT_EQ(file.kind("/data/7/particles/ions"), io::hdf5::ObjectKind::none);
    t.barrier();
  });
}

TEST_P(Openpmd, several_species_are_told_apart_by_an_attribute_and_their_ids) {
  on_ranks(GetParam(), [](Transport& t) {
    const Folder folder(t);
    if (t.rank() == 0) make_openpmd(folder.file("in.h5"), {});
    t.barrier();
    io::ParcelFileInfo info;
    const Parcels parcels = read_all(folder.file("in.h5"), info, t);
    EXPECT_EQ(info.parcels, 60);
    EXPECT_NE(info.notes.at(0).find("electrons, ions"), std::string::npos) << info.notes.at(0);
    for (std::size_t i = 0; i < parcels.size(); ++i)
      EXPECT_EQ(static_cast<double>(parcels.id(i) % 2), parcels.row(i)[parcels.schema().offset("species")]);
    expect_same_back(folder.file("out.h5"), parcels, info, t);
    if (t.rank() != 0) return t.barrier();  // HDF5 is called by one thread at a time
    const auto file = open_openpmd(folder.file("out.h5"));
    std::vector<std::int64_t> ids(20);
    file.read("/data/7/particles/ions/id", io::FileType::i64, {0, 20}, ids.data());
    std::sort(ids.begin(), ids.end());
    EXPECT_EQ(ids.front(), 1000);
    EXPECT_EQ(ids.back(), 1019);
    t.barrier();
  });
}

TEST_P(Openpmd, floats_stay_floats_and_offsets_of_cells_keep_their_digits) {
  for (const bool cells : {false, true}) {
    on_ranks(GetParam(), [&](Transport& t) {
      const Folder folder(t);
      OpenpmdCase c;
      c.type = io::FileType::f32;
      c.integer_offsets = cells;
      if (t.rank() == 0) make_openpmd(folder.file("in.h5"), c);
      t.barrier();
      io::ParcelFileInfo info;
      Parcels parcels = read_all(folder.file("in.h5"), info, t, "electrons");
      for (std::size_t i = 0; i < parcels.size(); ++i) {
        parcels.site(i).x = info.grid.box.wrap(0, parcels.site(i).x + 1.0 / 3);  // no float
        parcels.site(i).volume *= 1.1;
      }
      io::fit_to_file("out.h5", parcels, info.grid.box, info.metadata, t);
      for (std::size_t i = 0; i < parcels.size(); ++i)
        EXPECT_EQ(parcels.site(i).volume, static_cast<double>(static_cast<float>(parcels.site(i).volume)));
      expect_same_back(folder.file("out.h5"), parcels, info, t);
      if (t.rank() != 0) return t.barrier();  // HDF5 is called by one thread at a time
      const auto file = open_openpmd(folder.file("out.h5"));
      const std::string at = "/data/7/particles/electrons/";
      EXPECT_EQ(*file.dataset(at + "position/x").type, io::FileType::f32);
      EXPECT_EQ(*file.dataset(at + "weighting").type, io::FileType::f32);
      EXPECT_EQ(*file.dataset(at + "momentum/x").type, io::FileType::f32);
      if (cells) {
        EXPECT_EQ(*file.dataset(at + "positionOffset/x").type, io::FileType::i32);
      }
      t.barrier();
    });
  }
}

TEST_P(Openpmd, a_file_without_ids_or_box_says_so) {
  on_ranks(GetParam(), [](Transport& t) {
    const Folder folder(t);
    OpenpmdCase c;
    c.ids = false;
    c.mesh = false;
    if (t.rank() == 0) make_openpmd(folder.file("in.h5"), c);
    t.barrier();
    io::ParcelFileInfo info = io::read_info(folder.file("in.h5"), t, "electrons");
    EXPECT_FALSE(info.says_grid || info.says_periodic || info.has_ids);
    const auto read = [&] { static_cast<void>(io::read_parcels(folder.file("in.h5"), info, t)); };
    EXPECT_NE(refusal<InputError>(read).find("box and cells"), std::string::npos);
    info.grid = Grid{{{0, 0, 0}, {16, 16, 16}, {true, true, true}}, {16, 16, 16}};
    info.says_grid = true;
    EXPECT_NE(refusal<InputError>(read).find("periodic"), std::string::npos);
    info.says_periodic = true;
    const Parcels parcels = io::read_parcels(folder.file("in.h5"), info, t);
    for (std::size_t i = 0; i < parcels.size(); ++i)
      EXPECT_EQ(parcels.site(i).volume, 3 + static_cast<double>(parcels.id(i)));
    expect_same_back(folder.file("out.h5"), parcels, info, t);
  });
}

TEST_F(OpenpmdFiles, meshes_tell_box_cells_and_boundaries) {
  const Folder folder;
  OpenpmdCase c;
  make_openpmd(folder.file("a.h5"), c);
  io::ParcelFileInfo info = io::read_info(folder.file("a.h5"));
  EXPECT_TRUE(info.says_grid);
  EXPECT_FALSE(info.says_periodic);
  EXPECT_EQ(info.grid.cells, (std::array<std::int64_t, 3>{16, 8, 4}));
  EXPECT_EQ(info.grid.box.extent, (std::array<double, 3>{16, 16, 16}));
  EXPECT_EQ(info.grid.box.lower, (std::array<double, 3>{0, 0, 0}));
  c.boundaries = {"periodic", "periodic", "open", "reflecting", "periodic", "periodic"};
  make_openpmd(folder.file("b.h5"), c);
  info = io::read_info(folder.file("b.h5"));
  EXPECT_TRUE(info.says_periodic);
  EXPECT_EQ(info.grid.box.periodic, (std::array<bool, 3>{true, false, true}));
  c.boundaries = {"Periodic", "PERIODIC", "open", "open", "periodic", "periodic"};
  make_openpmd(folder.file("capitals.h5"), c);
  EXPECT_EQ(io::read_info(folder.file("capitals.h5")).grid.box.periodic, (std::array<bool, 3>{true, false, true}));
  c.boundaries[1] = "open";  // one side of an axis alone: it does not say
  make_openpmd(folder.file("c.h5"), c);
  EXPECT_FALSE(io::read_info(folder.file("c.h5")).says_periodic);
}

// Units are not assumed without a word.
TEST_F(OpenpmdFiles, units_that_are_missing_are_named) {
  const Folder folder;
  OpenpmdCase c;
  make_openpmd(folder.file("a.h5"), c);
  for (const std::string& note : io::read_info(folder.file("a.h5")).notes)
    EXPECT_EQ(note.find("SI"), std::string::npos) << note;
  c.units = false;
  make_openpmd(folder.file("b.h5"), c);
  const io::ParcelFileInfo info = io::read_info(folder.file("b.h5"), "ions");
  EXPECT_EQ(info.time, 2);
  const auto said = [&](const std::string& note) { return std::count(info.notes.begin(), info.notes.end(), note); };
  EXPECT_EQ(said("no unitSI of ions/id: these count as in SI units"), 1);
  EXPECT_EQ(said("no timeUnitSI of /data/7: its time counts as in seconds"), 1);
}

TEST_F(OpenpmdFiles, iterations_whose_numbers_are_filled_with_zeros_keep_their_names) {
  const Folder folder;
  OpenpmdCase c;
  c.iteration = "0000007";
  make_openpmd(folder.file("in.h5"), c);
  comm::run({"threads", 1, "", {}}, [&](Transport& t) {
    io::ParcelFileInfo info;
    const Parcels parcels = read_all(folder.file("in.h5"), info, t, "ions");
    EXPECT_EQ(parcels.size(), 20U);
    expect_same_back(folder.file("out.h5"), parcels, info, t);
    const auto out = open_openpmd(folder.file("out.h5"));
    EXPECT_EQ(out.members("/data"), std::vector<std::string>{"0000007"});
    EXPECT_EQ(out.texts("/", "iterationFormat"), std::vector<std::string>{"/data/%07T/"});
  });
}

TEST_F(OpenpmdFiles, units_that_would_not_count_are_refused_or_named) {
  const Folder folder;
  OpenpmdCase c;
  c.unit_text = "1e-6";
  make_openpmd(folder.file("text.h5"), c);
  const std::string what = refusal<InputError>([&] { static_cast<void>(io::read_info(folder.file("text.h5"))); });
  EXPECT_NE(what.find("unitSI of /data/7/particles/electrons/position/x is not one number"), std::string::npos) << what;
  c = {};
  c.weighting_unit = 1e-3;
  make_openpmd(folder.file("weighting.h5"), c);
  const auto notes = io::read_info(folder.file("weighting.h5"), "ions").notes;
  EXPECT_EQ(std::count(notes.begin(), notes.end(),
                       "unitSI of ions/weighting is 0.001, which does not count: volumes are the numbers in the file"),
            1);
}

TEST_F(OpenpmdFiles, ids_whose_highest_bit_is_a_mark_are_read_and_written) {
  const Folder folder;
  OpenpmdCase c;
  c.first_id = (std::uint64_t{1} << 63) + 1000;
  make_openpmd(folder.file("in.h5"), c);
  comm::run({"threads", 1, "", {}}, [&](Transport& t) {
    io::ParcelFileInfo info;
    const Parcels parcels = read_all(folder.file("in.h5"), info, t, "ions");
    EXPECT_EQ(parcels.id(0), 1000);
    expect_same_back(folder.file("out.h5"), parcels, info, t);
    std::uint64_t id = 0;
    open_openpmd(folder.file("out.h5")).read("/data/7/particles/ions/id", io::FileType::u64, {0, 1}, &id);
    EXPECT_EQ(id, c.first_id);
  });
}

TEST_F(OpenpmdFiles, what_is_unknown_needs_a_rule_and_is_carried_with_one) {
  const Folder folder;
  OpenpmdCase c;
  c.unknown = true;
  make_openpmd(folder.file("in.h5"), c);
  io::ParcelFileInfo info = io::read_info(folder.file("in.h5"), "electrons");
  EXPECT_EQ(io::unread_variables(info), std::vector<std::string>{"heat"});
  const io::VariableRule heat{"heat", Rule::sum, false};
  io::add_variables("in.h5", info, std::span(&heat, 1));
  const io::VariableRule known{"momentum_x", Rule::sum, false};
  EXPECT_THROW(io::add_variables("in.h5", info, std::span(&known, 1)), UsageError);
  info.says_periodic = true;
  comm::run({"threads", 1, "", {}}, [&](Transport& t) {
    const Parcels parcels = io::read_parcels(folder.file("in.h5"), info, t);
    io::write_parcels(folder.file("out.h5"), parcels, Decomposition(info.grid, 1), 0, t, info.metadata);
    io::ParcelFileInfo again = io::read_info(folder.file("out.h5"));
    io::add_variables("out.h5", again, std::span(&heat, 1));
    EXPECT_EQ(total_digest(t, io::read_parcels(folder.file("out.h5"), again, t)), total_digest(t, parcels));
  });
}

TEST_F(OpenpmdFiles, faults_are_refused_by_name) {
  const Folder folder;
  const auto refused = [&](const std::string& name, const std::string& species = {}) {
    return refusal<InputError>([&] {
      comm::run({"threads", 1, "", {}}, [&](Transport& t) {
        io::ParcelFileInfo info;
        static_cast<void>(read_all(folder.file(name), info, t, species));
      });
    });
  };
  const auto expect = [&](const std::string& what, const std::string& words) {
    EXPECT_NE(what.find(words), std::string::npos) << what;
  };
  for (const char* name : {"dump.bp", "dump.bp4", "dump.bp5"}) expect(refused(name), "ADIOS2");
  OpenpmdCase c;
  c.bad_position = NAN;
  make_openpmd(folder.file("nan.h5"), c);
  expect(refused("nan.h5"), "x_position is nan");
  c = {};
  c.first_id = std::uint64_t{1} << 62;
  make_openpmd(folder.file("ids.h5"), c);
  expect(refused("ids.h5"), "allowed: 0 to");
  c = {};
  c.wide_offset = (std::int64_t{1} << 53) + 2;
  make_openpmd(folder.file("offset.h5"), c);
  expect(refused("offset.h5"), "2^53");
  c = {};
  c.short_record = true;
  make_openpmd(folder.file("short.h5"), c);
  expect(refused("short.h5"), "truncated or damaged");
  c = {};
  c.weighting = false;
  make_openpmd(folder.file("weight.h5"), c);
  expect(refused("weight.h5"), "has no record weighting");
  c.wide_weighting = true;
  make_openpmd(folder.file("wide.h5"), c);
  expect(refused("wide.h5"), "has no weighting of a type and shape that is read");
  make_openpmd(folder.file("good.h5"), {});
  expect(refused("good.h5", "photons"), "no species photons");
  const auto bytes = std::filesystem::file_size(folder.file("good.h5"));
  std::filesystem::copy_file(folder.file("good.h5"), folder.file("cut.h5"));
  for (const std::uintmax_t left : {bytes - 1, bytes / 2, bytes / 4, std::uintmax_t{600}, std::uintmax_t{40}}) {
    std::filesystem::resize_file(folder.file("cut.h5"), left);
    EXPECT_NE(refused("cut.h5"), "nothing was thrown") << left;
  }
}

TEST_F(OpenpmdFiles, names_of_outputs_tell_their_format) {
  io::FileMetadata epic, particles, points;
  particles.format = io::FileFormat::openpmd;
  points.format = io::FileFormat::vtkhdf;
  EXPECT_EQ(io::parse_output_name("a.nc", epic).format, io::FileFormat::epic);
  EXPECT_EQ(io::parse_output_name("a.h5", epic).format, io::FileFormat::epic);
  EXPECT_EQ(io::parse_output_name("a.h5", particles).format, io::FileFormat::openpmd);
  EXPECT_EQ(io::parse_output_name("a.h5:openpmd", epic).path, "a.h5");
  EXPECT_EQ(io::parse_output_name("a.vtkhdf", particles).format, io::FileFormat::vtkhdf);
  EXPECT_EQ(io::parse_output_name("a.hdf:vtkhdf", epic).format, io::FileFormat::vtkhdf);
  EXPECT_EQ(io::parse_output_name("a.h5:epic", particles).format, io::FileFormat::epic);
  EXPECT_THROW(static_cast<void>(io::parse_output_name("a.h5", points)), UsageError);
  EXPECT_EQ(io::parse_output_name("a.VTU", epic).format, io::FileFormat::vtu);
  EXPECT_EQ(io::parse_output_name("a.dat:NPZ", epic).format, io::FileFormat::npz);
  EXPECT_EQ(io::strip_format("a.dat:NPZ"), "a.dat");
  EXPECT_EQ(io::parse_output_name("at_12:30", epic).path, "at_12:30");
  EXPECT_EQ(io::parse_output_name("run.nc:2:epic", epic).path, "run.nc:2");
  EXPECT_EQ(io::parse_output_name("a.txt:epic", epic).format, io::FileFormat::epic);
  for (const char* name :
       {"a.vtk", "a.VTP", "a.parquet", "a.json", "a.txt", "a.bp", "a.nc:netcdf", "a.h5:", "a.vtu:xml"})
    EXPECT_THROW(static_cast<void>(io::parse_output_name(name, epic)), UsageError) << name;
}

TEST_F(OpenpmdFiles, the_plasma_of_the_official_library_is_read) {
  const auto file = shared_folder() / "data" / "particles" / "plasma.h5";
  if (!std::filesystem::exists(file)) GTEST_SKIP() << file;
  io::ParcelFileInfo info = io::read_info(file.string());
  EXPECT_EQ(info.parcels, 30000);
  EXPECT_EQ(info.grid.cells, (std::array<std::int64_t, 3>{16, 16, 16}));
  EXPECT_FALSE(info.says_periodic);
  EXPECT_EQ(info.metadata.openpmd.constants, (std::vector<std::string>{"charge", "mass"}));
  info.says_periodic = true;
  info.grid.box.periodic = {true, true, true};
  comm::run({"threads", 2, "", {}}, [&](Transport& t) {
    const Parcels parcels = io::read_parcels(file.string(), info, t);
    const Folder folder(t);
    expect_same_back(folder.file("out.h5"), parcels, info, t);
  });
}

}  // namespace
