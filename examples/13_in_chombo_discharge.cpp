// Merge policies for a program with the containers of chombo-discharge: a list of super-particles per box of a level, merged until a
// cell has its target, within a distance, nowhere inside an embedded boundary. ./13_in_chombo_discharge 4, or mpirun -n 4.
#include <bit>
#include <cmath>
#include <cstdio>
#include <list>
#include <map>
#include <random>

#include <merganser/cluster/cluster.hpp>

#include "start.hpp"

using namespace merganser;

// As ItoParticle: position, weight, average energy; no id, which the program gives here.
struct ItoParticle {
  double position[3];
  double weight;
  double energy;
  std::int64_t id;
};
using ParticleData = std::map<int, std::list<ItoParticle>>;  // List<ItoParticle> by box

// The electrode is a ball: no particle may be inside.
bool outside(const Vec3& x) { return std::hypot(x[0] - 0.5, x[1] - 0.5, x[2] - 0.5) > 0.2; }

ParticleData particles(const Decomposition& blocks, int rank) {
  ParticleData out;
  std::mt19937_64 random(2);
  auto uniform = [&] { return static_cast<double>(random() >> 11) * 0x1p-53; };
  for (std::int64_t id = 0; id < 20000; ++id) {
    const ItoParticle p{{uniform(), uniform(), uniform()}, std::floor(1 + 9 * uniform()), uniform(), id};
    const Vec3 x{p.position[0], p.position[1], p.position[2]};
    if (outside(x) && blocks.owner(x) == rank) out[rank].push_back(p);
  }
  return out;
}

void merge(comm::Transport& transport) {
  const Grid grid{{{0, 0, 0}, {1, 1, 1}, {false, false, false}}, {8, 8, 8}};
  const Decomposition blocks(grid, transport.size());
  ParticleData data = particles(blocks, transport.rank());
  Parcels parcels(Schema({{"energy", 1, Rule::mean, {"energy"}, "eV"}}));
  for (const auto& [box, list] : data)
    for (const ItoParticle& p : list) {
      const double row[] = {std::bit_cast<double>(p.id), p.energy};
      parcels.append({p.position[0], p.position[1], p.position[2], p.weight}, row);
    }

  ClusterOptions options;
  // Their rounds until a cell has its target, k-nearest fall-backs, a greatest distance in cells; at the place of a member. Fewer
  // than 8 in a cell: the heaviest split.
  options.policy = parse_policy("crowded:24->16, greedy:3, within:1cell, place:member, split:8");
  options.policy.allowed = outside;  // of merged particles
  Clusterer clusterer(transport, blocks, parcels.schema(), options);
  const StepReport report = clusterer.step(parcels);
  clusterer.redistribute(parcels);

  auto& list = data[transport.rank()];
  list.clear();
  for (std::size_t i = 0; i < parcels.size(); ++i) {
    const Site& s = parcels.site(i);
    list.push_back({{s.x, s.y, s.z}, s.volume, parcels.row(i)[1], parcels.id(i)});
  }
  std::int64_t counts[] = {report.before, report.merged, report.policy.split, static_cast<std::int64_t>(list.size())};
  double weight[] = {report.policy.weight_before, report.policy.weight_after};
  transport.all_reduce(counts, comm::Op::sum);
  transport.all_reduce(weight, comm::Op::sum);
  if (transport.rank() == 0)
    std::printf("%ld super-particles: %ld merged away, %ld new, %ld now; weight %.0f -> %.0f, rounds %ld\n",
                static_cast<long>(counts[0]), static_cast<long>(counts[1]), static_cast<long>(counts[2]),
                static_cast<long>(counts[3]), weight[0], weight[1], static_cast<long>(report.policy.rounds));
}

int main(int argc, char** argv) { return start(argc, argv, merge); }
