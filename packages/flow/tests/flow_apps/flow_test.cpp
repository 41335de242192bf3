/// The command merganser flow: runs, snapshots, and continuing from them.
#include <gtest/gtest.h>

#include <csignal>
#include <filesystem>
#include <fstream>
#include <thread>

#include "apps/flow/files.hpp"
#include "apps/flow/schedule.hpp"
#include "apps/flow/snapshot.hpp"
#include "merganser/io/data_file.hpp"
#include "tests/apps/json.hpp"
#include "tests/apps/program.hpp"
#include "tests/io/folder.hpp"
#include "tests/support/folders.hpp"

namespace {

namespace app = merganser::app;
namespace io = merganser::io;
using namespace merganser::test;

/// Options of a flow that splits and merges parcels within few steps.
const Arguments kHurried{"flow", "rayleigh-taylor",    "--cells", "8",       "--max-aspect-ratio",
                         "1.5",  "--min-volume-ratio", "10",      "--alpha", "0.5"};

TEST(Flow, gives_the_same_digest_on_any_ranks_and_blocks) {
  const Folder folder;
  const Outcome one = run(kHurried + Arguments{"--until", "4", "--json", folder.file("one.json")});
  ASSERT_EQ(one.code, 0) << one.text();
  ASSERT_FALSE(one.digest().empty());
  const Json result = read_json_file(folder.file("one.json"))["result"];
  EXPECT_GT(result["merges"].get<int>(), 0);
  EXPECT_GT(result["splits"].get<int>(), 0);
  EXPECT_GE(result["time"].get<double>(), 4);
  EXPECT_LT(result["volume_error"].get<double>(), 1e-13);
  for (const Arguments& more :
       {Arguments{"--ranks", "2"}, Arguments{"--ranks", "4"}, Arguments{"--ranks", "3", "--decomposition", "1x3x1"},
        Arguments{"--ranks", "2", "--statistics", "collective"}}) {
    const Outcome other = run(kHurried + more + Arguments{"--until", "4", "--json", folder.file("other.json")});
    EXPECT_EQ(other.code, 0) << other.text();
    EXPECT_EQ(other.digest(), one.digest());
    EXPECT_EQ(read_json_file(folder.file("other.json"))["result"]["enstrophy"], result["enstrophy"]);
  }
  for (const std::string& model : process_models()) {
    const Outcome other = run_on(2, kHurried + Arguments{"--until", "4", "--comm", model});
    EXPECT_EQ(other.code, 0) << other.text();
    EXPECT_EQ(other.digest(), one.digest()) << model;
  }
}

TEST(Flow, goes_on_from_a_snapshot_on_other_ranks_as_if_it_had_not_ended) {
  const Folder folder;
  const Outcome all = run(kHurried + Arguments{"--until", "3", "-o", folder.file("all"), "--snapshots", "3"});
  ASSERT_EQ(all.code, 0) << all.text();
  const Arguments names = folder.list();
  ASSERT_EQ(names, (Arguments{"all_0000000001_fields.nc", "all_0000000001_parcels.nc", "all_0000000002_fields.nc",
                              "all_0000000002_parcels.nc", "all_0000000003_fields.nc", "all_0000000003_parcels.nc",
                              "all_parcel_stats.nc"}));
  const auto rows = app::read_statistics(folder.file("all_parcel_stats.nc"));
  ASSERT_GT(rows.size(), 5U);
  for (const char* ranks : {"1", "3"}) {
    const Outcome rest = run({"flow", "--restart", folder.file("all_0000000002_parcels.nc"), "--until", "3", "-o",
                              folder.file("all"), "--snapshots", "3", "--ranks", ranks});
    ASSERT_EQ(rest.code, 0) << rest.text();
    EXPECT_EQ(rest.digest(), all.digest()) << ranks;
    EXPECT_EQ(folder.list(), names);
    EXPECT_EQ(app::read_statistics(folder.file("all_parcel_stats.nc")), rows);
  }
}

/// Fails unless a file is an SVG picture whose style has a rule for every class of its elements.
void expect_picture_with_rules(const std::string& path) {
  const std::string svg = read_bytes(path);
  EXPECT_TRUE(svg.starts_with("<svg")) << path;
  const std::string mark = "class=\"";
  for (auto at = svg.find(mark); at != std::string::npos; at = svg.find(mark, at + 1)) {
    const auto begin = at + mark.size();
    const std::string name = svg.substr(begin, svg.find('"', begin) - begin);
    EXPECT_NE(svg.find('.' + name + " {"), std::string::npos) << path << ": no rule for the class " << name;
  }
}

TEST(Flow, writes_files_that_the_other_commands_read) {
  const Folder folder;
  const Outcome made =
      run(kHurried + Arguments{"--until", "2", "-o", folder.file("rt"), "--consecutive", "3", "--consecutive-from", "1",
                               "--no-fields", "--pictures", "--json", folder.file("f.json")});
  ASSERT_EQ(made.code, 0) << made.text();
  const Json record = read_json_file(folder.file("f.json"));
  const Json series = record["series"];
  EXPECT_EQ(series["stride"], 1);
  EXPECT_EQ(series["time"].size(), record["result"]["steps_made"].get<std::size_t>() + 1);
  for (const char* column : {"step", "time", "parcels", "small", "kinetic_energy", "enstrophy"}) {
    ASSERT_EQ(series[column].size(), series["time"].size()) << column;
    EXPECT_EQ(series[column].back(), record["result"][column]) << column;
  }
  std::int64_t splits = 0;
  for (const Json& n : series["splits"]) splits += n.get<std::int64_t>();
  EXPECT_EQ(splits, record["result"]["splits"]);
  Arguments files;
  for (const std::string& name : folder.list())
    if (name.ends_with("_parcels.nc")) files.push_back(folder.file(name));
  ASSERT_EQ(files.size(), 3U);
  for (const char* picture : {"rt_0000000002_buoyancy.svg", "rt_small.svg", "rt_clusters.svg"})
    expect_picture_with_rules(folder.file(picture));
  const Outcome bench = run(Arguments{"bench", "files"} + files +
                            Arguments{"--prune", "all", "--min-volume-ratio", "10", "--json", folder.file("b.json")});
  EXPECT_EQ(bench.code, 0) << bench.text();
  const Json scaling = read_json_file(folder.file("b.json"))["result"]["scaling"];
  ASSERT_EQ(scaling.size(), 2U);
  EXPECT_EQ(scaling[0]["prune"], "single-pass");
  EXPECT_EQ(scaling[1]["prune"], "iterative");
  EXPECT_EQ(run(Arguments{"bench", "files"} + files + Arguments{"--prune", "all", "--compare", "exact,cells8"}).code,
            2);
  EXPECT_EQ(run({"cluster", files[0], "--min-volume-ratio", "10", "--reference"}).code, 0);
}

TEST(Flow, writes_the_fields_of_its_state) {
  const Folder folder;
  ASSERT_EQ(run({"flow", "taylor-green", "--cells", "16", "--until", "0.01", "-o", folder.file("tg"), "--snapshots",
                 "2", "--ranks", "2"})
                .code,
            0);
  const io::FileGroup file = io::read_data(folder.file("tg_0000000001_fields.nc"));
  const auto values = [&](const char* name) {
    const io::FileValues* found = io::find_variable(file, name);
    return found == nullptr ? std::vector<double>() : io::to_doubles(*found);
  };
  const auto u = values("x_velocity");
  ASSERT_EQ(u.size(), 9U * 16 * 16);
  const auto x = values("x"), y = values("y"), z = values("z");
  for (std::size_t k = 0; k < 9; ++k)
    for (std::size_t j = 0; j < 16; ++j)
      for (std::size_t i = 0; i < 16; ++i)
        EXPECT_NEAR(u[(k * 16 + j) * 16 + i], std::sin(x[i]) * std::cos(y[j]) * std::cos(z[k]), 0.15);
  double parcels = 0;
  for (const double n : values("nparg")) parcels += n;
  EXPECT_EQ(parcels, 8 * 16 * 16 * 8);
}

TEST(Flow, that_is_stopped_leaves_whole_files_and_goes_on_from_the_last) {
  const Folder folder;
  const Arguments command =
      kHurried + Arguments{"--until", "4", "-o", folder.file("rt"), "--snapshots", "200", "--no-fields"};
  const Outcome all = run(command);
  ASSERT_EQ(all.code, 0) << all.text();
  for (const std::string& name : folder.list()) std::filesystem::remove(folder.file(name));
  {
    Program program(Arguments{command_path()} + command);
    for (int i = 0; i < 4000 && folder.list().size() < 6; ++i)
      std::this_thread::sleep_for(std::chrono::milliseconds(2));
    ::kill(program.pid(), SIGTERM);
    EXPECT_EQ(program.wait(std::chrono::seconds(20)).code, 128 + SIGTERM);
  }
  std::string last;
  for (const std::string& name : folder.list()) {
    EXPECT_TRUE(name.ends_with("_parcels.nc") || name == "rt_parcel_stats.nc") << name;
    if (name.ends_with("_parcels.nc")) last = name;
  }
  ASSERT_FALSE(last.empty());
  const Outcome rest =
      run({"flow", "--restart", folder.file(last), "--until", "4", "-o", folder.file("rt"), "--ranks", "2"});
  EXPECT_EQ(rest.code, 0) << rest.text();
  EXPECT_EQ(rest.digest(), all.digest());
}

TEST(Flow, goes_on_from_a_file_of_epic) {
  const auto file = shared_folder() / "data" / "epic-rt32-early.nc";
  if (!std::filesystem::exists(file)) GTEST_SKIP() << file << " is not there";
  const Folder folder;
  const Outcome o = run({"flow", "--restart", file.string(), "--until", "3.15", "--json", folder.file("r.json")});
  ASSERT_EQ(o.code, 0) << o.text();
  const Json record = read_json_file(folder.file("r.json"));
  EXPECT_GT(record["result"]["merges"].get<int>(), 20000);
  EXPECT_LT(record["result"]["volume_error"].get<double>(), 1e-13);
}

TEST(Flow, says_what_is_wrong_with_its_options) {
  const Folder folder;
  const auto refuses = [](const Arguments& words, int code, const std::string& part) {
    const Outcome o = run(Arguments{"flow"} + words);
    EXPECT_EQ(o.code, code) << o.text();
    EXPECT_TRUE(says(o.err, part)) << o.err;
  };
  refuses({}, 2, "either a CASE or --restart");
  refuses({"kelvin-helmholtz"}, 2, "rayleigh-taylor, taylor-green, thermal");
  refuses({"thermal", "--snapshots", "3"}, 2, "--snapshots: \"3\" is not used here; allowed only with --output");
  refuses({"thermal", "--cells", "9"}, 3, "even");
  refuses({"thermal", "--cells", "8", "--snapshots-from", "7", "--snapshots", "2", "-o", folder.file("a")}, 2,
          "--until");
  refuses({"thermal", "--cells", "8", "--ranks", "2", "--decomposition", "1x1x2"}, 3, "z whole");
  refuses({"thermal", "--cells", "8", "--alpha", "1e-320"}, 2, "1e-06");
  refuses({"rayleigh-taylor", "--cells", "8", "--perturbation", "1e20"}, 2, "1e+06");
  refuses({"rayleigh-taylor", "--cells", "8", "--until", "1e300"}, 3, "steps are to go; allowed: up to");
  refuses({"--restart", folder.file("none.nc")}, 3, "none.nc");
  refuses({"thermal", "--cells", "8", "-o", folder.file("none/a")}, 3, "none");
  ASSERT_EQ(run(kHurried + Arguments{"--until", "0.5", "-o", folder.file("b"), "--snapshots", "1"}).code, 0);
  refuses({"--restart", folder.file("b_0000000001_parcels.nc"), "--until", "0.4"}, 2, "a later one");
}

TEST(Schedule, writes_at_even_times_and_successive_states) {
  app::ScheduleOptions o;
  o.until = 4;
  o.snapshots = 3;
  o.consecutive = 2;
  o.consecutive_from = 1;
  app::Schedule schedule(o, false, 0, 0);
  std::vector<double> written;
  for (double t = 0; t <= 4; t += 0.5)
    if (schedule.due(t)) written.push_back(t);
  EXPECT_EQ(written, (std::vector<double>{0, 1.5, 2, 4}));
  EXPECT_TRUE(schedule.last(4));
  EXPECT_FALSE(schedule.last(3.5));
  app::Schedule again(o, true, 1.5, 1);
  written.clear();
  for (double t = 2; t <= 4; t += 0.5)
    if (again.due(t)) written.push_back(t);
  EXPECT_EQ(written, (std::vector<double>{2, 4}));
  EXPECT_EQ(again.consecutive(), 2);
}

TEST(Snapshots, are_found_by_their_names) {
  EXPECT_EQ(app::snapshot_name("a/rt", 12, "parcels.nc"), "a/rt_0000000012_parcels.nc");
  EXPECT_EQ(app::snapshot_base("a/rt_0000000012_parcels.nc"), "a/rt");
  EXPECT_EQ(app::snapshot_base("rt_parcels.nc"), "");
  EXPECT_EQ(app::snapshot_base("_12345678x0_parcels.nc"), "");
}

}  // namespace
