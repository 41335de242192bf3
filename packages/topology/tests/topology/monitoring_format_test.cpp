/// Files of Open MPI's monitoring that this test writes from a matrix of its own: what is read is what was written, and an
/// entry with one word spoiled is refused with its line.
#include <gtest/gtest.h>

#include <cstdint>
#include <map>
#include <numeric>
#include <sstream>
#include <string>
#include <tuple>
#include <vector>

#include "merganser/base/error.hpp"
#include "merganser/base/random.hpp"
#include "merganser/topology/monitoring.hpp"
#include "tests/support/refusal.hpp"

namespace {

using namespace merganser;
using namespace merganser::topology;
using comm::Move;

/// Traffic by (from, to, kind of operation): operations and bytes.
using Traffic = std::map<std::tuple<int, int, Move>, std::pair<std::int64_t, std::int64_t>>;

/// Entries as the component writes them, for a world of random traffic.
class WrittenWorld {
 public:
  WrittenWorld(int ranks, std::uint64_t seed) : ranks_(ranks), random_(seed, 0, 0) {
    for (int rank = 0; rank < ranks; ++rank) texts_.push_back(write(rank));
  }
  [[nodiscard]] const std::vector<std::string>& texts() const { return texts_; }
  [[nodiscard]] const Traffic& traffic() const { return traffic_; }
  [[nodiscard]] const std::vector<std::int64_t>& internal() const { return internal_; }

 private:
  std::string entry(char kind, int from, int to, std::int64_t bytes, std::int64_t messages) {
    return std::string(1, kind) + "\t" + std::to_string(from) + "\t" + std::to_string(to) + "\t" +
           std::to_string(bytes) + " bytes\t" + std::to_string(messages) + " msgs sent\n";
  }

