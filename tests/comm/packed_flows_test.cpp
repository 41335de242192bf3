/// Tests of the communication matrix and its text against a table of sums and an encoder of the tests, with random and
/// spoiled input.
#include <gtest/gtest.h>

#include <limits>
#include <map>
#include <tuple>

#include "merganser/base/error.hpp"
#include "merganser/base/random.hpp"
#include "merganser/comm/traffic_matrix.hpp"
#include "tests/support/refusal.hpp"

namespace {

using namespace merganser;
using namespace merganser::comm;
using test::refusal;

constexpr std::int64_t kMaxCount = std::numeric_limits<std::int64_t>::max();

/// Operations by size class of one kind between two ranks, the slow way.
struct Sum {
  std::int64_t operations = 0;
  std::int64_t bytes = 0;
  std::array<std::int64_t, kSizeClasses> sizes{};
  bool sizes_known = true;
};
using Table = std::map<std::tuple<int, int, Move>, Sum>;

TrafficFlow random_flow(Random& random, int ranks) {
  TrafficFlow flow;
  flow.from = static_cast<int>(random.below(static_cast<std::uint64_t>(ranks)));
  do {
    flow.to = static_cast<int>(random.below(static_cast<std::uint64_t>(ranks)));
  } while (flow.to == flow.from);
  flow.move = static_cast<Move>(random.below(3));
  if (random.below(8) == 0) return flow;  // empty
  flow.bytes = static_cast<std::int64_t>(random.below(1U << random.below(30)));
  if (random.below(5) == 0) {  // sizes unknown
    flow.operations = 1 + static_cast<std::int64_t>(random.below(100));
    return flow;
  }
  flow.first_class = random.below(kSizeClasses - 8);
  for (std::uint64_t classes = 1 + random.below(8); classes > 0; --classes)
    flow.sizes.push_back(static_cast<std::int64_t>(random.below(3) * random.below(50)));
  for (const std::int64_t n : flow.sizes) flow.operations += n;
  if (flow.operations == 0) flow.sizes.clear(), flow.bytes = 0, flow.first_class = 0;
  return flow;
}

void add(Table& table, const TrafficFlow& flow) {
  if (flow.operations == 0) return;
  Sum& sum = table[{flow.from, flow.to, flow.move}];
  sum.operations += flow.operations;
  sum.bytes += flow.bytes;
  for (std::size_t i = 0; i < flow.sizes.size(); ++i) sum.sizes[flow.first_class + i] += flow.sizes[i];
  sum.sizes_known = sum.sizes_known && !flow.sizes.empty();
}

void expect_equal(const TrafficMatrix& matrix, const Table& table) {
  ASSERT_EQ(matrix.flows().size(), table.size());
  std::int64_t operations = 0;
  std::int64_t bytes = 0;
  std::int64_t most = 1;
  auto flow = matrix.flows().begin();
  for (const auto& [key, sum] : table) {
    ASSERT_EQ(std::tuple(flow->from, flow->to, flow->move), key);
    ASSERT_EQ(flow->operations, sum.operations);
    ASSERT_EQ(flow->bytes, sum.bytes);
    ASSERT_EQ(flow->sizes.empty(), !sum.sizes_known);
    std::array<std::int64_t, kSizeClasses> sizes{};
    for (std::size_t i = 0; i < flow->sizes.size(); ++i) sizes[flow->first_class + i] = flow->sizes[i];
    if (sum.sizes_known) {
      ASSERT_EQ(sizes, sum.sizes);
      ASSERT_TRUE(flow->sizes.front() != 0 && flow->sizes.back() != 0);
    }
    operations += sum.operations;
    bytes += sum.bytes;
    most = std::max(most, sum.operations);
    ++flow;
  }
  EXPECT_EQ(matrix.operations(), operations);
  EXPECT_EQ(matrix.bytes(), bytes);
  EXPECT_EQ(matrix.exchange_count(), most);
}

TEST(TrafficMatrixTest, random_flows_are_the_sums_of_a_table_and_survive_their_text) {
  for (std::uint64_t seed = 0; seed < 200; ++seed) {
    Random random(seed, 11, 0);
    const int ranks = 2 + static_cast<int>(random.below(seed % 2 == 0 ? 5 : 300));
    std::vector<TrafficFlow> flows;
    Table table;
    for (std::uint64_t n = random.below(60); n > 0; --n) {
      flows.push_back(random_flow(random, ranks));
      add(table, flows.back());
    }
    const TrafficMatrix matrix(ranks, flows);
    ASSERT_NO_FATAL_FAILURE(expect_equal(matrix, table)) << "seed " << seed;
    const std::string text = pack_flows(matrix.flows());
    ASSERT_EQ(unpack_flows(text), matrix.flows()) << "seed " << seed;
    ASSERT_EQ(TrafficMatrix(ranks, matrix.flows()), matrix);
  }
}

TEST(TrafficMatrixTest, the_number_of_exchanges_that_is_known_counts) {
  TrafficMatrix matrix(2, {{0, 1, Move::put, 7, 8, 0, {}}});
  EXPECT_EQ(matrix.exchange_count(), 7);
  matrix.exchanges = 3;
  EXPECT_EQ(matrix.exchange_count(), 3);
  EXPECT_EQ(TrafficMatrix().exchange_count(), 1);
  EXPECT_EQ(TrafficMatrix().ranks(), 1);
}

TEST(TrafficMatrixTest, sums_stop_at_64_bits) {
  const std::string beyond = "traffic: puts from rank 0 to rank 1 are more than 64 bits can count";
  const TrafficMatrix full(3, {{0, 1, Move::put, 1, kMaxCount, 0, {}}, {0, 2, Move::put, kMaxCount, 0, 0, {}}});
  EXPECT_EQ(full.bytes(), kMaxCount);
  EXPECT_EQ(refusal<InputError>([&] { (void)full.operations(); }),
            "traffic: puts from rank 0 to rank 2 are more than 64 bits can count");
  EXPECT_EQ(refusal<InputError>([&] {
              TrafficMatrix(2, {{0, 1, Move::put, kMaxCount, 0, 0, {}}, {0, 1, Move::put, 1, 0, 0, {}}});
            }),
            beyond);
  const TrafficMatrix exact(2,
                            {{0, 1, Move::put, kMaxCount - 1, kMaxCount - 8, 0, {}}, {0, 1, Move::put, 1, 8, 0, {}}});
  EXPECT_EQ(exact.operations(), kMaxCount);
  EXPECT_EQ(exact.bytes(), kMaxCount);
}

TEST(TrafficMatrixTest, refusals_name_the_flow_and_what_is_allowed) {
  const auto why = [](const TrafficFlow& flow) { return refusal<InputError>([&] { TrafficMatrix(3, {flow}); }); };
  EXPECT_EQ(why({3, 1, Move::get, 1, 8, 0, {}}), "traffic: gets from rank 3 to rank 1, but there are ranks 0 to 2");
  EXPECT_EQ(why({0, -1, Move::message, 1, 8, 0, {}}),
            "traffic: messages from rank 0 to rank -1, but there are ranks 0 to 2");
  EXPECT_EQ(why({2, 2, Move::put, 1, 8, 0, {}}), "traffic: puts from rank 2 to rank 2: a rank and itself are no arc");
  EXPECT_EQ(why({0, 1, Move::put, -1, 8, 0, {}}), "traffic: puts from rank 0 to rank 1: -1 operations, 8 bytes");
  EXPECT_EQ(why({0, 1, Move::put, 1, -8, 0, {}}), "traffic: puts from rank 0 to rank 1: 1 operations, -8 bytes");
  EXPECT_EQ(why({0, 1, Move::put, 2, 8, 3, {3, -1}}),
            "traffic: puts from rank 0 to rank 1: the counts by size do not add up to 2 operations");
  EXPECT_EQ(why({0, 1, Move::put, 2, 8, 3, {1, -1, 2}}),
            "traffic: puts from rank 0 to rank 1: the counts by size do not add up to 2 operations");
  EXPECT_EQ(why({0, 1, Move::put, 0, 8, 0, {}}), "traffic: puts from rank 0 to rank 1: 0 operations, 8 bytes");
  EXPECT_EQ(why({0, 1, Move::put, 5, 8, 3, {1, 2}}),
            "traffic: puts from rank 0 to rank 1: 3 operations counted by size in classes 3 to 4, but there are 5 in "
            "classes 0 to 47");
  EXPECT_EQ(why({0, 1, Move::put, 1, 8, kSizeClasses - 1, {1, 0}}),
            "traffic: puts from rank 0 to rank 1: 1 operations counted by size in classes 47 to 48, but there are 1 in "
            "classes 0 to 47");
  EXPECT_EQ(why({0, 1, Move::put, 1, 8, kSizeClasses - 1, {1}}), "nothing was thrown");
  EXPECT_EQ(refusal<InputError>([] { TrafficMatrix(-4, {}); }), "traffic of -4 ranks; allowed: 1 and more");
}

TEST(TrafficMatrixTest, kinds_of_operations_have_names) {
  for (const auto& [move, name] :
       {std::pair{Move::message, "message"}, std::pair{Move::put, "put"}, std::pair{Move::get, "get"}}) {
    EXPECT_EQ(move_name(move), name);
    EXPECT_EQ(parse_move(name), move);
  }
  for (const char* name : {"", "Put", "puts", "message "}) {
    EXPECT_EQ(refusal<InputError>([&] { (void)parse_move(name); }),
              "traffic: unknown kind of operation \"" + std::string(name) + "\"; known: message, put, get");
  }
}

/// The text of bytes, as the comment of the file that is tested defines it: six bits a character, most significant first.
std::string encode(const std::vector<unsigned>& bytes) {
  const std::string digits = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  std::string bits;
  for (const unsigned byte : bytes)
    for (int i = 7; i >= 0; --i) bits += (byte >> i & 1U) != 0 ? '1' : '0';
  while (bits.size() % 6 != 0) bits += '0';
  std::string text;
  for (std::size_t at = 0; at < bits.size(); at += 6) text += digits[std::stoul(bits.substr(at, 6), nullptr, 2)];
  return text;
}

TEST(PackedFlowsTest, the_text_is_what_its_description_says) {
  // from, to, kind + 4 * classes, operations, bytes; then the first class and all counts but the last.
  EXPECT_EQ(pack_flows({{0, 1, Move::message, 3, 300, 7, {3}}}), encode({0, 1, 4, 3, 0xAC, 0x02}));
  EXPECT_EQ(pack_flows({{1, 0, Move::get, 130, 5, 0, {}}}), encode({1, 0, 2, 0x82, 0x01, 5}));
  EXPECT_EQ(pack_flows({{0, 2, Move::put, 9, 50, 2, {4, 0, 5}}}), encode({0, 2, 13, 9, 50, 2, 4, 0}));
  EXPECT_EQ(
      pack_flows({{2, 1, Move::put, 1, 8, 4, {1}}, {2, 5, Move::put, 1, 8, 4, {1}}, {4, 0, Move::put, 1, 8, 4, {1}}}),
      encode({2, 1, 5, 1, 8, 0, 4, 5, 1, 8, 2, 0, 5, 1, 8}))
      << "ranks are differences to the flow before";
  EXPECT_EQ(pack_flows({{0, 1, Move::put, 2, 16, 0, {2}}}), encode({0, 1, 9, 2, 16, 0, 2}))
      << "a class that does not follow from the mean is written with an empty one behind it";
}

TEST(PackedFlowsTest, each_kind_of_spoiled_text_is_refused_with_the_reason) {
  const auto why = [](const std::string& text) { return refusal<InputError>([&] { (void)unpack_flows(text); }); };
  const auto bytes = [&](const std::vector<unsigned>& all) { return why(encode(all)); };
  EXPECT_EQ(why("AB-"), "packed traffic: the character '-' is no digit of it");
  EXPECT_EQ(why("A"), "packed traffic: it ends in the middle of a byte");
  EXPECT_EQ(why("AB"), "packed traffic: it ends in the middle of a byte") << "the bits behind the byte are not 0";
  EXPECT_EQ(bytes({0}), "packed traffic: it ends in the middle of a flow");
  EXPECT_EQ(bytes({0, 1, 1, 1, 0x80}), "packed traffic: it ends in the middle of a flow");
  EXPECT_EQ(bytes({0, 1, 3, 1, 1}), "packed traffic: there is no kind of operation 3");
  EXPECT_EQ(bytes({0, 1, 0xC4, 0x01, 1, 1}), "packed traffic: there is no kind of operation 196") << "49 classes";
  EXPECT_EQ(bytes({0, 1, 0, 0, 0}), "packed traffic: a flow without operations");
  EXPECT_EQ(bytes({0, 1, 8, 2, 9, 3, 3}), "packed traffic: more operations are counted by size than there are");
  const std::vector<unsigned> largest{0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0x7F};
  std::vector<unsigned> flow{0, 1, 0, 1};
  flow.insert(flow.end(), largest.begin(), largest.end());
  EXPECT_EQ(bytes(flow), "nothing was thrown");
  flow.back() = 0xFF;
  flow.push_back(1);
  EXPECT_EQ(bytes(flow), "packed traffic: a number has more than 63 bits");
  EXPECT_EQ(bytes({0xFF, 0xFF, 0xFF, 0xFF, 0x08, 1, 0, 1, 1}), "packed traffic: a rank is out of range");
  EXPECT_EQ(bytes({0xFF, 0xFF, 0xFF, 0xFF, 0x07, 1, 0, 1, 1}), "nothing was thrown");
  EXPECT_EQ(bytes({1, 1, 0, 1, 1, 0xFF, 0xFF, 0xFF, 0xFF, 0x07, 1, 0, 1, 1}), "packed traffic: a rank is out of range")
      << "a difference that overflows";
}

}  // namespace
