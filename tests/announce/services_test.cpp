/// SharedNumbers and AgreedStop on every model: exact sums of a known step, one agreed step.
#include "merganser/announce/services.hpp"

#include <gtest/gtest.h>

#include <limits>
#include <map>
#include <mutex>
#include <random>
#include <tuple>

#include "merganser/announce/shared_numbers.hpp"
#include "merganser/base/error.hpp"
#include "tests/support/ranks.hpp"

namespace {

using merganser::ExactSum;
using merganser::UsageError;
using merganser::comm::Transport;
using namespace merganser::announce;
using namespace merganser::test;

class ServicesTest : public testing::TestWithParam<Setup> {};
INSTANTIATE_TEST_SUITE_P(Models, ServicesTest, testing::ValuesIn(setups({""}, {"chaos:3", "checked,chaos:4"})),
                         setup_name<testing::TestParamInfo<Setup>>);

/// Returns the number that a rank publishes after a step, of very different magnitudes; NaN if it publishes nothing then.
double published_number(int rank, std::int64_t step) {
  std::mt19937 numbers(static_cast<unsigned>(1000 * rank + step));
  if (step > 0 && numbers() % 3 != 0) return std::numeric_limits<double>::quiet_NaN();
  const double size[] = {1e-20, 1, 1e17, -1e17, -3};
  return size[numbers() % 5] * static_cast<double>(numbers() % 1000);
}

TEST_P(ServicesTest, sums_are_those_of_a_stated_step_and_exact) {
  on_ranks(GetParam(), [](Transport& t) {
    AnnouncementNetwork network(t, ManhattanStreetNetwork(t.size(), 2));
    SharedNumbers published(network, 2);
    EXPECT_EQ(published.age(), network.time_to_live());
    for (std::int64_t step = 0; step < 30; ++step) {
      const double x = published_number(t.rank(), step);
      if (x == x) published.publish(std::vector<double>{x, -x / 3});
      network.step();
      if (published.as_of() < 0) {
        EXPECT_EQ(published.known(), 0);
        EXPECT_TRUE(published.row(0).empty());
        continue;
      }
      ASSERT_TRUE(published.complete());
      ExactSum sum;
      double least = std::numeric_limits<double>::infinity();
      double most = -least;
      for (int rank = 0; rank < t.size(); ++rank) {
        std::int64_t s = published.as_of();
        while (published_number(rank, s) != published_number(rank, s)) --s;
        const double theirs = published_number(rank, s);
        EXPECT_EQ(published.row(rank)[0], theirs);
        sum.add(-theirs / 3);
        least = std::min(least, theirs);
        most = std::max(most, theirs);
      }
      EXPECT_EQ(published.sum(1), sum.value());
      EXPECT_EQ(published.min(0), least);
      EXPECT_EQ(published.max(0), most);
    }
  });
}

TEST_P(ServicesTest, numbers_that_stay_cost_nothing) {
  on_ranks(GetParam(), [](Transport& t) {
    AnnouncementNetwork network(t, ManhattanStreetNetwork(t.size(), 2));
    SharedNumbers published(network, 1);
    for (int step = 0; step < 10; ++step) {
      published.publish(std::vector<double>{42.0 + t.rank()});
      network.step();
    }
    EXPECT_EQ(network.statistics().announced, 1);
    EXPECT_EQ(published.max(0), 41.0 + t.size());
    EXPECT_THROW(published.publish(std::vector<double>{}), UsageError);
    EXPECT_THROW(published.publish(std::vector<double>{std::numeric_limits<double>::infinity()}), UsageError);
    EXPECT_THROW((void)published.sum(1), UsageError);
    EXPECT_THROW((void)published.row(t.size()), UsageError);
    EXPECT_THROW(SharedNumbers(network, 0), UsageError);
    EXPECT_THROW(SharedNumbers(network, std::size_t{1} << 20), UsageError);
  });
}

TEST_P(ServicesTest, everybody_stops_at_the_same_step_whoever_asks) {
  on_ranks(GetParam(), [](Transport& t) {
    for (unsigned seed = 0; seed < 12; ++seed) {
      AnnouncementNetwork network(t, ManhattanStreetNetwork(t.size(), 2 + seed % 3));
      AgreedStop stop(network);
      std::mt19937 numbers(seed);
      std::vector<std::int64_t> asks;  // when each rank asks; many at once
      for (int r = 0; r < t.size(); ++r) asks.push_back(static_cast<std::int64_t>(3 + numbers() % 3));
      while (!stop.agreed()) {
        ASSERT_LT(network.now(), 100);
        if (network.now() >= asks[static_cast<std::size_t>(t.rank())]) {
          stop.request("rank " + std::to_string(t.rank()));
        }
        network.step();
      }
      const auto first = std::min_element(asks.begin(), asks.end());
      const auto origin = static_cast<int>(first - asks.begin());
      EXPECT_EQ(stop.agreed()->announced, *first);
      EXPECT_EQ(stop.agreed()->origin, origin);
      EXPECT_EQ(stop.agreed()->reason, "rank " + std::to_string(origin));
      EXPECT_EQ(stop.agreed()->step, *first + network.time_to_live());
      EXPECT_EQ(network.now(), stop.agreed()->step);
      network.drain();
      EXPECT_EQ(stop.agreed()->origin, origin);
    }
  });
}

TEST_P(ServicesTest, services_share_a_network_and_leave_it) {
  on_ranks(GetParam(), [](Transport& t) {
    AnnouncementNetwork network(t, ManhattanStreetNetwork(t.size(), 2));
    SharedNumbers a(network, 1);
    SharedNumbers b(network, 1, 77);
    { AgreedStop gone(network); }
    a.publish(std::vector<double>{1});
    b.publish(std::vector<double>{2});
    if (t.rank() == t.size() - 1) network.announce(kStopTopic, {});
    network.drain();
    EXPECT_EQ(a.sum(0), t.size());
    EXPECT_EQ(b.sum(0), 2 * t.size());
  });
}

}  // namespace