  /// Adds an entry of an operation that counts, unless the world has none of this kind between the two.
  std::string maybe(char kind, int rank, int peer) {
    if (random_.below(3) == 0) return "";
    const auto messages = static_cast<std::int64_t>(random_.below(50));
    const bool is_empty = messages == 0 || random_.below(4) == 0;
    const auto bytes = is_empty ? 0 : static_cast<std::int64_t>(random_.below(100'000));
    const bool is_get = kind == 'R';
    const Move move = kind == 'E' ? Move::message : is_get ? Move::get : Move::put;
    // An empty put may be the shadow of a get; no bytes were moved then.
    if (rank != peer && messages > 0 && (kind != 'S' || bytes > 0)) {
      auto& at = traffic_[{is_get ? peer : rank, is_get ? rank : peer, move}];
      at.first += messages;
      at.second += bytes;
    }
    return entry(kind, rank, peer, bytes, messages);
  }

  std::string write(int rank) {
    std::string text = "# POINT TO POINT\n";
    std::int64_t internal = 0;
    for (int peer = 0; peer < ranks_; ++peer) {
      text += maybe('E', rank, peer);
      if (random_.below(2) == 0) {
        text += entry('I', rank, peer, 10, 7);
        internal += 7;
      }
    }
    internal_.push_back(internal);
    text += "# OSC\n";
    for (int peer = 0; peer < ranks_; ++peer) text += maybe('S', rank, peer) + maybe('R', rank, peer);
    text += "# COLLECTIVES\n" + entry('C', rank, 0, 1'000'000, 99) + "\n";
    text += "D\tMPI_COMM_WORLD\tprocs: 0";
    for (int peer = 1; peer < ranks_; ++peer) text += "," + std::to_string(peer);
    return text + "\nO2A\t" + std::to_string(rank) + "\t0 bytes\t0 msgs sent\n";
  }

  int ranks_;
  Random random_;
  std::vector<std::string> texts_;
  Traffic traffic_;
  std::vector<std::int64_t> internal_;
};

TEST(MonitoringFormat, what_is_read_is_the_traffic_that_was_written) {
  for (const int ranks : {1, 2, 5, 8}) {
    for (std::uint64_t seed = 1; seed <= 10; ++seed) {
      const WrittenWorld world(ranks, seed);
      std::vector<MonitoringPart> parts;
      for (int rank = 0; rank < ranks; ++rank) {
        parts.push_back(parse_monitoring(world.texts()[static_cast<std::size_t>(rank)], "f"));
        EXPECT_EQ(parts.back().rank, rank);
        EXPECT_EQ(parts.back().ranks, ranks);
        EXPECT_EQ(parts.back().internal_operations, world.internal()[static_cast<std::size_t>(rank)]);
        EXPECT_EQ(parts.back().internal_bytes, world.internal()[static_cast<std::size_t>(rank)] / 7 * 10);
        EXPECT_EQ(parts.back().filtered, parts.back().internal_operations > 0);
      }
      std::rotate(parts.begin(), parts.begin() + static_cast<std::ptrdiff_t>(seed) % ranks, parts.end());
      const comm::TrafficMatrix matrix = join_monitoring(parts);
      EXPECT_EQ(matrix.ranks(), ranks);
      EXPECT_EQ(matrix.source, "monitoring of Open MPI");
      Traffic found;
      for (const auto& flow : matrix.flows()) found[{flow.from, flow.to, flow.move}] = {flow.operations, flow.bytes};
      EXPECT_EQ(found, world.traffic()) << ranks << " ranks, seed " << seed;
    }
  }
}

/// Returns the error of a text of which `word` of line `line` (from 0) is replaced.
std::string error_with(const std::string& text, std::size_t line, std::size_t word, const std::string& by) {
  std::istringstream in(text);
  std::string changed, one;
  for (std::size_t l = 0; std::getline(in, one); ++l) {
    std::istringstream words(one);
    std::string w;
    for (std::size_t i = 0; words >> w; ++i) changed += (i == 0 ? "" : " ") + (l == line && i == word ? by : w);
    changed += '\n';
  }
  return test::refusal<InputError>([&] { (void)parse_monitoring(changed, "a.prof"); });
}

// Words of an entry: kind, from, to, number, "bytes", number, "msgs", "sent", sizes.
TEST(MonitoringFormat, each_spoiled_word_is_refused_with_its_line) {
  const std::string text =
      "# POINT TO POINT\nE\t0\t1\t64 bytes\t2 msgs sent\t0,2\n\n# OSC\nS\t0\t1\t8 bytes\t1 msgs sent\nR\t0\t1\t8 "
      "bytes\t1 "
      "msgs sent\nO2A\t0\t0 bytes\t0 msgs sent\n";
  ASSERT_EQ(error_with(text, 99, 0, ""), "nothing was thrown");
  const char* what[]{"unknown entry \"?\"",
                     "the sender is \"?\"",
                     "the receiver is \"?\"",
                     "the number of bytes is \"?\"",
                     "\"?\" where \"bytes\" is expected",
                     "the number of messages is \"?\"",
                     "\"?\" where \"msgs\" is expected",
                     "\"?\" where \"sent\" is expected",
                     "a number of messages of one size is \"?\""};
  for (const auto& [line, words] : {std::pair{1U, 9U}, std::pair{4U, 8U}, std::pair{5U, 8U}}) {
    for (std::size_t word = 0; word < words; ++word) {
      const std::string error = error_with(text, line, word, "?");
      EXPECT_EQ(error.find("a.prof, line " + std::to_string(line + 1) + ": " + what[word]), 0U) << error;
    }
  }
  EXPECT_EQ(error_with(text, 6, 1, "?"), "a.prof, line 7: the rank is \"?\"; allowed: whole numbers 0 to 268435455");
  EXPECT_EQ(error_with(text, 1, 2, "268435456"),
            "a.prof, line 2: the receiver is \"268435456\"; allowed: whole numbers 0 to 268435455");
  EXPECT_EQ(error_with(text, 6, 1, "1"), "a.prof, line 7: an entry of rank 1 in the file of rank 0");
}

TEST(MonitoringFormat, the_number_of_ranks_is_that_of_the_world_or_of_the_highest_that_occurs) {
  const std::string head = "# POINT TO POINT\n";
  const auto ranks = [&](const std::string& rest) { return parse_monitoring(head + rest, "f").ranks; };
  EXPECT_EQ(ranks("E\t0\t6\t1 bytes\t1 msgs sent\n"), 7);
  EXPECT_EQ(ranks("E\t6\t0\t1 bytes\t1 msgs sent\n"), 7);
  EXPECT_EQ(ranks("O2A\t4\t0 bytes\t0 msgs sent\n"), 5);
  EXPECT_EQ(ranks("D\tMPI_COMM_WORLD\tprocs: 0,1,2,3\nO2A\t0\t0 bytes\t0 msgs sent\n"), 4);
  EXPECT_EQ(ranks("D\tMPI_COMM_SELF\tprocs: 0,1,2,3\nO2A\t0\t0 bytes\t0 msgs sent\n"), 1);
  EXPECT_EQ(ranks("D\tMPI_COMM_WORLD\tprocs: 0,1\nE\t0\t5\t1 bytes\t1 msgs sent\n"), 6);
  EXPECT_EQ(test::refusal<InputError>([&] { (void)ranks("D\tMPI_COMM_WORLD\tranks: 0,1\n"); }),
            "f, line 2: \"ranks:\" where \"procs:\" is expected");
}

TEST(MonitoringFormat, sizes_beyond_the_last_class_are_counted_in_it) {
  std::string counts = "0";
  for (std::size_t c = 1; c < comm::kSizeClasses + 3; ++c) counts += c + 2 < comm::kSizeClasses ? ",0" : ",2";
  const auto part = parse_monitoring("# POINT TO POINT\nE\t0\t1\t900 bytes\t10 msgs sent\t" + counts + "\n", "f");
  const auto& sizes = part.flows.at(0).sizes;
  ASSERT_EQ(sizes.size(), comm::kSizeClasses);
  EXPECT_EQ(sizes[comm::kSizeClasses - 2], 2);
  EXPECT_EQ(sizes[comm::kSizeClasses - 1], 8) << "four classes of two";
  EXPECT_EQ(std::accumulate(sizes.begin(), sizes.end(), std::int64_t{0}), 10);
}

TEST(MonitoringFormat, lines_may_end_as_on_other_systems_and_be_empty) {
  const std::string unix_text = "# POINT TO POINT\n\n\nE\t0\t1\t8 bytes\t1 msgs sent\n";
  std::string other;
  for (const char c : unix_text) other += c == '\n' ? std::string("\r\n") : std::string(1, c);
  EXPECT_EQ(parse_monitoring(other, "f").flows, parse_monitoring(unix_text, "f").flows);
  EXPECT_EQ(parse_monitoring("# POINT TO POINT\nE 0  1 8\tbytes 1 msgs sent", "f").flows.size(), 1U);
  EXPECT_TRUE(is_monitoring("# POINT TO POINT"));
  EXPECT_FALSE(is_monitoring("# POINT TO"));
  EXPECT_FALSE(is_monitoring(" # POINT TO POINT"));
}

TEST(MonitoringFormat, ranks_that_are_missing_or_doubled_are_named) {
  const WrittenWorld world(4, 3);
  std::vector<MonitoringPart> all;
  for (const auto& text : world.texts()) all.push_back(parse_monitoring(text, "f"));
  const auto joined_error = [](const std::vector<MonitoringPart>& parts) {
    return test::refusal<InputError>([&] { (void)join_monitoring(parts); });
  };
  EXPECT_EQ(joined_error(all), "nothing was thrown");
  for (std::size_t missing = 0; missing < 4; ++missing) {
    auto some = all;
    some.erase(some.begin() + static_cast<std::ptrdiff_t>(missing));
    EXPECT_EQ(joined_error(some), "monitoring of 4 ranks: the file of rank " + std::to_string(missing) + " is missing");
    some.push_back(all[(missing + 1) % 4]);
    EXPECT_NE(joined_error(some), "nothing was thrown");
    auto more = all;
    more.push_back(all[missing]);
    EXPECT_EQ(joined_error(more),
              "monitoring of 4 ranks: the file of rank " + std::to_string(missing) + " is there twice");
  }
  EXPECT_EQ(joined_error({}), "monitoring: no file of any rank; allowed: one of each");
}

}  // namespace
