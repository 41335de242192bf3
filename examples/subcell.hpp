#pragma once
/// Population that is refilled by splitting and thinned by merging again and again, and what that does to places within cells: a merge
/// by k-d trees within cells, as most codes have, and merge policies.
#include <algorithm>
#include <bit>
#include <cmath>
#include <map>
#include <memory>
#include <random>
#include <string>
#include <vector>

#include <merganser/cluster/cluster.hpp>
#include <merganser/comm/open.hpp>

namespace subcell {

/// Makes a periodic cube of cells of edge 1 with `each` parcels of equal weight in every cell, at random places.
inline merganser::Parcels uniform(const merganser::Grid& grid, int each, unsigned seed) {
  merganser::Parcels parcels{merganser::Schema()};
  std::mt19937_64 random(seed);
  const auto draw = [&] { return static_cast<double>(random() >> 11) * 0x1p-53; };
  std::int64_t id = 0;
  for (std::int64_t cell = 0; cell < grid.cells[0] * grid.cells[1] * grid.cells[2]; ++cell)
    for (int i = 0; i < each; ++i, ++id) {
      const double row[] = {std::bit_cast<double>(id)};
      parcels.append({static_cast<double>(cell % grid.cells[0]) + draw(),
                      static_cast<double>(cell / grid.cells[0] % grid.cells[1]) + draw(),
                      static_cast<double>(cell / grid.cells[0] / grid.cells[1]) + draw(), 1.0},
                     row);
    }
  return parcels;
}

/// Merges the parcels of each cell by a k-d tree within it: halved at the median along the longest axis until there are `groups` of
/// them, each of which becomes one parcel, at its centroid or at the place of a member drawn by weight.
class KdMerge {
 public:
  KdMerge(const merganser::Grid& grid, int groups, bool member) : grid_(grid), groups_(groups), member_(member) {}

  void step(merganser::Parcels& parcels) {
    std::map<std::int64_t, std::vector<std::size_t>> cells;
    for (std::size_t i = 0; i < parcels.size(); ++i) {
      const merganser::Site& s = parcels.site(i);
      cells[(grid_.cell(2, s.z) * grid_.cells[1] + grid_.cell(1, s.y)) * grid_.cells[0] + grid_.cell(0, s.x)].push_back(
          i);
    }
    merganser::Parcels out(parcels.schema());
    for (auto& [cell, members] : cells) halve(parcels, members.data(), members.size(), groups_, out);
    parcels = std::move(out);
  }

 private:
  static double at(const merganser::Site& s, int axis) { return axis == 0 ? s.x : axis == 1 ? s.y : s.z; }

  void halve(const merganser::Parcels& p, std::size_t* members, std::size_t n, int groups, merganser::Parcels& out) {
    if (groups == 1 || n == 1) return join(p, members, n, out);
    int longest = 0;
    double most = -1;
    for (int axis = 0; axis < 3; ++axis) {
      const auto [low, high] = std::minmax_element(members, members + n, [&](std::size_t a, std::size_t b) {
        return at(p.site(a), axis) < at(p.site(b), axis);
      });
      const double length = at(p.site(*high), axis) - at(p.site(*low), axis);
      if (length > most) most = length, longest = axis;
    }
    std::sort(members, members + n,
              [&](std::size_t a, std::size_t b) { return at(p.site(a), longest) < at(p.site(b), longest); });
    halve(p, members, n / 2, groups / 2, out);
    halve(p, members + n / 2, n - n / 2, groups - groups / 2, out);
  }

  void join(const merganser::Parcels& p, const std::size_t* members, std::size_t n, merganser::Parcels& out) {
    merganser::Site sum{0, 0, 0, 0};
    for (std::size_t i = 0; i < n; ++i) {
      const merganser::Site& s = p.site(members[i]);
      sum = {sum.x + s.volume * s.x, sum.y + s.volume * s.y, sum.z + s.volume * s.z, sum.volume + s.volume};
    }
    merganser::Site place{sum.x / sum.volume, sum.y / sum.volume, sum.z / sum.volume, sum.volume};
    double left = sum.volume * (static_cast<double>(random_() >> 11) * 0x1p-53);
    for (std::size_t i = 0; member_ && i < n; ++i) {
      const merganser::Site& s = p.site(members[i]);
      place = {s.x, s.y, s.z, sum.volume};
      if ((left -= s.volume) < 0) break;
    }
    out.append(place, p.row(members[0]));
  }

