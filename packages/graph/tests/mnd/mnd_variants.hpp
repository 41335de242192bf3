#pragma once
/// All combinations of styles, carriers and finishing of multi-node Boruvka, for tests.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "merganser/mnd/mnd.hpp"
#include "tests/msf/oracle.hpp"

namespace merganser::test {

struct Variant {
  std::string name;
  mnd::MndOptions options;
};

inline std::vector<Variant> variants() {
  using namespace mnd;
  std::vector<Variant> all;
  for (const auto post : {MndPost::single, MndPost::leader}) {
    const std::string end = post == MndPost::single ? "single" : "leader";
    MndOptions o;
    o.post = post;
    o.style = MndStyle::baseline;
    all.push_back({"baseline " + end, o});
    o.style = MndStyle::tuned;
    o.chunk = 3;
    o.carrier = MndCarrier::messages;
    all.push_back({"messages " + end, o});
    o.carrier = MndCarrier::memory;
    all.push_back({"memory " + end, o});
  }
  return all;
}

/// Expects exactly the forest of plain Kruskal. Collective.
inline void expect_oracle(const graphs::EdgeList& graph, const msf::ForestTotals& wanted, comm::Transport& t,
                          const mnd::MndOptions& options, const std::string& what) {
  msf::Report report;
  const auto found = msf::totals(mnd::mnd(graph, t, options, report), t);
  EXPECT_EQ(found.edges, wanted.edges) << what;
  EXPECT_EQ(found.digest, wanted.digest) << what;
  EXPECT_EQ(found.weight, wanted.weight) << what;
}

inline std::int64_t fact(const msf::Report& report, const std::string& name) {
  for (const auto& [known, value] : report.facts())
    if (known == name) return value;
  return 0;
}

}  // namespace merganser::test
