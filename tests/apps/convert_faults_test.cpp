/// Tests of `merganser convert` on names, types and files that a format cannot hold or that are spoiled: nothing is lost unnamed.
#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <limits>

#include "merganser/io/data_file.hpp"
#include "merganser/io/parcel_file.hpp"
#include "merganser/parcels/generate.hpp"
#include "tests/apps/program.hpp"
#include "tests/io/folder.hpp"

namespace {

using namespace merganser;
using namespace merganser::test;

const Arguments kSmallBox{"--cells", "2,2,2", "--origin", "0,0,0", "--extent", "2,2,2", "--periodic", "xyz"};
const char* const kFirstLine = "x_position,y_position,z_position,volume";

/// Writes an EPIC file of 16 parcels with attributes of one double each, by name, under the rule mean.
void write_small(const std::string& path, const std::vector<std::string>& names, double time = 1.25) {
  const Grid grid{{{0, 0, 0}, {2, 2, 2}, {true, true, true}}, {2, 2, 2}};
  RandomParcels random;
  random.per_cell = 2;
  const Decomposition blocks(grid, 1);
  const Parcels plain = generate_random(random, blocks, 0);
  std::vector<Attribute> attributes = Schema::epic().attributes();
  for (const std::string& name : names) attributes.push_back({name, 1, Rule::mean, {name}, "1"});
  Parcels parcels{Schema(attributes)};
  for (std::size_t i = 0; i < plain.size(); ++i) {
    std::vector<double> row(parcels.schema().width(), static_cast<double>(i) / 4);
    std::copy_n(plain.row(i), 10, row.data());
    parcels.append(plain.site(i), row.data());
  }
  comm::run({"threads", 1, ""}, [&](comm::Transport& t) { io::write_parcels(path, parcels, blocks, time, t); });
}

void put(const std::string& path, const std::string& text) { std::ofstream(path, std::ios::binary) << text; }

/// Returns a text with every occurrence of a part replaced.
std::string replaced(std::string text, const std::string& part, const std::string& by) {
  for (std::size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + by.size()))
    text.replace(at, part.size(), by);
  return text;
}

/// Returns the bytes of a number in a file.
template <class T>
std::string raw(T value) {
  const auto bytes = std::bit_cast<std::array<char, sizeof(T)>>(value);
  return {bytes.begin(), bytes.end()};
}

/// Computes the checksum of ZIP archives bit by bit.
std::uint32_t crc32(const std::string& bytes) {
  std::uint32_t state = 0xffffffff;
  for (const char byte : bytes) {
    state ^= static_cast<unsigned char>(byte);
    for (int i = 0; i < 8; ++i) state = (state >> 1) ^ ((state & 1) != 0 ? 0xedb88320U : 0);
  }
  return ~state;
}

// Columns of a table may have names that EPIC's files use for other variables, or that --attribute cannot name.
TEST(ConvertFaults, names_that_an_epic_file_or_a_rule_cannot_have_are_refused_with_what_to_do) {
  const Folder folder;
  const auto tables = [&](const std::string& name) {
    write_small(folder.file("in.nc"), {"heat"});
    const Outcome made = run({"convert", folder.file("in.nc"), folder.file("in.npz"), "--attribute", "heat:mean"});
    EXPECT_EQ(made.code, 0) << made.text();
    std::string vtu = folder.file("in.vtu");
    const Outcome copied = run({"convert", folder.file("in.npz"), vtu});
    EXPECT_EQ(copied.code, 0) << copied.text();
    const std::string text = replaced(read_bytes(vtu), "\"heat\"", "\"" + name + "\"");
    put(vtu, text);
    return vtu;
  };
  for (const std::string name : {"start_index", "xlo", "yhi"}) {
    const Outcome o = run({"convert", tables(name), folder.file("out.nc")});
    EXPECT_EQ(o.code, 3) << o.text();
    EXPECT_TRUE(says(o, "in EPIC's format: the column " + name + "; allowed:")) << o.text();
    EXPECT_FALSE(std::filesystem::exists(folder.file("out.nc")));
  }
  const std::string vtu = tables("a,b");
  put(vtu, replaced(read_bytes(vtu), "merganser_rule", "merganser_ruin"));
  const Outcome o = run({"convert", vtu, folder.file("out.npz")});
  EXPECT_EQ(o.code, 3) << o.text();
  EXPECT_TRUE(says(o, "no rule can name \"a,b\"")) << o.text();
}

