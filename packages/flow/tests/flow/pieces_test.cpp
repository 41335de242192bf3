// Transfers whose points are computed piece by piece, errors in the middle of them, and fields that are not finite.
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "merganser/base/error.hpp"
#include "merganser/flow/transfer.hpp"
#include "src/flow/model_parts.hpp"
#include "tests/flow/alone.hpp"
#include "tests/flow/every_target.hpp"
#include "tests/flow/reference.hpp"
#include "tests/support/refusal.hpp"

namespace {

using namespace merganser;
using namespace merganser::flow;

/// Transfer of one rank, and what it gathers.
struct Gathered {
  test::Alone transport;
  Decomposition decomposition;
  NodeLayout layout;
  Transfer transfer;
  ScalarNodes excess;
  CarriedNodes carried;
  explicit Gathered(const Grid& grid)
      : decomposition(grid, 1, "1x1x1"),
        layout(decomposition, 0),
        transfer(transport, decomposition, {}),
        excess(layout),
        carried(layout) {}
  /// Gathers everything. @param keep  whether points are stored before the excess is gathered, rather than after
  void gather(const Parcels& parcels, bool keep) {
    transfer.locate(parcels);
    if (!keep) transfer.gather_excess(parcels, excess);
    transfer.gather(parcels, carried);
    if (keep) transfer.gather_excess(parcels, excess);
  }
  void expect_equal(const Gathered& o) const {
    for (std::size_t n = 0; n < layout.size(); ++n) {
      ASSERT_EQ(excess.data()[n], o.excess.data()[n]) << "node " << n;
      for (std::size_t c = 0; c < 5; ++c)
        ASSERT_EQ(carried.data()[CarriedNodes::kWidth * n + c], o.carried.data()[CarriedNodes::kWidth * n + c]) << n;
    }
  }
};

const Grid kGrid{{{0, 0, 0}, {4, 4, 4}, {true, true, false}}, {4, 4, 4}};

/// Returns random parcels. @param crowded  all in the first cell
Parcels parcels_of(std::size_t n, bool crowded) {
  Parcels p = reference::random_parcels(kGrid, n, 5);
  for (std::size_t i = 0; crowded && i < n; ++i) {
    Site& s = p.site(i);
    s = {0.25 * s.x, 0.25 * s.y, 0.25 * s.z, s.volume};
  }
  return p;
}

TEST(Pieces, points_that_are_not_kept_are_those_that_are) {
  test::for_every_target([](const char* name) {
    for (const bool crowded : {false, true})
      for (const std::size_t n : {0U, 1U, 3U, 8U, 31U, 32U, 33U, 64U, 65U, 300U}) {
        SCOPED_TRACE(std::string(name) + ", parcels: " + std::to_string(n));
        const Parcels parcels = parcels_of(n, crowded);
        Gathered kept(kGrid), passing(kGrid);
        kept.gather(parcels, true);
        passing.gather(parcels, false);
        passing.expect_equal(kept);
      }
  });
}

TEST(Pieces, an_error_leaves_nothing_behind) {
  for (const bool crowded : {false, true})
    for (const bool keep : {false, true}) {
      const Parcels fine = parcels_of(300, crowded);
      Gathered fresh(kGrid), again(kGrid);
      fresh.gather(fine, keep);
      for (const std::size_t bad : {0U, 50U, 299U}) {
        Parcels parcels = fine;
        parcels.row(bad)[5] = std::nan("");
        again.transfer.locate(parcels);
        const auto text = [&] {
          return test::refusal<InputError>([&] {
            if (keep)
              again.transfer.gather(parcels, again.carried);
            else
              again.transfer.gather_excess(parcels, again.excess);
          });
        };
        const std::string first = text();
        EXPECT_NE(first.find("parcel " + std::to_string(parcels.id(bad))), std::string::npos) << first;
        EXPECT_EQ(text(), first);  // nothing has changed
        again.gather(fine, keep);
        again.expect_equal(fresh);
      }
    }
}

TEST(Pieces, corrections_need_positions_of_locate) {
  Parcels parcels = parcels_of(20, false);
  Gathered g(kGrid);
  const VectorNodes displacement(g.layout);
  g.transfer.locate(parcels);
  g.transfer.displace(parcels, displacement);
  const std::string wanted = "a correction of positions that have moved since locate(); call locate() first";
  EXPECT_EQ(test::refusal<UsageError>([&] { g.transfer.displace(parcels, displacement); }), wanted);
  EXPECT_EQ(test::refusal<UsageError>([&] { g.transfer.even_out(parcels, g.excess); }), wanted);
  g.transfer.locate(parcels);
  g.transfer.even_out(parcels, g.excess);

  // There are nodes up to one cell beyond a wall, and none above.
  parcels.site(7).z = 5;
  EXPECT_NE(test::refusal<InputError>([&] { g.transfer.locate(parcels); }).find("more than a cell beyond a wall"),
            std::string::npos);
  parcels.site(7).z = std::nextafter(5.0, 0.0);
  g.transfer.locate(parcels);
  g.transfer.displace(parcels, displacement);
  parcels.site(7).z = -1;
  g.transfer.locate(parcels);
}

TEST(Pieces, every_node_of_a_field_is_tested) {
  const Grid grid{{{0, 0, 0}, {3, 4, 3}, {true, true, false}}, {3, 4, 3}};
  const Decomposition d(grid, 1, "1x1x1");
  const NodeLayout layout(d, 0);
  const double infinity = std::numeric_limits<double>::infinity();
  for (const double value : {std::nan(""), infinity, -infinity, 1e308})
    for (std::int64_t i = -1; i <= 4; ++i)
      for (std::int64_t j = -1; j <= 5; ++j)
        for (std::int64_t k = -1; k <= 4; ++k) {
          const bool own = i >= 0 && i < 3 && j >= 0 && j < 4 && k >= 0 && k <= 3 && value != 1e308;
          for (std::size_t c = 0; c < CarriedNodes::kWidth; ++c) {
            CarriedNodes carried(layout);
            carried.at(i, j, k)[c] = value;
            ASSERT_EQ(find_not_finite(carried, FlowNodes(layout)).empty(), !(own && c < 5)) << i << j << k << c;
          }
          for (std::size_t c = 0; c < FlowFields::width; ++c) {
            FlowNodes flow(layout);
            flow.at(i, j, k)[c] = value;
            ASSERT_EQ(find_not_finite(CarriedNodes(layout), flow).empty(), !(own && c < 14)) << i << j << k << c;
          }
        }
}

}  // namespace
