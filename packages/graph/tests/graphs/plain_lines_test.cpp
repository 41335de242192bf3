/// Tests of the parsers of plain lines of text graph files: the same edges and the same errors as by the general parsers of all lines.
#include "src/graphs/files/plain_lines.hpp"

#include <gtest/gtest.h>

#include <array>
#include <vector>

#include "merganser/base/random.hpp"
#include "src/graphs/files/raw.hpp"
#include "tests/graphs/whole_graph.hpp"
#include "tests/io/folder.hpp"
#include "tests/support/mutated.hpp"

namespace {

using namespace merganser;
using namespace merganser::test;
using namespace merganser::graphs::detail;

const std::string kMatrixBanner = "%%MatrixMarket matrix coordinate ";

/// Rows of numbers of up to seven digits: two ids and, with `weights`, a weight.
std::string plain_rows(int count, const std::string& lead, bool weights, const std::string& separator,
                       const std::string& end) {
  std::string text;
  for (int i = 1; i <= count; ++i) {
    Random random(5, static_cast<std::uint64_t>(i), 0);
    text += lead + std::to_string(1 + random.below(40)) + separator + std::to_string(1 + random.below(40));
    if (weights) text += separator + std::to_string(random.bits() >> random.below(64) >> 4);
    text += end;
  }
  return text;
}
/// Lines of neighbours of the vertices of a cycle, with weights of one and of many digits.
std::string weighted_cycle(int vertices, const std::string& before, const std::string& separator,
                           const std::string& end) {
  std::string text;
  for (int v = 0; v < vertices; ++v) {
    const int last = (v + vertices - 1) % vertices, next = (v + 1) % vertices;
    const auto weight = [&](int edge) { return std::to_string(edge % 3 == 0 ? 7 : 123456789012 + edge); };
    text += before + std::to_string(last + 1) + separator + weight(last) + separator + std::to_string(next + 1) +
            separator + weight(v) + end;
  }
  return text;
}

/// Text of a graph file whose lines are plain, and the name of its format.
struct PlainSample {
  graphs::Format format;
  std::string text;
};
/// Returns texts of every format with about `lines` lines, in their different shapes.
std::vector<PlainSample> plain_samples(int lines) {
  using graphs::Format;
  const std::string size = std::to_string(lines);
  std::string reals, plus;
  for (int i = 1; i <= lines; ++i) {
    reals += std::to_string(i % 40 + 1) + "  " + std::to_string(i % 7 + 1) + " " + std::to_string(0.37 * i) + "e-3\n";
    plus += "a 1 2 +5\n";
  }
  return {{Format::edge_list, plain_rows(lines, "", true, " ", "\n")},
          {Format::edge_list, plain_rows(lines, "", false, "\t", "\r\n")},
          {Format::edge_list,
           "\xef\xbb\xbf"
           "from,to,weight\n" +
               plain_rows(lines, "", true, ",", "\n")},
          {Format::edge_list, "% bip weighted\n" + plain_rows(lines, "  ", true, " \t ", " \n")},
          {Format::edge_list, "# vertices: 41\n" + plain_rows(lines, "", true, ";", "\r\n")},
          {Format::edge_list, "1 2 3\n" + reals},
          {Format::matrix_market,
           kMatrixBanner + "integer general\n40 40 " + size + "\n" + plain_rows(lines, "", true, " ", "\n")},
          {Format::matrix_market,
           kMatrixBanner + "pattern symmetric\n% c\n40 40 " + size + "\n" + plain_rows(lines, " ", false, " ", "\r\n")},
          {Format::matrix_market, kMatrixBanner + "real general\n41 41 " + size + "\n" + reals},
          {Format::dimacs, "c x\np sp 40 " + size + "\n" + plain_rows(lines, "a ", true, " ", "\n")},
          {Format::dimacs, "p edge 40 " + size + "\n" + plain_rows(lines, "e ", false, " ", "\n")},
          {Format::dimacs, "p sp 40 " + size + "\n" + plus},
          {Format::metis, size + " " + size + " 001\n" + weighted_cycle(lines, "", " ", "\n")},
          {Format::metis, "% c\n" + size + " " + size + " 111 2\n" + weighted_cycle(lines, "1 2 3 ", "  ", " \r\n")}};
}

/// Result of reading a text on one rank: its edges there and all that the log says, or the error.
std::string outcome(const PlainSample& sample, const std::string& path, comm::Transport& t, bool general) {
  graphs::ReadLog log;
  const Source source{path, t, log, 1, general};
  try {
    Raw raw = sample.format == graphs::Format::edge_list       ? read_edge_list(source)
              : sample.format == graphs::Format::matrix_market ? read_matrix_market(source)
              : sample.format == graphs::Format::metis         ? read_metis(source)
                                                               : read_dimacs(source);
    const graphs::EdgeList graph = build_edge_list(std::move(raw), {"", "", 1}, t, log);
    std::string out = std::to_string(graph.vertices) + " " + std::string(to_string(graph.kind)) + "\n";
    graph.for_each([&](const auto& e) {
      out += std::to_string(e.low) + " " + std::to_string(e.high) + " " + std::to_string(e.weight) + " " +
             std::to_string(sizeof e) + "\n";
    });
    for (const std::uint64_t name : graph.names) out += std::to_string(name) + "\n";
    for (const std::string& line : log.lines) out += line + "\n";
    return out + std::to_string(log.arcs) + " " + std::to_string(log.loops) + " " + std::to_string(log.repeated);
  } catch (const InputError& e) {
    return e.what();
  }
}

/// Reads texts on some ranks by both parsers and expects the same on every rank. @return number of texts that were read
int expect_same(int ranks, const std::vector<PlainSample>& all) {
  Folder folder;
  const std::string path = folder.file("graph");
  int read = 0;
  comm::run({"threads", ranks, "", {}}, [&](comm::Transport& t) {
    for (const PlainSample& sample : all) {
      if (t.rank() == 0) write_bytes(path, sample.text);
      t.barrier();
      const std::string plain = outcome(sample, path, t, false), wanted = outcome(sample, path, t, true);
      EXPECT_EQ(plain, wanted) << sample.text << "on rank " << t.rank() << " of " << ranks;
      if (t.rank() == 0 && !wanted.starts_with(path) && !wanted.starts_with("cannot")) ++read;
      t.barrier();
    }
  });
  return read;
}

TEST(PlainLines, numbers_are_those_of_the_general_parser_or_left_to_it) {
  Random random(1, 2, 3);
  for (int trial = 0; trial < 200000; ++trial) {
    std::array<char, 64> text{};
    for (char& c : text) c = static_cast<char>('0' + random.below(10));
    const std::uint64_t length = random.below(20);
    text[length] = static_cast<char>(random.below(3) == 0 ? random.below(256) : " \t\n\r,./:"[random.below(8)]);
    if (random.below(4) == 0) text[0] = '0';
    std::size_t digits = 0;
    while (text[digits] >= '0' && text[digits] <= '9') ++digits;
    std::uint64_t found = 0, wanted = 0;
    const char* const end = scan_number(text.data(), found);
    const bool is_number = parse_id({text.data(), digits}, wanted) && digits <= kPlainDigits;
    ASSERT_EQ(end, is_number ? text.data() + digits : nullptr) << text.data();
    ASSERT_EQ(is_number ? found : wanted, wanted) << text.data();
  }
}

TEST(PlainLines, most_lines_of_files_are_plain) {
  const std::string text = plain_rows(1000, "", true, " ", "\n");
  int plain = 0, general = 0;
  PlainRow row;
  const auto scan = [&](const char* line) {
    const char* const end = row.scan(line, ' ');
    plain += end != nullptr ? 1 : 0;
    return end;
  };
  parse_lines(text, 0, false, scan, [&](const LineWalk&) { ++general; });
  EXPECT_EQ(plain + general, 1000);
  EXPECT_LT(general, 70);  // weights of 17 and more digits are plain too; the last lines are not
}

TEST(PlainLines, files_that_end_at_any_byte_give_the_same_edges_and_errors) {
  for (const int ranks : {1, 2, 3, 4, 7}) {
    for (const PlainSample& sample : plain_samples(ranks == 1 ? 16 : 120)) {
      std::vector<PlainSample> all;
      const std::size_t step = ranks == 1 ? 1 : 197;  // long texts, so that every rank has plain lines
      for (std::size_t length = 1 + static_cast<std::size_t>(ranks); length < sample.text.size(); length += step)
        all.push_back({sample.format, sample.text.substr(0, length)});
      all.push_back(sample);
      EXPECT_GT(expect_same(ranks, all), 0) << sample.text << ranks;
    }
  }
}

/// A word that stands in place of a number, or within one.
std::string odd_word(Random& random) {
  constexpr std::string_view kWords[] = {"0",
                                         "1",
                                         "00012",
                                         "0000000000000000000000007",
                                         "99999999",
                                         "100000000",
                                         "9999999999999999",
                                         "10000000000000000",
                                         "999999999999999999",
                                         "4294967295",
                                         "4294967296",
                                         "9223372036854775807",
                                         "9223372036854775808",
                                         "18446744073709551615",
                                         "18446744073709551616",
                                         "+3",
                                         "+",
                                         "-",
                                         "-1",
                                         "-0",
                                         "-0.0",
                                         "-9223372036854775808",
                                         "-9223372036854775809",
                                         "1.5",
                                         "1.",
                                         ".5",
                                         "-.5",
                                         "1e3",
                                         "1e",
                                         "1e+",
                                         "1E-2",
                                         "1e400",
                                         "1e-400",
                                         "-1e400",
                                         "inf",
                                         "-inf",
                                         "nan",
                                         "0x1",
                                         "1-2",
                                         "--1",
                                         "1.2.3",
                                         "1e5e5",
                                         "\"1\"",
                                         "\"1",
                                         "1\"",
                                         "a",
                                         "e",
                                         "c",
                                         "%",
                                         "#",
                                         "//",
                                         "",
                                         "0.1000000000000000055511151231257827021181583404541015625",
                                         "179769313486231580793728971405303415079934132710037826936",
                                         "2.2250738585072011e-308",
                                         "9007199254740993",
                                         "9007199254740993.0",
                                         "\xc3\xa9",
                                         "1\xa0",
                                         "1:2",
                                         "1/2",
                                         "1;2",
                                         "1,2"};
  const std::size_t count = std::size(kWords);
  std::string word(kWords[random.below(count)]);
  if (random.below(40) == 0) word += std::string(1 + random.below(90), '3');
  return word;
}
/// A sample in which some numbers, separators and line ends are others. @param rarity  the greater, the fewer are
std::string disturbed(const std::string& text, std::uint64_t seed, std::uint64_t rarity) {
  Random random(seed, 7, 0);
  constexpr std::string_view kBlanks[] = {" ", "  ", "\t", " \t ", "\v", ",", ";", ", ", "", "                    "};
  constexpr std::string_view kEnds[] = {"\n",   "\r\n", "\r\r\n",  "\n\n",    " \n",
                                        "\t\n", "\r",   "\n% c\n", "\n# c\n", "\nc c\n"};
  const std::uint64_t rate = rarity << random.below(7);
  std::string out;
  for (std::size_t at = 0; at < text.size();) {
    const char c = text[at];
    const bool digit = c >= '0' && c <= '9';
    if (random.below(rate) != 0 || at < 70) {
      out += text[at++];
    } else if (digit) {
      while (at < text.size() && text[at] >= '0' && text[at] <= '9') ++at;
      out += odd_word(random);
    } else {
      out += c == '\n' ? kEnds[random.below(std::size(kEnds))] : kBlanks[random.below(std::size(kBlanks))];
      ++at;
    }
  }
  return out;
}

TEST(PlainLines, disturbed_and_spoiled_files_give_the_same_edges_and_errors) {
  for (const int ranks : {1, 2, 3, 4, 7}) {
    int read = 0, count = 0;
    for (const PlainSample& sample : plain_samples(ranks == 1 ? 30 : 40 * ranks)) {
      std::vector<PlainSample> all;
      const std::uint64_t last = ranks == 1 ? 250 : 12;
      for (std::uint64_t seed = 1; seed <= last; ++seed)
        all.push_back({sample.format,
                       seed % 3 == 0
                           ? mutated(sample.text, seed)
                           : disturbed(sample.text, seed, ranks == 1 ? 8 : 64 * static_cast<std::uint64_t>(ranks))});
      read += expect_same(ranks, all);
      count += static_cast<int>(all.size());
    }
    EXPECT_GT(read, count / 20) << ranks;
    EXPECT_GT(count - read, count / 20) << ranks;
  }
}

}  // namespace