// What the file itself tells a rule for can be left out too, and the advice of a message works when it is followed.
TEST(ConvertFaults, columns_whose_rule_the_file_tells_can_be_dropped) {
  const Folder folder;
  write_small(folder.file("in.nc"), {"heat"});
  ASSERT_EQ(run({"convert", folder.file("in.nc"), folder.file("a.vtu"), "--attribute", "heat:mean"}).code, 0);
  put(folder.file("a.vtu"), replaced(read_bytes(folder.file("a.vtu")), "\"heat\"", "\"a/b\""));
  const Outcome refused = run({"convert", folder.file("a.vtu"), folder.file("b.vtkhdf")});
  EXPECT_EQ(refused.code, 3) << refused.text();
  EXPECT_TRUE(says(refused, "or drop")) << refused.text();
  const auto drops = [&](const std::string& verb, const std::string& to, const std::string& names) {
    if (verb == "convert") return run({verb, folder.file("a.vtu"), folder.file(to), "--attribute", names});
    return run({verb, folder.file("a.vtu"), "-o", folder.file(to), "--attribute", names});
  };
  for (const std::string verb : {"convert", "cluster"}) {
    const Outcome o = drops(verb, verb + ".vtkhdf", "a/b:drop,vorticity:drop");
    EXPECT_EQ(o.code, 0) << o.text();
    const io::ParcelFileInfo info = io::read_info(folder.file(verb + ".vtkhdf"));
    EXPECT_FALSE(info.schema.has("a/b"));
    EXPECT_FALSE(info.schema.has("vorticity"));
    EXPECT_TRUE(info.schema.has("B"));
    const Outcome part = drops(verb, "part.npz", "x_vorticity:drop");
    EXPECT_EQ(part.code, 2) << part.text();
    EXPECT_TRUE(says(part, "merge together, as vorticity; allowed: vorticity:drop")) << part.text();
    const Outcome fixed = drops(verb, "part.npz", "volume:drop");
    EXPECT_EQ(fixed.code, 2) << fixed.text();
    EXPECT_TRUE(says(fixed, "positions, volumes and ids, which stay")) << fixed.text();
  }
}

TEST(ConvertFaults, csv_with_other_separators_than_commas_is_refused_by_what_separates) {
  const Folder folder;
  for (const auto& [separator, what] : {std::pair{';', "semicolons"}, std::pair{'\t', "tabs"}}) {
    std::string text = "x_position;y_position;z_position;volume\n0,5;0,5;0,5;1,0\n";
    std::replace(text.begin(), text.end(), ';', separator);
    put(folder.file("a.csv"), text);
    const Outcome o = run({"convert", folder.file("a.csv"), folder.file("a.npz"), "--ranks", "2"});
    EXPECT_EQ(o.code, 3) << o.text();
    EXPECT_TRUE(says(o, std::string(what) + " seem to separate the fields")) << o.text();
  }
}

TEST(ConvertFaults, attributes_called_as_arrays_of_npz_are_refused_and_such_arrays_are_named) {
  const Folder folder;
  for (const std::string name : {"position", "merganser_time", "merganser_rules", "merganser_x"}) {
    write_small(folder.file("in.nc"), {name});
    const Outcome o = run({"convert", folder.file("in.nc"), folder.file("a.npz"), "--attribute", name + ":mean"});
    EXPECT_EQ(o.code, 3) << o.text();
    EXPECT_TRUE(says(o, "cannot write the attribute " + name + " as NPZ")) << o.text();
    EXPECT_FALSE(std::filesystem::exists(folder.file("a.npz")));
  }
  write_small(folder.file("in.nc"), {"heat", "head", "mergansex_v"});
  ASSERT_EQ(run({"convert", folder.file("in.nc"), folder.file("a.npz"), "--attribute",
                 "heat:mean,head:mean,mergansex_v:mean"})
                .code,
            0);
  const std::string whole = read_bytes(folder.file("a.npz"));
  put(folder.file("two.npz"), replaced(whole, "head.npy", "heat.npy"));
  EXPECT_TRUE(says(run({"convert", folder.file("two.npz"), folder.file("b.nc")}), "two members heat.npy"));
  put(folder.file("ours.npz"), replaced(whole, "mergansex_v.npy", "merganser_v.npy"));
  const Outcome ours = run({"convert", folder.file("ours.npz"), folder.file("b.nc")});
  EXPECT_EQ(ours.code, 0) << ours.text();
  EXPECT_TRUE(says(ours.err, "no place for array merganser_v, whose name begins with merganser_")) << ours.text();
  put(folder.file("time.npz"), replaced(whole, "mergansex_v.npy", "merganser_t.npy"));
  EXPECT_EQ(run({"convert", folder.file("time.npz"), folder.file("b.nc"), "--attribute", "merganser_t:drop"}).code, 0);
}

