/// Text tables: table cells of a row, detection of the dialect, refused first rows, signatures of other formats.
#include "merganser/base/text_table.hpp"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace {

using namespace merganser;

std::vector<std::string> cells(std::string_view row, char separator) {
  std::vector<std::string> out;
  for (TableCells walk(row, separator); walk.next();)
    out.push_back(walk.is_malformed() ? "malformed" : std::string(walk.cell()));
  return out;
}
using Strings = std::vector<std::string>;

TEST(TextTable, rows_have_a_cell_between_any_two_separators) {
  EXPECT_EQ(cells(" 1, 2 ,3 ", ','), (Strings{"1", "2", "3"}));
  EXPECT_EQ(cells("1,,3", ','), (Strings{"1", "", "3"}));
  EXPECT_EQ(cells(",", ','), (Strings{"", ""}));
  EXPECT_EQ(cells("4,5,", ','), (Strings{"4", "5", ""}));
  EXPECT_EQ(cells("1\t\t3\t", '\t'), (Strings{"1", "", "3", ""}));
  EXPECT_EQ(cells("  1 \t 2  ", ' '), (Strings{"1", "2"}));
  EXPECT_EQ(cells("\"1.5\", \"a, b\",\"\"", ','), (Strings{"1.5", "a, b", ""}));
  EXPECT_EQ(cells("\"1", ','), (Strings{"malformed"}));
  EXPECT_EQ(cells("\"1\"2,3", ',').front(), "malformed");
}

TEST(TextTable, cells_are_known_by_their_beginning) {
  for (const char* number : {"1", "-1", "+.5", "1e5", "2nd", ",5"})
    EXPECT_EQ(cell_kind(number), CellKind::number) << number;
  for (const char* missing :
       {"nan", "NaN", "-nan", "NA", "<NA>", "n/a", "null", "None", "-inf", "Infinity", "?", "-", "#N/A"})
    EXPECT_EQ(cell_kind(missing), CellKind::missing) << missing;
  for (const char* name : {"x1", "PC1", "e", "x", "-log10(p)", "Na+"})
    EXPECT_EQ(cell_kind(name) == CellKind::name, std::string(name) != "Na+") << name;
  EXPECT_EQ(cell_kind(" "), CellKind::empty);
}

TEST(TextTable, the_dialect_follows_from_the_first_two_rows) {
  struct Case {
    const char *first, *second, *text;
  };
  for (const Case& c :
       {Case{"1 2\t3", "", "3 columns; separated by blanks; no heading"},
        {"1, 2", "3, 4", "2 columns; separator ','; no heading"},
        {"x1,x2", "1,2", "2 columns x1, x2; separator ','; heading"},
        {"PC1 PC2", "1 2", "2 columns PC1, PC2; separated by blanks; heading"},
        {"x;y", "1,5;2,5", "2 columns x, y; separator ';'; heading"},
        {"1,5;2,5", "", "2 columns; separator ';'; no heading"},
        {"1,5\t2,5", "", "2 columns; separated by tabs; no heading"},
        {"1,\t2,\t3", "", "3 columns; separator ','; no heading"},
        {"Sepal Length\tSepal Width", "1\t2", "2 columns Sepal Length, Sepal Width; separated by tabs; heading"},
        {"\"x, m\",\"y; m\"", "1,2", "2 columns x, m, y; m; separator ','; heading"},
        {"1\t2\t", "3\t4\t", "2 columns; separated by tabs; no heading"},
        {"1\t2\t", "3\t4\t5", "3 columns; separated by tabs; no heading"},
        {"Na,K", "1,2", "2 columns Na, K; separator ','; heading"},
        {"nan nan", "1 2", "2 columns; separated by blanks; no heading"},
        {"NA", "1", "1 column; no heading"},
        {"1,x", "", "2 columns; separator ','; no heading"},
        {"\"1.5\",\"2.5\"", "\"3\",\"4\"", "2 columns; separator ','; no heading"}}) {
    const TableStart start = find_dialect(c.first, c.second);
    EXPECT_EQ(start.refusal, "") << c.first;
    EXPECT_EQ(dialect_text(start.dialect, start.names), c.text);
    EXPECT_EQ(start.note, "") << c.first;
  }
  EXPECT_EQ(find_dialect("", "").dialect.columns, 0U);
}

TEST(TextTable, first_rows_that_can_be_read_in_two_ways_are_refused) {
  struct Case {
    const char *first, *second, *part;
  };
  for (const Case& c : {Case{",x,y", "0,1,2", "column 1 has no name: it is an index"},
                        {"not a table", "", "column 1: \"not\", names and no row below them"},
                        {"\"\",\"x\"", "\"1\",2", "index=False"},
                        {"\tx\ty", "0\t1\t2", "index=False"},
                        {"Unnamed: 0,x", "0,1", "index=False"},
                        {",0,1", "0,0.5,1.5", "header=False"},
                        {"x,,y", "0,1,2", "column 2 has no name"},
                        {"x y", "1 0.5 1.5", "row.names = FALSE"},
                        {"1,5, 2,5", "", "decimal marks or separators"},
                        {"\"0\",\"1\"", "0.5,1.5", "numbers in quotes"}})
    EXPECT_NE(find_dialect(c.first, c.second).refusal.find(c.part), std::string::npos)
        << c.first << ": " << find_dialect(c.first, c.second).refusal;
  EXPECT_NE(find_dialect("0,1", "0.5,1.5").note.find("header=False"), std::string::npos);
  EXPECT_NE(find_dialect("0,0.5,1.5", "1,2.5,3.5").note.find("index=False"), std::string::npos);
  EXPECT_EQ(find_dialect("0,1", "2,3").note, "");
}

TEST(TextTable, what_is_no_text_is_named_by_its_first_bytes) {
  using namespace std::string_view_literals;
  struct Case {
    std::string_view head, part;
  };
  for (const Case& c : {Case{"BZh91AY", "bzip2 -dk"},
                        {"\xfd\x37zXZ\0\0"sv, "packed by xz"},
                        {"\x28\xb5\x2f\xfd\x04"sv, "Zstandard"},
                        {"PK\x03\x04\x14"sv, ".npz"},
                        {"\xff\xfe\x31\0"sv, "UTF-16"},
                        {"1\0 \0002\0"sv, "UTF-16"},
                        {"\0001\0 \0002"sv, "UTF-16"},
                        {"\x89HDF\r\n\x1a\n", "HDF5"}})
    EXPECT_NE(foreign_text(c.head).find(c.part), std::string::npos) << foreign_text(c.head);
  EXPECT_EQ(foreign_text("\xef\xbb\xbf"
                         "1 2\n"),
            "");
  EXPECT_EQ(foreign_text("1 2 # \0"sv), "") << "a zero byte alone is refused where it stands, if not in a comment";
  EXPECT_EQ(foreign_text("%\0\0\0\n2 0"sv), "");
  EXPECT_EQ(foreign_text(""), "");
}

}  // namespace
