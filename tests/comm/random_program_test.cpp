/// One random program over all objects of a transport, which every rank also plays for all ranks in memory of its own,
/// the slow way: after each call the model must have delivered what that memory holds. Over every model, and once with
/// messages cut into pieces that libraries could carry whole.
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <numeric>

#include "merganser/base/error.hpp"
#include "merganser/base/random.hpp"
#include "merganser/comm/collectives.hpp"
#include "src/comm/detail/bytes.hpp"
#include "src/comm/detail/limits.hpp"
#include "tests/comm/graphs.hpp"
#include "tests/support/ranks.hpp"

namespace {

using namespace merganser;
using namespace merganser::test;
using comm::Graph;
using comm::Op;
using comm::Transport;

using comm::detail::Bytes;

class RandomProgramTest : public testing::TestWithParam<Setup> {};
INSTANTIATE_TEST_SUITE_P(Models, RandomProgramTest, testing::ValuesIn(setups({""}, {"chaos:7", "checked,chaos:6"})),
                         setup_name<testing::TestParamInfo<Setup>>);

/// Numbers that every rank draws alike, and so knows of what the others do.
class Common {
 public:
  explicit Common(std::uint64_t seed) : random_(seed, 0x636f6d6d6f6eULL, 0) {}
  [[nodiscard]] std::size_t below(std::size_t bound) { return static_cast<std::size_t>(random_.below(bound)); }
  [[nodiscard]] bool one_in(std::size_t n) { return below(n) == 0; }
  [[nodiscard]] std::uint64_t bits() { return random_.bits(); }

 private:
  Random random_;
};

/// Arcs of all ranks: a matrix, and the lists of each rank in an order of its own.
struct AllArcs {
  AllArcs(Common& common, int ranks) : graphs(static_cast<std::size_t>(ranks)) {
    for (int from = 0; from < ranks; ++from) {
      for (int to = 0; to < ranks; ++to) {
        if (common.one_in(2)) continue;
        graphs[static_cast<std::size_t>(from)].out.push_back(to);
        graphs[static_cast<std::size_t>(to)].in.push_back(from);
      }
    }
    for (Graph& graph : graphs) {
      for (auto* list : {&graph.out, &graph.in})
        for (std::size_t i = list->size(); i > 1; --i) std::swap((*list)[i - 1], (*list)[common.below(i)]);
    }
  }
  [[nodiscard]] const Graph& of(const Transport& t) const { return graphs[static_cast<std::size_t>(t.rank())]; }
  std::vector<Graph> graphs;
};

using Arc = std::pair<int, int>;

Bytes random_bytes(std::uint64_t seed, std::size_t length) {
  Bytes bytes(length);
  for (std::size_t i = 0; i < length; ++i) bytes[i] = static_cast<std::byte>(mix64(seed + i) & 0xFF);
  return bytes;
}

void waves(Transport& t, Common& common, std::size_t longest) {
  const AllArcs arcs(common, t.size());
  const auto box = t.mailbox(arcs.of(t));
  const Graph& graph = box->graph();
  for (int wave = 0; wave < 8; ++wave) {
    const bool full = common.one_in(2);
    std::map<Arc, Bytes> messages;  // of the arcs that are active
    for (const Graph& one : arcs.graphs) {
      const int from = static_cast<int>(&one - arcs.graphs.data());
      for (const int to : one.out) {
        const bool active = full || common.one_in(2);
        const std::uint64_t seed = common.bits();
        const std::size_t length = common.one_in(3) ? 0 : common.below(common.one_in(3) ? longest : 40);
        if (active) messages[{from, to}] = random_bytes(seed, length);
      }
    }
    std::vector<std::uint8_t> out;
    std::vector<std::uint8_t> in;
    for (const int to : graph.out) out.push_back(messages.contains({t.rank(), to}) ? 1 : 0);
    for (const int from : graph.in) in.push_back(messages.contains({from, t.rank()}) ? 1 : 0);
    for (std::size_t arc = 0; arc < out.size(); ++arc)
      if (out[arc] != 0) box->post_all<std::byte>(arc, messages[{t.rank(), graph.out[arc]}]);
    if (full) {
      box->step();
    } else {
      box->step(out, in);
    }
    for (std::size_t arc = 0; arc < in.size(); ++arc) {
      const auto& expected = messages[{graph.in[arc], t.rank()}];
      ASSERT_TRUE(std::ranges::equal(box->inbox(arc), expected))
          << "wave " << wave << " from " << graph.in[arc] << " to " << t.rank() << ": " << box->inbox(arc).size()
          << " bytes, sent were " << expected.size();
    }
  }
}

/// One phase on the words of all ranks. A word has in it either puts of one value, or ORs, or gets: gets ask for words
/// that nobody changes meanwhile.
template <class T>
class Phase {
 public:
  Phase(Common& common, const std::vector<std::vector<T>>& memory) : before_(memory), after_(memory) {
    for (const auto& own : memory) {
      kinds_.emplace_back();
      values_.emplace_back();
      for (std::size_t i = 0; i < own.size(); ++i) {
        kinds_.back().push_back(static_cast<Kind>(common.below(3)));
        values_.back().push_back(static_cast<T>(common.bits()));
      }
    }
  }

