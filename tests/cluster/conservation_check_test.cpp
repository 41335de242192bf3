/// Conservation check of a step: every fault of a result is found, with the same error on every rank.
#include "merganser/cluster/conservation_check.hpp"

#include <gtest/gtest.h>

#include "merganser/base/error.hpp"
#include "tests/support/ranks.hpp"

namespace {

using namespace merganser;
using namespace merganser::test;
using Merges = std::vector<StepReport::MergedPair>;
using Splits = std::vector<StepReport::SplitPair>;

class ConservationCheckTest : public testing::TestWithParam<Setup> {};
INSTANTIATE_TEST_SUITE_P(Models, ConservationCheckTest, testing::ValuesIn(setups()),
                         setup_name<testing::TestParamInfo<Setup>>);

/// Returns this rank's part of parcels given as id and volume, distributed in turns.
Parcels parcels(const comm::Transport& t, const std::vector<std::pair<std::int64_t, double>>& all) {
  Parcels mine(Schema{});
  for (std::size_t i = 0; i < all.size(); ++i) {
    if (static_cast<int>(i) % t.size() != t.rank()) continue;
    const std::size_t at = mine.size();
    mine.resize(at + 1);
    mine.site(at) = {0, 0, 0, all[i].second};
    mine.set_id(at, all[i].first);
  }
  return mine;
}

/// Returns the error of the check for parcels 0 to 5, of which 1 and 2 are reported as merged into 0; empty if there is
/// none.
std::string fault(comm::Transport& t, const std::vector<std::pair<std::int64_t, double>>& after,
                  const Merges& merges = {{1, 0}, {2, 0}}, bool duplicate = false, const Splits& splits = {}) {
  std::vector<std::pair<std::int64_t, double>> before;
  for (std::int64_t id = 0; id < 6; ++id) before.emplace_back(id, 1.0 + static_cast<double>(id));
  if (duplicate) before.emplace_back(5, 6.0);
  ConservationCheck check(t, parcels(t, before));
  try {
    check.verify(parcels(t, after), t.rank() == t.size() - 1 ? merges : Merges(),
                 splits.empty() ? VolumePromise::exact : VolumePromise::shared, t.rank() == 0 ? splits : Splits());
  } catch (const VerificationError& e) {
    return e.what();
  }
  return "";
}

TEST_P(ConservationCheckTest, names_the_parcel_that_is_not_accounted_for) {
  on_ranks(GetParam(), [](comm::Transport& t) {
    EXPECT_EQ(fault(t, {{0, 6}, {3, 4}, {4, 5}, {5, 6}}), "");
    EXPECT_EQ(fault(t, {{0, 6}, {3, 4}, {5, 6}}), "audit: parcel 4 is neither in the output nor merged");
    EXPECT_EQ(fault(t, {{0, 6}, {3, 4}, {4, 5}, {5, 6}, {9, 1}}),
              "audit: parcel 9 is in the output but not in the input, or twice");
    EXPECT_EQ(fault(t, {{0, 6}, {3, 4}, {3, 4}, {4, 5}, {5, 6}}),
              "audit: parcel 3 is in the output but not in the input, or twice");
    EXPECT_EQ(fault(t, {{0, 6}, {3, 4}, {4, 5}, {5, 6}}, {{1, 0}, {2, 0}}, true),
              "audit: parcel 5 is in the input twice");
    EXPECT_EQ(fault(t, {{0, 3}, {4, 9}, {5, 6}}, {{1, 0}, {2, 3}, {3, 4}}),
              "audit: parcel 3 took part in a merge as centre but is not in the output");
    EXPECT_EQ(fault(t, {{0, 6.5}, {3, 4}, {4, 5}, {5, 6}}),
              "audit: parcel 0 has volume 0x1.ap+2, its members have 0x1.8p+2");
  });
}

TEST_P(ConservationCheckTest, parcels_that_splitting_adds_are_in_the_output_once) {
  on_ranks(GetParam(), [](comm::Transport& t) {
    EXPECT_EQ(fault(t, {{0, 3}, {7, 3}, {3, 4}, {4, 5}, {5, 6}}, {{1, 0}, {2, 0}}, false, {{7, 0}}), "");
    EXPECT_EQ(fault(t, {{0, 6}, {3, 4}, {4, 5}, {5, 6}}, {{1, 0}, {2, 0}}, false, {{7, 0}}),
              "audit: parcel 7 is new from a split, but not in the output once");
    EXPECT_EQ(fault(t, {{0, 2}, {7, 2}, {7, 2}, {3, 4}, {4, 5}, {5, 6}}, {{1, 0}, {2, 0}}, false, {{7, 0}}),
              "audit: parcel 7 is new from a split, but not in the output once");
    EXPECT_EQ(fault(t, {{0, 6}, {3, 4}, {4, 5}, {5, 6}}, {{1, 0}, {2, 0}}, false, {{4, 0}}),
              "audit: parcel 4 is new from a split, but was there before");
    EXPECT_NE(fault(t, {{0, 3}, {7, 2}, {3, 4}, {4, 5}, {5, 6}}, {{1, 0}, {2, 0}}, false, {{7, 0}})
                  .find("audit: all parcels have volume"),
              std::string::npos);
  });
}

}  // namespace
