/// Tests of `merganser convert`: every pair of formats that hold all columns, on several ranks; what is refused; what stays.
#include <gtest/gtest.h>

#include <cmath>
#include <fstream>
#include <limits>

#include "merganser/io/data_file.hpp"
#include "merganser/io/parcel_file.hpp"
#include "merganser/parcels/generate.hpp"
#include "tests/apps/json.hpp"
#include "tests/apps/program.hpp"
#include "tests/io/folder.hpp"
#include "tests/support/folders.hpp"

namespace {

using namespace merganser;
using namespace merganser::test;

/// Rules of the attributes of write_input(), for inputs that do not tell them.
const char* const kRules = "age:largest,heat:mean,missing=skip,label:centre";

/// Writes an EPIC file of 300 parcels with attributes of float, double with missing values, and 64-bit integers. @param ratio  of
/// the file, and @param fill  a _FillValue of the attribute label, if it is not 0
void write_input(const std::string& path, std::int64_t fill = 0) {
  const Grid grid{{{-1, 0.5, 2}, {2, 1.5, 1}, {true, false, true}}, {5, 4, 3}};
  RandomParcels random;
  random.per_cell = 5;
  const Decomposition blocks(grid, 1);
  const Parcels plain = generate_random(random, blocks, 0);
  std::vector<Attribute> attributes = Schema::epic().attributes();
  attributes.push_back({"age", 1, Rule::largest, {"age"}, "s"});
  attributes.push_back({"heat", 1, Rule::mean_present, {"heat"}, "J"});
  attributes.push_back({"label", 1, Rule::centre, {"label"}, ""});
  Parcels parcels{Schema(attributes)};
  const Schema& schema = parcels.schema();
  for (std::size_t i = 0; i < plain.size(); ++i) {
    std::vector<double> row(schema.width(), 0);
    std::copy_n(plain.row(i), 10, row.data());
    row[schema.offset("age")] = static_cast<double>(0.1F * static_cast<float>(i));
    row[schema.offset("heat")] =
        i % 7 == 3 ? std::numeric_limits<double>::quiet_NaN() : 1.0 / static_cast<double>(i + 1);
    row[schema.offset("label")] =
        std::bit_cast<double>(fill != 0 && i == 4 ? fill : (std::int64_t{1} << 60) + std::int64_t(i));
    parcels.append(plain.site(i), row.data());
  }
  io::FileMetadata metadata;
  const auto describe = [&](const char* name, int type) {
    io::FileVariable v;
    v.name = name;
    v.values.type = type;
    v.skip_missing = std::string(name) == "label" && fill != 0;
    if (v.skip_missing)
      v.attributes.push_back({"_FillValue", io::file_values(std::span<const std::int64_t>(&fill, 1))});
    metadata.columns.push_back(v);
  };
  constexpr int kFloat = 5, kInt64 = 10;  // NetCDF's numbers
  describe("age", kFloat);
  describe("label", kInt64);
  io::set_min_volume_ratio(metadata, 20);
  io::set_merge_step(metadata, 3);
  comm::run({"threads", 1, ""},
            [&](comm::Transport& t) { io::write_parcels(path, parcels, blocks, 1.25, t, metadata); });
}

/// Returns the arguments that convert one file to another. @param told  whether the input tells rules
Arguments convert(const std::string& from, const std::string& to, bool told) {
  Arguments all{"convert", from, to};
  if (!told) all = all + Arguments{"--attribute", kRules};
  return all;
}

struct Format {
  const char* name;  ///< of the file, with the format
  const char* file;  ///< the same without
  bool told;         ///< files tell rules of attributes
};
constexpr std::array<Format, 5> kFormats{{{"a.nc", "a.nc", false},
                                          {"a.h5:openpmd", "a.h5", false},
                                          {"a.vtkhdf", "a.vtkhdf", true},
                                          {"a.xml:vtu", "a.xml", true},
                                          {"a.npz", "a.npz", true}}};
/// What CSV does not tell of write_input().
const Arguments kBox{"--cells", "5,4,3", "--origin", "-1,0.5,2", "--extent", "2,1.5,1", "--periodic", "xz"};

TEST(Convert, every_pair_of_formats_that_hold_all_gives_the_digest_of_the_input_on_any_number_of_ranks) {
  const Folder folder;
  write_input(folder.file("in.nc"));
  const std::string want = run(convert(folder.file("in.nc"), folder.file("copy.nc"), false)).digest();
  ASSERT_EQ(want.size(), 32U);
  for (const Format& a : kFormats) {
    const Outcome first = run(convert(folder.file("in.nc"), folder.file(a.name), false) + Arguments{"--ranks", "2"});
    ASSERT_EQ(first.digest(), want) << a.name << first.text();
    for (const Format& b : kFormats) {
      const std::string to = folder.file(std::string("b") + b.name), file = folder.file(std::string("b") + b.file);
      const Outcome pair = run(convert(folder.file(a.file), to, a.told) + Arguments{"--ranks", "3"});
      ASSERT_EQ(pair.digest(), want) << a.name << " to " << b.name << pair.text();
      const Outcome back = run(convert(file, folder.file("back.nc"), b.told));
      ASSERT_EQ(back.digest(), want) << a.name << " to " << b.name << back.text();
      EXPECT_TRUE(says(back, "heat: 43 of 300 parcels without a value")) << back.text();
      EXPECT_TRUE(says(back, "5 x 4 x 3 cells, periodic in xz, time 1.25")) << back.text();
    }
    if (process_models().empty()) continue;
    const Outcome ranks = run_on(3, convert(folder.file(a.file), folder.file(std::string("p") + a.name), a.told));
    EXPECT_EQ(ranks.digest(), want) << a.name << ranks.text();
    EXPECT_EQ(run(convert(folder.file(std::string("p") + a.file), folder.file("back.nc"), a.told)).digest(), want);
  }
}

// Pairs that the test above leaves out: formats that do not tell rules or box, and series, of which the first step is read.
TEST(Convert, every_format_to_tables_and_series_and_back_gives_the_digest_of_the_input) {
  const Folder folder;
  write_input(folder.file("in.nc"));
  const std::string want = run(convert(folder.file("in.nc"), folder.file("copy.nc"), false)).digest();
  ASSERT_EQ(want.size(), 32U);
  struct Pair {
    const char *name, *file;  // to write, and to read again
    bool told, has_box;
  };
  constexpr std::array<Pair, 4> kOthers{{{"a.npy", "a.npy", false, false},
                                         {"a.csv", "a.csv", false, false},
                                         {"a.pvd", "a_0001.vtu", true, true},
                                         {"s.vtkhdf:series", "s.vtkhdf", true, true}}};
  std::vector<Pair> sources(kOthers.begin(), kOthers.end());
  for (const Format& f : kFormats) sources.push_back({f.name, f.file, f.told, true});
  const auto change = [&](const std::string& from, const Pair& how, const std::string& to) {
    return run(convert(from, to, how.told) + (how.has_box ? Arguments{} : kBox) + Arguments{"--ranks", "2"});
  };
  for (const Pair& a : sources) {
    ASSERT_EQ(run(convert(folder.file("in.nc"), folder.file(a.name), false)).digest(), want) << a.name;
    for (const Pair& b : kOthers) {
      const Folder target;
      const Outcome there = change(folder.file(a.file), a, target.file(b.name));
      EXPECT_EQ(there.digest(), want) << a.name << " to " << b.name << there.text();
      const Outcome back = change(target.file(b.file), b, target.file("back.nc"));
      EXPECT_EQ(back.digest(), want) << a.name << " to " << b.name << back.text();
    }
    for (const Format& b : kFormats) {
      const Folder target;
      const Outcome there = change(folder.file(a.file), a, target.file(b.name));
      EXPECT_EQ(there.digest(), want) << a.name << " to " << b.name << there.text();
      if (a.told) continue;  // the way back is that of the test above
      EXPECT_EQ(run(convert(target.file(b.file), target.file("back.nc"), b.told)).digest(), want) << a.name << b.name;
    }
  }
}

TEST(Convert, csv_holds_every_bit_of_columns_by_any_name_and_says_what_it_does_not_tell) {
  const Folder folder;
  write_input(folder.file("in.nc"));
  const Arguments names{"--columns", "x_position=x,y_position=y,volume=V"};
  const Outcome out = run(convert(folder.file("in.nc"), folder.file("a.csv"), false) + names);
  ASSERT_EQ(out.code, 0) << out.text();
  EXPECT_TRUE(says(out, "CSV tells no box, cells, periodic axes, time")) << out.text();
  std::string line;
  std::getline(std::ifstream(folder.file("a.csv")), line);
  EXPECT_EQ(line.substr(0, 34), "merganser_id,x,y,z_position,V,x_vo");
  for (const char* ranks : {"1", "3"})
    for (const Format& f : kFormats) {
      const Outcome back =
          run(convert(folder.file("a.csv"), folder.file(f.name), false) + kBox + names + Arguments{"--ranks", ranks});
      EXPECT_EQ(back.digest(), out.digest()) << f.name << back.text();
      EXPECT_TRUE(says(back, "heat: 43 of 300 parcels without a value")) << back.text();
      EXPECT_EQ(run(convert(folder.file(f.file), folder.file("b.csv"), f.told)).digest(), out.digest());
      EXPECT_EQ(run(convert(folder.file("b.csv"), folder.file("back.nc"), false) + kBox).digest(), out.digest());
    }
}

TEST(Convert, one_array_of_numpy_holds_every_bit_of_columns_and_their_types) {
  const Folder folder;
  write_input(folder.file("in.nc"));
  const Outcome out = run(convert(folder.file("in.nc"), folder.file("a.npy"), false) + Arguments{"--ranks", "2"});
  ASSERT_EQ(out.code, 0) << out.text();
  EXPECT_TRUE(says(out, "NPY tells no box")) << out.text();
  EXPECT_TRUE(says(read_bytes(folder.file("a.npy")), "('age', '<f4'), ('heat', '<f8'), ('label', '<i8')]"));
  for (const char* ranks : {"1", "3"}) {
    const Outcome back =
        run(convert(folder.file("a.npy"), folder.file("back.nc"), false) + kBox + Arguments{"--ranks", ranks});
    EXPECT_EQ(back.digest(), out.digest()) << back.text();
  }
  std::ofstream(folder.file("b.npy"), std::ios::binary)
      << read_bytes(folder.file("a.npy")).substr(0, read_bytes(folder.file("a.npy")).size() - 1);
  EXPECT_TRUE(says(run(convert(folder.file("b.npy"), folder.file("back.nc"), false) + kBox), "fewer entries"));
}

TEST(Convert, faults_of_csv_are_named_by_line_and_field) {
  const Folder folder;
  const auto refused = [&](const std::string& text, const Arguments& more = {}) {
    std::ofstream(folder.file("a.csv")) << text;
    const Outcome o = run(Arguments{"convert", folder.file("a.csv"), folder.file("a.npz")} + kBox + more);
    EXPECT_NE(o.code, 0) << text;
    return o.text();
  };
  const std::string head = "x_position,y_position,z_position,volume\n";
  EXPECT_TRUE(says(refused(""), "the file is empty"));
  EXPECT_TRUE(says(refused(head + "0,1,2.5\n"), "line 2 has 3 fields; the first line has 4"));
  EXPECT_TRUE(says(refused(head + "0,1,2.5,ten\n"), "line 2, volume: \"ten\""));
  EXPECT_TRUE(says(refused(head + "0,1,2.5,\n"), "volume")) << refused(head + "0,1,2.5,\n");
  EXPECT_TRUE(says(refused("x,y_position,z_position,volume\n0,1,2.5,1e-3\n"), "no column x_position"));
  EXPECT_TRUE(says(refused(head + "0,1,2.5,1\n", {"--columns", "volume=V"}), "no column V"));
  EXPECT_TRUE(says(refused("x_position,x_position,z_position,volume\n0,1,2.5,1e-3\n"), "two arrays become"));
  EXPECT_TRUE(says(refused("x_position,y_position,z_position,volume,B11\n0,1,2.5,1e-3,1\n"),
                   "of B is missing, but B11 is there"));
  EXPECT_TRUE(says(refused("x_position,y_position,z_position,volume,\n0,1,2.5,1e-3,1\n"), "without a name"));
  std::ofstream(folder.file("a.csv")) << "x_position,y_position,z_position,volume,t\n0,1,2.5,1e-3,7\n";
  const Outcome lost = run(Arguments{"convert", folder.file("a.csv"), folder.file("a.npz")} + kBox);
  EXPECT_EQ(lost.code, 0) << lost.text();
  EXPECT_TRUE(says(lost.err, "no place for array t, over the points")) << lost.text();
  std::ofstream(folder.file("a.csv")) << head << "0,1,2.5,1e-3\n";
  const Outcome unknown = run({"convert", folder.file("a.csv"), folder.file("a.npz")});
  EXPECT_EQ(unknown.code, 3);
  EXPECT_TRUE(says(unknown, "with --cells, --origin")) << unknown.text();
  EXPECT_EQ(run({"convert", folder.file("a.npz"), folder.file("b.npz"), "--columns", "volume=V"}).code, 2);
}

TEST(Convert, a_series_grows_by_steps_that_are_later_and_nothing_is_overwritten) {
  const Folder folder;
  std::vector<std::string> inputs;
  comm::run({"threads", 1, ""}, [&](comm::Transport& t) {
    const Grid grid{{{0, 0, 0}, {1, 1, 1}, {true, true, true}}, {2, 2, 2}};
    for (const double time : {0.5, 1.0, 2.25}) {
      inputs.push_back(folder.file("in" + std::to_string(inputs.size()) + ".nc"));
      io::write_parcels(inputs.back(), generate_random({}, Decomposition(grid, 1), 0), Decomposition(grid, 1), time, t);
    }
  });
  std::ofstream(folder.file("s_0002.vtu")) << "of somebody";
  const std::string series = folder.file("s.pvd");
  ASSERT_EQ(run({"convert", inputs[0], series}).code, 0);
  ASSERT_EQ(run({"convert", inputs[1], series, "--ranks", "2"}).code, 0);
  const std::string two = read_bytes(series);
  const Outcome early = run({"convert", inputs[0], series});
  EXPECT_EQ(early.code, 3);
  EXPECT_TRUE(says(early, "its last step is of time 1, the parcels are of 0.5")) << early.text();
  EXPECT_EQ(read_bytes(series), two);
  const Outcome last = run({"convert", inputs[2], series});
  ASSERT_EQ(last.code, 0);
  EXPECT_TRUE(says(read_bytes(series),
                   "<DataSet timestep=\"0.5\" part=\"0\" file=\"s_0001.vtu\"/>\n"
                   "<DataSet timestep=\"1\" part=\"0\" file=\"s_0003.vtu\"/>\n"
                   "<DataSet timestep=\"2.25\" part=\"0\" file=\"s_0004.vtu\"/>\n"))
      << read_bytes(series);
  EXPECT_EQ(run({"convert", folder.file("s_0004.vtu"), folder.file("back.nc")}).digest(), last.digest());
  EXPECT_EQ(read_bytes(folder.file("s_0002.vtu")), "of somebody");
  std::ofstream(folder.file("other.pvd")) << "<VTKFile type=\"ImageData\">\n";
  EXPECT_TRUE(says(run({"convert", inputs[0], folder.file("other.pvd")}), "is no line of a series"));
}

TEST(Convert, damaged_tables_are_refused) {
  const Folder folder;
  write_input(folder.file("in.nc"));
  for (const char* name : {"a.vtu", "a.npz"}) {
    ASSERT_EQ(run(convert(folder.file("in.nc"), folder.file(name), false)).code, 0);
    const std::string whole = read_bytes(folder.file(name));
    for (const double part : {0.1, 0.5, 0.9, 0.99}) {
      std::ofstream(folder.file("cut.bin"), std::ios::binary)
          << whole.substr(0, static_cast<std::size_t>(part * static_cast<double>(whole.size())));
      const Outcome o = run({"convert", folder.file("cut.bin"), folder.file("b.nc")});
      EXPECT_EQ(o.code, 3) << name << part << o.text();
    }
  }
}

TEST(Convert, keeps_the_volume_ratio_and_the_number_of_the_step) {
  const Folder folder;
  write_input(folder.file("in.nc"));
  for (const Format& a : kFormats) {
    ASSERT_EQ(run(convert(folder.file("in.nc"), folder.file(a.name), false)).code, 0);
    ASSERT_EQ(run(convert(folder.file(a.file), folder.file("back.nc"), a.told)).code, 0);
    const io::ParcelFileInfo info = io::read_info(folder.file("back.nc"));
    EXPECT_EQ(info.min_volume_ratio, 20) << a.name;
    EXPECT_EQ(io::merge_step(info.metadata), 3U) << a.name;
  }
}

TEST(Convert, never_writes_over_its_input_and_leaves_the_old_file_after_an_error) {
  const Folder folder;
  write_input(folder.file("in.nc"));
  for (const char* to : {"in.nc", "in.nc:epic", "in.nc:vtkhdf"}) {
    const Outcome o = run(convert(folder.file("in.nc"), folder.file(to), false));
    EXPECT_EQ(o.code, 2) << to;
    EXPECT_TRUE(says(o, "is read as IN")) << o.text();
  }
  std::ofstream(folder.file("old.vtkhdf")) << "old";
  const Outcome no_rule = run({"convert", folder.file("in.nc"), folder.file("old.vtkhdf")});
  EXPECT_EQ(no_rule.code, 3);
  EXPECT_TRUE(says(no_rule, "age, heat, label have no rule")) << no_rule.text();
  std::string text;
  std::getline(std::ifstream(folder.file("old.vtkhdf")), text);
  EXPECT_EQ(text, "old");
}

TEST(Convert, refuses_missing_values_that_the_other_format_cannot_tell) {
  const Folder folder;
  write_input(folder.file("in.nc"), -5);
  const Arguments rules{"--attribute", "age:largest,heat:mean,missing=skip,label:centre,missing=skip"};
  EXPECT_EQ(run(Arguments{"convert", folder.file("in.nc"), folder.file("a.nc")} + rules).code, 0);
  const Outcome o = run(Arguments{"convert", folder.file("in.nc"), folder.file("a.vtkhdf")} + rules);
  EXPECT_EQ(o.code, 3);
  EXPECT_TRUE(says(o, "label of the parcel with id 4 is missing, by _FillValue -5")) << o.text();
}

TEST(Convert, names_what_the_other_format_has_no_place_for) {
  const Folder folder;
  write_input(folder.file("in.nc"));
  ASSERT_EQ(run(convert(folder.file("in.nc"), folder.file("a.h5:openpmd"), false)).code, 0);
  const Outcome o = run(convert(folder.file("a.h5"), folder.file("b.nc"), false));
  EXPECT_EQ(o.code, 0) << o.text();
  EXPECT_TRUE(says(o.err, "b.nc has no place for openPMD's attributes and units")) << o.text();
  const Outcome known =
      run({"convert", folder.file("a.h5"), folder.file("b.nc"), "--attribute", std::string(kRules) + ",openPMD:drop"});
  EXPECT_EQ(known.code, 0) << known.text();
  EXPECT_FALSE(says(known.err, "no place"));
}

TEST(Convert, writes_a_record) {
  const Folder folder;
  write_input(folder.file("in.nc"));
  const Outcome o = run(convert(folder.file("in.nc"), folder.file("a.vtkhdf"), false) + Arguments{"--json", "-"});
  ASSERT_EQ(o.code, 0) << o.text();
  const Json record = Json::parse(o.out);
  EXPECT_EQ(record["result"]["parcels"], 300);
  EXPECT_EQ(record["result"]["digest"], record["result"]["digest_written"]);
  EXPECT_EQ(record["missing"]["heat"], 43);
}

}  // namespace
