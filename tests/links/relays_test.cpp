// Relayed labels of the single-pass pruning: links between ranks that share no arc, in slots that both ends of every
// arc number alike.
#include <gtest/gtest.h>

#include <map>

#include "merganser/base/error.hpp"
#include "tests/links/distribute_links.hpp"
#include "tests/links/oracles.hpp"
#include "tests/support/ranks.hpp"

namespace {

using namespace merganser;
using namespace merganser::test;

/// Process graph of ranks in a line: a label is relayed by every rank between its ends.
struct Line {
  explicit Line(comm::Transport& t) {
    if (t.rank() > 0) neighbours.push_back(t.rank() - 1);
    if (t.rank() + 1 < t.size()) neighbours.push_back(t.rank() + 1);
    mailbox = t.mailbox(comm::Graph::symmetric(neighbours));
    stream = t.stream(comm::Graph::symmetric(neighbours), {});
  }
  std::vector<int> neighbours;
  std::unique_ptr<comm::Mailbox> mailbox;
  std::unique_ptr<comm::Stream> stream;
};

/// Part of a graph on one rank, with the numbers of its links in the whole graph.
struct Part {
  std::vector<int> vertex;
  std::vector<std::int64_t> id;
  links::Links links;
  std::vector<int> in_source;
  std::vector<int> out_source;
};

/// Distributes a graph and numbers the slots of each arc as Clusterer does: links between its ends, then links that end
/// at its head, then others, each by their source.
Part distribute_part(const LinkGraph& graph, const std::vector<int>& owner, int rank,
                     const std::vector<int>& neighbours) {
  Part part;
  std::vector<std::uint32_t> local(graph.target.size());
  std::map<int, std::uint32_t> count;
  for (int v = 0; v < graph.size(); ++v) {
    local[v] = count[owner[v]]++;
    if (owner[v] != rank) continue;
    part.vertex.push_back(v);
    part.id.push_back(graph.id[v]);
  }
  for (const int v : part.vertex) {
    const int t = graph.target[v];
    part.links.target.push_back(t < 0 || owner[t] != rank ? links::kNone : local[t]);
  }
  std::map<int, links::Relay> relays;  // by source
  for (std::uint32_t arc = 0; arc < neighbours.size(); ++arc) {
    const int other = neighbours[arc];
    for (const bool leaving : {true, false}) {
      const int tail = leaving ? rank : other;
      const int head = leaving ? other : rank;
      std::uint32_t slot = 0;
      for (const int kind : {0, 1, 2})
        for (int v = 0; v < graph.size(); ++v) {
          const int t = graph.target[v];
          if (t < 0 || owner[t] == owner[v]) continue;
          const int from = owner[v];
          const int to = owner[t];
          const bool passes = head > tail ? from <= tail && to >= head : from >= tail && to <= head;
          if (!passes || kind != (to != head ? 2 : (from != tail ? 1 : 0))) continue;
          const std::uint32_t here = slot++;
          if (leaving && from == rank) {
            part.links.out.push_back({local[v], local[t], arc, here, graph.id[t], graph.distance2[v]});
            part.out_source.push_back(v);
          } else if (leaving) {
            relays[v].arc_out = arc, relays[v].slot_out = here;
          } else if (to == rank) {
            part.links.in.push_back({local[t], local[v], arc, here, graph.id[v], graph.distance2[v]});
            part.in_source.push_back(v);
          } else {
            relays[v].arc_in = arc, relays[v].slot_in = here;
          }
        }
    }
  }
  for (std::uint32_t k = 0; k < part.links.out.size(); ++k)
    part.links.target[part.links.out[k].vertex] = links::kAway | k;
  for (const auto& [source, relay] : relays) part.links.relays.push_back(relay);
  std::sort(part.links.relays.begin(), part.links.relays.end(), [](const links::Relay& a, const links::Relay& b) {
    return std::tie(a.arc_in, a.slot_in) < std::tie(b.arc_in, b.slot_in);
  });
  return part;
}

void expect_stars(comm::Transport& t, Line& line, const LinkGraph& graph, const std::vector<int>& owner,
                  const std::string& where) {
  const Kept kept = published_sweeps(graph);
  Part part = distribute_part(graph, owner, t.rank(), line.neighbours);
  const links::Ids ids{reinterpret_cast<const std::byte*>(part.id.data())};
  const links::Stars stars = prune_single_pass(part.links, ids, {t, *line.mailbox, *line.stream});
  for (std::size_t v = 0; v < part.vertex.size(); ++v)
    ASSERT_EQ(part.links.target[v] != links::kNone, kept[part.vertex[v]]) << where << ", vertex " << part.vertex[v];
  for (std::size_t k = 0; k < part.out_source.size(); ++k)
    ASSERT_EQ(stars.out_kept[k] != 0, kept[part.out_source[k]]) << where << ", out of " << part.out_source[k];
  for (std::size_t i = 0; i < part.in_source.size(); ++i)
    ASSERT_EQ(stars.in_kept[i] != 0, kept[part.in_source[i]]) << where << ", in from " << part.in_source[i];
  line.mailbox->step();
}

class RelaysTest : public testing::TestWithParam<Setup> {
 protected:
  static void on_random_graphs(const test::Setup& setup, int count, unsigned seed) {
    on_ranks(setup, [&](comm::Transport& t) {
      Line line(t);
      for (int i = 0; i < count; ++i) {
        Random random(seed + static_cast<unsigned>(i));
        const LinkGraph graph = random_graph(random, 1 + below(random, 50));
        const auto owner = random_owners(random, graph.size(), t.size());
        ASSERT_NO_FATAL_FAILURE(expect_stars(t, line, graph, owner, "graph " + std::to_string(seed + i)));
      }
    });
  }
};
INSTANTIATE_TEST_SUITE_P(Models, RelaysTest, testing::ValuesIn(setups()), setup_name<testing::TestParamInfo<Setup>>);

TEST_P(RelaysTest, ranks_in_a_line_make_the_stars_of_the_oracles) {
  on_random_graphs(GetParam(), GetParam().backend == "threads" ? 1000 : 200, 1);
}

TEST_P(RelaysTest, any_order_and_delay_gives_the_same_stars) {
  for (int seed = 1; seed <= (GetParam().backend == "threads" ? 30 : 3); ++seed) {
    auto setup = GetParam();
    setup.decorators = "chaos:" + std::to_string(seed) + ",checked";
    on_random_graphs(setup, 5, 5000 + 10 * static_cast<unsigned>(seed));
    if (HasFailure()) return;
  }
}

/// Threads of a plain process.
class RelaysOnThreads : public testing::Test {
 protected:
  void SetUp() override {
    if (comm::launched()) GTEST_SKIP() << "threads of a plain process only";
  }
};

TEST_F(RelaysOnThreads, a_long_line_makes_the_stars_of_the_oracles) {
  on_ranks({"threads", 9, ""}, [](comm::Transport& t) {
    Line line(t);
    for (unsigned seed = 0; seed < 100; ++seed) {
      Random random(seed);
      const LinkGraph graph = random_graph(random, 1 + below(random, 50));
      const auto owner = random_owners(random, graph.size(), t.size());
      ASSERT_NO_FATAL_FAILURE(expect_stars(t, line, graph, owner, "graph " + std::to_string(seed)));
    }
  });
}

TEST_F(RelaysOnThreads, two_far_duals_of_vertices_with_one_number_are_told_apart) {
  // 0 <-> 2 and 1 <-> 3: both pass rank 1, and both end at vertex 0 of ranks 2 and 3.
  on_ranks({"threads", 4, ""}, [](comm::Transport& t) {
    Line line(t);
    expect_stars(t, line, make_graph({2, 3, 0, 1}), {0, 0, 2, 3}, "");
  });
}

TEST_F(RelaysOnThreads, wrongly_numbered_ones_are_named_before_a_label_is_sent) {
  const auto spoilt = [](const std::function<void(links::Relay&)>& spoil) {
    on_ranks({"threads", 3, ""}, [&](comm::Transport& t) {
      Line line(t);
      Part part = distribute_part(chain(6), {0, 2, 0, 2, 0, 2}, t.rank(), line.neighbours);
      if (t.rank() != 1) return;
      spoil(part.links.relays.at(1));
      const links::Ids ids{reinterpret_cast<const std::byte*>(part.id.data())};
      EXPECT_THROW(prune_single_pass(part.links, ids, {t, *line.mailbox, *line.stream}), InputError);
    });
  };
  spoilt([](links::Relay& r) { r.slot_in = 7; });
  spoilt([](links::Relay& r) { r.slot_out = 7; });
  spoilt([](links::Relay& r) { r.slot_out = 0; });
  spoilt([](links::Relay& r) { r.arc_in = 9; });
  spoilt([](links::Relay& r) { r.arc_out = 9; });
}

TEST_F(RelaysOnThreads, are_refused_where_labels_are_not_passed_on) {
  on_ranks({"threads", 3, ""}, [](comm::Transport& t) {
    Line line(t);
    Part part = distribute_part(chain(6), {0, 2, 0, 2, 0, 2}, t.rank(), line.neighbours);
    const links::Ids ids{reinterpret_cast<const std::byte*>(part.id.data())};
    EXPECT_THROW(prune_iterative(part.links, ids, {t, *line.mailbox, *line.stream}), InputError);
  });
}

}  // namespace
