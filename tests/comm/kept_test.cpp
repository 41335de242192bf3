/// Tests of objects that outlive their run or their transport: they can be destroyed, and using one throws CommError.
#include <gtest/gtest.h>

#include <memory>
#include <mutex>
#include <vector>

#include "merganser/base/error.hpp"
#include "tests/comm/graphs.hpp"
#include "tests/support/ranks.hpp"

namespace {

using namespace merganser;
using comm::Transport;
using namespace merganser::test;

/// One of each, of one rank.
struct Objects {
  std::unique_ptr<comm::Mailbox> mailbox;
  std::unique_ptr<comm::Stream> stream;
  std::unique_ptr<comm::Plan> plan;
  std::unique_ptr<comm::SegmentBody> segment;
  std::unique_ptr<Transport> part;
  std::unique_ptr<comm::Mailbox> mailbox_of_part;

  explicit Objects(Transport& t)
      : mailbox(t.mailbox(ring(t))),
        stream(t.stream(ring(t), {})),
        plan(t.plan(ring(t), {{{0}}, {1}}, {})),
        segment(t.segment_body(ring(t), 4, 8, comm::Epoch::lifetime)) {
    if (!t.capabilities().sub_transports) return;
    part = t.subset(true);
    mailbox_of_part = part->mailbox(ring(*part));
  }

  void use() {
    const std::vector<std::size_t> one(1, 1);
    mailbox->step();
    stream->open(one, one);
    stream->send(0, 0, 1);
    while (stream->take([](std::size_t, std::size_t, std::uint32_t) {}) > 0) stream->wait();
    stream->finish();
    plan->pull(std::vector<std::byte>(8), [](const comm::Plan::Chunk&) {});
    segment->sync();
    if (mailbox_of_part) mailbox_of_part->step();
  }
};

class KeptTest : public testing::TestWithParam<Setup> {};
GTEST_ALLOW_UNINSTANTIATED_PARAMETERIZED_TEST(KeptTest);
INSTANTIATE_TEST_SUITE_P(Models, KeptTest, testing::ValuesIn(setups({"", "checked", "chaos:3"})),
                         setup_name<testing::TestParamInfo<Setup>>);

void expect_refusals(Objects& kept, int rank) {
  const std::vector<std::size_t> one(1, 1);
  const std::vector<std::uint8_t> all(1, 1);
  const std::vector<std::byte> local(8);
  const std::uint64_t word = 0;
  std::uint64_t to = 0;
  EXPECT_THROW(kept.mailbox->step(), CommError);
  EXPECT_THROW(kept.mailbox->step(all, all), CommError);
  EXPECT_THROW(kept.stream->open(one, one), CommError);
  EXPECT_THROW(kept.stream->send(0, 0, 1), CommError);
  EXPECT_THROW(kept.stream->take([](std::size_t, std::size_t, std::uint32_t) {}), CommError);
  EXPECT_THROW(kept.stream->wait(), CommError);
  EXPECT_THROW(kept.stream->finish(), CommError);
  EXPECT_THROW(kept.plan->pull(local, [](const comm::Plan::Chunk&) {}), CommError);
  EXPECT_THROW((void)kept.segment->local(), CommError);
  EXPECT_THROW(kept.segment->put(rank, 0, &word), CommError);
  EXPECT_THROW(kept.segment->get(rank, 0, 1, &to), CommError);
  EXPECT_THROW(kept.segment->fetch_or(rank, 0, &word, &to), CommError);
  EXPECT_THROW(kept.segment->sync(), CommError);
  EXPECT_THROW(kept.segment->sync_any(true), CommError);
  if (!kept.part) return;
  EXPECT_THROW(kept.part->barrier(), CommError);
  EXPECT_THROW((void)kept.part->all_gather({}), CommError);
  EXPECT_THROW((void)kept.part->all_reduce(std::int64_t{1}, comm::Op::sum), CommError);
  EXPECT_THROW((void)kept.part->mailbox(ring(*kept.part)), CommError);
  EXPECT_THROW((void)kept.part->stream(ring(*kept.part), {}), CommError);
  EXPECT_THROW((void)kept.part->segment<std::uint64_t>(ring(*kept.part), 1), CommError);
  EXPECT_THROW((void)kept.part->subset(true), CommError);
  EXPECT_THROW(kept.mailbox_of_part->step(), CommError);
}

TEST_P(KeptTest, using_one_after_the_run_is_refused_and_destroying_it_is_not) {
  std::mutex mutex;
  std::vector<std::unique_ptr<Objects>> kept;
  on_ranks(GetParam(), [&](Transport& t) {
    auto mine = std::make_unique<Objects>(t);
    mine->use();
    t.barrier();
    const std::scoped_lock lock(mutex);
    kept.push_back(std::move(mine));
  });
  ASSERT_FALSE(kept.empty());
  for (auto& one : kept) expect_refusals(*one, comm::launcher_world().rank);
  kept.clear();
  on_ranks(GetParam(), [](Transport& t) { Objects(t).use(); });  // and the next run works
}

TEST_P(KeptTest, an_object_that_outlives_its_part_of_the_ranks_is_refused) {
  on_ranks(GetParam(), [](Transport& t) {
    if (!t.capabilities().sub_transports) return;
    auto part = t.subset(true);
    const auto box = part->mailbox(ring(*part));
    box->step();
    t.barrier();
    part.reset();
    EXPECT_THROW(box->step(), CommError);
    t.barrier();
  });
}

}  // namespace