TEST(ConvertFaults, missing_values_of_integers_stay_missing_in_every_format) {
  const Folder folder;
  write_small(folder.file("in.nc"), {"b"});
  io::ParcelFileInfo info = io::read_info(folder.file("in.nc"));
  const std::vector<io::VariableRule> rules{{"b", Rule::sum}};
  io::add_variables(folder.file("in.nc"), info, rules);
  const std::int8_t fill = -5;
  comm::run({"threads", 1, ""}, [&](comm::Transport& t) {
    Parcels parcels = io::read_parcels(folder.file("in.nc"), info, t);
    for (std::size_t i = 0; i < parcels.size(); ++i)
      parcels.row(i)[parcels.schema().offset("b")] = i % 5 == 1 ? fill : static_cast<double>(i);
    for (io::FileVariable& v : info.metadata.columns)
      if (v.name == "b") {
        v.values.type = 1;  // NetCDF's number of a byte
        v.attributes.push_back({"_FillValue", io::FileValues{v.values.type, 1, {std::byte{0xfb}}, {}}});
        v.skip_missing = true;
      }
    std::vector<Attribute> all = parcels.schema().attributes();
    all.back().rule = Rule::centre;
    Parcels kept{Schema(all)};
    for (std::size_t i = 0; i < parcels.size(); ++i) kept.append(parcels.site(i), parcels.row(i));
    io::write_parcels(folder.file("byte.nc"), kept, Decomposition(info.grid, 1), 0, t, info.metadata);
  });
  const Arguments rule{"--attribute", "b:sum,missing=skip"};
  const Outcome from = run(Arguments{"convert", folder.file("byte.nc"), folder.file("copy.nc")} + rule);
  ASSERT_TRUE(says(from, "b: 3 of 16 parcels without a value")) << from.text();
  for (const std::string name : {"a.npz", "a.npy", "a.vtu", "a.vtkhdf", "a.csv"}) {
    const bool told = name != "a.npy" && name != "a.csv";
    const Outcome to = run(Arguments{"convert", folder.file("byte.nc"), folder.file(name)} + rule);
    ASSERT_EQ(to.digest(), from.digest()) << name << to.text();
    const Outcome back =
        run(Arguments{"convert", folder.file(name), folder.file("back.nc")} + (told ? Arguments{} : rule + kSmallBox));
    EXPECT_EQ(back.digest(), from.digest()) << name << back.text();
    EXPECT_TRUE(says(back, "b: 3 of 16 parcels without a value")) << name << back.text();
  }
}

TEST(ConvertFaults, positions_that_are_integers_become_doubles) {
  const Folder folder;
  std::string head =
      "{'descr': [('x_position', '<i4'), ('y_position', '<f8'), ('z_position', '<f8'), ('volume', '<f8')], "
      "'fortran_order': False, 'shape': (2,), }\n";
  std::string bytes = std::string("\x93NUMPY\1\0", 8) + raw(static_cast<std::uint16_t>(head.size())) + head;
  for (const std::int32_t x : {0, 1}) bytes += raw(x) + raw(0.5) + raw(0.5) + raw(1e-3);
  put(folder.file("in.npy"), bytes);
  const Outcome o = run(Arguments{"cluster", folder.file("in.npy"), "-o", folder.file("out.npy")} + kSmallBox);
  ASSERT_EQ(o.code, 0) << o.text();
  ASSERT_EQ(run(Arguments{"convert", folder.file("out.npy"), folder.file("out.csv")} + kSmallBox).code, 0);
  EXPECT_TRUE(says(read_bytes(folder.file("out.csv")), ",0.5,0.5,0.5,0.002")) << read_bytes(folder.file("out.csv"));
}

