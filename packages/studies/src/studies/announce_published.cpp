// Tables I to III of [berghoff2018] on announcement networks: the published numbers, and the search for exact diameters.
#include "merganser/studies/announce_published.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <utility>

namespace merganser::studies {
namespace {

/// Returns base to the power of exponent >= 0: the number of vertices of a network with equal extents.
int power(int base, int exponent) {
  int p = 1;
  for (int i = 0; i < exponent; ++i) p *= base;
  return p;
}

/// Returns the largest out-degree of all vertices of an announcement network.
int max_out_degree(const announce::Network& network) {
  int most = 0;
  for (int v = 0; v < network.vertices(); ++v) most = std::max(most, static_cast<int>(network.out(v).size()));
  return most;
}

}  // namespace

// Formulas of Table I beside the searched numbers: hypercubes and tori must agree, Manhattan Street Networks where 4 divides every
// extent.
std::vector<RegularNetwork> regular_networks() {
  std::vector<RegularNetwork> all;
  for (const int n : {3, 6, 10}) {
    const announce::HypercubeNetwork cube(1 << n);
    all.push_back({cube.describe(), n, max_out_degree(cube), n, announce::diameter(cube).value, true, ""});
  }
  for (const auto& [edge, n] : {std::pair{4, 2}, {6, 3}, {5, 3}, {9, 4}}) {
    const announce::TorusNetwork torus(power(edge, n), n);
    all.push_back(
        {torus.describe(), 2 * n, max_out_degree(torus), n * (edge / 2), announce::diameter(torus).value, true, ""});
  }
  for (const auto& [edge, n] : {std::pair{4, 2}, {4, 3}, {8, 3}, {6, 2}, {6, 3}, {10, 3}, {5, 2}, {7, 3}, {9, 3}}) {
    const announce::ManhattanStreetNetwork streets(power(edge, n), n);
    RegularNetwork row{
        streets.describe(), n, max_out_degree(streets), n * (edge / 2) + 1, announce::diameter(streets).value,
        edge % 4 == 0,      ""};
    if (edge % 4 == 2) row.note = "a";
    if (edge % 2 == 1) row.note = "b";
    const auto eq1 = streets.regular_diameter();
    if (eq1 && *eq1 != row.diameter) row.must = true;  // Eq. (1) is exact for regular networks: the search must agree
    all.push_back(row);
  }
  return all;
}

int PublishedMachine::degree_within(int budget) const {
  const auto within = std::find_if(diameters.begin(), diameters.end() - 1, [&](int d) { return d <= budget; });
  return kFirstDegree + static_cast<int>(within - diameters.begin());
}

std::span<const PublishedMachine> published_machines() {
  static constexpr PublishedMachine kMachines[] = {
      {"ForHLR II, productive",
       10240,
       10240,
       {102, 33, 21, 16, 15, 14, 13, 13, 13},
       {101, 33, 20, 15, 14, 14, 13, 13, 11}},
      {"ForHLR II", 22960, 22960, {152, 43, 25, 19, 17, 15, 15, 14, 14}, {152, 43, 25, 19, 15, 15, 15, 14, 13}},
      {"JUWELS Module 1", 114480, 114486, {339, 74, 37, 26, 21, 19, 18, 17, 17}, {0, 73, 36, 25, 21, 17, 18, 17, 16}},
      {"Hazel Hen", 185088, 185088, {431, 86, 42, 29, 23, 20, 19, 18, 17}, {}},
      {"Piz Daint", 361760, 361760, {602, 107, 50, 33, 26, 22, 20, 19, 19}, {}},
      {"Summit", 2282544, 2282544, {1511, 198, 78, 48, 35, 29, 25, 23, 22}, {0, 198, 0, 47, 0, 0, 0, 0, 0}},
      {"Sunway TaihuLight", 10649600, 10649600, {3264, 331, 115, 64, 45, 36, 31, 28, 26}, {}},
  };
  return kMachines;
}

bool is_unexplained_cell(int processes, int degree) {
  return (processes == 114486 && degree == 3) || (processes == 2282544 && degree == 5);
}

std::string KnownDiameter::to_string() const { return (exact() ? "" : ">=") + std::to_string(value()); }

namespace {

/// Returns the recorded exact diameter of a Manhattan Street Network over the processes of a published machine; 0 if there is none.
int recorded_diameter(const announce::Network& network) {
  const auto* streets = dynamic_cast<const announce::ManhattanStreetNetwork*>(&network);
  if (streets == nullptr || streets->dimension() < kFirstDegree) return 0;
  const auto column = static_cast<std::size_t>(streets->dimension() - kFirstDegree);
  for (const auto& m : published_machines()) {
    if (m.processes != network.vertices() || column >= m.exact.size()) continue;
    if (streets->extents() == announce::box_extents(m.processes, streets->dimension())) return m.exact[column];
  }
  return 0;
}

}  // namespace

// Diameter of an announcement network: the effort of the search is limited by size, and where the exact one is recorded a sample of
// one vertex only checks it.
KnownDiameter known_diameter(const announce::Network& network, bool exact) {
  constexpr int kSearched = 30'000;           // vertices up to which the search begins from every one
  constexpr std::int64_t kArcs = 20'000'000;  // arcs that an exact search of a larger network may follow
  KnownDiameter known;
  const int record = recorded_diameter(network);
  if (record > 0) known.recorded = record;
  announce::DiameterEffort effort;
  if (exact) {
    effort.arcs = INT64_MAX / 2;
  } else if (network.vertices() > kSearched) {
    effort.arcs = known.recorded ? 0 : kArcs;
    effort.sources = network.vertices() < 100 * kSearched && !known.recorded ? 4 : 1;
  }
  known.found = announce::diameter(network, effort);
  return known;
}

}  // namespace merganser::studies
