// Self test of a communication model: known words by Mailbox, Segment and Stream, in shapes that libraries have got wrong.
#include "src/comm/detail/self_test.hpp"

#include <mutex>
#include <set>
#include <string>
#include <utility>

#include "merganser/base/error.hpp"
#include "merganser/base/pinned.hpp"
#include "merganser/comm/runtime.hpp"
#include "src/comm/detail/simulated.hpp"
#include "src/comm/detail/waiter.hpp"

namespace merganser::comm::detail {
namespace {

constexpr double kPatienceSeconds = 30;  // limit of waits during the self test, s
constexpr std::size_t kRecords = 5;      // records per arc of the tested Stream

std::mutex good_mutex;                       // of `good`
std::set<std::pair<std::string, int>> good;  // models that have passed, with the number of ranks

/// Guard around the self test of a communication model that sets a limit of waits where there is none, so that data lost by a
/// faulty library end the test.
class ScopedWaitLimit : Pinned {
 public:
  ScopedWaitLimit() : before_(wait_limit()) {
    if (before_ <= 0) set_default_wait_limit(kPatienceSeconds);
  }
  ~ScopedWaitLimit() { set_default_wait_limit(before_); }

 private:
  double before_;  // limit of waits before the test in s, 0 without one
};

/// Returns word number `at` of the pattern that rank `from` sends to rank `to` in the self test of a communication model: never 0,
/// as untouched memory is, and different for every arc and position.
std::uint64_t pattern(int from, int to, std::size_t at) {
  return 1 + static_cast<std::uint64_t>(from) * 1000003 + static_cast<std::uint64_t>(to) * 10007 + at;
}

/// Throws CommError of the self test of a communication model: the datum `what` has arrived on this rank with wrong bits.
[[noreturn]] void throw_wrong(const Transport& t, const std::string& what, std::uint64_t is, std::uint64_t expected) {
  throw CommError("rank " + std::to_string(t.rank()) + ": " + what + " is " + std::to_string(is) + ", " +
                  std::to_string(expected) + " was sent");
}

/// Returns this rank's part of the self test's process graph in which all other ranks send to rank 0: numbers of in- and out-arcs
/// differ between ranks.
Graph star(const Transport& t) {
  Graph graph;
  if (t.rank() != 0) graph.out.push_back(0);
  for (int r = 1; t.rank() == 0 && r < t.size(); ++r) graph.in.push_back(r);
  return graph;
}

/// Returns this rank's part of the self test's process graph in which every rank but the last sends to the next one: the sizes of
/// receive memory differ between ranks.
Graph path(const Transport& t) {
  Graph graph;
  if (t.rank() + 1 < t.size()) graph.out.push_back(t.rank() + 1);
  if (t.rank() > 0) graph.in.push_back(t.rank() - 1);
  return graph;
}

/// Returns the length in bytes of the message of rank `from` in a Mailbox wave of the self test: odd lengths in the first wave,
/// some empty messages in the second.
std::size_t message_bytes(int from, int wave) {
  const auto r = static_cast<std::size_t>(from);
  return wave == 0 ? 4 * r + 3 : (from % 2 == 0 ? 70 : 0);
}

/// Tests the Mailbox of a communication model by two waves of known bytes to rank 0. Collective. @throws CommError on every rank if
/// a byte or a length is wrong on some rank
void test_messages(TransportBase& t) {
  const auto box = t.mailbox(star(t));
  for (int wave = 0; wave < 2; ++wave) {
    for (std::size_t i = 0; t.rank() != 0 && i < message_bytes(t.rank(), wave); ++i)
      box->post(0, static_cast<std::uint8_t>(pattern(t.rank(), wave, i)));
    box->step();
    agree(t, [&] {
      for (std::size_t arc = 0; arc < box->graph().in.size(); ++arc) {
        const int from = box->graph().in[arc];
        const auto came = box->records<std::uint8_t>(arc);
        const std::string of = " of a message from rank " + std::to_string(from);
        if (came.size() != message_bytes(from, wave))
          throw_wrong(t, "the length" + of, came.size(), message_bytes(from, wave));
        for (std::size_t i = 0; i < came.size(); ++i) {
          const auto expected = static_cast<std::uint8_t>(pattern(from, wave, i));
          if (came[i] != expected) throw_wrong(t, "byte " + std::to_string(i) + of, came[i], expected);
        }
      }
    });
  }
}

/// Tests the Segment of a communication model by a put and a get of known words at the next rank. Collective. @throws CommError on
/// every rank if a word is wrong on some rank
void test_words(TransportBase& t) {
  const auto words = static_cast<std::size_t>(t.rank()) + 2;
  auto segment = t.segment<std::uint64_t>(path(t), words);
  for (std::size_t i = 0; i < words; ++i) segment.local()[i] = pattern(t.rank(), t.rank(), i);
  segment.sync();
  const int next = t.rank() + 1;
  std::uint64_t got = 0;
  if (next < t.size()) {
    segment.put(next, 1, pattern(t.rank(), next, 1));
    segment.get(next, 0, 1, &got);
  }
  segment.sync();
  agree(t, [&] {
    if (next < t.size() && got != pattern(next, next, 0))
      throw_wrong(t, "a word got from rank " + std::to_string(next), got, pattern(next, next, 0));
    for (std::size_t i = 0; i < words; ++i) {
      const int from = i == 1 && t.rank() > 0 ? t.rank() - 1 : t.rank();
      if (segment.local()[i] != pattern(from, t.rank(), i))
        throw_wrong(t, "word " + std::to_string(i) + " of " + std::to_string(words), segment.local()[i],
                    pattern(from, t.rank(), i));
    }
  });
}

/// Tests the Stream of a communication model by a round of known records to the next rank. Collective. @throws CommError on every
/// rank if a record is wrong on some rank
void test_records(TransportBase& t) {
  const Graph graph = path(t);
  const auto stream = t.stream(graph, {.slots_per_arc = kRecords});
  stream->open(std::vector<std::size_t>(graph.out.size(), kRecords),
               std::vector<std::size_t>(graph.in.size(), kRecords));
  for (std::size_t slot = kRecords; !graph.out.empty() && slot-- > 0;)
    stream->send(0, slot, static_cast<std::uint32_t>(pattern(t.rank(), t.rank() + 1, slot)));
  std::vector<std::uint32_t> came(graph.in.size() * kRecords);
  while (stream->take([&](std::size_t, std::size_t slot, std::uint32_t value) { came.at(slot) = value; }) > 0)
    stream->wait();
  stream->finish();
  agree(t, [&] {
    for (std::size_t slot = 0; slot < came.size(); ++slot) {
      const auto expected = static_cast<std::uint32_t>(pattern(t.rank() - 1, t.rank(), slot));
      if (came[slot] != expected) throw_wrong(t, "record " + std::to_string(slot), came[slot], expected);
    }
  });
}

/// Tests one-sided memory, Mailbox, Segment and Stream of a transport in this order. Collective. @throws CommError on every rank if
/// a test fails on some rank
void test_all(TransportBase& t) {
  const std::string memory = t.memory_fault();  // before anything that would wait for a word
  agree(t, [&] {
    if (!memory.empty()) throw CommError("rank " + std::to_string(t.rank()) + ": " + memory);
  });
  test_messages(t);
  test_words(t);
  test_records(t);
}

}  // namespace

bool self_test_passed(std::string_view model, int ranks) {
  const std::scoped_lock lock(good_mutex);
  return good.contains({std::string(model), ranks});
}

// Self test of a communication model, once per model and number of ranks in a process; a failure names the library.
void run_self_test(TransportBase& t) {
  if constexpr (kSimulated) return;  // no library to be tested, and the test's time grows with the ranks
  const std::string model(t.name());
  if (t.size() == 1 || t.all_reduce(self_test_passed(model, t.size()) ? 0 : 1, Op::max) == 0) return;
  try {
    const ScopedWaitLimit limited;
    test_all(t);
  } catch (const CommError& e) {
    const std::string text = "model '" + model + "' over " + (model == "shmem" ? shmem_library() : mpi_library()) +
                             " fails its test on " + std::to_string(t.size()) + " ranks: " + e.what() +
                             "; use another model (merganser doctor), or another version of the library";
    if (was_agreed(e)) note_agreed_error(text);
    throw CommError(text);
  }
  const std::scoped_lock lock(good_mutex);
  good.insert({model, t.size()});
}

}  // namespace merganser::comm::detail
