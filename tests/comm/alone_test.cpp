/// Tests of open_alone(): a transport of one rank in this process, without MPI.
#include <gtest/gtest.h>

#include "merganser/base/error.hpp"
#include "merganser/comm/open.hpp"
#include "tests/comm/graphs.hpp"
#include "tests/support/refusal.hpp"

namespace {

using namespace merganser;

TEST(AloneTest, one_rank_talks_to_itself_over_every_object) {
  for (const std::string decorators : {"", "checked", "chaos:2,checked"}) {
    const auto t = comm::open_alone(decorators);
    EXPECT_EQ(t->size(), 1);
    EXPECT_EQ(t->rank(), 0);
    EXPECT_EQ(t->name(), "threads");
    EXPECT_EQ(t->choice(), "");
    EXPECT_EQ(t->capabilities().checked, decorators.find("checked") != std::string::npos);
    const auto box = t->mailbox(test::ring(*t));
    box->post(0, 42);
    box->step();
    EXPECT_EQ(box->records<int>(0)[0], 42);
    auto words = t->segment<std::uint64_t>(test::ring(*t), 1);
    words.put(0, 0, 9);
    words.sync();
    EXPECT_EQ(words.local()[0], 9U);
    EXPECT_EQ(t->all_reduce(5, comm::Op::sum), 5);
    EXPECT_EQ(t->subset(true)->size(), 1);
  }
}

TEST(AloneTest, many_transports_live_at_once_and_objects_that_outlive_theirs_refuse_to_work) {
  auto first = comm::open_alone();
  const auto second = comm::open_alone();
  const auto box = first->mailbox(test::ring(*first));
  first.reset();
  EXPECT_THROW(box->step(), CommError);
  const auto other = second->mailbox(test::ring(*second));
  other->step();
}

TEST(AloneTest, streams_and_segments_that_outlive_their_transport_refuse_to_work) {
  for (const std::string decorators : {"", "checked", "chaos:2"}) {
    SCOPED_TRACE(decorators);
    auto t = comm::open_alone(decorators);
    const auto graph = test::ring(*t);
    const auto stream = t->stream(graph, {.slots_per_arc = 4});
    auto words = t->segment<std::uint64_t>(graph, 2);
    const std::vector<std::size_t> one{1};
    stream->open(one, one);
    t.reset();
    if (decorators == "chaos:2") {  // it keeps records back
      EXPECT_THROW(stream->send(0, 0, 7), CommError);
    }
    EXPECT_THROW((void)stream->take([](std::size_t, std::size_t, std::uint32_t) {}), CommError);
    EXPECT_THROW(words.put(0, 0, 9), CommError);
    EXPECT_THROW(words.sync(), CommError);
  }
}

TEST(AloneTest, what_cannot_be_is_refused) {
  EXPECT_NE(test::refusal<UsageError>([] { (void)comm::open_alone("gilded"); }).find("unknown decorator 'gilded'"),
            std::string::npos);
  comm::RunOptions two;
  two.backend = "threads";
  two.ranks = 2;
  EXPECT_NE(test::refusal<UsageError>([&] { comm::Session session(two); }).find("a Session of 2 thread ranks"),
            std::string::npos);
  two.backend = "pigeons";
  EXPECT_THROW(comm::Session session(two), UsageError);
}

TEST(AloneTest, a_session_without_a_launcher_is_one_thread_rank) {
  comm::Session session;
  EXPECT_EQ(session.transport().name(), "threads");
  EXPECT_EQ(session.transport().size(), 1);
}

TEST(AloneTest, a_build_without_mpi_has_no_communicators) {
  if (comm::mpi_library() != "none") GTEST_SKIP() << "this build has MPI";
  EXPECT_NE(test::refusal<UsageError>([] { (void)comm::open(0); }).find("this build has no MPI"), std::string::npos);
}

}  // namespace
