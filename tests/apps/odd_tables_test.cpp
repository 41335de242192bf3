/// Tests of `merganser convert` on tables as other programs write them: cut, commented, padded, of the other byte order, with numbers
/// that mean something elsewhere. What cannot be read is refused or named, with the value and what is allowed.
#include <gtest/gtest.h>

#include <array>
#include <bit>
#include <fstream>
#include <string>
#include <utility>
#include <vector>

#include "src/io/tables/npz_format.hpp"
#include "tests/apps/program.hpp"
#include "tests/io/folder.hpp"

namespace {

using namespace merganser;
using namespace merganser::test;

const Arguments kBox{"--cells", "2,2,2", "--origin", "0,0,0", "--extent", "2,2,2", "--periodic", "xyz"};
const std::string kFirstLine = "x_position,y_position,z_position,volume";
const std::string kFields = "('x_position', '<f8'), ('y_position', '<f8'), ('z_position', '<f8'), ('volume', '<f8')";

void put(const std::string& path, const std::string& text) { std::ofstream(path, std::ios::binary) << text; }

/// Returns the bytes of a number in a file.
template <class T>
std::string raw(T value) {
  const auto bytes = std::bit_cast<std::array<char, sizeof(T)>>(value);
  return {bytes.begin(), bytes.end()};
}

/// Converts one file that is written before, in the box of these tests.
Outcome convert(const Folder& folder, const std::string& in, const std::string& content, const std::string& out,
                const Arguments& more = {}) {
  put(folder.file(in), content);
  return run(Arguments{"convert", folder.file(in), folder.file(out)} + kBox + more);
}

/// Returns an NPY file of two parcels. @param entries  fields of an entry @param between  bytes behind position and volume
std::string npy(const std::string& entries, const std::string& between) {
  std::string bytes = io::npy_array_head("[" + entries + "]", "2,");
  for (const double x : {0.5, 1.5}) bytes += raw(x) + raw(0.5) + raw(0.25) + raw(1e-3) + between;
  return bytes;
}

TEST(OddTables, a_csv_file_without_a_last_line_end_is_read_with_a_warning_that_it_may_be_cut) {
  const Folder folder;
  const std::string whole = kFirstLine + "\n0.5,1,1,1e-3\n0.25,1,1,1.234\n";
  const Outcome good = convert(folder, "a.csv", whole, "a.npz");
  ASSERT_EQ(good.code, 0) << good.text();
  EXPECT_FALSE(says(good, "line end")) << good.text();
  const std::string cut = whole.substr(0, whole.size() - 2);  // 1.23
  for (const char* ranks : {"1", "4"}) {
    const Outcome o = convert(folder, "a.csv", cut, "a.npz", {"--ranks", ranks});
    EXPECT_EQ(o.code, 0) << o.text();
    EXPECT_TRUE(says(o.err, "a.csv: no line end follows line 3, the last")) << o.text();
    EXPECT_NE(o.digest(), good.digest());
  }
  EXPECT_EQ(convert(folder, "a.CSV", whole, "b.CSV").digest(), good.digest());
  EXPECT_EQ(run(Arguments{"convert", folder.file("b.CSV"), folder.file("c.npz")} + kBox).digest(), good.digest());
  const Outcome merged = run(Arguments{"cluster", folder.file("a.csv")} + kBox);
  EXPECT_TRUE(says(merged.err, "no line end follows line 3")) << merged.text();
  EXPECT_TRUE(says(convert(folder, "a.csv", kFirstLine, "a.npz").err, "no line end follows line 1"));
  EXPECT_FALSE(says(convert(folder, "a.csv", kFirstLine + "\r\n1,1,1,1\r\n", "a.npz"), "line end"));
}

TEST(OddTables, what_csv_files_of_others_hold_is_named) {
  const Folder folder;
  const auto said = [&](const std::string& content, const Arguments& more = {}) {
    const Outcome o = convert(folder, "a.csv", content, "a.npz", more);
    EXPECT_EQ(o.code, 3) << content << o.text();
    return o.text();
  };
  const std::string row = "\n0.5,1,1,1e-3\n";
  EXPECT_TRUE(
      says(said("0.5,1,1,1e-3" + row), "the first line holds numbers, \"0.5,1,1,1e-3\"; allowed: a line of names"));
  EXPECT_TRUE(says(said(kFirstLine + "\r0.5,1,1,1\r"), "its lines end with CR alone"));
  EXPECT_TRUE(says(said(std::string("\xff\xfex\0,\0y\0", 8)), "in UTF-16; allowed: UTF-8"));
  EXPECT_TRUE(says(said("# made by me\n" + kFirstLine + row), "begins with #"));
  EXPECT_TRUE(says(said("# " + kFirstLine + row), "no column x_position")) << said("# " + kFirstLine + row);
  EXPECT_TRUE(says(said("# " + kFirstLine + row), "numpy.savetxt: comments=''"));
  EXPECT_TRUE(says(said(kFirstLine + "\n# made by me" + row),
                   "line 2 has 1 field; the first line has 4: \"# made by me\"; allowed: as many in every line"));
  EXPECT_TRUE(says(said("," + kFirstLine + "\n0,0.5,1,1,1e-3\n"), "(column 1); allowed: a name for each"));
  EXPECT_TRUE(says(said("x_position,y_position,z_position\n1,1,1\n"),
                   "no column volume; allowed: with that name, or "
                   "--columns volume=NAME"));
  EXPECT_TRUE(says(said(kFirstLine + ",merganser_id\n0.5,1,1,1e-3,1.0\n"),
                   "merganser_id is of type double; allowed: whole numbers"));
  EXPECT_TRUE(says(said(kFirstLine + ",merganser_id\n0.5,1,1,1e-3,18446744073709551615\n"),
                   "id 0 is 18446744073709551615; allowed: 0 to 9223372036854775807\n"));
  EXPECT_TRUE(says(said(kFirstLine + "\n0.5,1,1,1e999\n"), "\"1e999\"; allowed: a number that a double holds"));
  EXPECT_TRUE(says(said(kFirstLine + "\n0.5,1,1,1" + std::string(1, '\0') + "\n"), "volume: \"1\\0\"; allowed"));
  EXPECT_TRUE(says(said(kFirstLine + ",k\n0.5,1,1,1,7\n0.5,1,1,1,9007199254740993\n0.5,1,1,1,1.5\n"),
                   "the first on line 3, \"9007199254740993\"; allowed"));
  EXPECT_TRUE(says(said(kFirstLine + ",k\n0.5,1,1,1,9007199254740993\n", {"--attribute", "k:mean"}),
                   "value 0 is 9007199254740993; allowed: whole numbers below 2^53"));
}

TEST(OddTables, advice_of_rules_can_be_typed_as_it_is_printed) {
  const Folder folder;
  const std::string odd = kFirstLine + ",my heat,\"a\"\"b\"\n0.5,1,1,1e-3,2,3\n";
  const Outcome advice = convert(folder, "a.csv", odd, "a.npz");
  EXPECT_TRUE(says(advice, "give --attribute 'a\"b:RULE,my heat:RULE' with RULE mean")) << advice.text();
  EXPECT_EQ(convert(folder, "a.csv", odd, "a.npz", {"--attribute", "a\"b:mean,my heat:mean"}).code, 0);
  const Outcome plain = convert(folder, "b.csv", kFirstLine + ",k\n0.5,1,1,1e-3,2\n", "b.npz");
  EXPECT_TRUE(says(plain, "give --attribute k:RULE with")) << plain.text();
}

TEST(OddTables, entries_of_numpy_with_padding_titles_and_odd_names_are_read) {
  const Folder folder;
  const Outcome plain = convert(folder, "a.npy", npy(kFields, ""), "a.npz");
  ASSERT_EQ(plain.code, 0) << plain.text();
  EXPECT_EQ(convert(folder, "b.npy", npy(kFields + ", ('', '|V3')", "..."), "b.npz").digest(), plain.digest());
  const Arguments ranks{"--ranks", "2"};
  EXPECT_EQ(convert(folder, "b.npy", npy(kFields + ", ('', '|V3')", "..."), "b.npz", ranks).digest(), plain.digest());
  const std::string first = io::npy_array_head("[('', '|V5'), " + kFields + "]", "1,") + "....." + raw(0.5) + raw(0.5) +
                            raw(0.25) + raw(1e-3);
  EXPECT_EQ(convert(folder, "b.npy", first, "b.npz").code, 0);
  const std::string titled = npy(kFields + ", (('of whom', 'it'), '<i4')", raw(std::int32_t{7}));
  EXPECT_EQ(convert(folder, "b.npy", titled, "b.csv", {"--attribute", "it:centre"}).code, 0);
  EXPECT_TRUE(says(read_bytes(folder.file("b.csv")), "volume,it\n")) << read_bytes(folder.file("b.csv"));
  const std::vector<std::pair<std::string, std::string>> names{
      {"it's", "\"it's\""}, {"a]b", "'a]b'"}, {"back\\slash", "'back\\\\slash'"}};
  for (const auto& [name, written] : names) {
    const std::string file = npy(kFields + ", (" + written + ", '<f8')", raw(0.125));
    const Outcome o = convert(folder, "b.npy", file, "b.csv", {"--attribute", name + ":mean"});
    EXPECT_EQ(o.code, 0) << o.text();
    EXPECT_TRUE(says(read_bytes(folder.file("b.csv")), "volume," + name + "\n")) << name;
  }
}

TEST(OddTables, names_that_numpy_writes_in_latin_1_or_with_escapes_are_read) {
  const Folder folder;
  std::string latin = npy(kFields + ", ('~', '<f8')", raw(0.125));  // of version 1
  latin[latin.find('~')] = '\xe9';
  const std::vector<std::pair<std::string, std::string>> files{
      {latin, "\xc3\xa9"},
      {npy(kFields + ", ('a\\xa0b', '<f8')", raw(0.125)),
       "a\xc2\xa0"
       "b"},
      {npy(kFields + ", ('\\u200b', '<f8')", raw(0.125)), "\xe2\x80\x8b"},
      {npy(kFields + ", ('\\U0001f986', '<f8')", raw(0.125)), "\xf0\x9f\xa6\x86"}};
  for (const auto& [file, name] : files) {
    const Arguments rules{"--attribute", name + ":mean"};
    const Outcome first = convert(folder, "a.npy", file, "b.npy", rules);
    ASSERT_EQ(first.code, 0) << first.text();
    for (const char* other : {"c.vtu", "c.npz"}) {
      const Outcome o = run(Arguments{"convert", folder.file("b.npy"), folder.file(other)} + kBox + rules);
      EXPECT_EQ(o.digest(), first.digest()) << o.text();
    }
    EXPECT_TRUE(says(read_bytes(folder.file("c.vtu")), "Name=\"" + name + "\"")) << name;
  }
  for (const char* bad : {"\\ud800", "\\x8", "\\U00110000", "\\q"}) {
    const Outcome o = convert(folder, "a.npy", npy(kFields + ", ('" + bad + "', '<f8')", raw(0.125)), "b.npz");
    EXPECT_EQ(o.code, 3) << bad << o.text();
  }
}

TEST(OddTables, names_that_are_not_utf8_are_not_written_where_others_could_not_read_them) {
  const Folder folder;
  for (const char* name : {"\xe9", "\xed\xa0\x80", "\xe0\x80\x80", "\xf4\x90\x80\x80"})
    for (const char* output : {"b.vtu", "b.npy", "b.npz"}) {
      const Outcome o = convert(folder, "a.csv", kFirstLine + "," + name + "\n0.5,1,1,1e-3,2\n", output,
                                {"--attribute", std::string(name) + ":mean"});
      EXPECT_EQ(o.code, 3) << output << o.text();
      EXPECT_TRUE(says(o, "allowed: names in UTF-8")) << o.text();
    }
}

TEST(OddTables, entries_of_numpy_of_types_that_are_not_read_are_named_and_dropped) {
  const Folder folder;
  const std::string flags =
      npy(kFields + ", ('flag', '|b1'), ('half', '<f2', (2,)), ('big', '>i8')", "12345" + raw(1.0));
  const Outcome warned = convert(folder, "a.npy", flags, "a.npz");
  EXPECT_EQ(warned.code, 0) << warned.text();
  for (const char* part : {"field flag, of type |b1, which is not read", "field half, of several numbers",
                           "field big, of type >i8, which is of the other byte order"})
    EXPECT_TRUE(says(warned.err, part)) << warned.text();
  const Arguments drop{"--attribute", "flag:drop,half:drop,big:drop"};
  const Outcome dropped = convert(folder, "a.npy", flags, "a.npz", drop);
  EXPECT_EQ(dropped.err, "") << dropped.text();
  EXPECT_EQ(dropped.digest(), convert(folder, "b.npy", npy(kFields, ""), "b.npz").digest());
  const Outcome merged = run(Arguments{"cluster", folder.file("a.npy"), "-o", folder.file("c.npz")} + kBox);
  EXPECT_EQ(merged.code, 3) << merged.text();
  EXPECT_EQ(run(Arguments{"cluster", folder.file("a.npy"), "-o", folder.file("c.npz")} + kBox + drop).code, 0);
  std::string big = kFields;
  for (std::size_t at = 0; (at = big.find('<', at)) != std::string::npos;) big[at] = '>';
  EXPECT_TRUE(
      says(convert(folder, "a.npy", npy(big, ""), "a.npz"), "x_position is of type >f8, which is of the other byte"));
  const Outcome more = convert(folder, "a.npy", npy(kFields, "") + "xyz", "a.npz");
  EXPECT_EQ(more.code, 3) << more.text();
  EXPECT_TRUE(says(more, "3 bytes stand behind its entries; allowed: one array in a file")) << more.text();
}

TEST(OddTables, numbers_that_netcdf_fills_with_are_numbers_in_other_files) {
  const Folder folder;
  const std::string csv = kFirstLine + ",label,big\n0.5,1,1,1e-3,-9223372036854775806,9.969209968386869e36\n";
  const Arguments rules{"--attribute", "label:centre,big:mean"};
  const Outcome out = convert(folder, "a.csv", csv, "a.npz", rules);
  ASSERT_EQ(out.code, 0) << out.text();
  for (const char* name : {"b.vtu", "b.vtkhdf", "b.npz", "b.csv"}) {
    const Outcome o = run({"convert", folder.file("a.npz"), folder.file(name)});
    EXPECT_EQ(o.code, 0) << name << o.text();
    EXPECT_EQ(o.digest(), out.digest());
  }
  EXPECT_EQ(convert(folder, "b.csv", read_bytes(folder.file("b.csv")), "c.npz", rules).digest(), out.digest());
  // Where they would be read as missing they are refused, with every digit.
  const std::string shapes =
      kFirstLine + ",B11,B12,B13,B22,B23,label\n0.5,1,1,1e-3,0.01,0,0,0.01,0,-9223372036854775806\n";
  const Outcome epic = convert(folder, "d.csv", shapes, "d.nc", {"--attribute", "label:centre"});
  EXPECT_EQ(epic.code, 3) << epic.text();
  EXPECT_TRUE(says(epic, "label is -9223372036854775806, which in this variable means missing")) << epic.text();
}

}  // namespace
