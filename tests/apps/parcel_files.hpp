#pragma once
/// Small parcel files that are hard to merge: ties, coincident parcels, parcels on walls, empty files.
#include <functional>
#include <string>
#include <vector>

#include "merganser/comm/runtime.hpp"
#include "merganser/io/parcel_file.hpp"

namespace merganser::test {

/// Position and relative volume of a parcel; relative volumes below 1 are small at --min-volume-ratio 20.
struct Blob {
  Vec3 at;
  double volume_over_limit;
};

/// Writes a parcel file of spherical blobs on a grid of 8 x 8 x 8 cells, periodic in x and y.
inline void write_blobs(const std::string& path, const std::vector<Blob>& blobs) {
  const Grid grid{.box = {{0, 0, 0}, {8, 8, 8}, {true, true, false}}, .cells = {8, 8, 8}};
  Parcels parcels;
  const Schema& schema = parcels.schema();
  for (const Blob& b : blobs) {
    const double volume = b.volume_over_limit / 20;
    std::vector<double> row(schema.width(), 0.0);
    row[schema.offset("buoyancy")] = b.at[0] - b.at[2];
    const double radius = std::cbrt(0.75 * volume / 3.14159265358979);
    double* const shape = row.data() + schema.offset("B");
    shape[0] = shape[3] = radius * radius;
    parcels.append({b.at[0], b.at[1], b.at[2], volume}, row.data());
    parcels.set_id(parcels.size() - 1, static_cast<std::int64_t>(parcels.size()) - 1);
  }
  comm::run({"threads", 1, ""},
            [&](comm::Transport& t) { io::write_parcels(path, parcels, Decomposition(grid, 1), 0.0, t); });
}

struct HardCase {
  const char* name;
  std::vector<Blob> blobs;
  std::int64_t merged;  ///< parcels that one step merges away; -1: not known beforehand
};

inline std::vector<HardCase> hard_cases() {
  std::vector<HardCase> cases{{"empty", {}, 0},
                              {"one_small_parcel", {{{3, 3, 3}, 0.5}}, 0},
                              {"one_large_parcel", {{{3, 3, 3}, 2}}, 0},
                              {"two_small_parcels", {{{0.1, 3, 3}, 0.5}, {{7.9, 3, 3}, 0.5}}, 1},
                              {"none_small", {}, 0},
                              {"all_at_one_point", {}, -1},
                              {"lattice_of_exact_ties", {}, -1},
                              {"on_the_walls", {}, -1}};
  const auto blobs = [&cases](const char* name) -> std::vector<Blob>& {
    for (auto& c : cases)
      if (std::string_view(c.name) == name) return c.blobs;
    throw std::out_of_range(name);
  };
  for (int i = 0; i < 100; ++i) blobs("none_small").push_back({{i * 0.08, i * 0.03, 7 - i * 0.05}, 1.5});
  for (int i = 0; i < 20; ++i) blobs("all_at_one_point").push_back({{4, 4, 4}, 0.3});  // where eight blocks meet
  for (int x = 0; x < 8; ++x)
    for (int y = 0; y < 8; ++y)
      for (int z = 0; z < 8; ++z) blobs("lattice_of_exact_ties").push_back({{x + 0.5, y + 0.5, z + 0.5}, 0.5});
  for (int i = 0; i < 8; ++i)
    for (const double z : {0.0, 8.0}) blobs("on_the_walls").push_back({{i * 1.0, i * 1.0, z}, 0.5});
  return cases;
}

}  // namespace merganser::test