TEST(ConvertFaults, series_of_others_are_refused_and_stay) {
  const Folder folder;
  write_small(folder.file("in.nc"), {});
  const std::string begin = "<VTKFile type=\"Collection\">\n<Collection>\n", end = "</Collection>\n</VTKFile>\n";
  for (const std::string& text : std::vector<std::string>{
           begin + "  <DataSet timestep=\"0\" file=\"a.vtu\"/>\n" + end,
           begin + "<DataSet group=\"\" timestep=\"0\"/>\n" + end,
           "<VTKFile type=\"Collection\"><Collection><DataSet timestep=\"0\" file=\"a\"/></Collection></VTKFile>\n",
           begin + "<DataSet timestep=\"0\" file=\"a.vtu\"/></Collection>\n</VTKFile>\n",
           begin + "<DataSet timestep=\"0\" file=\"a.vtu\">\n</DataSet>\n" + end}) {
    put(folder.file("s.pvd"), text);
    const Outcome o = run({"convert", folder.file("in.nc"), folder.file("s.pvd")});
    EXPECT_EQ(o.code, 3) << text << o.text();
    EXPECT_TRUE(says(o, "is no line of a series")) << o.text();
    EXPECT_EQ(read_bytes(folder.file("s.pvd")), text);
  }
  EXPECT_EQ(folder.list(), (std::vector<std::string>{"in.nc", "s.pvd"}));
  const Outcome name = run({"convert", folder.file("in.nc"), folder.file("r&t.pvd")});
  EXPECT_EQ(name.code, 3) << name.text();
  EXPECT_EQ(folder.list(), (std::vector<std::string>{"in.nc", "s.pvd"}));
  std::filesystem::create_symlink(".", folder.file("here"));
  const Outcome step =
      run({"convert", folder.file("in.nc"), folder.file("t.pvd"), "--json", folder.file("here/t_0001.vtu")});
  EXPECT_EQ(step.code, 2) << step.text();
  EXPECT_TRUE(says(step, "called as its steps")) << step.text();
  const Outcome capitals =
      run({"convert", folder.file("in.nc"), folder.file("t.PVD"), "--json", folder.file("t_0001.VTU")});
  EXPECT_EQ(capitals.code, 2) << capitals.text();
  EXPECT_EQ(folder.list(), (std::vector<std::string>{"here", "in.nc", "s.pvd"}));
  EXPECT_EQ(run({"convert", folder.file("in.nc"), folder.file("t.pvd"), "--json", folder.file("t_x.vtu")}).code, 0);
  const Outcome read = run({"convert", folder.file("t.pvd"), folder.file("b.nc")});
  EXPECT_TRUE(says(read, "a list of VTU files (PVD); allowed: one of the files")) << read.text();
}

TEST(ConvertFaults, whole_numbers_of_csv_are_never_rounded) {
  const Folder folder;
  const auto refused = [&](const std::string& rows, const char* rule) {
    put(folder.file("a.csv"), std::string(kFirstLine) + ",lab\n" + rows);
    const Outcome o =
        run(Arguments{"convert", folder.file("a.csv"), folder.file("a.npz"), "--attribute", rule} + kSmallBox);
    return o.code == 3 && says(o, "lab") && (says(o, "2^53") || says(o, "2^64"));
  };
  EXPECT_TRUE(refused("0,1,1,1e-3,9007199254740993\n0,1,1.5,1e-3,0.5\n", "lab:centre"));
  EXPECT_TRUE(refused("0,1,1,1e-3,18446744073709551616\n0,1,1.5,1e-3,18446744073709551617\n", "lab:centre"));
  EXPECT_TRUE(refused("0,1,1,1e-3,-9223372036854775809\n", "lab:centre"));
  EXPECT_TRUE(refused("0,1,1,1e-3,9007199254740993\n", "lab:mean"));
  EXPECT_FALSE(refused("0,1,1,1e-3,+9007199254740993\n0,1,1.5,1e-3,7\n", "lab:centre"));
  EXPECT_FALSE(refused("0,1,1,1e-3,9007199254740991\n0,1,1.5,1e-3,0.5\n", "lab:mean"));
  put(folder.file("a.csv"), std::string(kFirstLine) + "\n0,1,1,9007199254740993\n");
  const Outcome own = run(Arguments{"convert", folder.file("a.csv"), folder.file("a.npz")} + kSmallBox);
  EXPECT_EQ(own.code, 3);
  EXPECT_TRUE(says(own, "volume: value 0")) << own.text();
  put(folder.file("a.csv"), std::string(kFirstLine) + "\n0,1,1," + std::string(1, '+') + "-5\n");
  EXPECT_TRUE(says(run(Arguments{"convert", folder.file("a.csv"), folder.file("a.npz")} + kSmallBox), "\"+-5\""));
}

