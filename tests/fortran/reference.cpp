// What the clusterer of C++ makes of the parcels of the tests in Fortran, on one rank.
#include <algorithm>
#include <cstdint>

#include "merganser/cluster/cluster.hpp"
#include "merganser/comm/open.hpp"
#include "merganser/parcels/statistics.hpp"

using namespace merganser;

extern "C" void reference_digest(int steps, int n, const double* position, const double* volume,
                                 const double* vorticity, const double* buoyancy, const double* b,
                                 const std::int64_t* id, char* digest_text) {
  const Grid grid{{{-1, 0, 0.5}, {2, 1, 1}, {true, true, false}}, {20, 10, 10}};
  Parcels p;
  p.resize(static_cast<std::size_t>(n));
  for (std::size_t i = 0; i < p.size(); ++i) {
    p.site(i) = {position[3 * i], position[3 * i + 1], position[3 * i + 2], volume[i]};
    p.set_id(i, id[i]);
    std::copy_n(vorticity + 3 * i, 3, p.row(i) + 1);
    p.row(i)[4] = buoyancy[i];
    std::copy_n(b + 5 * i, 5, p.row(i) + 5);
  }
  const auto transport = comm::open_alone();
  const Decomposition decomposition(grid, 1);
  ClusterOptions options;
  options.min_volume_ratio = 10;
  Clusterer clusterer(*transport, decomposition, p.schema(), options);
  for (int i = 0; i < steps; ++i) {
    clusterer.step(p);
    clusterer.redistribute(p);
  }
  const std::string text = digest(p).to_string();
  std::copy_n(text.c_str(), 33, digest_text);
}