  /// Plays what rank `from` does to the words of `to`; `words` is null on other ranks.
  void operate(Common& common, int from, int to, comm::Segment<T>* words) {
    const auto owner = static_cast<std::size_t>(to);
    for (std::size_t i = 0; i < before_[owner].size(); ++i) {
      if (common.one_in(2)) continue;
      const T value = values_[owner][i];
      const T bits = value & static_cast<T>(T{0x11111111} << (from % 4));
      if (kinds_[owner][i] == Kind::put) {
        after_[owner][i] = value;
        if (words != nullptr) words->put(to, i, value);
      } else if (kinds_[owner][i] == Kind::ored) {
        after_[owner][i] |= bits;
        if (words != nullptr) words->fetch_or(to, i, bits, want(owner, i, true));
      } else if (words != nullptr) {
        words->get(to, i, 1, want(owner, i, false));
      }
    }
  }

  /// Compares what has come after the sync.
  void check(std::span<const T> local, std::size_t me) const {
    ASSERT_TRUE(std::ranges::equal(local, after_[me]));
    for (const auto& one : wanted_) {
      const T before = before_[one->owner][one->index];
      if (!one->ored) {
        ASSERT_EQ(one->came, before);
        continue;
      }
      ASSERT_EQ(one->came & before, before) << "bits that were set before are missing";
      ASSERT_EQ(one->came & ~after_[one->owner][one->index], T{0}) << "bits that nobody has set";
    }
  }
  [[nodiscard]] const std::vector<std::vector<T>>& after() const { return after_; }

 private:
  enum class Kind { none, put, ored };
  struct Wanted {
    std::size_t owner;
    std::size_t index;
    bool ored;
    T came;
  };
  T* want(std::size_t owner, std::size_t index, bool ored) {
    wanted_.push_back(std::make_unique<Wanted>(Wanted{owner, index, ored, T{1}}));
    return &wanted_.back()->came;
  }

