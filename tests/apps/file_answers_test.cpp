/// Tests that every verb takes values from the parcel file unless an option overrides them, and reports the source of each value.
#include <gtest/gtest.h>

#include <fstream>
#include <set>
#include <utility>

#include "merganser/io/parcel_file.hpp"
#include "tests/apps/json.hpp"
#include "tests/apps/program.hpp"
#include "tests/io/epic_file.hpp"
#include "tests/io/folder.hpp"

namespace {

using namespace merganser::test;
namespace io = merganser::io;

using Flags = std::array<bool, 3>;

class FileAnswers : public testing::Test {
 protected:
  /// Generates parcels in a box that is periodic in y only, with volume ratio 20.
  void generate(const Arguments& more = {}) {
    const Outcome o = run(Arguments{"gen", "random", "--cells", "4,4,4", "--per-cell", "20", "--periodic", "y",
                                    "--min-volume-ratio", "20", "-o", in_} +
                          more);
    ASSERT_EQ(o.code, 0) << o.text();
  }
  Folder folder_;
  std::string in_ = folder_.file("in.nc"), out_ = folder_.file("out.nc"), record_ = folder_.file("r.json");
};

void expect_file(const std::string& path, const Flags& periodic, double ratio) {
  const io::ParcelFileInfo info = io::read_info(path);
  EXPECT_TRUE(info.says_periodic);
  for (std::size_t a = 0; a < 3; ++a) EXPECT_EQ(info.grid.box.periodic[a], periodic[a]) << path << ", axis " << a;
  EXPECT_EQ(info.min_volume_ratio, ratio) << path;
}

TEST_F(FileAnswers, go_through_a_chain_of_commands) {
  generate();
  expect_file(in_, {false, true, false}, 20);
  const Outcome o = run({"cluster", in_, "-o", out_, "--json", record_});
  ASSERT_EQ(o.code, 0) << o.text();
  EXPECT_EQ(o.err, "");
  EXPECT_TRUE(says(o.out, "periodic y (from " + in_ + "), min-volume-ratio 20 (from " + in_ + ")")) << o.out;
  EXPECT_TRUE(says(o.out, "periodic in y,")) << o.out;
  expect_file(out_, {false, true, false}, 20);
  const Json record = read_json_file(record_);
  EXPECT_EQ(record["options"]["periodic"], "y");
  EXPECT_EQ(record["options"]["min-volume-ratio"], 20);
  EXPECT_EQ(record["sources"]["periodic"]["source"], "from " + in_);
  EXPECT_GT(record["result"]["n_small"].get<int>(), 0) << record["result"];
  // The same result as with the values given by options.
  const Outcome said = run({"cluster", in_, "--periodic", "y", "--min-volume-ratio", "20"});
  EXPECT_EQ(said.err, "");
  EXPECT_TRUE(says(said.out, "periodic y (--periodic), min-volume-ratio 20 (--min-volume-ratio)")) << said.out;
  EXPECT_EQ(said.digest(), o.digest());
  const std::string last = folder_.file("last.nc");
  ASSERT_EQ(run({"cluster", out_, "-o", last, "--ranks", "2"}).code, 0);
  expect_file(last, {false, true, false}, 20);
}

TEST_F(FileAnswers, an_option_that_overrides_them_is_told) {
  generate();
  const Outcome o =
      run({"cluster", in_, "-o", out_, "--periodic", "xyz", "--min-volume-ratio", "10", "--json", record_});
  ASSERT_EQ(o.code, 0) << o.text();
  EXPECT_TRUE(says(o.err, "--periodic xyz overrides " + in_ + ", which says y")) << o.err;
  EXPECT_TRUE(says(o.err, "--min-volume-ratio 10 overrides " + in_ + ", which says 20")) << o.err;
  expect_file(out_, {true, true, true}, 10);
  EXPECT_EQ(read_json_file(record_)["sources"]["min-volume-ratio"],
            (Json{{"value", 10}, {"source", "--min-volume-ratio"}, {"in_file", 20}}));
}

TEST_F(FileAnswers, that_are_missing_are_replaced_by_a_rule_that_is_told) {
  EpicFile().make(in_);
  const Outcome o = run({"cluster", in_, "-o", out_, "--json", record_});
  ASSERT_EQ(o.code, 0) << o.text();
  EXPECT_TRUE(says(o.out, "periodic xy (" + in_ +
                              " does not say: EPIC's files, without the attribute periodic, are "
                              "periodic in x and y), min-volume-ratio 40 (" +
                              in_ + " does not say: default of files without the attribute min_vratio)"))
      << o.out;
  EXPECT_EQ(read_json_file(record_)["options"]["periodic"], "xy");
  EXPECT_TRUE(read_json_file(record_)["sources"]["periodic"]["in_file"].is_null());
  expect_file(out_, {true, true, false}, 40);
}

TEST_F(FileAnswers, none_small_is_a_warning_with_both_volumes) {
  EpicFile file;  // volumes 0.00419 in cells of 0.125
  file.attributes["min_vratio"] = {1000};
  file.make(in_);
  const Outcome o = run({"cluster", in_});
  EXPECT_EQ(o.code, 0) << o.text();
  EXPECT_TRUE(says(o.err,
                   "0 of 6 parcels are small, nothing was merged: the smallest volume is 0.004188786666666666, "
                   "small is below 0.000125 (cell volume 0.125 / min-volume-ratio 1000 (from "))
      << o.err;
  EXPECT_EQ(run({"cluster", in_, "--min-volume-ratio", "20"}).err.find("0 of 6"), std::string::npos);
}

TEST_F(FileAnswers, that_cannot_be_are_refused) {
  for (const auto& [name, values, says_it] :
       {std::tuple{"periodic", std::vector<double>{1, 2, 0}, "periodic holds 2; allowed: 0 or 1"},
        {"periodic", {1, 1}, "periodic must hold 3 numbers"},
        {"min_vratio", {0}, "min_vratio holds 0; allowed: numbers above 0"},
        {"min_vratio", {-20}, "min_vratio holds -20"},
        {"min_vratio", {NAN}, "min_vratio holds nan"},
        {"min_vratio", {INFINITY}, "min_vratio holds inf"},
        {"min_vratio", {20, 20}, "min_vratio must hold 1 numbers"}}) {
    EpicFile file;
    file.attributes[name] = values;
    file.make(in_);
    const Outcome o = run({"cluster", in_});
    EXPECT_EQ(o.code, 3) << o.text();
    EXPECT_TRUE(says(o.err, says_it)) << o.err;
  }
}

TEST_F(FileAnswers, count_for_every_option_that_a_file_can_answer) {
  generate();
  const std::string other = folder_.file("other.nc");
  EpicFile().make(other);
  const std::map<std::string, Arguments> commands{
      {"cluster", {"cluster", in_}},
      {"convert", {"convert", in_, out_}},
      {"verify", {"verify", in_, "--ranks", "1", "--comm", "threads", "--samples", "0"}},
      {"bench files", {"bench files", in_, "--steps", "1"}}};
  const std::map<std::string, std::string> values{{"periodic", "y"}, {"min-volume-ratio", "20"}};
  const std::map<std::string, std::string> others{{"periodic", "xyz"}, {"min-volume-ratio", "9"}};
  const Json tables = Json::parse(run({"list-options"}).out);
  for (const auto& [verb, options] : tables.items())
    for (const Json& o : options) {
      if (!o["from_input"]) continue;
      const std::string name = o["name"];
      ASSERT_TRUE(commands.contains(verb) && values.contains(name)) << verb << ' ' << name << ": no case here";
      Arguments command = commands.at(verb);
      if (verb == "bench files") command.erase(command.begin()), command.insert(command.begin(), {"bench", "files"});
      const Outcome plain = run(command);
      EXPECT_EQ(plain.code, 0) << plain.text();
      EXPECT_TRUE(says(plain.out, name + ' ' + values.at(name) + " (from " + in_ + ")")) << verb << '\n' << plain.out;
      EXPECT_FALSE(says(plain.err, "overrides")) << plain.err;
      const Outcome given = run(command + Arguments{"--" + name, others.at(name)});
      EXPECT_EQ(given.code, 0) << given.text();
      EXPECT_TRUE(says(given.out, name + ' ' + others.at(name) + " (--" + name + ")")) << verb << '\n' << given.out;
      EXPECT_TRUE(says(given.err, "--" + name + ' ' + others.at(name) + " overrides " + in_)) << verb << '\n'
                                                                                              << given.err;
    }
}

TEST_F(FileAnswers, of_a_benchmark_agree_or_are_given) {
  generate();
  const std::string other = folder_.file("other.nc");
  ASSERT_EQ(run({"gen", "random", "--cells", "4,4,4", "--per-cell", "20", "--periodic", "y", "--min-volume-ratio", "9",
                 "-o", other})
                .code,
            0);
  const Arguments command{"bench", "files", in_, other, "--steps", "2"};
  const Outcome o = run(command);
  EXPECT_EQ(o.code, 3) << o.text();
  EXPECT_TRUE(says(o.err,
                   "have different attributes min_vratio, 9 and 20; allowed: files of one ratio, or "
                   "--min-volume-ratio for all"))
      << o.err;
  EXPECT_EQ(run(command + Arguments{"--min-volume-ratio", "20"}).code, 0);
}

TEST_F(FileAnswers, of_a_flow_go_through_cluster_and_back) {
  MERGANSER_NEEDS_PACKAGE("flow");
  const std::string base = folder_.file("f");
  const Outcome made = run({"flow", "rayleigh-taylor", "--cells", "4", "--until", "0.2", "--min-volume-ratio", "10",
                            "--alpha", "0.5", "-o", base, "--snapshots", "1", "--no-fields"});
  ASSERT_EQ(made.code, 0) << made.text();
  const std::string snapshot = base + "_0000000001_parcels.nc";
  const Outcome kept = run({"cluster", snapshot, "-o", out_});
  ASSERT_EQ(kept.code, 0) << kept.text();
  EXPECT_TRUE(says(kept.out, "min-volume-ratio 10 (from ")) << kept.out;
  ASSERT_EQ(run({"cluster", snapshot, "-o", out_, "--min-volume-ratio", "30"}).code, 0);
  const Outcome on = run({"flow", "--restart", out_, "--until", "1", "--alpha", "0.4", "--json", record_});
  ASSERT_EQ(on.code, 0) << on.text();
  EXPECT_TRUE(says(on.err, "--alpha 0.4 overrides " + out_ + ", which says 0.5")) << on.err;
  EXPECT_TRUE(says(on.out, "alpha 0.4 (--alpha)")) << on.out;
  const Json record = read_json_file(record_);
  EXPECT_EQ(record["options"]["min-volume-ratio"], 30);
  EXPECT_EQ(record["sources"]["min-volume-ratio"]["source"], "from " + out_);
  EXPECT_EQ(record["sources"]["periodic"]["value"], "xy");
  const Outcome refused = run({"flow", "--restart", out_, "--until", "1", "--cells", "64"});
  EXPECT_EQ(refused.code, 2);
  EXPECT_TRUE(says(refused.err, "--cells: \"64\" is not used with --restart; allowed: without it")) << refused.err;
}

TEST_F(FileAnswers, a_seed_beside_weights_of_a_file_is_refused) {
  MERGANSER_NEEDS_PACKAGE("graph");
  std::ofstream(in_ + ".txt") << "0 1 5\n1 2 7\n";
  const Outcome o = run({"msf", in_ + ".txt", "--seed", "3"});
  EXPECT_EQ(o.code, 2) << o.text();
  EXPECT_TRUE(says(o.err, "--seed is not used: " + in_ + ".txt has weights; allowed: without it, or with --weights"))
      << o.err;
  EXPECT_EQ(run({"msf", in_ + ".txt", "--seed", "3", "--weights", "uniform"}).code, 0);
}

}  // namespace
