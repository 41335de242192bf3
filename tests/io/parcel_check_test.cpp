/// Tests of src/io/parcel_check.hpp: the quick acceptance of ordinary parcels accepts none that the slow rule refuses.
#include "src/io/parcel_check.hpp"

#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <limits>

#include "merganser/base/error.hpp"
#include "merganser/base/random.hpp"
#include "merganser/geometry/decomposition.hpp"
#include "merganser/parcels/generate.hpp"

namespace {

using namespace merganser;

constexpr double kFill = 0x1.ep+122;  // NetCDF's fill value of doubles

/// The rule of check_parcels() for doubles of EPIC's schema, value by value, with nothing but the functions that make the errors.
bool is_valid(const Site& s, const double* row, const Box& box) {
  const std::array<double, 3> position{s.x, s.y, s.z};
  for (std::size_t a = 0; a < 3; ++a) {
    if (!std::isfinite(position[a]) || position[a] == kFill) return false;
    if (box.periodic[a]) continue;
    if (position[a] < box.lower[a] || position[a] > box.lower[a] + box.extent[a]) return false;
  }
  if (!volume_error(s.volume).empty() || s.volume == kFill) return false;
  for (std::size_t c = 1; c < 10; ++c)
    if (!std::isfinite(row[c]) || row[c] == kFill || std::fabs(row[c]) > (c < 5 ? kMaxAttribute : kMaxShape))
      return false;
  return shape_error(row + 5, s.volume).empty();
}

bool is_accepted(const Parcels& parcels, const Box& box, std::span<const io::Column> columns) {
  try {
    io::check_parcels(parcels, box, columns, [](std::size_t i) { return "parcel " + std::to_string(i); });
  } catch (const InputError&) {
    return false;
  }
  return true;
}

TEST(ParcelCheck, accepts_exactly_what_the_rule_value_by_value_does) {
  const Grid grid{{{0, -1, 2}, {1, 2, 3}, {true, false, true}}, {4, 4, 4}};
  const Parcels good = generate_random({}, Decomposition(grid, 1), 0);
  const auto columns = io::columns(Schema::epic(), {});
  ASSERT_TRUE(is_accepted(good, grid.box, columns));
  const double huge = std::numeric_limits<double>::max();
  std::vector<double> values{0,
                             -0.0,
                             1,
                             -1,
                             kFill,
                             -kFill,
                             huge,
                             -huge,
                             0x1p-1074,
                             1e-5,
                             1e5,
                             2,
                             5,
                             std::numeric_limits<double>::infinity(),
                             -std::numeric_limits<double>::infinity(),
                             std::numeric_limits<double>::quiet_NaN()};
  for (const double limit : {kMinVolume, kMaxVolume, kMinShape, kMaxShape, kMaxAttribute, kFill, 1.0, -1.0, 2.0, 5.0})
    for (const double sign : {1.0, -1.0})
      for (const double to : {-huge, huge})
        values.insert(values.end(), {sign * limit, std::nextafter(sign * limit, to)});
  Random random(11, 0, 0);
  std::array<int, 2> seen{};
  for (int sample = 0; sample < 40000; ++sample) {
    Parcels one(Schema::epic());
    one.resize(1);
    const auto from = static_cast<std::size_t>(random.below(good.size()));
    one.site(0) = good.site(from);
    std::copy_n(good.row(from), 10, one.row(0));
    const std::array<double*, 4> site{&one.site(0).x, &one.site(0).y, &one.site(0).z, &one.site(0).volume};
    for (std::uint64_t changes = 1 + random.below(2); changes > 0; --changes) {
      const auto c = static_cast<std::size_t>(random.below(13));
      double& value = c < 4 ? *site[c] : one.row(0)[c - 3];
      // A value of the list, or the value that is there times a power of two, so that shapes come near to singular ones.
      const double chosen = values[static_cast<std::size_t>(random.below(values.size()))];
      value = random.below(2) == 0 ? chosen : std::ldexp(value, static_cast<int>(random.below(9)) - 4);
    }
    if (random.below(4) == 0) {  // a minor that cancels
      double* const b = one.row(0) + 5;
      b[1] = std::sqrt(std::fabs(b[0] * b[3])) * (1 - std::ldexp(1.0, -static_cast<int>(random.below(56))));
    }
    const bool valid = is_valid(one.site(0), one.row(0), grid.box);
    ++seen[valid ? 1 : 0];
    ASSERT_EQ(is_accepted(one, grid.box, columns), valid) << "sample " << sample;
  }
  EXPECT_GT(seen[0], 1000);
  EXPECT_GT(seen[1], 1000);
}

}  // namespace
