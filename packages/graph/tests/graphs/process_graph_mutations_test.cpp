/// Mutation tests of the parsers of process graphs: a file with arbitrary bytes changed, removed or truncated is read or refused,
/// without a crash, a hang or an excessive allocation.
#include <gtest/gtest.h>

#include <algorithm>

#include "merganser/base/error.hpp"
#include "tests/graphs/process_graph_samples.hpp"
#include "tests/support/mutated.hpp"

namespace {

using namespace merganser;
using namespace merganser::test;
using namespace merganser::graphs;

struct Counts {
  int read = 0;
  int refused = 0;
};

/// Anything but a graph or an InputError that names the file is a failure.
template <class Parse>
void read_one(const Parse& parse_bytes, const std::string& bytes, std::uint64_t seed, Counts& counts) {
  try {
    const ProcessGraph g = parse_bytes(bytes);
    ASSERT_GE(g.ranks(), 1) << "seed " << seed;
    ASSERT_LE(g.ranks(), 1 << 20) << "seed " << seed;
    std::int64_t arcs = 0;
    for (int r = 0; r < g.ranks(); ++r) arcs += static_cast<std::int64_t>(g.row(r).size());
    ASSERT_EQ(arcs, g.arcs());
    ++counts.read;
  } catch (const InputError& e) {
    ASSERT_EQ(std::string(e.what()).rfind("a file: ", 0), 0U) << "seed " << seed << ": " << e.what();
    ++counts.refused;
  } catch (const std::exception& e) {
    FAIL() << "seed " << seed << ": " << e.what();
  }
}

TEST(MutatedGraphFiles, are_read_or_refused_and_never_more) {
  for (const ProcessGraphFormat format : process_formats()) {
    Counts known, seen;
    for (std::uint64_t seed = 1; seed <= 2000 && !HasFatalFailure(); ++seed) {
      const std::string bytes = mutated(print(random_graph(seed, liked_by(format)), format), seed);
      read_one([&](const std::string& b) { return parse("a file", b, format); }, bytes, seed, known);
      read_one([&](const std::string& b) { return graphs::detail::parse_any("a file", b); }, bytes, seed, seen);
    }
    for (const Counts& counts : {known, seen}) {
      EXPECT_GT(counts.read, 20) << to_string(format);
      EXPECT_GT(counts.refused, 800) << to_string(format);
    }
  }
}

TEST(MutatedGraphFiles, every_byte_may_be_any_other) {
  for (const ProcessGraphFormat format : process_formats()) {
    const std::string good = print(random_graph(7, {true, true}), format);
    Counts counts;
    for (std::size_t at = 0; at < good.size() && !HasFatalFailure(); ++at) {
      for (int value = 0; value < 256; value += 5) {
        std::string bytes = good;
        bytes[at] = static_cast<char>(value);
        read_one([&](const std::string& b) { return parse("a file", b, format); }, bytes, at, counts);
      }
    }
    EXPECT_GT(counts.refused, 100) << to_string(format);
  }
}

TEST(MutatedGraphFiles, every_shorter_file_is_refused_or_whole) {
  for (const ProcessGraphFormat format : process_formats()) {
    const std::string good = print(random_graph(11, {true, true}), format);
    Counts counts;
    for (std::size_t length = 0; length < good.size(); ++length)
      read_one([&](const std::string& b) { return parse("a file", b, format); }, good.substr(0, length), length,
               counts);
    if (format == ProcessGraphFormat::binary) {
      EXPECT_EQ(counts.read, 0);
    }
    EXPECT_GT(counts.refused, 0);
  }
}

}  // namespace
