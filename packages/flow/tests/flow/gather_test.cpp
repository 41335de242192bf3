/// Gathering from parcels to nodes: values against the slow reference, the same bits over ranks, errors.
#include <gtest/gtest.h>

#include "merganser/base/error.hpp"
#include "merganser/flow/transfer.hpp"
#include "tests/flow/alone.hpp"
#include "tests/flow/fields.hpp"
#include "tests/flow/reference.hpp"
#include "tests/support/ranks.hpp"
#include "tests/support/refusal.hpp"

namespace {

using namespace merganser;
using namespace merganser::flow;
using namespace merganser::test;
using reference::Node;

class Gather : public testing::TestWithParam<Setup> {};
INSTANTIATE_TEST_SUITE_P(Models, Gather, testing::ValuesIn(setups()), setup_name<testing::TestParamInfo<Setup>>);

/// Returns a digest of the values at own nodes and at the levels beyond the walls, over all ranks, whichever rank owns a node.
template <std::size_t kWidth>
std::int64_t digest_of(comm::Transport& t, const Nodes<kWidth>& nodes, std::size_t used) {
  const NodeLayout& layout = nodes.layout();
  std::uint64_t sum = 0;
  for (std::int64_t i = 0; i < layout.cells(0); ++i)
    for (std::int64_t j = 0; j < layout.cells(1); ++j)
      for (std::int64_t k = -1; k <= layout.cells(2) + 1; ++k)
        for (std::size_t c = 0; c < used; ++c) {
          const std::int64_t place = ((layout.first(0) + i) * 1000 + layout.first(1) + j) * 1000 + k + 1;
          const auto bits = std::bit_cast<std::uint64_t>(nodes.at(i, j, k)[c]);
          sum += mixed(bits + mixed(static_cast<std::uint64_t>(place) * 8 + c));
        }
  return t.all_reduce(static_cast<std::int64_t>(sum), comm::Op::sum);
}

/// Returns this rank's parcels, in an order that depends on the rank.
Parcels shuffled(const Parcels& all, const Decomposition& d, int rank) {
  const Parcels mine = reference::own(all, d, rank);
  std::vector<std::size_t> order(mine.size());
  for (std::size_t i = 0; i < order.size(); ++i) order[i] = i;
  std::mt19937 random(static_cast<unsigned>(rank) + 99);
  std::shuffle(order.begin(), order.end(), random);
  Parcels result(mine.schema());
  for (const std::size_t i : order) result.append(mine.site(i), mine.row(i));
  return result;
}

void expect_gathered(const CarriedNodes& carried, const reference::Gathered& expected) {
  const NodeLayout& layout = carried.layout();
  double worst = 0;
  for (std::int64_t i = -1; i <= layout.cells(0) + 1; ++i)
    for (std::int64_t j = -1; j <= layout.cells(1) + 1; ++j)
      for (std::int64_t k = -1; k <= layout.cells(2) + 1; ++k) {
        const Node node = reference::wrapped(layout.grid(), {layout.first(0) + i, layout.first(1) + j, k});
        const reference::Numbers& numbers = expected.at(node);
        for (std::size_t c = 0; c < 5; ++c)
          worst = std::max(worst, std::fabs(carried.at(i, j, k)[c] - numbers[c]) / (1 + std::fabs(numbers[c])));
      }
  EXPECT_LT(worst, 1e-13);
}

TEST_P(Gather, gives_what_the_slow_reference_gives) {
  for (const Grid& grid : {reference::grid_of(14, 15, 5), reference::grid_of(16, 21, 2)}) {
    const Parcels all = reference::random_parcels(grid, 8000, 3, 0.3);
    const reference::Gathered expected = reference::gather(all, grid);
    on_ranks(GetParam(), [&](comm::Transport& t) {
      for (const char* shape : {"2d", "1d"}) {
        const Decomposition d(grid, t.size(), shape);
        if (d.shape()[2] != 1) continue;
        SCOPED_TRACE(d.describe());
        const Parcels mine = shuffled(all, d, t.rank());
        Transfer transfer(t, d, {});
        CarriedNodes carried{NodeLayout(d, t.rank())};
        ScalarNodes excess{NodeLayout(d, t.rank())};
        transfer.locate(mine);
        transfer.gather(mine, carried);
        expect_gathered(carried, expected);
        transfer.gather(mine, carried);  // nothing is left from before
        expect_gathered(carried, expected);
        transfer.gather_excess(mine, excess);
        const NodeLayout& layout = excess.layout();
        double worst = 0;
        for (std::int64_t i = -1; i <= layout.cells(0) + 1; ++i)
          for (std::int64_t j = -1; j <= layout.cells(1) + 1; ++j)
            for (std::int64_t k = -1; k <= layout.cells(2) + 1; ++k) {
              const Node node = reference::wrapped(grid, {layout.first(0) + i, layout.first(1) + j, k});
              worst = std::max(worst, std::fabs(*excess.at(i, j, k) - (expected.at(node)[0] / grid.cell_volume() - 1)));
            }
        EXPECT_LT(worst, 1e-13);
      }
    });
  }
}

TEST_P(Gather, gives_the_same_bits_on_any_number_of_ranks) {
  const Grid grid = reference::grid_of(16, 14, 6);
  const Parcels all = reference::random_parcels(grid, 12000, 4, 0.2);
  std::vector<std::int64_t> expected;
  const auto digests = [&](comm::Transport& t, const std::string& shape) {
    const Decomposition d(grid, t.size(), shape);
    const Parcels mine = shuffled(all, d, t.rank());
    Transfer transfer(t, d, {});
    CarriedNodes carried{NodeLayout(d, t.rank())};
    ScalarNodes excess{NodeLayout(d, t.rank())};
    transfer.locate(mine);
    transfer.gather(mine, carried);
    transfer.gather_excess(mine, excess);
    return std::vector<std::int64_t>{digest_of(t, carried, 5), digest_of(t, excess, 1)};
  };
  {
    Alone t;
    expected = digests(t, "1x1x1");
  }
  on_ranks(GetParam(), [&](comm::Transport& t) {
    const std::string n = std::to_string(t.size());
    for (const std::string& shape : {std::string("2d"), n + "x1x1", "1x" + n + "x1"}) {
      if (Decomposition(grid, t.size(), shape).shape()[2] != 1) continue;
      EXPECT_EQ(digests(t, shape), expected) << shape;
    }
  });
}

TEST_P(Gather, conserves_volume_and_keeps_constants) {
  const Grid grid = reference::grid_of(16, 14, 6);
  Parcels all = reference::random_parcels(grid, 12000, 5, 0.2);
  double volume = 0;
  for (std::size_t i = 0; i < all.size(); ++i) {
    volume += all.site(i).volume;
    for (std::size_t c = 1; c <= 4; ++c) all.row(i)[c] = 0.1 + static_cast<double>(c);
  }
  on_ranks(GetParam(), [&](comm::Transport& t) {
    const Decomposition d(grid, t.size(), "2d");
    const Parcels mine = shuffled(all, d, t.rank());
    Transfer transfer(t, d, {});
    CarriedNodes carried{NodeLayout(d, t.rank())};
    transfer.locate(mine);
    transfer.gather(mine, carried);
    double sum[1] = {0};
    double worst = 0;
    const NodeLayout& layout = carried.layout();
    for (std::int64_t i = 0; i < layout.cells(0); ++i)
      for (std::int64_t j = 0; j < layout.cells(1); ++j)
        for (std::int64_t k = 0; k <= layout.cells(2); ++k) {
          const double* const node = carried.at(i, j, k);
          sum[0] += node[0] * (k == 0 || k == layout.cells(2) ? 0.5 : 1);
          for (std::size_t c = 1; c <= 4; ++c)
            worst = std::max(worst, std::fabs(node[c] / (0.1 + static_cast<double>(c)) - 1));
        }
    EXPECT_LT(worst, 4e-15);
    t.all_reduce(std::span(sum), comm::Op::sum);
    EXPECT_NEAR(sum[0] / volume, 1, 1e-13);
  });
}

TEST_P(Gather, works_with_one_parcel_and_with_none) {
  const Grid grid = reference::grid_of(14, 15, 4);
  for (const std::size_t n : {0U, 1U}) {
    const Parcels all = reference::random_parcels(grid, n, 6);
    const reference::Gathered expected = reference::gather(all, grid);
    on_ranks(GetParam(), [&](comm::Transport& t) {
      const Decomposition d(grid, t.size(), "2d");
      const Parcels mine = shuffled(all, d, t.rank());
      Transfer transfer(t, d, {});
      CarriedNodes carried{NodeLayout(d, t.rank())};
      transfer.locate(mine);
      transfer.gather(mine, carried);
      expect_gathered(carried, expected);
    });
  }
}

class Refused : public testing::Test {
 protected:
  /// Returns the error message of locate() and gather() for parcels, one of which `spoil` has changed.
  std::string says(const std::function<void(Parcels&)>& spoil) {
    const Grid grid = reference::grid_of(6, 6, 4);
    Parcels all = reference::random_parcels(grid, 50, 7);
    spoil(all);
    std::string text;
    {
      Alone t;
      const Decomposition d(grid, 1, "1x1x1");
      Transfer transfer(t, d, {});
      CarriedNodes carried{NodeLayout(d, 0)};
      text = refusal<InputError>([&] {
        transfer.locate(all);
        transfer.gather(all, carried);
      });
    }
    return text;
  }
};

TEST_F(Refused, are_parcels_that_are_not_finite_by_their_ids) {
  EXPECT_EQ(says([](Parcels&) {}), "nothing was thrown");
  for (const auto& spoil : {std::function<void(Parcels&)>([](Parcels& p) { p.site(49).x = std::nan(""); }),
                            std::function<void(Parcels&)>([](Parcels& p) { p.row(49)[5] = std::nan(""); }),
                            std::function<void(Parcels&)>([](Parcels& p) { p.row(49)[9] = INFINITY; }),
                            std::function<void(Parcels&)>([](Parcels& p) { p.row(49)[1] = std::nan(""); }),
                            std::function<void(Parcels&)>([](Parcels& p) { p.row(49)[4] = -INFINITY; }),
                            std::function<void(Parcels&)>([](Parcels& p) { p.site(49).volume = std::nan(""); })})
    EXPECT_NE(says(spoil).find("parcel 154 "), std::string::npos) << says(spoil);
}

TEST_F(Refused, are_parcels_out_of_place_or_too_long) {
  EXPECT_NE(says([](Parcels& p) { p.site(2).x = 1e3; }).find("parcel 13 is at (1000.0"), std::string::npos);
  EXPECT_NE(says([](Parcels& p) { p.site(2).z = -3; }).find("more than a cell beyond a wall"), std::string::npos);
  const std::string flat = says([](Parcels& p) { p.row(2)[5] = -1; });
  EXPECT_NE(flat.find("parcel 13 at"), std::string::npos) << flat;
  EXPECT_NE(flat.find("is no ellipsoid"), std::string::npos) << flat;
  const std::string far = says([](Parcels& p) {
    std::mt19937_64 random(3);
    reference::random_shape(random, p.site(2).volume, {100, 1, 1}, p.row(2) + 5);
  });
  EXPECT_NE(far.find("parcel 13 at"), std::string::npos) << far;
  EXPECT_NE(far.find("cells from its centre"), std::string::npos) << far;
}

}  // namespace
