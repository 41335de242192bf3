#pragma once
/// Inputs and oracles on which friends of friends are compared: chains, blobs, lattices, groups that wind round the box.
#include <bit>
#include <cmath>
#include <functional>
#include <map>
#include <random>
#include <string>
#include <vector>

#include "merganser/cluster/policy_reference.hpp"
#include "tests/cluster/policy_cases.hpp"

namespace merganser::test {

/// Parcels of a case, their box, and the linking length.
struct FriendsCase {
  std::string name;
  Grid grid;
  double length = 1;
  Parcels parcels{policy_schema()};
  std::string parts;  ///< more parts of the policy, each after a comma
  /// Appends a parcel at a position in units of the box, wrapped into it on periodic axes, with numbers that depend on its
  /// place in the list.
  void add(const Vec3& unit) {
    const auto i = static_cast<double>(parcels.size());
    Vec3 x;
    for (std::size_t a = 0; a < 3; ++a)
      x[a] = grid.box.wrap(static_cast<int>(a), grid.box.lower[a] + unit[a] * grid.box.extent[a]);
    const auto id = static_cast<std::int64_t>((parcels.size() * 7919 + 50000) % 100003);
    const std::vector<double> row{std::bit_cast<double>(id),   std::sin(i), 1e-3 * std::cos(3 * i), 2 + std::sin(7 * i),
                                  std::floor(std::fmod(i, 3)), 1,           std::fmod(i, 2),        1};
    parcels.append({x[0], x[1], x[2], 0.05 + std::fabs(std::sin(11 * i))}, row.data());
  }
  /// Returns the policy of the case.
  [[nodiscard]] MergePolicy policy() const {
    MergePolicy p = parse_policy("friends:1" + parts);
    p.linking = {length, Length::Unit::box};
    return p;
  }
};

/// Returns an empty case. @param periodic  bits of the axes that are periodic
inline FriendsCase friends_case(const std::string& name, int periodic, double length, const Vec3& extent = {4, 3, 2}) {
  FriendsCase c;
  c.name = name + ", periodic " + std::to_string(periodic) + ", length " + std::to_string(length);
  c.grid = {{{-1, 0.25, 2}, extent, {(periodic & 1) != 0, (periodic & 2) != 0, (periodic & 4) != 0}}, {8, 8, 8}};
  c.length = length;
  return c;
}

/// Returns a case of random positions: spread evenly, on a lattice, or in blobs; often few, and with any linking length.
inline FriendsCase random_friends_case(unsigned seed, std::size_t most) {
  std::mt19937 random(seed);
  std::uniform_real_distribution<double> u(0, 1);
  const Vec3 extent{0.5 + 4 * u(random), 0.5 + 4 * u(random), 0.5 + u(random)};
  const double shortest = std::min({extent[0], extent[1], extent[2]});
  const double length = 0.4999 * shortest * std::pow(u(random), 1 + seed % 4);
  FriendsCase c = friends_case("seed " + std::to_string(seed), static_cast<int>(random() % 8), length, extent);
  const auto n = static_cast<std::size_t>(std::pow(u(random), 2) * static_cast<double>(most));
  Vec3 blob{};
  for (std::size_t i = 0; i < n; ++i) {
    Vec3 x{u(random), u(random), u(random)};
    if (seed % 3 == 1)
      for (double& q : x) q = std::floor(6 * q) / 6;
    if (seed % 3 == 2) {
      if (i % 40 == 0) blob = x;
      for (std::size_t a = 0; a < 3; ++a) {
        x[a] = blob[a] + 0.1 * u(random) * u(random) * u(random);
        x[a] = c.grid.box.periodic[a] ? x[a] : std::min(x[a], 1.0);
      }
    }
    c.add(x);
  }
  if (seed % 5 == 0) c.parts = ", same:species";
  return c;
}

/// Returns cases in which groups cross faces of blocks and of the box in special ways.
inline std::vector<FriendsCase> special_friends_cases() {
  std::vector<FriendsCase> all;
  for (const int periodic : {0, 1, 3, 7}) {
    FriendsCase none = friends_case("nothing", periodic, 0.5);
    all.push_back(none);
    FriendsCase chain = friends_case("chain along x", periodic, 0.0626 * 4);
    for (int i = 0; i < 16; ++i) chain.add({(i + 0.5) / 16, 0.5, 0.5});
    all.push_back(chain);
    FriendsCase open = friends_case("chain along x with a gap", periodic, 0.0626 * 4);
    for (int i = 0; i < 15; ++i) open.add({(i + 0.5) / 16, 0.01, 0.99});
    all.push_back(open);
    FriendsCase spiral = friends_case("spiral round the box", periodic, 0.2);
    for (int i = 0; i < 400; ++i) spiral.add({std::fmod(i / 25.0, 1), i / 400.0, 0.5});
    all.push_back(spiral);
    FriendsCase diagonal = friends_case("diagonal", periodic, 0.1);
    for (int i = 0; i < 100; ++i) diagonal.add({i / 100.0, std::fmod(3 * i / 100.0, 1), std::fmod(5 * i / 100.0, 1)});
    all.push_back(diagonal);
    FriendsCase corner = friends_case("blob over the corner of the box", periodic, 0.25);
    std::mt19937 random(3);
    std::uniform_real_distribution<double> u(-0.06, 0.06);
    for (int i = 0; i < 120; ++i) corner.add({std::fabs(u(random)), std::fabs(u(random)), std::fabs(u(random))});
    for (int i = 0; i < 120; ++i)
      corner.add({1 - std::fabs(u(random)), 1 - std::fabs(u(random)), 1 - std::fabs(u(random))});
    all.push_back(corner);
    FriendsCase middle = friends_case("blobs in the middle", periodic, 0.1);
    for (int i = 0; i < 300; ++i) middle.add({0.5 + u(random), 0.5 + u(random), 0.1 + (i % 3) / 3.0 + 0.1 * u(random)});
    all.push_back(middle);
    FriendsCase point = friends_case("all in one point", periodic, 0.01);
    for (int i = 0; i < 200; ++i) point.add({0.5, 0.5, 0.5});
    all.push_back(point);
    FriendsCase face = friends_case("in one point of a face, and beside", periodic, 0.01);
    for (int i = 0; i < 90; ++i) face.add({0, 0.5, 0.5});
    for (int i = 0; i < 9; ++i) face.add({i % 2 == 0 ? 0.999 : 0.0009, 0.5, 0.5});
    all.push_back(face);
    FriendsCase wide = friends_case("length over many blocks", periodic, 0.99);
    for (int i = 0; i < 60; ++i) wide.add({u(random) * 8 + 0.5, std::fabs(u(random)), 0.5});
    all.push_back(wide);
    FriendsCase sheet = friends_case("two sheets", periodic, 0.11);
    for (int i = 0; i < 400; ++i) sheet.add({i % 20 / 20.0 * 0.3, i / 20 / 20.0 * 0.3, i % 2 == 0 ? 0.5 : 0.556});
    all.push_back(sheet);
  }
  const std::size_t plain = all.size();
  for (std::size_t i = 0; i < plain; i += 3) {
    FriendsCase c = all[i];
    c.parts = i % 2 == 0 ? ", place:member" : ", place:heaviest, same:species";
    c.name += c.parts;
    all.push_back(c);
  }
  all.push_back(all[4]);
  all.back().parts = ", place:centre";
  return all;
}

/// Returns the id of each parcel's group by comparing all pairs, as DBSCAN with min_samples = 1 does.
inline std::map<std::int64_t, std::int64_t> groups_by_pairs(const FriendsCase& c) {
  const MergePolicy policy = c.policy();
  const Parcels& p = c.parcels;
  std::vector<std::int64_t> group;
  for (std::size_t i = 0; i < p.size(); ++i) group.push_back(p.id(i));
  const auto species = p.column("species");
  for (bool changed = true; changed;) {
    changed = false;
    for (std::size_t i = 0; i < p.size(); ++i)
      for (std::size_t j = 0; j < i; ++j) {
        const Site& a = p.site(i);
        const Site& b = p.site(j);
        if (group[i] == group[j] || (!policy.same.empty() && species[i] != species[j])) continue;
        if (c.grid.box.distance2({a.x, a.y, a.z}, {b.x, b.y, b.z}) > c.length * c.length) continue;
        group[i] = group[j] = std::min(group[i], group[j]);
        changed = true;
      }
  }
  std::map<std::int64_t, std::int64_t> out;
  for (std::size_t i = 0; i < p.size(); ++i) out[p.id(i)] = group[i];
  return out;
}

}  // namespace merganser::test
