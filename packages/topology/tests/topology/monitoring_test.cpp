/// Parser for the files of Open MPI's monitoring component.
#include "merganser/topology/monitoring.hpp"

#include <gtest/gtest.h>

#include <fstream>
#include <sstream>

#include "merganser/base/error.hpp"
#include "tests/support/folders.hpp"

namespace {

using namespace merganser;
using namespace merganser::topology;

std::string recorded(int rank) {
  std::ifstream in(test::source_folder().string() + "/packages/topology/tests/data/monitoring/ring." +
                   std::to_string(rank) + ".prof");
  std::ostringstream all;
  all << in.rdbuf();
  return all.str();
}

std::vector<MonitoringPart> ring() {
  std::vector<MonitoringPart> parts;
  for (const int rank : {2, 0, 1}) parts.push_back(parse_monitoring(recorded(rank), "ring"));
  return parts;
}

std::string what_is_wrong_with(const std::string& text) {
  try {
    (void)parse_monitoring(text, "f.prof");
  } catch (const InputError& e) {
    return e.what();
  }
  return "accepted";
}

TEST(Monitoring, files_of_a_real_run_give_the_bytes_of_the_program) {
  const comm::TrafficMatrix traffic = join_monitoring(ring());
  ASSERT_EQ(traffic.ranks(), 3);
  ASSERT_EQ(traffic.flows().size(), 9U);
  for (const comm::TrafficFlow& flow : traffic.flows()) {
    if (flow.move == comm::Move::message) {
      EXPECT_EQ(flow.to, (flow.from + 1) % 3);
      EXPECT_EQ(flow.operations, 10);
      EXPECT_EQ(flow.bytes, 1000 * (flow.from + 1));
    } else if (flow.move == comm::Move::put) {
      EXPECT_EQ(flow.to, (flow.from + 1) % 3);
      EXPECT_EQ(flow.bytes, 8);
    } else {
      EXPECT_EQ(flow.from, (flow.to + 1) % 3);
      EXPECT_EQ(flow.bytes, 8);
      EXPECT_EQ(flow.operations, 1);
    }
  }
  for (const auto& part : ring()) {
    EXPECT_TRUE(part.filtered);
    EXPECT_EQ(part.ranks, 3);
    EXPECT_GT(part.internal_operations, 0);
  }
}

TEST(Monitoring, sizes_are_taken_only_where_the_program_alone_sent) {
  const std::string head = "# POINT TO POINT\n";
  const auto alone = parse_monitoring(head + "E\t0\t1\t300 bytes\t3 msgs sent\t0,0,0,0,0,0,0,3,0\n", "f");
  EXPECT_EQ(alone.flows.at(0).sizes.at(7), 3);
  const auto mixed = parse_monitoring(head + "E\t0\t1\t300 bytes\t3 msgs sent\t0,0,2,0,0,0,0,3,0\n", "f");
  EXPECT_TRUE(mixed.flows.at(0).sizes.empty());
  const auto none = parse_monitoring(head + "E\t0\t1\t300 bytes\t3 msgs sent\n", "f");
  EXPECT_TRUE(none.flows.at(0).sizes.empty());
  EXPECT_FALSE(none.filtered);
}

TEST(Monitoring, malformed_files_are_refused_with_their_line) {
  const std::string head = "# POINT TO POINT\n";
  EXPECT_NE(what_is_wrong_with("nothing of the kind").find("f.prof: a file of Open MPI's monitoring begins"),
            std::string::npos);
  EXPECT_NE(what_is_wrong_with(head).find("tells no rank"), std::string::npos);
  EXPECT_NE(what_is_wrong_with(head + "E\t0\tone\t5 bytes\t1 msgs sent\n").find("line 2: the receiver is \"one\""),
            std::string::npos);
  EXPECT_NE(what_is_wrong_with(head + "E\t0\t1\t-5 bytes\t1 msgs sent\n").find("the number of bytes is \"-5\""),
            std::string::npos);
  EXPECT_NE(what_is_wrong_with(head + "E\t0\t1\t99999999999999999999 bytes\t1 msgs sent\n").find("the number of bytes"),
            std::string::npos);
  EXPECT_NE(what_is_wrong_with(head + "E\t0\t1\t5 octets\t1 msgs sent\n").find("where \"bytes\" is expected"),
            std::string::npos);
  EXPECT_NE(what_is_wrong_with(head + "E\t0\t1\t5").find("where \"bytes\" is expected"), std::string::npos);
  EXPECT_NE(what_is_wrong_with(head + "Q\t0\t1\n").find("unknown entry \"Q\""), std::string::npos);
  EXPECT_NE(what_is_wrong_with(head + "E\t0\t1\t5 bytes\t1 msgs sent\t1,x\n").find("is \"x\""), std::string::npos);
  EXPECT_NE(what_is_wrong_with(head + "E\t0\t1\t5 bytes\t1 msgs sent\nE\t1\t0\t5 bytes\t1 msgs sent\n")
                .find("rank 1 in the file"),
            std::string::npos);
}

TEST(Monitoring, counts_beyond_64_bits_are_refused_or_not_taken) {
  const std::string most = std::to_string(INT64_MAX), head = "# POINT TO POINT\n";
  const auto line = [&](const std::string& bytes, const std::string& messages) {
    return "I\t0\t1\t" + bytes + " bytes\t" + messages + " msgs sent\n";
  };
  EXPECT_NE(what_is_wrong_with(head + line("1", most) + line("1", "1"))
                .find("line 3: the messages of the library are more than"),
            std::string::npos);
  EXPECT_NE(what_is_wrong_with(head + line(most, "1") + line(most, "1")).find("more than 64 bits"), std::string::npos);
  EXPECT_EQ(parse_monitoring(head + line(most, most), "f").internal_bytes, INT64_MAX);
  std::string counts;  // the classes from the last one on are counted together
  for (std::size_t c = 0; c < comm::kSizeClasses + 2; ++c) counts += (c == 0 ? "" : ",") + most;
  const auto huge = parse_monitoring(head + "E\t0\t1\t300 bytes\t3 msgs sent\t" + counts + "\n", "f");
  EXPECT_TRUE(huge.flows.at(0).sizes.empty());
}

TEST(Monitoring, every_cut_of_a_file_is_read_or_refused) {
  const std::string whole = recorded(1);
  ASSERT_GT(whole.size(), 500U);
  for (std::size_t length = 0; length < whole.size(); length += 7) {
    try {
      EXPECT_LE(parse_monitoring(whole.substr(0, length), "cut").rank, 1);
    } catch (const InputError&) {
    }
  }
}

TEST(Monitoring, a_missing_or_doubled_rank_is_named) {
  auto parts = ring();
  parts.pop_back();
  EXPECT_THROW((void)join_monitoring(parts), InputError);
  parts.push_back(parts[0]);
  parts.push_back(parse_monitoring(recorded(1), "ring"));
  try {
    (void)join_monitoring(parts);
    FAIL();
  } catch (const InputError& e) {
    EXPECT_NE(std::string(e.what()).find("rank 2 is there twice"), std::string::npos) << e.what();
  }
  EXPECT_THROW((void)join_monitoring({}), InputError);
}

}  // namespace
