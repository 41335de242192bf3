// Shapes of merged parcels against those that merged_shapes.py computed from the definition with 400 digits.
#include <gtest/gtest.h>
#include <hwy/targets.h>

#include <cmath>
#include <cstring>
#include <fstream>
#include <sstream>
#include <string>
#include <vector>

#include "merganser/cluster/reference.hpp"
#include "merganser/parcels/limits.hpp"
#include "merganser/parcels/merge.hpp"
#include "merganser/parcels/merge_batch.hpp"
#include "src/parcels/wide_float.hpp"
#include "tests/parcels/ellipsoids.hpp"
#include "tests/support/folders.hpp"

namespace {

using namespace merganser;
using namespace merganser::test;

struct Star {
  std::string kind;
  Box box;
  Parcels parcels;
  double expected[6];

  [[nodiscard]] std::vector<Member> members() const {
    std::vector<Member> out;
    for (std::size_t i = 0; i < parcels.size(); ++i) out.push_back({&parcels.site(i), parcels.row(i)});
    return out;
  }
};

std::vector<Star> read_stars() {
  std::ifstream file(source_folder() / "tests/parcels/merged_shapes.txt");
  std::vector<Star> out;
  for (std::string line; std::getline(file, line);) {
    if (line[0] == '#') continue;
    Star star;
    std::size_t members = 0;
    std::istringstream heading(line);
    heading >> members;
    for (double& x : star.box.lower) heading >> x;
    for (double& x : star.box.extent) heading >> x;
    for (auto&& x : star.box.periodic) {
      int periodic = 0;
      heading >> periodic;
      x = periodic != 0;
    }
    heading >> star.kind;
    for (std::size_t i = 0; i < members; ++i) {
      Site s;
      double row[10] = {};
      file >> s.x >> s.y >> s.z >> s.volume;
      for (std::size_t k = 0; k < 5; ++k) file >> row[kShape + k];
      star.parcels.append(s, row);
      star.parcels.set_id(i, static_cast<std::int64_t>(i));
    }
    for (double& b : star.expected) file >> b;
    std::getline(file, line);
    out.push_back(std::move(star));
  }
  return out;
}

/// Returns the greatest deviation from the expected shape, in units of the axes.
double deviation(const Star& star, const double* b5) {
  const double* e = star.expected;
  const double x = std::sqrt(e[0]);
  const double y = std::sqrt(e[3]);
  const double z = std::sqrt(e[5]);
  const double unit[5] = {x * x, x * y, x * z, y * y, y * z};
  double worst = 0;
  for (int k = 0; k < 5; ++k) {
    const double d = std::fabs(b5[k] - e[k]) / unit[k];
    if (!(d <= worst)) worst = d;  // NaN too
  }
  return worst;
}

TEST(MergedShapes, are_right_to_1e_12_whatever_the_distance_between_members) {
  const std::vector<Star> all = read_stars();
  ASSERT_GT(all.size(), 60U);
  for (const Star& star : all) {
    Site site;
    double row[10];
    merge_star(MergeRules(Schema::epic(), star.box), star.members(), site, row);
    EXPECT_LE(deviation(star, row + kShape), 1e-12) << star.kind << ", " << star.parcels.size() << " members";
    EXPECT_EQ(row_error(Schema::epic(), row, site.volume), "") << star.kind;
  }
}

TEST(MergedShapes, have_the_same_bits_in_the_reference_and_in_vectors) {
  for (const Star& star : read_stars()) {
    const MergeRules rules(Schema::epic(), star.box);
    Site site, plain_site;
    double row[10], plain[10];
    merge_star(rules, star.members(), site, row);
    merge_reference(rules, star.members(), plain_site, plain);
    EXPECT_EQ(std::memcmp(&site, &plain_site, sizeof site), 0) << star.kind;
    EXPECT_EQ(std::memcmp(row, plain, sizeof row), 0) << star.kind;
    const std::size_t sources = star.parcels.size() - 1;
    if (sources > EpicMergeBatch::kMaxSources) continue;
    for (const std::int64_t target : hwy::SupportedAndGeneratedTargets()) {
      hwy::SetSupportedTargetsForTest(target);
      hwy::GetChosenTarget().Update(hwy::SupportedTargets());
      EpicMergeBatch batch(star.box);
      Site lanes = star.parcels.site(0);
      std::memcpy(plain, star.parcels.row(0), sizeof plain);
      batch.centre(sources, &lanes, plain);
      for (std::size_t i = 1; i <= sources; ++i) batch.source(star.parcels.site(i), star.parcels.row(i));
      batch.end();
      batch.flush();
      EXPECT_EQ(std::memcmp(&site, &lanes, sizeof site), 0) << star.kind << ", " << hwy::TargetName(target);
      EXPECT_EQ(std::memcmp(row, plain, sizeof row), 0) << star.kind << ", " << hwy::TargetName(target);
    }
    hwy::SetSupportedTargetsForTest(0);
    hwy::GetChosenTarget().Update(hwy::SupportedTargets());
  }
}

TEST(MergedShapes, of_a_vertical_disc_thinner_than_its_digits_are_named) {
  // Five elements do not tell B33 where the plane of a flat ellipsoid is vertical and oblique to x and y.
  Parcels parcels;
  const Vec3 small{1e-20, 1e-20, 1e-20};
  for (const Vec3& x : {Vec3{0, 0, 0}, Vec3{0.3, 0.3, 0.1}, Vec3{-0.1, -0.1, 0.4}})
    add_ellipsoid(parcels, static_cast<std::int64_t>(parcels.size()), x, small, frame(0, 0));
  std::vector<Member> members;
  for (std::size_t i = 0; i < parcels.size(); ++i) members.push_back({&parcels.site(i), parcels.row(i)});
  Site site;
  double row[10];
  merge_star(MergeRules(Schema::epic(), {{-1, -1, -1}, {2, 2, 2}, {false, false, false}}), members, site, row);
  EXPECT_NE(row_error(Schema::epic(), row, site.volume).find("singular"), std::string::npos);
}

TEST(Volumes, outside_the_bounds_are_named_with_all_digits) {
  EXPECT_EQ(volume_error(1e-120), "");
  EXPECT_EQ(volume_error(1e120), "");
  for (const double bad : {0.0, -1.0, 5e-324, 2e-308, 9e-121, 2e120, std::nan("")}) EXPECT_FALSE(is_volume(bad));
  EXPECT_EQ(volume_error(1e-310), "volume is 1e-310; allowed: 1e-120 to 1e+120");
}

TEST(WideFloat, keeps_what_doubles_lose) {
  using W = detail::WideFloat<4>;
  const W one(1);
  const W tiny(0x1p-200);
  const W rest = (one + tiny) - one;
  EXPECT_EQ(rest.exponent(), -199);
  EXPECT_EQ(rest.fraction(), 0.5);
  EXPECT_TRUE((one - one).is_zero());
  EXPECT_FALSE((tiny - one).is_positive());
  const W product = (one + tiny) * (one - tiny) - one;  // -2^-400, beyond its digits
  EXPECT_TRUE(product.is_zero() || product.exponent() <= -254);
  const detail::WideFloat<8> more(0x1p-200), unit(1);
  const auto exact = (unit + more) * (unit - more) - unit;
  EXPECT_EQ(exact.exponent(), -399);
  EXPECT_EQ(exact.fraction(), -0.5);
  for (const double x : {5e-324, -1.5, 0x1.fffffffffffffp+1023})
    EXPECT_EQ(std::ldexp(W(x).fraction(), static_cast<int>(W(x).exponent())), x);
}

}  // namespace
