// The real input for tests in Fortran, by the reader of C++, and what the clusterer of C++ makes of it on one rank.
#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <exception>
#include <string>

#include "merganser/cluster/cluster.hpp"
#include "merganser/comm/open.hpp"
#include "merganser/io/parcel_file.hpp"
#include "merganser/parcels/statistics.hpp"

using namespace merganser;

namespace {

Parcels loaded;
io::ParcelFileInfo info;

}  // namespace

extern "C" {

// Reads the file into memory; the number of its parcels; 0 without NetCDF; -1 with the reason on standard error.
int epic_file_load(const char* path, double* lower, double* extent, int* cells) try {
  if (!io::netcdf_available()) {
    std::printf("skipped: this build has no NetCDF\n");
    return 0;
  }
  info = io::read_info(path);
  const auto alone = comm::open_alone();
  loaded = io::read_parcels(path, info, *alone);
  for (std::size_t a = 0; a < 3; ++a) {
    lower[a] = info.grid.box.lower[a];
    extent[a] = info.grid.box.extent[a];
    cells[a] = static_cast<int>(info.grid.cells[a]);
  }
  return static_cast<int>(loaded.size());
} catch (const std::exception& e) {
  std::fprintf(stderr, "%s: %s\n", path, e.what());
  return -1;
}

// Parcel i of them, from 0: x, y, z, volume, vorticity (3), buoyancy, B (5).
void epic_file_parcel(int i, double* values, std::int64_t* id) {
  const auto k = static_cast<std::size_t>(i);
  const Site& s = loaded.site(k);
  const double site[] = {s.x, s.y, s.z, s.volume};
  std::copy_n(site, 4, values);
  const Schema& schema = loaded.schema();
  const double* row = loaded.row(k);
  std::copy_n(row + schema.offset("vorticity"), 3, values + 4);
  values[7] = row[schema.offset("buoyancy")];
  std::copy_n(row + schema.offset("B"), 5, values + 8);
  *id = loaded.id(k);
}

// Makes one step of the clusterer in memory, min_volume_ratio 20; the number of parcels left.
int epic_file_cluster(char* digest_text) {
  const auto alone = comm::open_alone();
  const Decomposition decomposition(info.grid, 1);
  ClusterOptions options;
  options.min_volume_ratio = 20;
  Clusterer clusterer(*alone, decomposition, loaded.schema(), options);
  clusterer.step(loaded);
  const std::string text = digest(loaded).to_string();
  std::copy_n(text.c_str(), 33, digest_text);
  return static_cast<int>(loaded.size());
}
}
