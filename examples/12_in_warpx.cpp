// Merge policies for a program with the containers of WarpX and AMReX: particles in tiles, structures of arrays, one container per
// species. Cells with more than 32 particles of a species are thinned to 16, two for N, so that momentum and energy stay.
// ./12_in_warpx 4, or mpirun -n 4 ./12_in_warpx.
#include <array>
#include <bit>
#include <cstdio>
#include <map>
#include <random>
#include <vector>

#include <merganser/cluster/cluster.hpp>

#include "start.hpp"

using namespace merganser;

// As ParticleTile's StructOfArrays: positions, weight w and momentum per mass u in arrays, and one number that is the id.
struct Tile {
  std::array<std::vector<double>, 3> position, u;
  std::vector<double> w;
  std::vector<std::int64_t> id;
};
using Species = std::map<std::pair<int, int>, Tile>;  // by grid and tile, as ParticleContainer's map of a level

// Fills the one tile of this rank: two streams in cells of one block.
Species electrons(const Decomposition& blocks, int rank) {
  Species out;
  Tile& tile = out[{rank, 0}];
  std::mt19937_64 random(1);
  auto uniform = [&] { return static_cast<double>(random() >> 11) * 0x1p-53; };
  for (std::int64_t id = 0; id < 20000; ++id) {
    const Vec3 x{uniform(), uniform(), uniform()};
    const Vec3 u{(id % 2 == 0 ? 1 : -1) + 0.1 * uniform(), 0.1 * uniform(), 0.1 * uniform()};
    const double w = 1 + uniform();
    if (blocks.owner(x) != rank) continue;
    for (std::size_t a = 0; a < 3; ++a) tile.position[a].push_back(x[a]), tile.u[a].push_back(u[a]);
    tile.w.push_back(w);
    tile.id.push_back(id);
  }
  return out;
}

// One container per species, or all in one with a column for the species and the part same:species.
Parcels to_parcels(const Species& species) {
  Parcels p(Schema(
      {{"ux", 1, Rule::mean, {"ux"}, ""}, {"uy", 1, Rule::mean, {"uy"}, ""}, {"uz", 1, Rule::mean, {"uz"}, ""}}));
  for (const auto& [where, t] : species)
    for (std::size_t i = 0; i < t.w.size(); ++i) {
      const double row[] = {std::bit_cast<double>(t.id[i]), t.u[0][i], t.u[1][i], t.u[2][i]};
      p.append({t.position[0][i], t.position[1][i], t.position[2][i], t.w[i]}, row);
    }
  return p;
}

void from_parcels(const Parcels& p, Tile& t) {
  t = Tile();
  for (std::size_t i = 0; i < p.size(); ++i) {
    const Site& s = p.site(i);
    const double x[] = {s.x, s.y, s.z};
    for (std::size_t a = 0; a < 3; ++a) t.position[a].push_back(x[a]), t.u[a].push_back(p.row(i)[1 + a]);
    t.w.push_back(s.volume);
    t.id.push_back(p.id(i));
  }
}

void thin(comm::Transport& transport) {
  const Grid grid{{{0, 0, 0}, {1, 1, 1}, {true, true, true}}, {8, 8, 8}};
  const Decomposition blocks(grid, transport.size());  // a level's BoxArray: Decomposition::from_boxes
  Species species = electrons(blocks, transport.rank());
  Parcels parcels = to_parcels(species);

  ClusterOptions options;
  options.policy = parse_policy("crowded:32->16, within:1cell, phase:ux*0.1+uy*0.1+uz*0.1, conserve:momentum+energy");
  Clusterer clusterer(transport, blocks, parcels.schema(), options);
  const StepReport report = clusterer.step(parcels);
  clusterer.redistribute(parcels);  // as Redistribute()
  from_parcels(parcels, species[{transport.rank(), 0}]);

  const std::int64_t after = transport.all_reduce(static_cast<std::int64_t>(parcels.size()), comm::Op::sum);
  double energy[] = {report.policy.energy_before, report.policy.energy_after};
  transport.all_reduce(energy, comm::Op::sum);
  const bool same = std::abs(energy[1] / energy[0] - 1) < 1e-12;
  if (transport.rank() == 0)
    std::printf("20000 macro-particles become %ld; kinetic energy changed by less than 1e-12: %s\n",
                static_cast<long>(after), same ? "yes" : "no");
}

int main(int argc, char** argv) { return start(argc, argv, thin); }