  std::vector<std::vector<T>> before_;
  std::vector<std::vector<T>> after_;
  std::vector<std::vector<Kind>> kinds_;
  std::vector<std::vector<T>> values_;
  std::vector<std::unique_ptr<Wanted>> wanted_;
};

template <class T>
void phases(Transport& t, Common& common) {
  const AllArcs arcs(common, t.size());
  std::vector<std::vector<T>> memory;  // by rank
  for (int r = 0; r < t.size(); ++r) memory.emplace_back(common.below(12));
  const auto me = static_cast<std::size_t>(t.rank());
  const auto epoch = static_cast<comm::Epoch>(common.below(3));
  auto words = t.segment<T>(arcs.of(t), memory[me].size(), epoch);
  for (int number = 0; number < 6; ++number) {
    Phase<T> phase(common, memory);
    for (int from = 0; from < t.size(); ++from) {
      std::vector<int> targets = arcs.graphs[static_cast<std::size_t>(from)].out;
      if (std::find(targets.begin(), targets.end(), from) == targets.end()) targets.push_back(from);  // always allowed
      for (const int to : targets) phase.operate(common, from, to, from == t.rank() ? &words : nullptr);
    }
    const auto who = static_cast<int>(common.below(static_cast<std::size_t>(t.size()) + 1));  // perhaps nobody
    if (common.one_in(3)) {
      ASSERT_EQ(words.sync_any(t.rank() == who), who < t.size());
    } else {
      words.sync();
    }
    ASSERT_NO_FATAL_FAILURE(phase.check(words.local(), me)) << "phase " << number;
    memory = phase.after();
    words.sync();  // nobody changes words that others still look at
  }
}

void rounds(Transport& t, Common& common) {
  const AllArcs arcs(common, t.size());
  const Graph& graph = arcs.of(t);
  const auto stream = t.stream(graph, {.slots_per_arc = common.below(30)});
  const auto box = t.mailbox(complete(t));  // both ways: a step along one-way arcs would not hold back their senders
  for (int round = 0; round < 6; ++round) {
    std::map<Arc, std::vector<std::uint32_t>> values;
    for (const Graph& one : arcs.graphs) {
      const int from = static_cast<int>(&one - arcs.graphs.data());
      for (const int to : one.out) {
        auto& list = values[{from, to}];
        list.resize(common.one_in(3) ? 0 : common.below(common.one_in(5) ? 3000 : 40));
        const std::uint64_t seed = common.bits();
        for (std::size_t i = 0; i < list.size(); ++i) list[i] = static_cast<std::uint32_t>(mix64(seed + i));
      }
    }
    std::vector<std::size_t> out;
    std::vector<std::size_t> in;
    for (const int to : graph.out) out.push_back(values[{t.rank(), to}].size());
    for (const int from : graph.in) in.push_back(values[{from, t.rank()}].size());
    stream->open(out, in);
    std::vector<std::map<std::size_t, std::uint32_t>> came(in.size());
    const auto take = [&](std::size_t arc, std::size_t slot, std::uint32_t value) {
      EXPECT_TRUE(came.at(arc).emplace(slot, value).second) << "slot " << slot << " came twice";
    };
    for (std::size_t arc = 0; arc < out.size(); ++arc) {
      const auto& list = values[{t.rank(), graph.out[arc]}];
      for (std::size_t i = list.size(); i-- > 0;) stream->send(arc, i, list[i]);
      if (arc % 2 == 0) (void)stream->take(take);
    }
    while (stream->take(take) > 0) stream->wait();
    stream->finish();
    for (std::size_t arc = 0; arc < in.size(); ++arc) {
      const auto& expected = values[{graph.in[arc], t.rank()}];
      ASSERT_EQ(came[arc].size(), expected.size()) << "round " << round;
      for (std::size_t i = 0; i < expected.size(); ++i) ASSERT_EQ(came[arc].at(i), expected[i]) << "round " << round;
    }
    box->step();
  }
}

void ghosts(Transport& t, Common& common) {
  const AllArcs arcs(common, t.size());
  const Graph& graph = arcs.of(t);
  const std::size_t bytes = 1 + common.below(24);
  const std::size_t chunk = 1 + common.below(60);
  std::map<Arc, std::vector<std::size_t>> wanted;
  for (const Graph& one : arcs.graphs) {
    const int from = static_cast<int>(&one - arcs.graphs.data());
    for (const int to : one.out) {
      auto& list = wanted[{from, to}];
      list.resize(common.one_in(4) ? 0 : common.below(200));
      for (auto& element : list) element = common.below(50);
    }
  }
  comm::Pattern pattern;
  for (const int to : graph.out) pattern.out.push_back(wanted[{t.rank(), to}]);
  for (const int from : graph.in) pattern.in.push_back(wanted[{from, t.rank()}].size());
  const auto plan = t.plan(graph, pattern, {.element_bytes = bytes, .chunk_elements = chunk});
  for (int pull = 0; pull < 4; ++pull) {
    std::vector<Bytes> local;  // by rank
    for (int r = 0; r < t.size(); ++r) local.push_back(random_bytes(common.bits(), 50 * bytes));
    std::vector<Bytes> came;
    for (const std::size_t elements : pattern.in) came.emplace_back(elements * bytes);
    std::vector<std::size_t> left = pattern.in;
    plan->pull(local[static_cast<std::size_t>(t.rank())], [&](const comm::Plan::Chunk& c) {
      ASSERT_LE(c.data.size(), chunk * bytes);
      ASSERT_LE(c.first * bytes + c.data.size(), came[c.arc].size());
      std::copy(c.data.begin(), c.data.end(), came[c.arc].begin() + static_cast<std::ptrdiff_t>(c.first * bytes));
      left[c.arc] -= c.data.size() / bytes;
    });
    EXPECT_EQ(std::accumulate(left.begin(), left.end(), std::size_t{0}), 0U);
    for (std::size_t arc = 0; arc < came.size(); ++arc) {
      Bytes expected;
      const Bytes& theirs = local[static_cast<std::size_t>(graph.in[arc])];
      for (const std::size_t element : wanted[{graph.in[arc], t.rank()}]) {
        const auto begin = theirs.begin() + static_cast<std::ptrdiff_t>(element * bytes);
        expected.insert(expected.end(), begin, begin + static_cast<std::ptrdiff_t>(bytes));
      }
      ASSERT_EQ(came[arc], expected) << "pull " << pull << " from " << graph.in[arc];
    }
  }
}

void exchanges(Transport& t, Common& common, std::size_t longest) {
  const auto ranks = static_cast<std::size_t>(t.size());
  const auto me = static_cast<std::size_t>(t.rank());
  std::vector<std::vector<Bytes>> to(ranks);  // [from][to]
  for (auto& list : to)
    for (std::size_t r = 0; r < ranks; ++r)
      list.push_back(random_bytes(common.bits(), common.one_in(3) ? 0 : common.below(longest)));
  const auto came = t.all_to_all(to[me]);
  for (std::size_t r = 0; r < ranks; ++r) ASSERT_EQ(came.at(r), to[r][me]);
  const auto all = t.all_gather(to[me][0]);
  const auto gathered = t.gather(to[me][0]);
  ASSERT_EQ(gathered.size(), me == 0 ? ranks : 0);
  for (std::size_t r = 0; r < ranks; ++r) {
    ASSERT_EQ(all.at(r), to[r][0]);
    if (me == 0) {
      ASSERT_EQ(gathered[r], to[r][0]);
    }
  }
  ASSERT_EQ(t.broadcast(to[me][0]), to[0][0]);
}

void reductions(Transport& t, Common& common) {
  const auto ranks = static_cast<std::size_t>(t.size());
  const auto me = static_cast<std::size_t>(t.rank());
  const auto op = static_cast<Op>(common.below(3));
  const std::size_t numbers = common.below(5);
  std::vector<std::vector<std::int64_t>> integers(ranks, std::vector<std::int64_t>(numbers));
  std::vector<std::vector<double>> doubles(ranks, std::vector<double>(numbers));
  for (std::size_t r = 0; r < ranks; ++r) {
    for (auto& value : integers[r]) value = static_cast<std::int64_t>(common.bits());
    for (auto& value : doubles[r]) value = static_cast<double>(common.bits()) * (common.one_in(2) ? 1e-30 : -1.0);
  }
  auto whole = integers[me];
  auto real = doubles[me];
  t.all_reduce(whole, op);
  t.all_reduce(real, op);
  for (std::size_t i = 0; i < numbers; ++i) {
    auto expected = static_cast<std::uint64_t>(integers[0][i]);
    double sum = doubles[0][i];
    for (std::size_t r = 1; r < ranks; ++r) {
      const auto signed_expected = static_cast<std::int64_t>(expected);
      if (op == Op::sum) expected += static_cast<std::uint64_t>(integers[r][i]);
      if (op == Op::min) expected = static_cast<std::uint64_t>(std::min(signed_expected, integers[r][i]));
      if (op == Op::max) expected = static_cast<std::uint64_t>(std::max(signed_expected, integers[r][i]));
      sum = op == Op::sum   ? sum + doubles[r][i]
            : op == Op::min ? std::min(sum, doubles[r][i])
                            : std::max(sum, doubles[r][i]);
    }
    ASSERT_EQ(whole[i], static_cast<std::int64_t>(expected));
    ASSERT_EQ(real[i], sum) << "doubles are reduced in the order of ranks";
  }
}

void random_program(Transport& t, std::uint64_t seed, std::size_t longest) {
  Common common(seed);
  ASSERT_NO_FATAL_FAILURE(waves(t, common, longest)) << "seed " << seed;
  ASSERT_NO_FATAL_FAILURE(phases<std::uint32_t>(t, common)) << "seed " << seed;
  ASSERT_NO_FATAL_FAILURE(rounds(t, common)) << "seed " << seed;
  ASSERT_NO_FATAL_FAILURE(ghosts(t, common)) << "seed " << seed;
  ASSERT_NO_FATAL_FAILURE(phases<std::uint64_t>(t, common)) << "seed " << seed;
  ASSERT_NO_FATAL_FAILURE(exchanges(t, common, longest)) << "seed " << seed;
  ASSERT_NO_FATAL_FAILURE(reductions(t, common)) << "seed " << seed;
}

TEST_P(RandomProgramTest, delivers_what_every_rank_computes_for_all) {
  const std::uint64_t seeds = GetParam().backend == "threads" ? 4 : 1;  // processes that share cores are slow
  on_ranks(GetParam(), [&](Transport& t) {
    for (std::uint64_t seed = 0; seed < seeds; ++seed) random_program(t, seed, 20'000);
  });
}

/// Scope in which a library carries no more than so many bytes in a call.
class ShortPieces {
 public:
  explicit ShortPieces(std::size_t bytes) : before_(std::exchange(comm::detail::max_piece_bytes, bytes)) {}
  ~ShortPieces() { comm::detail::max_piece_bytes = before_; }
  ShortPieces(const ShortPieces&) = delete;
  ShortPieces& operator=(const ShortPieces&) = delete;

 private:
  std::size_t before_;
};

TEST_P(RandomProgramTest, messages_longer_than_a_call_can_carry_go_in_pieces) {
  const ShortPieces pieces(1000);
  on_ranks(GetParam(), [](Transport& t) {
    for (std::uint64_t seed = 10; seed < 11; ++seed) random_program(t, seed, 5000);
    for (const std::size_t length : {999U, 1000U, 1001U, 2000U, 2001U}) {
      const auto box = t.mailbox(complete(t));
      const Bytes message = random_bytes(length, length);
      for (std::size_t arc = 0; arc < box->graph().out.size(); ++arc) box->post_all<std::byte>(arc, message);
      box->step();
      for (std::size_t arc = 0; arc < box->graph().in.size(); ++arc)
        ASSERT_TRUE(std::ranges::equal(box->inbox(arc), message)) << length;
      ASSERT_EQ(t.broadcast(message), message);
      for (const Bytes& theirs : t.all_gather(message)) ASSERT_EQ(theirs, message);
    }
  });
}

}  // namespace