TEST(ConvertFaults, columns_of_csv_are_named_merged_by_mean_and_dropped) {
  const Folder folder;
  const auto to = [&](const std::string& out, const Arguments& more) {
    return run(Arguments{"convert", folder.file("a.csv"), folder.file(out)} + kSmallBox + more);
  };
  put(folder.file("a.csv"), std::string(kFirstLine) + ",lab\n0,1,1,1e-3,4\n0,1,1.5,1e-3,7\n");
  const Outcome mean = to("a.npz", {"--attribute", "lab:mean"});
  ASSERT_EQ(mean.code, 0) << mean.text();
  EXPECT_EQ(run({"convert", folder.file("a.npz"), folder.file("b.vtu")}).digest(), mean.digest());
  const Outcome unknown = to("b.csv", {"--attribute", "lab:mean", "--columns", "volume=volume,lamb=l"});
  EXPECT_NE(unknown.code, 0) << unknown.text();
  put(folder.file("a.csv"), std::string(kFirstLine) + ",lab\n0,1,1,1e-3,4\n0,1,1.5,1e-3,tin\n");
  EXPECT_EQ(to("a.npz", {"--attribute", "lab:drop"}).code, 0);
  const Outcome warned = to("a.npz", {});
  EXPECT_EQ(warned.code, 0) << warned.text();
  EXPECT_TRUE(says(warned.err, "column lab, which holds text (line 3, lab: \"tin\"")) << warned.text();
  EXPECT_TRUE(says(to("a.npz", {"--attribute", "lab:mean"}), "line 3, lab: \"tin\"")) << warned.text();
  EXPECT_TRUE(
      says(run(Arguments{"cluster", folder.file("a.csv"), "-o", folder.file("c.csv")} + kSmallBox), "column lab"));
  put(folder.file("a.csv"), std::string(kFirstLine) + ",lab,lab\n0,1,1,1e-3,4,tin\n");
  EXPECT_TRUE(says(to("a.npz", {"--attribute", "lab:mean"}), "two arrays become the column lab"));
  put(folder.file("a.csv"), std::string(kFirstLine) + ",\n0,1,1,1e-3,4\n");
  EXPECT_TRUE(says(to("a.npz", {}), "without a name (column 5)")) << to("a.npz", {}).text();
  put(folder.file("a.csv"), kFirstLine + std::string(100000, ',') + "\n");
  EXPECT_TRUE(says(to("a.npz", {}), "the first line has 100004 names; allowed: up to 65536"));
  write_small(folder.file("in.nc"), {});
  const Outcome odd = run({"convert", folder.file("in.nc"), folder.file("a.csv"), "--columns", "volum=V"});
  EXPECT_EQ(odd.code, 3) << odd.text();
  EXPECT_TRUE(says(odd, "no column volum is written as CSV")) << odd.text();
}

