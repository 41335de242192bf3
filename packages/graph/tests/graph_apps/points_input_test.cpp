/// Tests of the point input of commands: points from files and generators do not depend on the number of ranks; errors.
#include "apps/msf/points_input.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <numeric>

#include "merganser/base/error.hpp"
#include "merganser/base/log.hpp"
#include "merganser/comm/runtime.hpp"

namespace {

using namespace merganser;

/// Points of all ranks, by id.
struct Whole {
  int dimension = 0;
  std::vector<msf::Period> periods;
  std::vector<std::vector<double>> at;
};

Whole load(const app::PointsOptions& options, int ranks) {
  Whole whole;
  std::vector<msf::Points> parts(static_cast<std::size_t>(ranks));
  comm::RunOptions run;
  run.backend = "threads";
  run.ranks = ranks;
  comm::run(run, [&](comm::Transport& t) {
    parts[static_cast<std::size_t>(t.rank())] = app::load_points(options, t).points;
  });
  whole.dimension = parts[0].dimension;
  whole.periods = parts[0].periods;
  for (const auto& part : parts) {
    const auto d = static_cast<std::size_t>(part.dimension);
    EXPECT_EQ(part.dimension, whole.dimension);
    EXPECT_TRUE(part.ids.empty());
    for (std::size_t i = 0; i < part.size(); ++i)
      whole.at.emplace_back(part.coordinates.data() + d * i, part.coordinates.data() + d * (i + 1));
  }
  return whole;
}
Whole load(const std::string& spec, int ranks) {
  app::PointsOptions options;
  options.points = spec;
  return load(options, ranks);
}

class PointsFile : public testing::Test {
 protected:
  static std::string format(const std::string& file, int ranks) {
    std::vector<std::string> formats(static_cast<std::size_t>(ranks));
    comm::run({"threads", ranks, "", {}}, [&](comm::Transport& t) {
      app::PointsOptions options;
      options.points = file;
      formats[static_cast<std::size_t>(t.rank())] = app::load_points(options, t).format;
    });
    EXPECT_EQ(formats, std::vector<std::string>(formats.size(), formats[0]));
    return formats[0];
  }
  PointsFile() { std::filesystem::create_directories(folder_); }
  ~PointsFile() override { std::filesystem::remove_all(folder_); }
  std::string write(const std::string& name, const std::string& text) {
    const auto path = (folder_ / name).string();
    std::ofstream(path, std::ios::binary) << text;
    return path;
  }
  static std::string error(const std::string& file, int ranks = 3) {
    try {
      (void)load(file, ranks);
    } catch (const InputError& e) {
      return std::string(e.what()).substr(file.size());
    }
    return "no error";
  }

