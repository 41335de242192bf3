/// Tests of several transports of some of the ranks at a time, overlapping and nested (Transport::subset).
#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <random>
#include <set>
#include <string>
#include <vector>

#include "merganser/base/error.hpp"
#include "merganser/comm/collectives.hpp"
#include "tests/comm/graphs.hpp"
#include "tests/support/ranks.hpp"

namespace {

using namespace merganser;
using comm::Op;
using comm::Transport;
using namespace merganser::test;

class PartsTest : public testing::TestWithParam<Setup> {};
INSTANTIATE_TEST_SUITE_P(Models, PartsTest, testing::ValuesIn(setups({"", "checked,chaos:4"})),
                         setup_name<testing::TestParamInfo<Setup>>);

/// A transport with one object of each kind, and what has gone through them. Members are destroyed from below.
struct Part {
  std::unique_ptr<Transport> transport;
  std::unique_ptr<comm::Mailbox> box;
  std::unique_ptr<comm::Stream> stream;
  std::unique_ptr<comm::Segment<std::uint64_t>> words;
  int turn = 0;

  explicit Part(std::unique_ptr<Transport> of) : transport(std::move(of)) {
    Transport& t = *transport;
    box = t.mailbox(complete(t));
    stream = t.stream(ring(t), {.slots_per_arc = 64});
    words = std::make_unique<comm::Segment<std::uint64_t>>(t.segment<std::uint64_t>(ring(t), 3));
  }

  /// What another rank of the part says in this turn; `salt` is another for every part.
  [[nodiscard]] std::uint32_t word(int from, int to, unsigned salt) const {
    return static_cast<std::uint32_t>(from * 101 + to * 7 + turn) + 65537U * salt;
  }

  void use(unsigned salt) {
    Transport& t = *transport;
    ++turn;
    const auto& graph = box->graph();
    for (std::size_t arc = 0; arc < graph.out.size(); ++arc) box->post(arc, word(t.rank(), graph.out[arc], salt));
    box->step();
    for (std::size_t arc = 0; arc < graph.in.size(); ++arc) {
      ASSERT_EQ(box->records<std::uint32_t>(arc).size(), 1U);
      ASSERT_EQ(box->records<std::uint32_t>(arc)[0], word(graph.in[arc], t.rank(), salt));
    }
    const int next = (t.rank() + 1) % t.size();
    const int last = (t.rank() + t.size() - 1) % t.size();
    words->put(next, 1, word(t.rank(), next, salt));
    const std::vector<std::size_t> five(1, 5);
    stream->open(five, five);
    for (std::size_t slot = 0; slot < 5; ++slot) stream->send(0, slot, word(t.rank(), next, salt));
    std::vector<std::uint32_t> came;
    while (stream->take([&](std::size_t, std::size_t, std::uint32_t value) { came.push_back(value); }) > 0)
      stream->wait();
    stream->finish();
    ASSERT_EQ(came, std::vector<std::uint32_t>(5, word(last, t.rank(), salt)));
    words->sync();
    ASSERT_EQ(words->local()[0], 0U);
    ASSERT_EQ(words->local()[1], word(last, t.rank(), salt));
    words->sync();  // nobody puts the next one before all have looked
    ASSERT_EQ(t.all_reduce(static_cast<std::int64_t>(t.rank()), Op::sum), std::int64_t{t.size()} * (t.size() - 1) / 2);
  }
};

/// Random parts, some of them parts of parts. All ranks make the same random choices.
TEST_P(PartsTest, overlapping_parts_are_made_used_and_destroyed_in_any_order) {
  on_ranks(GetParam(), [](Transport& t) {
    struct Living {
      unsigned number;
      unsigned within;  // the number of the part that it is a part of; 0: of all ranks
      std::vector<bool> members;
      std::unique_ptr<Part> mine;  // null if this rank is no member
    };
    std::mt19937 numbers(5);
    std::vector<Living> living;
    unsigned made = 0;
    const auto here = static_cast<std::size_t>(t.rank());
    for (int turn = 0; turn < 40; ++turn) {
      const unsigned what = numbers() % 4;
      const std::size_t which = living.empty() ? 0 : numbers() % living.size();
      if ((what == 0 || living.size() > 5) && !living.empty()) {
        std::set<unsigned> ended{living[which].number};  // and the parts of it
        for (const Living& one : living)
          if (ended.contains(one.within)) ended.insert(one.number);
        for (std::size_t i = living.size(); i-- > 0;)
          if (ended.contains(living[i].number)) living.erase(living.begin() + static_cast<std::ptrdiff_t>(i));
      } else if (what == 1 || living.empty()) {
        // Of all ranks, or of those of a part that lives.
        const bool within = !living.empty() && numbers() % 2 == 0;
        Living one{++made, within ? living[which].number : 0, std::vector<bool>(static_cast<std::size_t>(t.size())),
                   nullptr};
        for (std::size_t r = 0; r < one.members.size(); ++r)
          one.members[r] = numbers() % 3 != 0 && (!within || living[which].members[r]);
        Transport* const whole = !within ? &t : living[which].mine ? living[which].mine->transport.get() : nullptr;
        if (whole != nullptr) {
          auto part = whole->subset(one.members[here]);
          ASSERT_EQ(part != nullptr, one.members[here]);
          if (part) {
            ASSERT_EQ(part->size(), std::count(one.members.begin(), one.members.end(), true));
            one.mine = std::make_unique<Part>(std::move(part));
          }
        }
        living.push_back(std::move(one));
      }
      // Who is in several parts uses them in one order, as waves of different graphs need; nobody waits for the others.
      for (const Living& one : living)
        if (one.mine) one.mine->use(one.number);
    }
  });
}

TEST_P(PartsTest, a_part_needs_nothing_of_the_other_ranks) {
  on_ranks(GetParam(), [](Transport& t) {
    const bool takes_part = t.rank() % 2 == 0;
    auto mine = t.subset(takes_part);
    const auto box = t.mailbox(complete(t));
    if (takes_part) {
      // The others wait for the message after all of this.
      for (int i = 0; i < 3; ++i) {
        const auto smaller = mine->subset(mine->rank() > 0);
        Part part(mine->subset(true));
        part.use(1);
      }
      mine.reset();
    }
    box->step();
  });
}

}  // namespace
