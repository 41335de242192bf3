#pragma once
/// Merge steps under a policy over all ranks, compared with the serial oracle.
#include <gtest/gtest.h>

#include <cstring>
#include <limits>
#include <map>
#include <string>
#include <vector>

#include "merganser/cluster/cluster.hpp"
#include "merganser/cluster/policy_reference.hpp"
#include "merganser/comm/collectives.hpp"
#include "merganser/parcels/statistics.hpp"
#include "tests/cluster/policy_cases.hpp"
#include "tests/cluster/share.hpp"
#include "tests/support/ranks.hpp"

namespace merganser::test {

/// Result of steps over all ranks.
struct PolicyRun {
  Digest digest;
  StepReport report;
};

/// Returns a decomposition by cells, or by equal cuts along y where the grid has no blocks of cells for that many ranks.
inline Decomposition even_blocks(const Grid& grid, int ranks) {
  if (ranks <= 4) return Decomposition(grid, ranks);
  std::vector<double> cuts;
  for (int r = 1; r < ranks; ++r) cuts.push_back(grid.box.lower[1] + grid.box.extent[1] * r / ranks);
  return Decomposition::from_cuts(grid, {std::vector<double>(), cuts, std::vector<double>()});
}

/// Returns whether merge steps support a policy.
inline bool is_supported(const MergePolicy& p) { return !(p.is_friends() && p.conserve != Conserve::rules); }

/// Returns the policies of the cases that merge steps support, and more.
inline std::vector<std::string> supported_texts() {
  std::vector<std::string> out;
  for (const std::string& text : policy_texts())
    if (is_supported(parse_policy(text))) out.push_back(text);
  out.insert(out.end(), {"small:100, greedy:15", "small:100, greedy:1, members:2, same:species",
                         "mask:flag, greedy:4, within:0.7, place:heaviest", "small:100, greedy:5, phase:ux*0.3+uy*0.2",
                         "crowded:4->2, greedy:6, conserve:momentum, mass:mass",
                         "small:0.5, members:4, weight:0.9, place:heaviest", "mask:flag, pairs, members:3",
                         "crowded:5->3@0.4, conserve:momentum+energy, mass:mass", "crowded:4->2, rounds:2",
                         "small:100, phase:ux*0.3+uy*0.2, same:species, members:3, place:member"});
  return out;
}

/// Makes steps over all ranks, each with the parcels of its block, and gathers the outcome of the last. Collective.
inline PolicyRun merge_under_policy(comm::Transport& t, const Parcels& all, const Decomposition& d,
                                    const ClusterOptions& options, int steps) {
  Parcels mine = owned_parcels(t, all, d);
  Clusterer clusterer(t, d, all.schema(), options);
  PolicyRun o;
  StepReport report;
  for (int i = 0; i < steps; ++i) {
    report = clusterer.step(mine);
    if (!options.policy.has_collectives()) {
      EXPECT_EQ(report.counters.collectives, 0);
    } else {
      EXPECT_GT(report.counters.collectives, 0);
    }
    clusterer.redistribute(mine);
  }
  EXPECT_EQ(clusterer.policy_step(), options.policy.is_default() ? 0U : static_cast<unsigned>(steps));
  const StepNumbers& numbers = report;
  for (const StepNumbers& n : comm::all_gather_value(t, numbers)) o.report += StepReport{n, {}, {}};
  for (const Digest& part : comm::all_gather_value(t, digest(mine))) o.digest += part;
  std::vector<std::int64_t> clusters(all.size() + 2, 0);
  for (const auto& [members, count] : report.clusters) clusters[static_cast<std::size_t>(members)] = count;
  t.all_reduce(clusters, comm::Op::sum);
  for (std::size_t members = 0; members < clusters.size(); ++members)
    if (clusters[members] > 0) o.report.clusters[static_cast<int>(members)] = clusters[members];
  std::vector<std::int64_t> pairs;
  for (const auto& p : report.lineage) pairs.insert(pairs.end(), {p.source, p.centre});
  const auto from = t.all_gather(std::as_bytes(std::span(pairs)));
  for (const auto& bytes : from)
    for (std::size_t at = 0; at < bytes.size(); at += sizeof(StepReport::MergedPair)) {
      StepReport::MergedPair p;
      std::memcpy(&p, bytes.data() + at, sizeof p);
      o.report.lineage.push_back(p);
    }
  return o;
}

inline std::map<std::int64_t, std::int64_t> lineage_map(const StepReport& report) {
  std::map<std::int64_t, std::int64_t> out;
  for (const auto& p : report.lineage) out[p.source] = p.centre;
  EXPECT_EQ(out.size(), report.lineage.size());
  return out;
}

inline void expect_as_in_oracle(const PolicyRun& got, const PolicyOutcome& want, const Parcels& after,
                                const MergePolicy& policy) {
  EXPECT_EQ(got.digest.to_string(), digest(after).to_string());
  EXPECT_EQ(got.report.before, want.report.before);
  EXPECT_EQ(got.report.merged, want.report.merged);
  EXPECT_EQ(got.report.after, want.report.after);
  if (policy.is_default()) return;
  EXPECT_EQ(got.report.small, want.report.small);
  EXPECT_EQ(got.report.unmatched, want.report.unmatched);
  EXPECT_EQ(got.report.clusters, want.report.clusters);
  if (!policy.is_friends()) {
    EXPECT_EQ(got.report.policy.rounds, want.rounds);
  }
  EXPECT_EQ(got.report.policy.unsettled, want.settled ? 0 : 1);
  EXPECT_EQ(got.report.policy.refused, want.refused);
  EXPECT_EQ(got.report.policy.undone, want.undone);
  EXPECT_EQ(got.report.policy.split, want.report.policy.split);
  EXPECT_EQ(lineage_map(got.report), lineage_map(want.report));
}

/// Tests of steps with every model and number of ranks.
class PolicyStepTest : public testing::TestWithParam<Setup> {
 protected:
  /// Compares steps under a policy, with several decompositions, with the oracle.
  void compare(const Parcels& all, const Grid& grid, const MergePolicy& policy, int steps = 1) {
    ClusterOptions options;
    options.min_volume_ratio = 5;
    options.lineage = true;
    Parcels after = all;
    PolicyOutcome want;
    options.policy = policy;
    MergePolicy p = policy;
    for (int i = 0; i < steps; ++i) {
      want = policy_reference(after, grid, options, p);
      ++p.step;
    }
    on_ranks(GetParam(), [&](comm::Transport& t) {
      std::vector<Decomposition> all_of_them{even_blocks(grid, t.size())};
      std::vector<double> cuts;
      for (int r = 1; r < t.size(); ++r)
        cuts.push_back(grid.box.lower[0] + grid.box.extent[0] * (0.1 + 0.83 * r / t.size()));
      all_of_them.push_back(Decomposition::from_cuts(grid, {cuts, {}, {}}));
      for (const Decomposition& d : all_of_them) {
        SCOPED_TRACE(d.describe() + (d.is_by_cells() ? "" : " by cuts"));
        const PolicyRun got = merge_under_policy(t, all, d, options, steps);
        if (t.rank() == 0) expect_as_in_oracle(got, want, after, policy);
      }
    });
  }
};

}  // namespace merganser::test