TEST(ConvertFaults, names_that_a_format_cannot_hold_are_refused) {
  const Folder folder;
  const auto to = [&](const std::string& name, const char* out) {
    put(folder.file("a.csv"), std::string(kFirstLine) + "," + name + "\n0,1,1,1e-3,4\n");
    return run(Arguments{"convert", folder.file("a.csv"), folder.file(out), "--attribute", name + ":sum"} + kSmallBox);
  };
  for (const char* name : {"vel/x", "/abs", "."})
    for (const char* out : {"b.vtkhdf", "b.h5:openpmd"}) {
      const Outcome o = to(name, out);
      EXPECT_EQ(o.code, 3) << name << out << o.text();
      EXPECT_TRUE(says(o, "allowed: names without /")) << o.text();
    }
  const std::string accent = "t\xc3\xa9";
  for (const char* out : {"b.npz", "b.npy"}) {
    const Outcome o = to(accent, out);
    ASSERT_EQ(o.code, 0) << o.text();
    const Arguments rest =
        std::string(out) == "b.npy" ? kSmallBox + Arguments{"--attribute", accent + ":sum"} : Arguments{};
    EXPECT_EQ(run(Arguments{"convert", folder.file(out), folder.file("c.vtu")} + rest).digest(), o.digest()) << out;
    EXPECT_TRUE(says(to("t\xe9", out), "allowed: names in UTF-8")) << out;
  }
  static_cast<void>(to(accent, "b.npz"));
  EXPECT_TRUE(says(read_bytes(folder.file("b.npz")), std::string("PK\3\4\x14\0\0\x08", 8)));
  static_cast<void>(to(accent, "b.npy"));
  EXPECT_EQ(read_bytes(folder.file("b.npy")).substr(6, 2), std::string("\3\0", 2));
}

TEST(ConvertFaults, names_with_quotation_marks_and_brackets_are_written_to_npy_as_numpy_reads_them) {
  const Folder folder;
  const std::vector<std::pair<std::string, std::string>> names{{"it's", R"('it\'s')"},
                                                               {R"(a\b)", R"('a\\b')"},
                                                               {R"(end\)", R"('end\\')"},
                                                               {"x[0]", "'x[0]'"},
                                                               {"(u')", R"('(u\')')"}};
  for (const auto& [name, written] : names) {
    put(folder.file("a.csv"), std::string(kFirstLine) + ",\"" + name + "\"\n0,1,1,1e-3,4.5\n");
    const Arguments rest = kSmallBox + Arguments{"--attribute", name + ":sum"};
    const Outcome o = run(Arguments{"convert", folder.file("a.csv"), folder.file("b.npy")} + rest);
    ASSERT_EQ(o.code, 0) << name << o.text();
    EXPECT_TRUE(says(read_bytes(folder.file("b.npy")), "(" + written + ", '<f8')")) << name;
    const Outcome back = run(Arguments{"convert", folder.file("b.npy"), folder.file("c.vtu")} + rest);
    EXPECT_EQ(back.code, 0) << name << back.text();
    EXPECT_EQ(back.digest(), o.digest()) << name;
  }
  put(folder.file("a.csv"), std::string(kFirstLine) + ",a\tb\n0,1,1,1e-3,4\n");
  const Outcome o =
      run(Arguments{"convert", folder.file("a.csv"), folder.file("d.npy"), "--attribute", "a\tb:sum"} + kSmallBox);
  EXPECT_EQ(o.code, 3) << o.text();
  EXPECT_TRUE(says(o, "allowed: names without control characters")) << o.text();
}

TEST(ConvertFaults, arrays_of_npz_are_checked_by_their_checksums_and_positions_by_their_shape) {
  const Folder folder;
  write_small(folder.file("in.nc"), {});
  ASSERT_EQ(run({"convert", folder.file("in.nc"), folder.file("a.npz")}).code, 0);
  const std::string whole = read_bytes(folder.file("a.npz"));
  std::string flipped = whole;
  flipped[whole.find("position.npy") + 12 + 128 + 40] ^= 1;
  put(folder.file("b.npz"), flipped);
  const Outcome o = run({"convert", folder.file("b.npz"), folder.file("b.nc")});
  EXPECT_EQ(o.code, 3) << o.text();
  EXPECT_TRUE(says(o, "position.npy has another checksum (CRC-32)")) << o.text();
  const std::size_t head = whole.find("\x93NUMPY", whole.find("position.npy"));
  const auto with = [&](const std::string& part, const std::string& by) {
    std::string text = whole;
    text.replace(text.find(part, head), part.size(), by);
    const std::string array = text.substr(head, text.find("PK\3\4", head) - head);
    text = replaced(text, raw(crc32(whole.substr(head, array.size()))), raw(crc32(array)));
    put(folder.file("b.npz"), text);
    return run({"convert", folder.file("b.npz"), folder.file("b.nc")});
  };
  for (const auto& [part, by] : {std::pair{"False", "True "}, {"<f8", ">f8"}, {", 3)", ", 2)"}}) {
    const Outcome wrong = with(part, by);
    EXPECT_EQ(wrong.code, 3) << by;
    EXPECT_TRUE(says(wrong, "no positions (array position, ")) << by << wrong.text();
    EXPECT_TRUE(says(wrong, "allowed: an array position (n, 3), by rows")) << wrong.text();
  }
}

