/// Tests of the model shmem with a small symmetric heap, a quarter of which is reserved for transports of some of the ranks.
#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <string>
#include <vector>

#include "merganser/base/error.hpp"
#include "merganser/comm/runtime.hpp"
#include "tests/comm/graphs.hpp"
#include "tests/support/ranks.hpp"

namespace {

using namespace merganser;
using comm::Transport;
using namespace merganser::test;

/// Segments of a part until there is no room, and what is said then.
std::string fill(Transport& t, std::vector<comm::Segment<std::uint64_t>>& kept, std::size_t words) {
  try {
    for (;;) kept.push_back(t.segment<std::uint64_t>(ring(t), words));
  } catch (const CommError& e) {
    return e.what();
  }
}

std::vector<Setup> setups_of_shmem() {
  auto all = setups();
  std::erase_if(all, [](const Setup& setup) { return setup.backend != "shmem"; });
  return all;
}

/// As the library of this build reads it.
std::string heap_name() {
  const bool open_mpi = comm::shmem_library().find("open-mpi") != std::string::npos;
  return open_mpi ? "SHMEM_SYMMETRIC_HEAP_SIZE" : "SHMEM_SYMMETRIC_SIZE";
}

class SymmetricHeapTest : public testing::TestWithParam<Setup> {};
GTEST_ALLOW_UNINSTANTIATED_PARAMETERIZED_TEST(SymmetricHeapTest);
INSTANTIATE_TEST_SUITE_P(Models, SymmetricHeapTest, testing::ValuesIn(setups_of_shmem()),
                         setup_name<testing::TestParamInfo<Setup>>);

/// The text of every rank of a transport is the same.
void expect_same(Transport& t, const std::string& text) {
  const auto all = t.all_gather(std::as_bytes(std::span(text)));
  for (const auto& theirs : all)
    EXPECT_EQ(text, std::string(reinterpret_cast<const char*>(theirs.data()), theirs.size()));
}

TEST_P(SymmetricHeapTest, a_part_that_fills_what_is_kept_for_parts_says_so_on_all_of_its_ranks_and_goes_on) {
  on_ranks(GetParam(), [](Transport& t) {
    if (t.size() < 2) return;
    const bool low = t.rank() < (t.size() + 1) / 2;
    auto first = t.subset(low);
    auto second = t.subset(!low);
    Transport& part = first ? *first : *second;
    constexpr std::size_t kWords = 100'000;
    for (int again = 0; again < 2; ++again) {
      std::vector<comm::Segment<std::uint64_t>> kept;
      if (low) {
        const std::string text = fill(part, kept, kWords);
        ASSERT_GT(kept.size(), 2U);
        for (const std::string& what :
             {"shmem: no room for " + std::to_string(8 * kWords) + " bytes more at one place of all " +
                  std::to_string(part.size()) + " ranks: ",
              std::string(" bytes of the symmetric heap, a quarter of it, are for transports of some of the ranks"),
              std::string(" of them in one piece; set ") + heap_name() + " higher (it is "})
          ASSERT_NE(text.find(what), std::string::npos) << text;
        expect_same(part, text);
        for (auto& one : kept) one.sync();
      } else {
        const auto smaller = part.subset(true);  // has room of its own meanwhile
        smaller->segment<std::uint64_t>(ring(*smaller), kWords).sync();
      }
      // All together the ranks have the rest of the heap, too.
      t.segment<std::uint64_t>(ring(t), kWords).sync();
    }
    const auto smaller = part.subset(true);
    smaller->segment<std::uint64_t>(ring(*smaller), kWords).sync();
  });
}

TEST_P(SymmetricHeapTest, a_part_that_has_no_room_is_refused_on_every_rank_of_the_whole) {
  on_ranks(GetParam(), [](Transport& t) {
    if (t.size() < 3) return;
    std::vector<std::unique_ptr<Transport>> kept;
    std::string text;
    try {
      for (;;) kept.push_back(t.subset(t.rank() > 0));
    } catch (const CommError& e) {
      text = e.what();
    }
    ASSERT_GT(kept.size(), 2U);
    EXPECT_NE(text.find("at one place of all " + std::to_string(t.size() - 1) + " ranks"), std::string::npos) << text;
    expect_same(t, text);
    for (const auto& one : kept)
      if (one) one->barrier();
  });
}

TEST_P(SymmetricHeapTest, the_whole_job_takes_what_is_kept_for_parts_when_the_rest_is_full) {
  on_ranks(GetParam(), [](Transport& t) {
    if (t.size() < 2) return;
    for (int again = 0; again < 2; ++again) {
      std::vector<comm::Segment<std::uint64_t>> kept;
      for (const std::size_t bytes : {std::size_t{524288}, std::size_t{65536}}) {  // the board of a part needs more
        const std::string text = fill(t, kept, bytes / sizeof(std::uint64_t));
        const std::string said =
            "shmem: the symmetric heap has no room for " + std::to_string(bytes) + " bytes more; set ";
        ASSERT_NE(text.find(said), std::string::npos) << text;
      }
      for (auto& one : kept) one.sync();
      EXPECT_THROW((void)t.subset(t.rank() == 0), CommError);
    }
    const auto part = t.subset(t.rank() == 0);
    if (part) part->segment<std::uint64_t>(ring(*part), 65536).sync();
  });
}

}  // namespace
