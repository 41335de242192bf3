/// Tests of `merganser cluster`: the same result for every number of ranks, model, pruning and decomposition, and its output files.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <map>
#include <sstream>
#include <string_view>

#include "tests/apps/json.hpp"
#include "tests/apps/parcel_files.hpp"
#include "tests/apps/program.hpp"
#include "tests/io/folder.hpp"
#include "tests/support/folders.hpp"

namespace {

using namespace merganser;
using namespace merganser::test;

class HardInput : public testing::TestWithParam<HardCase> {};
INSTANTIATE_TEST_SUITE_P(Cases, HardInput, testing::ValuesIn(hard_cases()), [](const auto& i) { return i.param.name; });

TEST_P(HardInput, merges_to_the_same_bits_on_threads_and_on_processes_and_as_the_reference) {
  const Folder folder;
  const std::string in = folder.file("in.nc");
  write_blobs(in, GetParam().blobs);
  const std::string record = folder.file("r.json");
  const Outcome one = run({"cluster", in, "-o", folder.file("one.nc"), "--min-volume-ratio", "20", "--audit",
                           "--reference", "--json", record});
  ASSERT_EQ(one.code, 0) << one.text();
  const auto result = read_json_file(record)["result"];
  EXPECT_EQ(result["n_before"].get<std::size_t>(), GetParam().blobs.size());
  if (GetParam().merged >= 0) {
    EXPECT_EQ(result["n_merged"].get<std::int64_t>(), GetParam().merged);
  }

  const Arguments again{"cluster", in, "-o", folder.file("again.nc"), "--min-volume-ratio", "20", "--audit"};
  const auto with = [&again](const Arguments& more) {
    Arguments all = again;
    all.insert(all.end(), more.begin(), more.end());
    return all;
  };
  for (const char* ranks : {"2", "7", "8"}) {
    const Outcome other = run(with({"--ranks", ranks, "--prune", "iterative"}));
    EXPECT_EQ(other.code, 0) << other.text();
    EXPECT_EQ(other.digest(), one.digest()) << ranks;
  }
  if (process_models().empty()) return;
  const Outcome other = run_on(3, again);
  EXPECT_EQ(other.code, 0) << other.text();
  EXPECT_EQ(other.digest(), one.digest());
}

TEST(Cluster, gives_the_same_digest_for_every_model_pruning_and_decomposition) {
  const Folder folder;
  const std::string in = folder.file("in.nc");
  ASSERT_EQ(run({"gen", "random", "--cells", "6,6,6", "--per-cell", "8", "--min-volume-ratio", "8", "-o", in}).code, 0);
  for (const char* search : {"exact", "cells8"}) {
    const Arguments base{"cluster", in, "--min-volume-ratio", "8", "--steps", "3", "--search", search};
    const auto with = [&base](const Arguments& more) {
      Arguments all = base;
      all.insert(all.end(), more.begin(), more.end());
      return all;
    };
    const std::string expected = run(base).digest();
    ASSERT_EQ(expected.size(), 32U);
    for (const char* shape : {"4x1x1", "1x2x2", "2x2x1", "3d"})
      EXPECT_EQ(run(with({"--ranks", "4", "--decomposition", shape, "--balance"})).digest(), expected) << shape;
    for (const auto& model : process_models())
      for (const char* prune : {"single-pass", "iterative"}) {
        const Outcome o = run_on(4, with({"--comm", model, "--prune", prune}));
        EXPECT_EQ(o.code, 0) << o.text();
        EXPECT_EQ(o.digest(), expected) << model << ' ' << prune << ' ' << search;
        EXPECT_NE(o.out.find("4 ranks, " + model + ","), std::string::npos) << o.out;
      }
  }
}

TEST(Cluster, makes_no_collective_call_in_its_loop_of_steps_and_tells_totals_of_known_age) {
  const Folder folder;
  const std::string in = folder.file("in.nc"), record = folder.file("r.json");
  ASSERT_EQ(run({"gen", "random", "--cells", "6,6,6", "--per-cell", "8", "--min-volume-ratio", "8", "-o", in}).code, 0);
  const Arguments base{"cluster", in, "--min-volume-ratio", "8", "--steps", "5", "--json", record, "--log", "info"};
  const auto with = [&base](const Arguments& more) {
    Arguments all = base;
    all.insert(all.end(), more.begin(), more.end());
    return all;
  };
  ASSERT_EQ(run(with({})).code, 0);
  const Json one = read_json_file(record)["result"];
  const auto expect_quiet_loop = [&](const Outcome& o, const std::string& model) {
    ASSERT_EQ(o.code, 0) << o.text();
    const Json r = read_json_file(record);
    EXPECT_EQ(r["result"], one) << model;
    EXPECT_EQ(r["loop"]["collectives"], 0) << model;
    EXPECT_EQ(r["loop"]["redistribution_waves"], 5) << model;
    EXPECT_EQ(r["loop"]["network"], "manhattan 2x2x1");
    EXPECT_EQ(r["loop"]["totals_age_steps"], 1);
    const std::string totals = " merged so far, as of step 4 (1 ago)";
    EXPECT_NE(o.err.find("step 5 of 5: "), std::string::npos) << o.err;
    EXPECT_NE(o.err.find(totals), std::string::npos) << o.err;
    EXPECT_EQ(o.err.find("step 1 of 5: "), std::string::npos) << o.err;
  };
  expect_quiet_loop(run(with({"--ranks", "4", "--comm", "threads"})), "threads");
  for (const auto& model : process_models()) expect_quiet_loop(run_on(4, with({"--comm", model})), model);
  // The collectives of --audit are counted.
  ASSERT_EQ(run(with({"--ranks", "4", "--comm", "threads", "--audit"})).code, 0);
  EXPECT_GT(read_json_file(record)["loop"]["collectives"], 0);
}

TEST(Cluster, merging_what_was_written_again_is_the_same_as_two_steps) {
  const Folder folder;
  const std::string in = folder.file("in.nc");
  ASSERT_EQ(run({"gen", "random", "--cells", "4,4,4", "--per-cell", "8", "--min-volume-ratio", "8", "-o", in}).code, 0);
  const Arguments ratio{"--min-volume-ratio", "8"};
  const std::string middle = folder.file("middle.nc"), end = folder.file("end.nc"), both = folder.file("both.nc");
  const std::string once = folder.file("once.json"), twice = folder.file("twice.json");
  ASSERT_EQ(run({"cluster", in, "-o", middle, "--min-volume-ratio", "8"}).code, 0);
  ASSERT_EQ(run({"cluster", middle, "-o", end, "--min-volume-ratio", "8", "--json", once}).code, 0);
  ASSERT_EQ(run({"cluster", in, "-o", both, "--min-volume-ratio", "8", "--steps", "2", "--json", twice}).code, 0);
  for (const char* key : {"n_after", "sum_volume", "digest"})
    EXPECT_EQ(read_json_file(once)["result"][key], read_json_file(twice)["result"][key]) << key;
}

TEST(Cluster, refuses_a_picture_of_another_kind_before_it_works) {
  const Folder folder;
  for (const char* name : {"p.jpg", "p"}) {
    const Outcome o = run({"cluster", folder.file("none.nc"), "--picture", folder.file(name)});
    EXPECT_EQ(o.code, 2) << o.text();
    EXPECT_NE(o.err.find(".svg, .png or .pdf"), std::string::npos) << o.err;
    EXPECT_FALSE(std::filesystem::exists(folder.file(name)));
  }
}

TEST(Cluster, of_one_rank_has_one_column_of_times) {
  const Folder folder;
  const std::string in = folder.file("in.nc");
  ASSERT_EQ(run({"gen", "random", "-o", in, "--cells", "4,4,4", "--per-cell", "8"}).code, 0);
  for (const char* ranks : {"1", "2"}) {
    const Outcome o = run({"cluster", in, "--ranks", ranks});
    EXPECT_EQ(o.code, 0) << o.text();
    EXPECT_EQ(o.out.find("median") == std::string::npos, ranks[0] == '1') << o.out;
  }
}

TEST(Cluster, writes_table_record_and_picture) {
  const Folder folder;
  const std::string in = folder.file("in.nc"), csv = folder.file("t.csv"), svg = folder.file("p.svg");
  ASSERT_EQ(run({"gen", "random", "--cells", "4,4,4", "--per-cell", "8", "--min-volume-ratio", "8", "-o", in}).code, 0);
  const Outcome o = run({"cluster", in, "--ranks", "2", "--min-volume-ratio", "8", "--csv", csv, "--picture", svg});
  ASSERT_EQ(o.code, 0) << o.text();
  EXPECT_TRUE(o.err.empty()) << o.err;
  std::ifstream table(csv);
  std::vector<std::string> lines;
  for (std::string line; std::getline(table, line);) lines.push_back(line);
  ASSERT_EQ(lines.size(), 3U);  // head, two ranks
  EXPECT_EQ(lines[0].substr(0, 36), "step,rank,before,small,merged,after,");
  std::ifstream picture(svg);
  std::string first;
  std::getline(picture, first);
  EXPECT_NE(first.find("<svg"), std::string::npos);
  const Outcome to_standard_output = run({"cluster", in, "--min-volume-ratio", "8", "--json", "-"});
  EXPECT_EQ(Json::parse(to_standard_output.out)["result"]["n_before"], 512);
}

std::string shared_data() { return shared_folder().string() + "/data/"; }

TEST(Cluster, gives_the_published_counts_for_the_rayleigh_taylor_file) {
  const std::string in = shared_data() + "epic-rt32-early.nc";
  if (!std::filesystem::exists(in)) GTEST_SKIP() << in << " is missing; MERGANSER_SHARED names its folder's parent";
  const Folder folder;
  const std::string record = folder.file("r.json");
  const Outcome o = run({"cluster", in, "-o", folder.file("out.nc"), "--min-volume-ratio", "20", "--json", record});
  ASSERT_EQ(o.code, 0) << o.text();
  const Json expected = read_json_file(shared_data() + "epic-rt32-early.expected.json");
  Json got = read_json_file(record)["result"];
  EXPECT_EQ(got["digest"].get<std::string>().size(), 32U);
  got.erase("digest");
  ASSERT_EQ(got.size(), expected.size());
  for (const auto& [key, value] : expected.items()) {
    if (!value.is_number_float() && key != "sum_volume_vorticity") {
      EXPECT_EQ(got[key], value) << key;
      continue;
    }
    // Sums that cancel consist of rounding errors, so the tolerance is relative to the summands.
    const auto x = got[key].is_array() ? got[key].get<std::vector<double>>() : std::vector{got[key].get<double>()};
    const auto y = value.is_array() ? value.get<std::vector<double>>() : std::vector{value.get<double>()};
    ASSERT_EQ(x.size(), y.size()) << key;
    for (std::size_t i = 0; i < x.size(); ++i) EXPECT_NEAR(x[i], y[i], 1e-12 * std::max(1.0, std::fabs(y[i]))) << key;
  }
}

/// Writes a parcel file of particles with momenta and a species.
/// @param epic  with a species and EPIC's attributes, of which that of the shape does not merge in groups of friends
void write_particles(const std::string& path, bool epic = true) {
  const Grid grid{.box = {{0, 0, 0}, {4, 3, 2}, {true, true, false}}, .cells = {4, 3, 2}};
  const auto make_schema = [epic] {
    std::vector<Attribute> all;
    if (epic) all = Schema::epic().attributes();
    for (const char* name : {"ux", "uy", "uz"}) all.push_back({name, 1, Rule::mean, {name}, ""});
    if (epic) all.push_back({"species", 1, Rule::centre, {"species"}, ""});
    return Schema(std::move(all));
  };
  Parcels parcels(make_schema());
  const Schema& schema = parcels.schema();
  for (int i = 0; i < 400; ++i) {
    const auto part = [i](int prime) { return static_cast<double>((i + 1) * prime % 1009) / 1009; };
    std::vector<double> row(schema.width(), 0.0);
    row[schema.offset("ux")] = part(389) - 0.5;
    row[schema.offset("uy")] = part(619) - 0.5;
    row[schema.offset("uz")] = part(877);
    if (epic) row[schema.offset("species")] = i % 2;
    const double volume = 0.01 + 0.01 * part(503);
    const double radius = std::cbrt(0.75 * volume / 3.14159265358979);
    if (epic) row[schema.offset("B")] = row[schema.offset("B") + 3] = radius * radius;
    parcels.append({4 * part(101), 3 * part(211), 2 * part(307), volume}, row.data());
    parcels.set_id(parcels.size() - 1, i);
  }
  comm::run({"threads", 1, ""},
            [&](comm::Transport& t) { io::write_parcels(path, parcels, Decomposition(grid, 1), 0.0, t); });
}

constexpr const char* kParticleRules = "ux:mean,uy:mean,uz:mean,species:centre";

TEST(ClusterPolicy, gives_the_same_digest_on_any_ranks_and_that_of_the_reference) {
  const Folder folder;
  const std::string in = folder.file("in.nc");
  const std::string record = folder.file("r.json");
  write_particles(in);
  for (const char* policy : {"crowded:12->8, same:species, within:1cell, place:member", "small:0.015, pairs",
                             "small:0.015, members:3, within:0.5", "small:0.015, greedy:3, within:0.5",
                             "crowded:12->6, split:9, along:axis", "none, split:14, along:axis"}) {
    SCOPED_TRACE(policy);
    const Arguments base{"cluster", in, "--attribute", kParticleRules, "--policy", policy};
    std::string digest;
    for (const char* ranks : {"1", "2", "4"}) {
      Arguments all = base;
      all.insert(all.end(), {"--ranks", ranks, "--json", record, "--reference"});
      const Outcome out = run(all);
      ASSERT_EQ(out.code, 0) << out.text();
      if (digest.empty()) digest = out.digest();
      EXPECT_EQ(out.digest(), digest) << ranks;
    }
    const auto json = read_json_file(record);
    EXPECT_EQ(json["counters"]["collectives"].get<int>(), 0);
    EXPECT_TRUE(json["policy"]["settled"].get<bool>());
    if (std::string_view(policy).find("split") == std::string_view::npos) {
      EXPECT_LT(json["result"]["n_after"].get<int>(), 400);
    } else {
      EXPECT_NE(json["result"]["n_after"].get<int>(), 400);
    }
  }
  const Outcome audited = run({"cluster", in, "--attribute", kParticleRules, "--audit", "--ranks", "2", "--policy",
                               "crowded:12->8, same:species, place:member"});
  EXPECT_EQ(audited.code, 0) << audited.text();
  const Outcome split = run({"cluster", in, "--attribute", kParticleRules, "--audit", "--ranks", "2", "--steps", "3",
                             "--policy", "crowded:12->6, split:9, along:axis", "--json", record});
  EXPECT_EQ(split.code, 0) << split.text();
  EXPECT_NE(split.text().find("new by splitting"), std::string::npos);
  EXPECT_NE(split.text().find("weight on grid nodes, shape order 1"), std::string::npos);
  const auto json = read_json_file(record);
  EXPECT_GT(json["policy"]["split"].get<int>(), 0);
  EXPECT_GT(json["checks"]["deposition"]["largest"].get<double>(), 0);
}

/// Lines of a file of --labels: the label of each parcel, and the columns of each group.
struct LabelFile {
  explicit LabelFile(const std::string& text) {
    std::istringstream lines(text);
    for (std::string line; std::getline(lines, line);) {
      std::istringstream words(line);
      std::string first;
      std::string id;
      words >> first >> id;
      if (first != "#") labels.push_back(id);
      if (first == "#" && id == "groups") head = line;
      if (first != "#" || id == "groups") continue;
      for (std::string word; words >> word;) groups[id].push_back(std::stod(word));
      ids.push_back(std::stoll(id));
    }
  }
  std::vector<std::string> labels;
  std::string head;
  std::vector<std::int64_t> ids;
  std::map<std::string, std::vector<double>> groups;
};

TEST(ClusterPolicy, labels_friends_lists_groups_and_merges_nothing_without_an_output) {
  const Folder folder;
  const std::string in = folder.file("in.nc");
  write_particles(in);
  std::string first;
  for (const char* ranks : {"1", "2", "4"}) {
    const std::string labels = folder.file("labels.txt");
    const Outcome out = run({"cluster", in, "--attribute", kParticleRules, "--policy", "friends:0.6spacing", "--labels",
                             labels, "--ranks", ranks});
    ASSERT_EQ(out.code, 0) << out.text();
    EXPECT_NE(out.text().find("groups are labelled, nothing is merged"), std::string::npos) << out.text();
    const std::string text = read_bytes(labels);
    if (first.empty()) first = text;
    EXPECT_EQ(text, first) << ranks;
  }
  const LabelFile file(first);
  ASSERT_EQ(file.labels.size(), 400U);
  EXPECT_EQ(file.head, "# groups of 2 parcels and more: id members mass x y z velocity_x velocity_y velocity_z winds");
  std::map<std::string, double> members;
  for (const std::string& id : file.labels) ++members[id];
  EXPECT_LT(members.size(), 400U) << "some are friends";
  EXPECT_GT(members.size(), 4U) << "not all";
  std::size_t groups = 0;
  for (const auto& [id, count] : members) {
    if (count == 1) continue;
    ++groups;
    ASSERT_EQ(file.groups.count(id), 1U) << id;
    EXPECT_EQ(file.groups.at(id)[0], count) << id;
    EXPECT_EQ(file.groups.at(id).size(), 9U);
  }
  EXPECT_EQ(file.groups.size(), groups);
  EXPECT_TRUE(std::is_sorted(file.ids.begin(), file.ids.end()));
}

TEST(ClusterPolicy, lists_the_groups_that_it_merges) {
  const Folder folder;
  const std::string in = folder.file("in.vtkhdf");
  write_particles(in, false);
  std::string first;
  for (const char* output : {"", "out.vtkhdf"}) {
    const std::string labels = folder.file("labels.txt");
    Arguments all{"cluster", in, "--policy", "friends:0.6spacing", "--labels", labels, "--ranks", "2"};
    if (*output != '\0') all.insert(all.end(), {"--output", folder.file(output)});
    const Outcome out = run(all);
    ASSERT_EQ(out.code, 0) << out.text();
    const std::string text = read_bytes(labels);
    if (first.empty()) first = text;
    EXPECT_EQ(text, first);
  }
  const Outcome two = run({"cluster", in, "--policy", "friends:0.6spacing", "--labels", "-", "--output",
                           folder.file("two.vtkhdf"), "--steps", "2"});
  EXPECT_EQ(two.code, 0) << two.text();
  EXPECT_EQ(two.out.find("# groups"), std::string::npos) << "groups of the first step are not those of both";
  for (const char* ranks : {"1", "2"}) {
    const Outcome out = run({"cluster", in, "--policy", "friends:0.6spacing", "--labels", "-", "--ranks", ranks});
    EXPECT_EQ(out.code, 0) << out.text();
    EXPECT_EQ(out.out, first) << "standard output has the labels and nothing else";
  }
}

TEST(ClusterPolicy, names_groups_that_wind_round_the_box_where_they_are_only_labelled) {
  const Folder folder;
  const std::string in = folder.file("in.nc");
  write_particles(in);
  const std::string labels = folder.file("labels.txt");
  const Outcome out = run({"cluster", in, "--attribute", kParticleRules, "--policy", "friends:1.5spacing", "--labels",
                           labels, "--ranks", "2", "--periodic", "xyz"});
  ASSERT_EQ(out.code, 0) << out.text();
  EXPECT_NE(out.text().find("winds round the box through a periodic face: it has no centre"), std::string::npos)
      << out.text();
  const std::string text = read_bytes(labels);
  EXPECT_NE(text.find(" nan nan nan "), std::string::npos);
}

TEST(ClusterPolicy, two_commands_of_one_step_give_the_bits_of_one_command_of_two) {
  const Folder folder;
  const std::string in = folder.file("in.nc");
  write_particles(in);
  const Arguments base{"--attribute", kParticleRules, "--policy", "small:0.025, place:member, seed:3"};
  const auto cluster = [&base](const Arguments& files) {
    Arguments all{"cluster"};
    all.insert(all.end(), files.begin(), files.end());
    all.insert(all.end(), base.begin(), base.end());
    const Outcome out = run(all);
    EXPECT_EQ(out.code, 0) << out.text();
    return out.digest();
  };
  cluster({in, "-o", folder.file("one.nc")});
  EXPECT_EQ(cluster({folder.file("one.nc"), "--ranks", "2"}), cluster({in, "--steps", "2"}));
}

TEST(ClusterPolicy, says_what_is_allowed_where_a_policy_is_refused) {
  const Folder folder;
  const std::string in = folder.file("in.nc");
  write_particles(in);
  const auto fails = [&in](const Arguments& more, const char* message) {
    Arguments all{"cluster", in, "--attribute", kParticleRules};
    all.insert(all.end(), more.begin(), more.end());
    const Outcome out = run(all);
    EXPECT_EQ(out.code, 2) << out.text();
    EXPECT_NE(out.text().find(message), std::string::npos) << out.text();
  };
  fails({"--policy", "friends:0.2"}, "ellipsoid");
  fails({"--policy", "friends:0.2", "--labels", "l.txt", "--steps", "2"}, "--output");
  fails({"--policy", "small:1, greedy:16"}, "greedy");
  fails({"--policy", "crowd:3"}, "crowd");
  fails({"--policy", "small:1, same:colour"}, "colour");
  fails({"--policy", "small:1", "--search", "cells8"}, "cells8");
  fails({"--policy", "small:1", "--picture", "p.svg"}, "--picture");
  fails({"--policy", "level:2", "--audit"}, "level");
}

}  // namespace