TEST(ConvertFaults, field_data_of_vtu_are_read_as_vtk_writes_them) {
  const Folder folder;
  write_small(folder.file("in.nc"), {}, 3.5);
  ASSERT_EQ(run({"convert", folder.file("in.nc"), folder.file("a.vtu")}).code, 0);
  const std::string whole = read_bytes(folder.file("a.vtu"));
  // Name and numbers of the time are replaced by those of an array behind all others.
  const std::string tail = "\n</AppendedData>";
  const std::size_t data = whole.find('_', whole.find("<AppendedData")) + 1, end = whole.rfind(tail);
  const auto with_time = [&](const std::string& attributes, const std::string& bytes) {
    std::string text = whole;
    text.insert(end, bytes);
    const std::size_t name = text.find("TimeValue"), from = text.rfind('<', name), to = text.find("</DataArray>", from);
    text.replace(from, to - from, "<DataArray Name=\"TimeValue\" " + attributes + ">");
    put(folder.file("b.vtu"), replaced(text, "merganser_time", "merganser_tims"));
    return run({"convert", folder.file("b.vtu"), folder.file("b.nc"), "--attribute", "merganser_tims:drop"});
  };
  const std::string place = "format=\"appended\" offset=\"" + std::to_string(end - data) + "\"";
  const Outcome o = with_time("type=\"Float64\" " + place, raw(std::uint64_t{8}) + raw(7.25));
  ASSERT_EQ(o.code, 0) << o.text();
  EXPECT_EQ(io::read_info(folder.file("b.nc")).time, 7.25);
  EXPECT_EQ(with_time("type=\"Float32\" " + place, raw(std::uint64_t{4}) + raw(2.5F)).code, 0);
  EXPECT_EQ(io::read_info(folder.file("b.nc")).time, 2.5);
  EXPECT_TRUE(says(with_time("type=\"Float64\" " + place, raw(std::uint64_t{16}) + raw(7.25) + raw(8.0)), "2 numbers"));
  EXPECT_TRUE(says(with_time("type=\"Float64\" " + place, raw(std::uint64_t{0})), "has no number"));
  EXPECT_TRUE(says(with_time("type=\"Float64\" " + place, raw(~std::uint64_t{0} - 7)), "bytes"));
  EXPECT_TRUE(says(with_time("type=\"String\" " + place, raw(std::uint64_t{8}) + raw(7.25)), "of type String"));
  EXPECT_TRUE(says(with_time("type=\"Float64\" format=\"binary\"", ""), "TimeValue is binary"));
  EXPECT_TRUE(says(with_time("type=\"Float64\" format=\"appended\" offset=\"9223372036854775807\"", ""), "outside"));
}

TEST(ConvertFaults, entities_of_xml_are_read_in_one_pass) {
  const Folder folder;
  write_small(folder.file("in.nc"), {"heat"});
  ASSERT_EQ(run({"convert", folder.file("in.nc"), folder.file("a.vtu"), "--attribute", "heat:mean"}).code, 0);
  std::string text = replaced(read_bytes(folder.file("a.vtu")), "\"heat\"", "\"he&apos;&amp;lt;\"");
  std::string many;
  for (int i = 0; i < 1000000; ++i) many += "&lt;";
  text.insert(text.find("<Piece ") + 7, "note=\"" + many + "\" ");
  put(folder.file("b.vtu"), text);
  const Outcome o = run({"convert", folder.file("b.vtu"), folder.file("b.csv")});
  EXPECT_EQ(o.code, 0) << o.text();
  EXPECT_TRUE(says(read_bytes(folder.file("b.csv")), "he'&lt;")) << read_bytes(folder.file("b.csv")).substr(0, 200);
}

}  // namespace
