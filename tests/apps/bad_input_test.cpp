/// Tests of input that cannot be merged: one error line, exit code 3 and no hang, with threads and with processes.
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>

#include <algorithm>
#include <cmath>
#include <fstream>
#include <limits>

#include "tests/apps/program.hpp"
#include "tests/io/epic_file.hpp"
#include "tests/io/folder.hpp"

namespace {

using namespace merganser::test;
constexpr std::chrono::seconds kSoon{30};

/// Expects an exit code, and exactly one line on standard error that contains all of `says`.
void expect_one_line(const Outcome& o, int code, const Arguments& says) {
  EXPECT_EQ(o.code, code) << o.text();
  EXPECT_EQ(std::count(o.err.begin(), o.err.end(), '\n'), 1) << o.err;
  for (const auto& text : says) EXPECT_NE(o.err.find(text), std::string::npos) << "\"" << text << "\" in: " << o.err;
}

struct BadInput {
  const char* name;
  std::function<void(const std::string&)> make;
  Arguments says;
};

/// Returns a function that writes a valid parcel file after `spoil` has changed it.
std::function<void(const std::string&)> write_spoiled(std::function<void(EpicFile&)> spoil) {
  return [spoil = std::move(spoil)](const std::string& path) {
    EpicFile f;
    spoil(f);
    f.make(path);
  };
}

std::function<void(const std::string&)> value(const char* variable, std::size_t parcel, double x) {
  return write_spoiled([=](EpicFile& f) { f.variables[variable][parcel] = x; });
}

std::vector<BadInput> bad_inputs() {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  const double inf = std::numeric_limits<double>::infinity();
  return {
      {"missing", [](const std::string&) {}, {"in.nc", "No such file"}},
      {"a_folder", [](const std::string& p) { std::filesystem::create_directory(p); }, {"in.nc"}},
      {"empty", [](const std::string& p) { std::ofstream out(p); }, {"in.nc", "empty"}},
      {"not_netcdf", [](const std::string& p) { std::ofstream(p) << std::string(5000, 'x'); }, {"in.nc", "NetCDF"}},
      {"truncated",
       [](const std::string& p) {
         EpicFile().make(p);
         std::filesystem::resize_file(p, std::filesystem::file_size(p) * 2 / 3);
       },
       {"in.nc", "truncated"}},
      {"variable_missing", write_spoiled([](EpicFile& f) { f.variables.erase("B13"); }), {"variable B13 is missing"}},
      {"wrong_length", write_spoiled([](EpicFile& f) { f.variables["B12"].resize(5); }), {"B12 has length 5"}},
      {"nan_position", value("y_position", 3, nan), {"variable \"y_position\"", "of parcel 3 (NaN)"}},
      {"infinite_position", value("x_position", 5, inf), {"parcel 5", "x_position is inf"}},
      {"no_volume", value("volume", 2, 0), {"parcel 2", "volume is 0", "allowed: 1e-120"}},
      {"negative_volume", value("volume", 4, -3), {"parcel 4", "volume is -3"}},
      {"singular_shape", value("B12", 3, 0.01), {"parcel 3", "ellipsoid is singular"}},
      {"outside_the_walls", value("z_position", 1, -7), {"parcel 1", "z_position is -7, outside the walls", "-1 to 1"}},
  };
}

class BadInputs : public testing::TestWithParam<BadInput> {};
INSTANTIATE_TEST_SUITE_P(Cases, BadInputs, testing::ValuesIn(bad_inputs()), [](const auto& i) { return i.param.name; });

TEST_P(BadInputs, give_one_line_and_exit_code_3_and_leave_the_old_output) {
  const Folder folder;
  const std::string in = folder.file("in.nc"), out = folder.file("out.nc");
  GetParam().make(in);
  std::ofstream(out) << "old";
  const auto names = folder.list();
  Arguments says = GetParam().says;
  says.emplace_back("input: ");
  expect_one_line(run({"cluster", in, "-o", out}), 3, says);
  expect_one_line(run({"cluster", in, "-o", out, "--ranks", "3"}), 3, says);
  if (!process_models().empty()) expect_one_line(run_on(3, {"cluster", in, "-o", out}), 3, says);
  EXPECT_EQ(folder.list(), names);
  std::string old;
  std::ifstream(out) >> old;
  EXPECT_EQ(old, "old");
}

TEST(BadInputs, are_the_same_error_over_every_model) {
  const Folder folder;
  const std::string in = folder.file("in.nc");
  value("volume", 4, -3)(in);
  for (const auto& model : process_models())
    expect_one_line(run_on(4, {"cluster", in, "--comm", model}), 3, {"parcel 4", "volume is -3"});
}

TEST(BadInputs, are_refused_by_verify_and_bench_too) {
  const Folder folder;
  const std::string in = folder.file("in.nc");
  value("volume", 4, -3)(in);
  expect_one_line(run({"bench", "files", in}), 3, {"parcel 4", "volume is -3"});
  const Outcome o = run({"verify", "--comm", "threads", "--ranks", "2", "--samples", "0", in});
  EXPECT_EQ(o.code, 3) << o.text();
  EXPECT_NE(o.err.find("parcel 4"), std::string::npos) << o.text();
}

TEST(BadInputs, more_ranks_than_cells_are_refused) {
  const Folder folder;
  const std::string in = folder.file("in.nc");
  ASSERT_EQ(run({"gen", "random", "--cells", "2,1,1", "-o", in}).code, 0);
  expect_one_line(run({"cluster", in, "--ranks", "3"}), 3, {"3 ranks", "cells"});
  if (!process_models().empty()) expect_one_line(run_on(3, {"cluster", in}), 3, {"3 ranks", "cells"});
}

class BadOutput : public testing::Test {
 protected:
  void SetUp() override {
    ASSERT_EQ(run({"gen", "random", "--cells", "8,8,8", "--per-cell", "20", "-o", in_}).code, 0);
  }
  Folder folder_;
  std::string in_ = folder_.file("in.nc");
};

TEST_F(BadOutput, places_where_no_file_can_be_are_refused) {
  std::ofstream(folder_.file("file")) << "x";
  for (const std::string& out : {folder_.file("missing/out.nc"), folder_.file("file/out.nc"), folder_.path().string(),
                                 std::string("/proc/out.nc")}) {
    expect_one_line(run({"cluster", in_, "-o", out}), 3, {out});
    expect_one_line(run({"cluster", in_, "--json", out}), 3, {out});
    expect_one_line(run({"gen", "random", "--cells", "2,2,2", "-o", out}), 3, {out});
  }
  if (!process_models().empty())
    expect_one_line(run_on(3, {"cluster", in_, "-o", folder_.file("missing/out.nc")}), 3, {"missing/out.nc"});
}

TEST_F(BadOutput, places_for_results_are_looked_at_before_the_work_is_done) {
  MERGANSER_NEEDS_PACKAGE("topology");
  const std::string in_nothing = folder_.file("missing/k.json");
  const Arguments endless = {"topo", "bench", "--models", "threads", "--ranks", "2", "--time", "100000"};
  for (const Arguments& where : {Arguments{"--json", in_nothing}, Arguments{"--csv", folder_.path().string()}}) {
    Arguments command = endless;
    command.insert(command.end(), where.begin(), where.end());
    expect_one_line(run(command), 3, {"cannot write " + where[1]});
  }
  if (!process_models().empty())
    expect_one_line(run_on(2, {"topo", "bench", "--time", "100000", "--json", in_nothing}), 3, {in_nothing});
  expect_one_line(run({"topo", "bench", "--json", "-", "--csv", "-"}), 2, {"--json and --csv both"});
  expect_one_line(run({"compare", folder_.path().string(), in_}), 3, {"it is a folder"});
}

TEST_F(BadOutput, a_record_on_standard_output_has_it_to_itself) {
  MERGANSER_NEEDS_PACKAGE("topology");
  for (const Arguments& command :
       {Arguments{"topo", "gen", "rgg", "--ranks", "2", "--json", "-"},
        Arguments{"topo", "gen", "rgg", "--ranks", "2", "--compat", "neve", "--json", "-"}}) {
    const Outcome o = run(command);
    EXPECT_EQ(o.code, 0) << o.text();
    EXPECT_TRUE(o.out.starts_with("{")) << o.out;
    EXPECT_EQ(o.out.find("\\u0000"), std::string::npos) << o.out;
  }
}

/// Returns the path of a device that is always full. It makes one of its own if it may, so that a defect of the program cannot
/// remove /dev/full.
std::string full_device(const Folder& folder) {
  const std::string path = folder.file("full");
  return ::mknod(path.c_str(), S_IFCHR | 0666, makedev(1, 7)) == 0 ? path : "/dev/full";
}

TEST_F(BadOutput, devices_take_records_but_no_parcel_files_and_stay_what_they_are) {
  const std::string device = full_device(folder_);
  expect_one_line(run({"cluster", in_, "-o", device}), 3, {device, "not a plain file"});
  expect_one_line(run({"cluster", in_, "--json", device}), 3, {device, "No space left"});
  expect_one_line(run({"cluster", in_, "--picture", device}), 3, {device, "No space left"});
  EXPECT_TRUE(std::filesystem::is_character_file(device));
  EXPECT_EQ(run({"cluster", in_, "--csv", "/dev/stdout"}).code, 0);
  const Outcome o = Program({"/bin/sh", "-c", "exec \"$0\" doctor >" + device, command_path()}).wait(kSoon);
  expect_one_line(o, 3, {"cannot write to standard output"});
}

TEST_F(BadOutput, a_record_is_written_through_a_link) {
  const std::string link = folder_.file("link.json"), file = folder_.file("file.json");
  std::ofstream(file) << "old";
  std::filesystem::create_symlink("file.json", link);
  ASSERT_EQ(run({"cluster", in_, "--json", link}).code, 0);
  EXPECT_TRUE(std::filesystem::is_symlink(link));
  EXPECT_GT(std::filesystem::file_size(file), 1000U);
}

TEST_F(BadOutput, a_full_disk_is_an_error_and_leaves_the_old_file_and_no_other) {
  const std::string out = folder_.file("out.nc");
  std::ofstream(out) << "old";
  const auto names = folder_.list();
  const std::string limited = "ulimit -f 200; exec \"$0\" \"$@\"";
  for (const Arguments& command :
       {Arguments{"/bin/sh", "-c", limited, command_path(), "cluster", in_, "-o", out},
        Arguments{"/bin/sh", "-c", limited, command_path(), "cluster", in_, "-o", out, "--ranks", "3"},
        Arguments{"/bin/sh", "-c", limited, command_path(), "gen", "random", "--cells", "8,8,8", "--per-cell", "20",
                  "-o", out}})
    expect_one_line(Program(command).wait(kSoon), 3, {out});
  EXPECT_EQ(folder_.list(), names);
  std::string old;
  std::ifstream(out) >> old;
  EXPECT_EQ(old, "old");
}

TEST_F(BadOutput, where_no_descriptor_is_left_is_told_as_that) {
  int told = 0;
  for (int limit = 5; limit <= 9; ++limit) {
    const std::string limited = "ulimit -n " + std::to_string(limit) + "; exec \"$0\" \"$@\"";
    const Outcome o =
        Program({"/bin/sh", "-c", limited, command_path(), "cluster", in_, "-o", folder_.file("o.nc")}).wait(kSoon);
    EXPECT_FALSE(says(o, "Permission denied")) << o.text();
    told += says(o, "Too many open files") ? 1 : 0;
  }
  EXPECT_GT(told, 0);
}

/// HDF5 1.10 dereferences a wild pointer on this file; later versions may refuse it.
TEST(BadInput, that_crashes_the_library_below_is_refused_like_any_other) {
  const auto file = std::filesystem::path(__FILE__).parent_path().parent_path() / "data" / "hdf5_crash.nc";
  const Folder folder;
  std::ofstream(folder.file("out.nc")) << "old";
  for (const char* ranks : {"1", "3"}) {
    const Outcome o = run({"cluster", file.string(), "-o", folder.file("out.nc"), "--ranks", ranks});
    expect_one_line(o, 3, {"input: ", "hdf5_crash.nc"});
  }
  std::string left;
  std::ifstream(folder.file("out.nc")) >> left;
  EXPECT_EQ(left, "old");
}

}  // namespace
