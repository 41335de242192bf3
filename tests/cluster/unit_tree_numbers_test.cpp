/// The tree of units of a merge policy with every kind of vectors, and with numbers at which rounding or overflow could decide,
/// against all pairs of units.
#include <cmath>
#include <limits>

#include "tests/cluster/unit_rounds.hpp"
#include "tests/support/vectors.hpp"

namespace {

using namespace merganser;
using namespace merganser::test;

/// Policies of 3 to 6 dimensions.
const std::vector<std::string> kTexts{"small", "small, phase:ux*1", "small, phase:ux*1+uy*1",
                                      "small, phase:ux*1+uy*1+uz*1, within:0.7"};

TEST(UnitTreeNumbers, any_kind_of_vectors_finds_the_partners_that_all_pairs_give) {
  with_all_vectors([] {
    for (const PolicyCloud cloud : {PolicyCloud::uniform, PolicyCloud::lattice, PolicyCloud::one_point})
      for (const std::string& text : kTexts) {
        SCOPED_TRACE(text + " cloud " + std::to_string(static_cast<int>(cloud)));
        Rounds rounds(cloud, text, 300);
        rounds.compare(0.3);
        rounds.change(0);
        rounds.compare(0.3);
      }
  });
}

TEST(UnitTreeNumbers, trees_of_many_levels_find_the_partners_that_all_pairs_give) {
  for (const PolicyCloud cloud : {PolicyCloud::uniform, PolicyCloud::lattice, PolicyCloud::corner})
    for (const char* text : {"small", "small, phase:ux*0.3", "small, phase:ux*1+uy*1+uz*1, members:4"}) {
      SCOPED_TRACE(text + (" cloud " + std::to_string(static_cast<int>(cloud))));
      Rounds rounds(cloud, text, 9000);
      rounds.compare(0.01);
      rounds.change(0);
      rounds.compare(0.01);
    }
}

/// Calls f(parcel, number of the column, value) for the momenta of all parcels; f returns the new values.
template <class F>
std::function<void(Parcels&)> momenta(const F& f) {
  return [f](Parcels& p) {
    for (std::size_t i = 0; i < p.size(); ++i)
      for (std::size_t c = 1; c < 4; ++c) p.row(i)[c] = f(i, c, p.row(i)[c]);
  };
}

/// Compares one, two and hundreds of units in one place or many.
void expect_partners(const std::string& factor, const std::function<void(Parcels&)>& edit) {
  for (const PolicyCloud cloud : {PolicyCloud::one_point, PolicyCloud::uniform, PolicyCloud::lattice})
    for (const std::size_t axes : {1, 3})
      for (const std::size_t n : {1, 2, 17, 300}) {
        std::string text = "small, phase:ux*" + factor;
        if (axes == 3) text += "+uy*" + factor + "+uz*" + factor;
        SCOPED_TRACE(text + " cloud " + std::to_string(static_cast<int>(cloud)) + " units " + std::to_string(n));
        Rounds rounds(cloud, text, n, policy_grid().box, edit);
        rounds.compare(0.5);
        rounds.change(0);
        rounds.compare(0.5);
      }
}

TEST(UnitTreeNumbers, distances_on_many_scales) {
  expect_partners(
      "1", momenta([](std::size_t i, std::size_t, double x) { return std::ldexp(x, -static_cast<int>(i % 60)); }));
  expect_partners("1", momenta([](std::size_t i, std::size_t, double x) { return i % 3 == 0 ? 1e150 : x; }));
  expect_partners("1", momenta([](std::size_t i, std::size_t, double x) { return i % 2 == 0 ? -1e150 : 1e150 + x; }));
}

TEST(UnitTreeNumbers, squares_that_are_huge_or_denormal_or_zero) {
  for (const char* factor : {"1e149", "1e77", "1e-160", "1e-162", "1e-300"})
    expect_partners(factor, momenta([](std::size_t, std::size_t, double x) { return x; }));
  // Coordinates that are denormal themselves, and either sign of zero.
  expect_partners("1", momenta([](std::size_t i, std::size_t c, double x) {
                    return (i + c) % 5 == 0 ? -0.0 : std::numeric_limits<double>::denorm_min() * std::floor(4 * x);
                  }));
}

TEST(UnitTreeNumbers, distances_that_are_equal_or_differ_by_the_last_bit) {
  expect_partners("1", momenta([](std::size_t, std::size_t, double x) { return std::floor(2 * x) / 3; }));
  expect_partners("1", momenta([](std::size_t i, std::size_t, double x) {
                    const double third = std::floor(2 * x) / 3;
                    return i % 2 == 0 ? third : std::nextafter(third, 10.0);
                  }));
  expect_partners("1", momenta([](std::size_t, std::size_t, double x) { return 1 + 0x1p-52 * std::floor(4 * x); }));
}

}  // namespace
