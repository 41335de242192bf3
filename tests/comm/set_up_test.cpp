/// Tests that making objects takes no memory that grows with the number of ranks, and that errors of arcs are detected.
#include <gtest/gtest.h>

#include <atomic>
#include <cstdlib>
#include <new>

#include "merganser/comm/runtime.hpp"

namespace {

/// Bytes that this thread has asked for.
thread_local std::size_t asked = 0;

void* take(std::size_t bytes) {
  asked += bytes;
  void* memory = std::malloc(bytes);
  if (memory == nullptr) throw std::bad_alloc();
  return memory;
}

}  // namespace

// Not inlined: the compiler would see free() for what it takes for its own new.
[[gnu::noinline]] void* operator new(std::size_t bytes) { return take(bytes); }
void* operator new[](std::size_t bytes) { return take(bytes); }
[[gnu::noinline]] void operator delete(void* memory) noexcept { std::free(memory); }
void operator delete[](void* memory) noexcept { std::free(memory); }
[[gnu::noinline]] void operator delete(void* memory, std::size_t) noexcept { std::free(memory); }
void operator delete[](void* memory, std::size_t) noexcept { std::free(memory); }

namespace {

using namespace merganser;

/// A ring with chords: 6 arcs out and 6 in on every rank.
comm::Graph chords(const comm::Transport& t) {
  std::vector<int> ranks;
  for (const int step : {1, 2, 8}) {
    ranks.push_back((t.rank() + step) % t.size());
    ranks.push_back((t.rank() + t.size() - step) % t.size());
  }
  return comm::Graph::symmetric(ranks);
}

struct Call {
  const char* name;
  std::function<void(comm::Transport&)> make;
};

const std::vector<Call> kCalls{
    {"mailbox", [](comm::Transport& t) { (void)t.mailbox(chords(t)); }},
    {"stream", [](comm::Transport& t) { (void)t.stream(chords(t), {.slots_per_arc = 16}); }},
    {"plan",
     [](comm::Transport& t) {
       const std::vector<std::vector<std::size_t>> out(6, {0, 1});
       (void)t.plan(chords(t), {out, std::vector<std::size_t>(6, 2)}, {});
     }},
    {"segment", [](comm::Transport& t) { (void)t.segment<std::uint64_t>(chords(t), 8); }},
    {"agree", [](comm::Transport& t) { comm::agree(t, [] {}); }},
    {"check_uniform_across_ranks",
     [](comm::Transport& t) {
       comm::check_uniform_across_ranks(t, "things", {{"width", "3"}});
     }},
    {"all_reduce", [](comm::Transport& t) { (void)t.all_reduce(std::int64_t{1}, comm::Op::sum); }},
    {"broadcast", [](comm::Transport& t) { (void)t.broadcast(std::vector<std::byte>(8)); }},
};

/// The most that a rank but the first asks for in a call. (The first one gathers what is to be added in the order of ranks.)
std::size_t most_asked(int ranks, const Call& call) {
  std::atomic<std::size_t> most{0};
  comm::run({.backend = "threads", .ranks = ranks}, [&](comm::Transport& t) {
    call.make(t);  // what is kept for the next time
    t.barrier();
    const std::size_t before = asked;
    call.make(t);
    const std::size_t mine = asked - before;
    std::size_t seen = most.load();
    while (t.rank() > 0 && mine > seen && !most.compare_exchange_weak(seen, mine)) {
    }
  });
  return most.load();
}

TEST(SetUpTest, memory_of_a_rank_does_not_grow_with_the_number_of_ranks) {
  for (const Call& call : kCalls) {
    SCOPED_TRACE(call.name);
    const std::size_t few = most_asked(128, call);
    const std::size_t many = most_asked(400, call);
    EXPECT_LE(many, few + 256) << "with 128 ranks: " << few;
  }
}

TEST(SetUpTest, errors_of_arcs_are_found_among_many_ranks) {
  constexpr int kRanks = 100;
  std::atomic<int> told{0};
  comm::run({.backend = "threads", .ranks = kRanks}, [&](comm::Transport& t) {
    comm::Graph graph = chords(t);
    if (t.rank() == 77) graph.out.push_back(5);  // rank 5 does not know
    try {
      (void)t.mailbox(graph);
    } catch (const CommError& e) {
      EXPECT_EQ(std::string(e.what()),
                "rank 5: graph: rank 77 has this rank as an out-neighbour, but is no in-neighbour here");
      ++told;
    }
    if (t.rank() == 77) graph.out.pop_back();
    (void)t.mailbox(graph);
  });
  EXPECT_EQ(told, kRanks);
}

TEST(SetUpTest, arcs_that_differ_are_found_though_their_numbers_are_equal) {
  std::atomic<int> told{0};
  comm::run({.backend = "threads", .ranks = 4}, [&](comm::Transport& t) {
    // 0 sends to 1 and 2 to 3, but 1 awaits 2 and 3 awaits 0.
    const std::vector<comm::Graph> graphs{{{1}, {}}, {{}, {2}}, {{3}, {}}, {{}, {0}}};
    EXPECT_THROW((void)t.mailbox(graphs[static_cast<std::size_t>(t.rank())]), CommError);
    ++told;
  });
  EXPECT_EQ(told, 4);
}

}  // namespace