 private:
  std::filesystem::path folder_ =
      std::filesystem::temp_directory_path() /
      ("merganser_points_" +
       std::to_string(std::hash<std::string>{}(testing::UnitTest::GetInstance()->current_test_info()->name())));
};

TEST(MadePoints, do_not_depend_on_the_number_of_ranks) {
  for (const auto* spec : {"uniform:3:100", "uniform:1:9", "clusters:40:20:3", "lattice:5:2", "normal:2:31",
                           "clusters:3:50:4", "lattice:3:4", "line:20", "equal:9", "uniform:2:0"}) {
    const auto one = load(spec, 1);
    for (const int ranks : {2, 7}) EXPECT_EQ(load(spec, ranks).at, one.at) << spec;
  }
  EXPECT_EQ(load("uniform:2:10", 1).at.size(), 10U);
  EXPECT_EQ(load("lattice:2:5", 2).at.back(), (std::vector<double>{4, 4}));
  auto more = load("clusters:9:30:4", 2).at;
  for (auto& p : more) p.resize(3);
  EXPECT_EQ(more, load("clusters:3:30:4", 1).at) << "fewer coordinates are the first of more";
}

TEST(MadePoints, of_bad_specs_are_refused) {
  for (const auto* spec : {"uniform:0:10", "uniform:1001:10", "uniform:3", "uniform:3:-1", "clusters:2:10",
                           "clusters:2:10:0", "line:x", "lattice:3:1048577", "equal:1:2", ""})
    EXPECT_THROW((void)load(spec, 2), UsageError) << spec;
  EXPECT_THROW((void)load("nowhere/at/all", 2), InputError);
}

TEST(MadePoints, have_the_period_of_their_box_or_that_given) {
  app::PointsOptions options;
  options.points = "lattice:2:6";
  options.periodic = {true, false, false};
  EXPECT_EQ(load(options, 2).periods, (std::vector<msf::Period>{{0, 0, 6}}));
  options.extent = "7.5,2";
  options.periodic = {true, true, false};
  EXPECT_EQ(load(options, 2).periods, (std::vector<msf::Period>{{0, 0, 7.5}, {1, 0, 2}}));
  options.extent = "1,2,3";
  EXPECT_THROW((void)load(options, 2), UsageError);
  options.extent = "-1";
  EXPECT_THROW((void)load(options, 2), UsageError);
  options.extent = "3";
  options.periodic = {false, true, false};
  options.points = "uniform:6:10";
  options.periodic_axes = "5,3";
  EXPECT_EQ(load(options, 2).periods, (std::vector<msf::Period>{{1, 0, 3}, {3, 0, 3}, {5, 0, 3}}));
  options.periodic_axes = "6";
  EXPECT_THROW((void)load(options, 2), UsageError);
  options.periodic_axes = "all";
  EXPECT_EQ(load(options, 2).periods.size(), 6U);
  options = {};
  options.points = "normal:3:5";
  options.periodic = {true, true, true};
  EXPECT_THROW((void)load(options, 2), UsageError);
}

TEST_F(PointsFile, of_text_is_read_by_any_number_of_ranks) {
  std::string text = "x, y, z\n# made by hand\n\n";
  std::vector<std::vector<double>> expected;
  for (int i = 0; i < 40; ++i) {
    expected.push_back({i * 0.5, -1e-3 * i, 1.0});
    text += "  " + std::to_string(expected.back()[0]) + (i % 2 == 0 ? "," : "\t, ") + std::to_string(-i) +
            "e-3 , +1 # " + std::string(static_cast<std::size_t>(i), '.') + "\r\n";
  }
  text.resize(text.size() - 2);  // no end of the last line
  const auto file = write("a.csv", text);
  for (auto& p : expected) p[1] = std::stod(std::to_string(std::lround(p[1] * 1000)) + "e-3");
  for (int ranks = 1; ranks < 60; ranks += 3) EXPECT_EQ(load(file, ranks).at, expected) << ranks;
}

TEST_F(PointsFile, of_any_number_of_columns_is_read) {
  EXPECT_EQ(load(write("one", "1\n2\n3.5\n"), 2).at, (std::vector<std::vector<double>>{{1}, {2}, {3.5}}));
  std::string line;
  std::vector<double> expected;
  for (int i = 0; i < 100; ++i) {
    line += std::to_string(i) + " ";
    expected.push_back(i);
  }
  for (const int ranks : {1, 3})
    EXPECT_EQ(load(write("many", line + "\n" + line + "\n"), ranks).at, (std::vector{expected, expected}));
}

TEST_F(PointsFile, of_text_that_is_wrong_is_refused_with_row_column_and_line) {
  const auto refused = [&](const std::string& text, const std::string& part) {
    std::string first;
    for (const int ranks : {1, 2, 5}) {
      const std::string what = error(write("a", text), ranks);
      EXPECT_NE(what.find(part), std::string::npos) << text << what;
      if (first.empty()) first = what;
      EXPECT_EQ(what, first) << "other words on " << ranks << " ranks";
    }
  };
  refused("1 2\n3 4\n5 x7\n8 9\n", ": row 3 (line 3), column 2: \"x7\"; allowed: finite numbers");
  refused("1 2 3\n# no\n3 4 5 6\n",
          ": row 2 (line 3), column 4: one too many, 4 cells in the row; allowed: 3, as in row 1");
  refused("1 2 3\n1 2 3\n1 2\n1 2\n", ": row 3 (line 3), column 3: is not there");
  refused("1 2\n1 nan\n", ": row 2 (line 2), column 2: \"nan\", a missing or infinite value");
  refused("nan nan\n1 2\n3 4\n", ": row 1 (line 1), column 1: \"nan\", a missing");
  refused("x,y,z\n1,,3\n4,5,\n", ": row 1 (line 2), column 2 (y): an empty cell");
  refused("1,2,3\n4,5,\n", ": row 2 (line 2), column 3: an empty cell");
  refused("1,,3\n,2,3\n5,6,\n", ": row 1 (line 1), column 2: an empty cell");
  refused("x\ty\n1\t2\n3\t\n", ": row 2 (line 3), column 2 (y): an empty cell");
  refused("1\t2\n\t\n3\t4\n", ": row 2 (line 2), column 1: an empty cell");
  refused("\n\t\n1\t2\n3\t4\n", ": row 1 (line 2), column 1: an empty cell");
  refused("1;2,5\n1.5;2\n", ": a decimal point in line 2, a decimal comma in line 1");
  refused("x\n1,5\n", "column 1 (x): \"1,5\"");
  refused(",x,y\n0,0.5,1.5\n", ": row 1 (line 1), heading, column 1 has no name: it is an index");
  refused("0 0\r1 0\r2 5\r", ": line 1: a carriage return (CR) without a line feed");
  refused("1 2\n3 4\r5 6\n", ": line 2: a carriage return");
  refused("1 2\n1e999 3\n", "column 1: \"1e999\"");
  refused("1 2\n1 12:30\n", "column 2: \"12:30\"");
  refused("\x04\x22\x4d\x18", ": packed by LZ4");
  refused(std::string("\xff\xfe"
                      "1\0",
                      4),
          ": UTF-16");
  refused("# nothing\n\n", ": no points");
  refused("x,y\n", ": row 1 (line 1), column 1: \"x\", names and no row below them");
  refused("", ": no points");
  refused(std::string(200000, '1'), ": line 1: more than 65,536 bytes");
  const std::string blanks(65536 - 4, ' ');
  for (const int ranks : {1, 2, 5}) EXPECT_EQ(load(write("h", "1 2\n" + blanks + "3 4\n5 6\n"), ranks).at.size(), 3U);
  for (const std::size_t more : {1U, 70000U, 400000U})
    refused("1 2\n" + blanks + std::string(more, ' ') + "3 4 \n5 6\n",
            ": line 2: more than 65,536 bytes; allowed: the coordinates of one point");
}

TEST_F(PointsFile, of_text_is_read_in_every_dialect_and_what_it_was_is_told) {
  const std::vector<std::vector<double>> expected{{1.5, 2}, {-3, 4.25}, {0.5, 1}};
  const struct {
    const char *text, *format;
  } samples[] = {
      {"\t\n1.5 2\n -3\t4.25\n \t \n.5 1", "2 columns; separated by blanks; no heading"},
      {"x1,x2\n1.5,2\n-3, 4.25\n0.5,1\n", "2 columns x1, x2; separator ','; heading"},
      {"# a comment\n\nPC1\tPC2 # names\n1.5\t2\n\n-3\t4.25\t\n0.5\t1",
       "2 columns PC1, PC2; separated by tabs; heading"},
      {"\xef\xbb\xbf"
       "1.5 2\r\n-3 4.25\r\n0.5 1\r\n",
       "2 columns; separated by blanks; no heading"},
      {"\xef\xbb\xbf"
       "x y\n1.5 2\n-3 4.25\n0.5 1\n",
       "2 columns x, y; separated by blanks; heading"},
      {"x;y\n1,5;2\n-3;4,25\n0,5;1\n", "2 columns x, y; separator ';'; heading; decimal commas"},
      {"1.5;2\n-3;4.25\n0.5;1\n", "2 columns; separator ';'; no heading"},
      {"\"1.5\",\"2\"\n\"-3\",\"4.25\"\n\"0.5\",\"1\"\n", "2 columns; separator ','; no heading"},
      {"\"x, m\",\"#2\"\n1.5,2\n-3,4.25\n0.5,1\n", "2 columns x, m, #2; separator ','; heading"},
  };
  for (const auto& sample : samples) {
    const auto file = write("a", sample.text);
    for (int ranks = 1; ranks < 9; ranks += 2) EXPECT_EQ(load(file, ranks).at, expected) << sample.text << ranks;
    EXPECT_EQ(format(file, 3), sample.format) << sample.text;
  }
}

/// Returns the bytes of a file as NumPy writes it.
std::string npy(const std::string& header, const std::string& data) {
  std::string text = "\x93NUMPY" + std::string("\x01\x00", 2);
  text.push_back(static_cast<char>(header.size()));
  text.push_back('\0');
  return text + header + data;
}
template <class T>
std::string packed(const std::vector<T>& numbers) {
  std::string bytes(sizeof(T) * numbers.size(), '\0');
  std::memcpy(bytes.data(), numbers.data(), bytes.size());
  return bytes;
}

TEST_F(PointsFile, of_coordinates_that_count_as_zero_is_read_with_a_warning) {
  app::PointsOptions options;
  const auto warning = [&](const std::string& text) {
    options.points = write("a", text);
    std::string said;
    set_log_sink([&](Level level, int rank, std::string_view line) {
      if (level == Level::warning && rank == 0) said += line;
    });
    (void)load(options, 3);
    set_log_sink({});
    return said;
  };
  const std::string tiny = "1e-150 1\n-2e-141 2\n0 3\n1e-140 4\n";
  EXPECT_NE(warning(tiny).find("coordinates nearer to 0 than 1e-140, of which there are 2, count as 0"),
            std::string::npos);
  EXPECT_EQ(warning("1e-140 1\n0 2\n5 -1e-139\n"), "");
  options.metric = msf::Distance::cosine;
  EXPECT_EQ(warning(tiny), "");
}

TEST_F(PointsFile, of_numpy_is_read_by_any_number_of_ranks) {
  const auto file = write("a.npy", npy("{'descr': '<f8', 'fortran_order': False, 'shape': (3, 2), }    \n",
                                       packed(std::vector<double>{1, 2, 3, 4, 5, 6.5})));
  const auto floats = write("b.npy", npy("{'descr': '<f4', 'fortran_order': False, 'shape': (2, 3), }\n",
                                         packed(std::vector<float>{1, 2, 3, 4, 5, 6.5F})));
  const auto other = write("c.npy", npy("{'shape': (3L, 2L), 'fortran_order': False, 'descr': '<f8'}",
                                        packed(std::vector<double>{1, 2, 3, 4, 5, 6.5})));
  EXPECT_EQ(load(other, 1).at, load(file, 1).at) << "keys in another order, lengths as Python 2 has them";
  const auto columns = write("d.npy", npy("{'descr': '<f8', 'fortran_order': True, 'shape': (3, 2), }",
                                          packed(std::vector<double>{1, 3, 5, 2, 4, 6.5})));
  auto swapped = packed(std::vector<float>{6.5F, 5, 4, 3, 2, 1});
  std::reverse(swapped.begin(), swapped.end());
  const auto big = write("e.npy", npy("{'descr': '>f4', 'fortran_order': False, 'shape': (3, 2), }", swapped));
  for (const int ranks : {1, 2, 5}) {
    EXPECT_EQ(load(file, ranks).at, (std::vector<std::vector<double>>{{1, 2}, {3, 4}, {5, 6.5}}));
    EXPECT_EQ(load(columns, ranks).at, load(file, ranks).at) << "Fortran order";
    EXPECT_EQ(load(big, ranks).at, load(file, ranks).at) << "highest byte first";
    EXPECT_EQ(load(floats, ranks).at, (std::vector<std::vector<double>>{{1, 2, 3}, {4, 5, 6.5}}));
  }
}

/// Returns the bytes of numbers, the highest byte of each first if `swapped`.
template <class T>
std::string packed(std::vector<T> numbers, bool swapped) {
  std::string bytes = packed(numbers);
  for (std::size_t at = 0; swapped && at < bytes.size(); at += sizeof(T))
    std::reverse(bytes.begin() + static_cast<std::ptrdiff_t>(at),
                 bytes.begin() + static_cast<std::ptrdiff_t>(at + sizeof(T)));
  return bytes;
}
/// Returns a header of NumPy for an array of numbers of a type.
std::string npy_header(const std::string& type, bool by_columns, std::size_t rows, std::size_t columns) {
  return "{'descr': '" + type + "', 'fortran_order': " + (by_columns ? "True" : "False") + ", 'shape': (" +
         std::to_string(rows) + ", " + std::to_string(columns) + "), }";
}

TEST_F(PointsFile, of_numpy_integers_of_every_width_are_read) {
  const auto check = [&]<class T>(T, const std::string& type, std::vector<T> numbers) {
    const std::size_t columns = 2, rows = numbers.size() / columns;
    std::vector<std::vector<double>> expected(rows);
    for (std::size_t i = 0; i < numbers.size(); ++i) expected[i / columns].push_back(static_cast<double>(numbers[i]));
    std::vector<T> by_column;
    for (std::size_t c = 0; c < columns; ++c)
      for (std::size_t r = 0; r < rows; ++r) by_column.push_back(numbers[r * columns + c]);
    for (const char order : {'<', '>', '|'}) {
      if ((order == '|') != (sizeof(T) == 1)) continue;
      for (const bool by_columns : {false, true}) {
        const auto file = write("i.npy", npy(npy_header(order + type, by_columns, rows, columns),
                                             packed(by_columns ? by_column : numbers, order == '>')));
        for (const int ranks : {1, 2, 3, 4, 7}) EXPECT_EQ(load(file, ranks).at, expected) << type << order << ranks;
      }
    }
  };
  check(std::int8_t{}, "i1", {-128, 127, 0, -1, 5, 6});
  check(std::uint8_t{}, "u1", {0, 255, 7, 8, 9, 128});
  check(std::int16_t{}, "i2", {-32768, 32767, 258, -2});
  check(std::uint16_t{}, "u2", {65535, 258, 3, 4});
  check(std::int32_t{}, "i4", {INT32_MIN, INT32_MAX, 16909060, -2});
  check(std::uint32_t{}, "u4", {UINT32_MAX, 16909060, 3, 4});
  constexpr std::int64_t limit = std::int64_t{1} << 53;
  check(std::int64_t{}, "i8", {INT64_MIN, limit, -limit, 72623859790382848, 4, 2 * limit + 4});
  check(std::uint64_t{}, "u8", {std::uint64_t{1} << 63, static_cast<std::uint64_t>(limit), 3, UINT64_MAX << 11});
}

TEST_F(PointsFile, of_text_with_integers_that_no_coordinate_is_are_refused_with_their_place) {
  for (const char* whole : {"9007199254740993", "-9007199254740993", "+1700000000000000001", "18446744073709551615",
                            "36893488147419103233", "1152921504606846999"}) {
    const std::string what = std::string(": row 2 (line 3), column 2 (t): ") + whole + ", which float64 does not hold";
    EXPECT_EQ(error(write("a.csv", "x,t\n1,2\n3," + std::string(whole) + "\n5,6\n")).find(what), 0U) << whole;
  }
  const auto at = load(write("b.txt",
                             "9007199254740994 1700000000000000000\n9007199254740993.0 -9223372036854775808\n"
                             "1e149 18446744073709551616\n"),
                       2)
                      .at;
  EXPECT_EQ(
      at, (std::vector<std::vector<double>>{{9007199254740994, 1.7e18}, {9007199254740992, -0x1p63}, {1e149, 0x1p64}}));
  // 2^60 and 2^65 in all digits, and in the shortest ones with zeros.
  EXPECT_EQ(
      load(write("d.txt", "1152921504606846976 1152921504606847000\n36893488147419103232 -36893488147419103000\n"), 2)
          .at,
      (std::vector<std::vector<double>>{{0x1p60, 0x1p60}, {0x1p65, -0x1p65}}));
  EXPECT_NE(error(write("c.txt", "+-1 2\n3 4\n")).find("\"+-1\"; allowed: finite numbers"), std::string::npos);
}

TEST_F(PointsFile, of_numpy_integers_that_no_coordinate_is_are_refused_with_their_place) {
  std::vector<std::int64_t> numbers(14, 1);
  numbers[7] = (std::int64_t{1} << 53) + 1;  // row 4, column 2
  numbers[8] = INT64_MAX;                    // row 5, column 1: first in its column
  std::vector<std::int64_t> by_column;
  for (std::size_t c = 0; c < 2; ++c)
    for (std::size_t r = 0; r < 7; ++r) by_column.push_back(numbers[r * 2 + c]);
  for (const int ranks : {1, 2, 3, 7}) {
    const std::string what =
        ": row 4, column 2: 9007199254740993, which float64 does not hold; allowed: integers up to";
    EXPECT_NE(error(write("a.npy", npy(npy_header("<i8", false, 7, 2), packed(numbers))), ranks).find(what),
              std::string::npos);
    EXPECT_NE(error(write("b.npy", npy(npy_header(">i8", true, 7, 2), packed(by_column, true))), ranks).find(what),
              std::string::npos);
  }
  EXPECT_NE(error(write("c.npy", npy(npy_header("<u8", false, 1, 1), std::string(8, '\xff'))), 1)
                .find("column 1: 18446744073709551615, which"),
            std::string::npos);
}

TEST_F(PointsFile, of_numpy_numbers_of_16_bits_are_all_read) {
  // All bits of binary16 whose exponent is not that of infinities, and what they are by the way over binary32.
  std::vector<std::uint16_t> halves;
  std::vector<std::vector<double>> expected;
  for (std::uint32_t bits = 0; bits < 65536; ++bits) {
    if ((bits & 0x7c00U) == 0x7c00U) continue;
    halves.push_back(static_cast<std::uint16_t>(bits));
    const float scaled = std::bit_cast<float>((bits & 0x7fffU) << 13U) * 0x1p112F;
    expected.push_back({(bits & 0x8000U) != 0 ? -scaled : scaled});
  }
  for (const bool swapped : {false, true}) {
    const auto file =
        write("h.npy", npy(npy_header(swapped ? ">f2" : "<f2", false, halves.size(), 1), packed(halves, swapped)));
    EXPECT_EQ(load(file, 3).at, expected);
  }
  const auto odd = load(
      write("odd.npy", npy(npy_header("<f2", false, 2, 1), packed(std::vector<std::uint16_t>{0x7c00, 0xfe00}))), 1);
  EXPECT_EQ(odd.at[0][0], HUGE_VAL);
  EXPECT_TRUE(std::isnan(odd.at[1][0]));
}

TEST_F(PointsFile, of_numpy_that_is_wrong_is_refused) {
  const std::string data = packed(std::vector<double>{1, 2, 3, 4, 5, 6});
  for (const auto* header :
       {"{'descr': '<f8', 'fortran_order': Fals, 'shape': (3, 2), }",
        "{'descr': '<f8', 'fortran_order': False, 'shape': (6,), }",
        "{'descr': '<f8', 'fortran_order': False, 'shape': (6, 0), }",
        "{'descr': '<f8', 'fortran_order': False, 'shape': (1, 70000), }",
        "{'descr': '<f8', 'fortran_order': False, 'shape': (3, 2, 1), }",
        "{'descr': '<f8', 'fortran_order': False, 'shape': (3 2), }",
        "{'descr': '<f8', 'fortran_order': False, 'shape': 6, }", "{'descr': '<f8', 'fortran_order': False, 'shape': (",
        "{'descr': '<f8', 'fortran_order': False, 'shape': (4, 2), }", "{'descr': '<f8', 'shape': (3, 2), }",
        "{'descr': '<f8', 'fortran_order': False, 'shape': (99999999999999999999, 2), }", "",
        "{'descr':", "{'shape': (3, 2"})
    EXPECT_NE(error(write("a.npy", npy(header, data))), "no error") << header;
  const auto of_type = [&](const std::string& type) {
    return error(write("a.npy", npy("{'descr': " + type + ", 'fortran_order': False, 'shape': (3, 2), }", data)));
  };
  EXPECT_NE(of_type("'|O'").find("objects of Python"), std::string::npos);
  for (const char* type :
       {"'|b1'", "'<f16'", "'<c16'", "'=f8'", "'|i2'", "'<f1'", "'<i16'", "'<M8[s]'", "'<U8'", "'<i0'", "'<i3'", "<i8"})
    EXPECT_NE(of_type(type).find(": numbers of type "), std::string::npos) << type << of_type(type);
  EXPECT_NE(of_type("[('x', '<f8'), ('y', '<f8')]").find("a structured array"), std::string::npos);
  const std::string good = npy("{'descr': '<f8', 'fortran_order': False, 'shape': (3, 2), }", data);
  for (std::size_t length = 6; length < good.size(); ++length)
    EXPECT_NE(error(write("a.npy", good.substr(0, length)), 1), "no error") << length;
}

}  // namespace
