/// Tests of `merganser cluster` on files of other programs and on its own output: nothing is lost, and the bits are the same for
/// any number of ranks in any command of a chain.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <fstream>
#include <map>
#include <set>
#include <sstream>

#include "tests/apps/program.hpp"
#include "tests/io/epic_file.hpp"
#include "tests/io/folder.hpp"

namespace {

using namespace merganser::test;

constexpr std::size_t kEdge = 10;  // of the lattice

/// Returns a file with a lattice of parcels in which all distances are tied, in the order given by `place`, without ids.
EpicFile lattice(const std::function<std::size_t(std::size_t)>& place) {
  EpicFile file;
  file.parcels = kEdge * kEdge * kEdge;
  file.variables.clear();
  for (std::size_t at = 0; at < file.parcels; ++at) {
    const std::size_t i = place(at);
    const std::array<std::size_t, 3> cell{i % kEdge, i / kEdge % kEdge, i / kEdge / kEdge};
    const double volume = (i % 5 < 3 ? 0.5 : 2) * 8.0 / 64 / 40;
    const double radius2 = std::pow(0.75 * volume / 3.14159265358979, 2.0 / 3);
    auto& v = file.variables;
    const std::array<const char*, 3> axes{"x_position", "y_position", "z_position"};
    for (std::size_t a = 0; a < 3; ++a) v[axes[a]].push_back(-1 + 2 * (static_cast<double>(cell[a]) + 0.5) / kEdge);
    v["volume"].push_back(volume);
    v["buoyancy"].push_back(std::sin(static_cast<double>(i)));
    for (const char* name : {"x_vorticity", "y_vorticity", "z_vorticity"}) v[name].push_back(0.1);
    for (const char* name : {"B11", "B22"}) v[name].push_back(radius2);
    for (const char* name : {"B12", "B13", "B23"}) v[name].push_back(0);
  }
  return file;
}

Outcome expect_success(const Outcome& o) {
  EXPECT_EQ(o.code, 0) << o.text();
  EXPECT_EQ(o.digest().size(), 32U) << o.text();
  return o;
}

TEST(ParcelChain, has_one_digest_for_any_ranks_and_models_in_each_command) {
  const Folder folder;
  const std::string in = folder.file("in.nc");
  lattice([](std::size_t i) { return i; }).make(in);
  const auto digest = [](const Outcome& o) { return expect_success(o).digest(); };
  const std::string middle = folder.file("a.nc");
  const Arguments first{"cluster", in, "-o", middle};
  const Arguments second{"cluster", middle, "--min-volume-ratio", "5"};
  const auto with_ranks = [](Arguments words, int ranks) {
    words.insert(words.end(), {"--ranks", std::to_string(ranks)});
    return words;
  };
  std::set<std::string> firsts, seconds;
  for (int ranks = 1; ranks <= 4; ++ranks) {
    firsts.insert(digest(run(with_ranks(first, ranks))));
    seconds.insert(digest(run(with_ranks(second, 1 + ranks % 4))));
  }
  for (const std::string& model : process_models()) {
    const auto with_model = [&](Arguments words) {
      words.insert(words.end(), {"--comm", model});
      return words;
    };
    firsts.insert(digest(run_on(3, with_model(first))));
    seconds.insert(digest(run_on(2, with_model(second))));
  }
  EXPECT_EQ(firsts.size(), 1U);
  EXPECT_EQ(seconds.size(), 1U);
  EXPECT_NE(*firsts.begin(), *seconds.begin());
}

TEST(ParcelChain, gives_the_same_for_a_file_in_another_order) {
  const Folder folder;
  const std::string in = folder.file("in.nc"), other = folder.file("other.nc");
  lattice([](std::size_t i) { return i; }).make(in);
  lattice([](std::size_t i) { return i * 377 % 1000; }).make(other);
  const std::string expected = expect_success(run({"cluster", in, "--steps", "2"})).digest();
  for (const char* ranks : {"1", "3"})
    EXPECT_EQ(expect_success(run({"cluster", other, "--steps", "2", "--ranks", ranks})).digest(), expected) << ranks;
}

/// Reads the pairs of numbers of a text file, one a line.
std::vector<std::pair<std::size_t, std::int64_t>> pairs(const std::string& path) {
  std::vector<std::pair<std::size_t, std::int64_t>> out;
  std::ifstream in(path);
  std::size_t place = 0;
  for (std::int64_t id = 0; in >> place >> id;) out.emplace_back(place, id);
  return out;
}

template <class T>
std::vector<T> column(const std::string& path, const char* name) {
  int file = -1;
  int variable = -1;
  std::vector<T> values;
  EXPECT_EQ(nc_open(path.c_str(), NC_NOWRITE, &file), NC_NOERR) << path;
  int parcels = -1;
  std::size_t count = 0;
  EXPECT_EQ(nc_inq_dimid(file, "n_parcels", &parcels), NC_NOERR);
  EXPECT_EQ(nc_inq_dimlen(file, parcels, &count), NC_NOERR);
  values.resize(count);
  EXPECT_EQ(nc_inq_varid(file, name, &variable), NC_NOERR) << name;
  EXPECT_EQ(nc_get_var(file, variable, values.data()), NC_NOERR) << name;
  nc_close(file);
  return values;
}

TEST(ParcelLabels, tell_which_parcel_of_the_output_holds_each_of_the_input_over_several_steps) {
  const Folder folder;
  const std::string in = folder.file("in.nc"), out = folder.file("out.nc"), labels = folder.file("l.txt");
  lattice([](std::size_t i) { return i * 377 % 1000; }).make(in);
  const Arguments command{"cluster", in, "-o", out, "--labels", labels, "--steps", "3", "--min-volume-ratio", "10"};
  expect_success(run(command));
  const auto expected = pairs(labels);
  const auto volume_in = column<double>(in, "volume");
  const auto volume_out = column<double>(out, "volume");
  const auto ids = column<std::int64_t>(out, "merganser_id");
  ASSERT_EQ(expected.size(), volume_in.size());
  std::map<std::int64_t, double> sums;
  for (std::size_t i = 0; i < expected.size(); ++i) {
    ASSERT_EQ(expected[i].first, i);
    sums[expected[i].second] += volume_in[i];
  }
  ASSERT_EQ(sums.size(), ids.size());
  for (std::size_t i = 0; i < ids.size(); ++i) {
    ASSERT_EQ(sums.count(ids[i]), 1U) << ids[i];
    EXPECT_NEAR(sums[ids[i]], volume_out[i], 1e-12 * volume_out[i]);
  }
  EXPECT_LT(ids.size(), 400U);  // some took several merges
  const auto same_on = [&](const Outcome& o) {
    expect_success(o);
    EXPECT_EQ(pairs(labels), expected);
  };
  Arguments more = command;
  more.insert(more.end(), {"--ranks", "3"});
  same_on(run(more));
  if (!process_models().empty()) same_on(run_on(4, command));
  // On standard output they have it to themselves.
  const Outcome shown = run({"cluster", in, "--labels", "-", "--steps", "3", "--min-volume-ratio", "10"});
  std::ifstream file(labels);
  const std::string text{std::istreambuf_iterator<char>(file), {}};
  EXPECT_EQ(shown.out, text);
}

/// Returns the lattice with variables beside EPIC's, a group and compression.
EpicFile rich() {
  EpicFile file = lattice([](std::size_t i) { return i; });
  for (std::size_t i = 0; i < file.parcels; ++i) {
    file.variables["humidity"].push_back(0.25);
    file.variables["mass"].push_back(1 + static_cast<double>(i % 7));
    file.variables["label"].push_back(static_cast<double>(i));
  }
  file.types["humidity"] = NC_FLOAT;
  file.types["label"] = NC_INT64;
  file.deflate = 3;
  file.more = [](int id) {
    int group = -1;
    EXPECT_EQ(nc_put_att_text(id, NC_GLOBAL, "title", 4, "mine"), NC_NOERR);
    EXPECT_EQ(nc_def_grp(id, "parameters", &group), NC_NOERR);
    EXPECT_EQ(nc_put_att_text(group, NC_GLOBAL, "flux", 3, "old"), NC_NOERR);
  };
  return file;
}

TEST(ParcelAttributes, merge_by_their_rules_and_are_written_with_all_else) {
  const Folder folder;
  const std::string in = folder.file("in.nc"), out = folder.file("out.nc");
  rich().make(in);
  const std::string rules = "humidity:mean,mass:sum,label:largest";
  std::set<std::string> digests;
  for (const char* ranks : {"1", "3"})
    digests.insert(expect_success(run({"cluster", in, "-o", out, "--attribute", rules, "--ranks", ranks})).digest());
  if (!process_models().empty())
    digests.insert(expect_success(run_on(2, {"cluster", in, "-o", out, "--attribute", rules})).digest());
  EXPECT_EQ(digests.size(), 1U);
  const auto sum = [](const std::vector<double>& v) {
    double total = 0;
    for (const double x : v) total += x;
    return total;
  };
  EXPECT_EQ(sum(column<double>(out, "mass")), sum(column<double>(in, "mass")));
  for (const float x : column<float>(out, "humidity")) EXPECT_FLOAT_EQ(x, 0.25F);
  for (const std::int64_t x : column<std::int64_t>(out, "label")) EXPECT_TRUE(x >= 0 && x < 1000) << x;
  int file = -1;
  int group = -1;
  int volume = -1;
  int shuffle = 0, deflate = 0, level = 0;
  ASSERT_EQ(nc_open(out.c_str(), NC_NOWRITE, &file), NC_NOERR);
  EXPECT_EQ(nc_inq_attid(file, NC_GLOBAL, "title", nullptr), NC_NOERR);
  EXPECT_EQ(nc_inq_ncid(file, "parameters", &group), NC_NOERR);
  EXPECT_EQ(nc_inq_varid(file, "volume", &volume), NC_NOERR);
  EXPECT_EQ(nc_inq_var_deflate(file, volume, &shuffle, &deflate, &level), NC_NOERR);
  EXPECT_EQ(level, 3);
  nc_close(file);
  // The digest that was printed is that of the file.
  const Outcome again = run({"cluster", out, "--min-volume-ratio", "1e9", "--attribute", rules});
  EXPECT_EQ(expect_success(again).digest(), *digests.begin());
}

TEST(ParcelAttributes, without_a_rule_are_refused_by_name_and_the_old_output_stays) {
  const Folder folder;
  const std::string in = folder.file("in.nc"), out = folder.file("out.nc");
  rich().make(in);
  std::ofstream(out) << "old";
  const auto refused = [&](const Arguments& more, int code, const Arguments& says) {
    Arguments words{"cluster", in};
    words.insert(words.end(), more.begin(), more.end());
    const Outcome o = run(words);
    EXPECT_EQ(o.code, code) << o.text();
    for (const auto& part : says) EXPECT_NE(o.err.find(part), std::string::npos) << part << " in: " << o.err;
    EXPECT_EQ(std::count(o.err.begin(), o.err.end(), '\n'), 1) << o.err;
  };
  refused({"-o", out}, 3, {in, "humidity, label, mass", "--attribute humidity:RULE,label:RULE,mass:RULE"});
  refused({"-o", out, "--attribute", "mass:sum", "--ranks", "3"}, 3, {"humidity, label have no rule"});
  refused({"--attribute", "mass:average"}, 2, {"mass:average", "mean, sum, centre, largest or drop"});
  refused({"--attribute", "mass:sum,mass:mean"}, 2, {"mass has two rules"});
  refused({"--attribute", "label:mean"}, 2, {"label, of type int64, cannot hold a mean"});
  refused({"--attribute", "weight:sum"}, 2, {"no variable weight", "humidity, label, mass"});
  refused({"--attribute", "volume:mean"}, 2, {"volume is one of EPIC's"});
  refused({"--attribute", "weight:drop"}, 2, {"weight:drop", "nothing of this name"});
  std::string old;
  std::ifstream(out) >> old;
  EXPECT_EQ(old, "old");
  const Outcome told = run({"cluster", in, "--log", "info"});
  EXPECT_EQ(told.code, 0) << told.text();
  EXPECT_NE(told.err.find("passed over, for no output is written: humidity, label, mass"), std::string::npos)
      << told.err;
  EXPECT_EQ(run({"cluster", in, "-o", out, "--attribute", "humidity:drop,mass:sum,label:drop"}).code, 0);
}

/// Returns the lattice with a further variable whose value is missing for every third parcel.
EpicFile with_gaps() {
  EpicFile file = lattice([](std::size_t i) { return i; });
  file.more = [](int id) {
    int shape[2] = {0, 0};
    int variable = 0;
    const double fill = -999;
    const std::size_t start[2] = {0, 0}, count[2] = {1, kEdge * kEdge * kEdge};
    std::vector<double> values(count[1]);
    for (std::size_t i = 0; i < values.size(); ++i)
      values[i] = i % 3 == 1 ? fill : 1 + std::sin(static_cast<double>(i));
    ASSERT_EQ(nc_inq_dimid(id, "t", &shape[0]), NC_NOERR);
    ASSERT_EQ(nc_inq_dimid(id, "n_parcels", &shape[1]), NC_NOERR);
    ASSERT_EQ(nc_def_var(id, "humidity", NC_DOUBLE, 2, shape, &variable), NC_NOERR);
    ASSERT_EQ(nc_put_att_double(id, variable, "_FillValue", NC_DOUBLE, 1, &fill), NC_NOERR);
    ASSERT_EQ(nc_put_vara_double(id, variable, start, count, values.data()), NC_NOERR);
  };
  return file;
}

TEST(ParcelAttributes, that_lack_values_need_a_rule_for_that_and_are_never_numbers) {
  const Folder folder;
  const std::string in = folder.file("in.nc"), out = folder.file("out.nc");
  with_gaps().make(in);
  for (const char* rule : {"mean", "sum", "centre", "largest", "mean,missing=refuse"}) {
    const Outcome o = run({"cluster", in, "-o", out, "--attribute", std::string("humidity:") + rule, "--ranks", "2"});
    EXPECT_EQ(o.code, 3) << o.text();
    EXPECT_NE(
        o.err.find("variable \"humidity\": 333 of 1000 values are missing, the first of parcel 1 (_FillValue -999)"),
        std::string::npos)
        << o.err;
  }
  for (const char* rule : {"mean", "sum", "centre", "largest"}) {
    const std::string skip = std::string("humidity:") + rule + ",missing=skip";
    std::set<std::string> digests;
    for (const char* ranks : {"1", "3"}) {
      const Outcome o =
          run({"cluster", in, "-o", out, "--attribute", skip, "--reference", "--audit", "--ranks", ranks});
      digests.insert(expect_success(o).digest());
      EXPECT_NE(o.out.find("humidity: 333 of 1,000 parcels without a value, skipped (missing=skip)"), std::string::npos)
          << o.out;
    }
    EXPECT_EQ(digests.size(), 1U) << rule;
    for (const double x : column<double>(out, "humidity"))
      EXPECT_TRUE(x == -999 || (x >= 0 && x < 40)) << rule << ' ' << x;
    EXPECT_EQ(run({"cluster", out, "--attribute", std::string("humidity:") + rule}).code, 3) << rule;
    expect_success(run({"cluster", out, "--attribute", skip}));
  }
  for (const char* rule : {"missing=skip", "humidity:drop,missing=skip", "humidity:mean,missing=zero",
                           "humidity:mean,missing=skip,missing=skip"})
    EXPECT_EQ(run({"cluster", in, "--attribute", rule}).code, 2) << rule;
}

TEST(ParcelAttributes, must_be_the_same_in_all_files_of_a_benchmark) {
  const Folder folder;
  const std::string in = folder.file("in.nc"), still = folder.file("still.nc");
  EpicFile file = lattice([](std::size_t i) { return i; });
  file.make(in);
  file.variables.erase("buoyancy");
  file.make(still);
  const Outcome o = run({"bench", "files", in, still, "--steps", "2"});
  EXPECT_EQ(o.code, 3) << o.text();
  EXPECT_NE(o.err.find("vorticity or buoyancy is in one of " + in + " and " + still + " only"), std::string::npos)
      << o.err;
  EXPECT_EQ(run({"bench", "files", still, "--steps", "2"}).code, 0);
}

TEST(ParcelValues, that_would_overflow_later_are_refused_before_and_the_old_output_stays) {
  for (const char* name : {"B23", "B11", "buoyancy", "x_vorticity", "volume"}) {
    const Folder folder;
    const std::string in = folder.file("in.nc"), out = folder.file("out.nc");
    EpicFile file = lattice([](std::size_t i) { return i; });
    file.variables[name][77] = 1e160;
    file.make(in);
    std::ofstream(out) << "old";
    for (const char* ranks : {"1", "3"}) {
      const Outcome o = run({"cluster", in, "-o", out, "--ranks", ranks});
      EXPECT_EQ(o.code, 3) << name << o.text();
      EXPECT_NE(o.err.find(in + ": parcel 77: " + name + " is 1e+160; allowed: "), std::string::npos) << o.err;
    }
    std::string old;
    std::ifstream(out) >> old;
    EXPECT_EQ(old, "old") << name;
  }
}

TEST(ParcelValues, of_merged_parcels_that_could_not_be_read_back_are_refused_and_the_old_output_stays) {
  const Folder folder;
  const std::string in = folder.file("in.nc"), out = folder.file("out.nc");
  EpicFile file = lattice([](std::size_t i) { return i; });
  file.variables["age"].assign(file.parcels, 100);
  file.types["age"] = NC_BYTE;
  file.make(in);
  std::ofstream(out) << "old";
  const Outcome o = run({"cluster", in, "-o", out, "--attribute", "age:sum", "--ranks", "2"});
  EXPECT_EQ(o.code, 3) << o.text();
  EXPECT_NE(o.err.find(out + ": parcel with id "), std::string::npos) << o.err;
  EXPECT_NE(o.err.find("age is "), std::string::npos) << o.err;
  EXPECT_NE(o.err.find("as byte it may be a whole number from -128 to 127"), std::string::npos) << o.err;
  std::string old;
  std::ifstream(out) >> old;
  EXPECT_EQ(old, "old");
}

}  // namespace
