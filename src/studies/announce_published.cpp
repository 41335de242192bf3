#include "merganser/studies/announce_published.hpp"

#include <cstddef>
#include <cstdint>

namespace merganser::studies {

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

bool unexplained_cell(int processes, int degree) {
  return (processes == 114486 && degree == 3) || (processes == 2282544 && degree == 5);
}

std::string KnownDiameter::text() const { return (exact() ? "" : ">=") + std::to_string(value()); }

namespace {

/// What is on record for one of the published machines; 0 if nothing.
int record_of(const announce::Network& network) {
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

KnownDiameter known_diameter(const announce::Network& network, bool exact) {
  constexpr int kSearched = 30'000;  // vertices up to which every one is searched from
  constexpr std::int64_t kArcs = 20'000'000;
  KnownDiameter known;
  const int record = record_of(network);
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
