#pragma once
/// Inputs and policies on which every implementation of merge policies is compared: random and adversarial.
#include <bit>
#include <cmath>
#include <random>
#include <string>
#include <vector>

#include "merganser/geometry/box.hpp"
#include "merganser/parcels/parcels.hpp"

namespace merganser::test {

/// Returns the schema of the cases: momentum, species, rest mass (1 for species 0, 4 for others), flag, and a sum.
inline Schema policy_schema() {
  return Schema({{"ux", 1, Rule::mean, {"ux"}, ""},
                 {"uy", 1, Rule::mean, {"uy"}, ""},
                 {"uz", 1, Rule::mean, {"uz"}, ""},
                 {"species", 1, Rule::centre, {"species"}, ""},
                 {"mass", 1, Rule::largest, {"mass"}, ""},
                 {"flag", 1, Rule::largest, {"flag"}, ""},
                 {"charges", 1, Rule::sum, {"charges"}, ""}});
}

/// Returns the grid of the cases, small enough for its cells to be crowded.
inline Grid policy_grid() { return {{{-1, 0, 2}, {4, 3, 2}, {true, true, false}}, {4, 3, 2}}; }

/// Ways in which the positions of a case are distributed.
enum class PolicyCloud : std::uint8_t { uniform, lattice, one_point, corner, line };
inline constexpr PolicyCloud kPolicyClouds[] = {PolicyCloud::uniform, PolicyCloud::lattice, PolicyCloud::one_point,
                                                PolicyCloud::corner, PolicyCloud::line};

/// Returns the parcels of a case, with ids that do not ascend.
inline Parcels policy_parcels(PolicyCloud cloud, std::size_t n, unsigned seed) {
  const Box box = policy_grid().box;
  std::mt19937 random(seed);
  std::uniform_real_distribution<double> uniform(0, 1);
  std::normal_distribution<double> normal;
  Parcels p(policy_schema());
  for (std::size_t i = 0; i < n; ++i) {
    Vec3 x{uniform(random), uniform(random), uniform(random)};
    for (double& c : x) {
      if (cloud == PolicyCloud::lattice) c = std::floor(4 * c) / 4;
      if (cloud == PolicyCloud::one_point) c = 0.5;
      if (cloud == PolicyCloud::corner) c = std::fmod(1 + 0.06 * (c - 0.5), 1);
    }
    if (cloud == PolicyCloud::line) x[1] = x[2] = 0;
    const double species = std::floor(3 * uniform(random));
    const double volume = cloud == PolicyCloud::lattice ? 0.25 : 0.05 + 0.5 * uniform(random);
    const std::vector<double> row{std::bit_cast<double>(static_cast<std::int64_t>((i * 7919) % 100003)),
                                  normal(random),
                                  normal(random),
                                  2 + normal(random),
                                  species,
                                  species == 0 ? 1.0 : 4.0,
                                  i % 3 == 0 ? 1.0 : 0.0,
                                  1};
    p.append({box.wrap(0, box.lower[0] + x[0] * box.extent[0]), box.wrap(1, box.lower[1] + x[1] * box.extent[1]),
              box.lower[2] + x[2] * box.extent[2], volume},
             row.data());
  }
  return p;
}

/// Policies of the cases: every part, and combinations.
inline const std::vector<std::string>& policy_texts() {
  static const std::vector<std::string> texts{
      "",
      "small:0.3",
      "small:100",
      "small:1e-9",
      "mask:flag",
      "mask:flag, same:species",
      "small:0.3, within:0.2",
      "small:0.3, within:0.3cell, same:species+mass",
      "small:0.3, within:0.6spacing",
      "crowded:8->5, same:species, within:0.9spacing, place:member",
      "small:0.3, phase:ux*0.1+uy*0.1+uz*0.1",
      "small:0.3, phase:uz*2, same:species, within:1cell",
      "small:0.3, pairs",
      "small:0.3, pairs, same:species",
      "small:0.3, greedy:0",
      "small:0.3, greedy:3, within:1cell",
      "small:0.3, members:3",
      "small:0.3, members:2, within:1cell",
      "small:0.3, weight:0.8",
      "crowded:8->5",
      "crowded:8->8",
      "crowded:8->1",
      "crowded:6->3@0.5",
      "crowded:8->5, same:species, within:1cell, place:member",
      "crowded:8->5, pairs",
      "crowded:8->5, greedy:2, place:heaviest",
      "crowded:8->5, members:4, place:centre",
      "crowded:8->5, conserve:momentum, place:member, seed:5",
      "small:0.3, conserve:momentum+energy",
      "small:0.3, conserve:momentum+energy, mass:mass, relativistic:3, place:member",
      "crowded:8->6, conserve:momentum+energy",
      "crowded:8->6, same:species, within:1cell, place:member, conserve:momentum+energy",
      "crowded:8->5, conserve:momentum+energy, members:5",
      "friends:0.3",
      "friends:0.5spacing, same:species",
      "friends:0.2cell, place:member",
      "friends:0.4, place:heaviest, conserve:momentum",
      "none, split:6",
      "small:0.3, split:9, along:velocity, within:1cell",
      "crowded:8->5, split:8, seed:3",
      "crowded:6->3@0.5, split:2, place:member",
      "crowded:8->6, split:4, conserve:momentum+energy, along:velocity",
      "level:1.5",
      "level:2/5, seed:3",
  };
  return texts;
}

}  // namespace merganser::test
