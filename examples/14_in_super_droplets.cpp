// Merge policies for a super-droplet model: arrays of positions, multiplicities and extensive attributes per droplet. Crowded cells lose
// droplets that are near in space and size, sparse ones get some. ./14_in_super_droplets 4, or mpirun -n 4 ./14_in_super_droplets.
#include <bit>
#include <cmath>
#include <cstdio>
#include <random>
#include <vector>

#include <merganser/cluster/cluster.hpp>

#include "start.hpp"

using namespace merganser;

// One array per attribute, as PySDM and CLEO have them. Water and solute are of one droplet, not times multiplicity.
struct SuperDroplets {
  std::vector<double> x, y, z, multiplicity, water, solute;
  std::vector<std::int64_t> id;
};

SuperDroplets droplets(const Decomposition& blocks, int rank) {
  SuperDroplets d;
  std::mt19937_64 random(3);
  auto uniform = [&] { return static_cast<double>(random() >> 11) * 0x1p-53; };
  for (std::int64_t id = 0; id < 20000; ++id) {
    const Vec3 x{uniform(), uniform(), uniform() * uniform()};  // more near the ground
    const double numbers[] = {1e6 * (1 + uniform()), std::exp(3 * uniform()), uniform()};
    if (blocks.owner(x) != rank) continue;
    d.x.push_back(x[0]), d.y.push_back(x[1]), d.z.push_back(x[2]);
    d.multiplicity.push_back(numbers[0]), d.water.push_back(numbers[1]), d.solute.push_back(numbers[2]);
    d.id.push_back(id);
  }
  return d;
}

void balance(comm::Transport& transport) {
  const Grid grid{{{0, 0, 0}, {1, 1, 1}, {true, true, false}}, {8, 8, 8}};
  const Decomposition blocks(grid, transport.size());
  const SuperDroplets d = droplets(blocks, transport.rank());
  // Multiplicity is the weight: means by it keep the sums of multiplicity times water and times solute.
  Parcels parcels(Schema({{"water", 1, Rule::mean, {"water"}, ""}, {"solute", 1, Rule::mean, {"solute"}, ""}}));
  for (std::size_t i = 0; i < d.id.size(); ++i) {
    const double row[] = {std::bit_cast<double>(d.id[i]), d.water[i], d.solute[i]};
    parcels.append({d.x[i], d.y[i], d.z[i], d.multiplicity[i]}, row);
  }
  const auto water = [&] {
    double sum = 0;
    for (std::size_t i = 0; i < parcels.size(); ++i) sum += parcels.site(i).volume * parcels.row(i)[1];
    transport.all_reduce(std::span(&sum, 1), comm::Op::sum);
    return sum;
  };
  const double before = water();

  ClusterOptions options;
  options.policy = parse_policy("crowded:96->64, phase:water*0.01, within:1cell, place:member, split:24");
  Clusterer clusterer(transport, blocks, parcels.schema(), options);
  const StepReport report = clusterer.step(parcels);
  clusterer.redistribute(parcels);

  const bool same = std::abs(water() / before - 1) < 1e-12;
  std::int64_t counts[] = {report.merged, report.policy.split, report.after};
  transport.all_reduce(counts, comm::Op::sum);
  if (transport.rank() == 0)
    std::printf("20000 super-droplets: %ld merged away, %ld new, %ld now; water changed by less than 1e-12: %s\n",
                static_cast<long>(counts[0]), static_cast<long>(counts[1]), static_cast<long>(counts[2]),
                same ? "yes" : "no");
}

int main(int argc, char** argv) { return start(argc, argv, balance); }