  merganser::Grid grid_;
  int groups_;
  bool member_;
  std::mt19937_64 random_{5};
};

/// Returns the structure factor of places within cells at k waves a cell, weighted, mean over the three axes: about 1 for places
/// that are random, the number of parcels for a lattice of k planes a cell.
inline double peak(const merganser::Parcels& p, int k) {
  double sum = 0;
  for (int axis = 0; axis < 3; ++axis) {
    double c = 0;
    double s = 0;
    double squares = 0;
    for (std::size_t i = 0; i < p.size(); ++i) {
      const merganser::Site& site = p.site(i);
      const double x = axis == 0 ? site.x : axis == 1 ? site.y : site.z;
      const double phase = 2 * 3.14159265358979323846 * k * x;
      c += site.volume * std::cos(phase);
      s += site.volume * std::sin(phase);
      squares += site.volume * site.volume;
    }
    sum += (c * c + s * s) / squares / 3;
  }
  return sum;
}

/// Way of thinning a population: a name, and a policy, or none for the k-d tree of cells.
struct Way {
  const char* name;
  const char* policy;
  bool member;
};
inline constexpr Way kWays[] = {{"k-d tree in cells, centroid", "", false},
                                {"k-d tree in cells, member", "", true},
                                {"policy, centroid", "place:centroid", false},
                                {"policy, member", "place:member", true}};

/// Result of many refills and merges.
struct Outcome {
  std::vector<double> peaks;     ///< peak() for k = 1, 2, ... waves a cell, mean over the last quarter of the merges
  std::vector<double> position;  ///< histogram of the places within cells along the three axes, 1 for uniform
};

/// Refills a uniform population by splitting to 2 `target` parcels a cell before each of `merges` merges to `target`.
inline Outcome run(const Way& way, int target, int merges, int waves, int bins) {
  const merganser::Grid grid{{{0, 0, 0}, {2, 2, 2}, {true, true, true}}, {2, 2, 2}};
  const auto transport = merganser::comm::open_alone();
  const merganser::Decomposition blocks(grid, 1);
  merganser::Parcels parcels = uniform(grid, target, 1);
  merganser::ClusterOptions splitting;
  splitting.policy = merganser::parse_policy("none, split:" + std::to_string(2 * target));
  merganser::Clusterer split(*transport, blocks, parcels.schema(), splitting);
  std::unique_ptr<merganser::Clusterer> merge;
  if (*way.policy != '\0') {
    merganser::ClusterOptions merging;
    const std::string number = std::to_string(target);
    merging.policy = merganser::parse_policy("crowded:" + number + "->" + number + ", " + way.policy);
    merge = std::make_unique<merganser::Clusterer>(*transport, blocks, parcels.schema(), merging);
  }
  KdMerge kd(grid, target, way.member);
  Outcome out;
  out.peaks.assign(static_cast<std::size_t>(waves), 0);
  out.position.assign(static_cast<std::size_t>(bins), 0);
  const int from = merges - std::max(merges / 4, 1);
  for (int i = 0; i < merges; ++i) {
    split.step(parcels);
    if (merge) {
      merge->step(parcels);
    } else {
      kd.step(parcels);
    }
    if (i < from) continue;
    for (int k = 1; k <= waves; ++k) out.peaks[static_cast<std::size_t>(k - 1)] += peak(parcels, k) / (merges - from);
    for (std::size_t n = 0; n < parcels.size(); ++n)
      for (const double x : {parcels.site(n).x, parcels.site(n).y, parcels.site(n).z})
        out.position[static_cast<std::size_t>((x - std::floor(x)) * bins)] +=
            bins / (3.0 * static_cast<double>(parcels.size()) * (merges - from));
  }
  return out;
}

}  // namespace subcell
