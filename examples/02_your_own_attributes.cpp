// Merge steps on parcels with a schema of the program's: mean, sum, largest, and a merge callback.
// ./02_your_own_attributes 4, or mpirun -n 4 ./02_your_own_attributes.
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <random>

#include <merganser/cluster/cluster.hpp>

#include "start.hpp"

using namespace merganser;

// Returns the attributes of a droplet, each with the rule by which it merges.
Schema droplet_schema() {
  return Schema({{"velocity", 3, Rule::mean, {"u", "v", "w"}, "m/s"},  // weighted by volume: momentum is conserved
                 {"salt", 1, Rule::sum, {"salt"}, "kg"},               // added
                 {"kind", 1, Rule::largest, {"kind"}, ""},             // that of the largest member
                 {"hottest", 1, Rule::callback, {"hottest"}, "K"}});   // decided below
}

// Returns the merge callback of "hottest": the maximum over all members.
MergeCallback hottest_member(const Schema& schema) {
  return [at = schema.offset("hottest")](std::span<const Member> members, double, double* out) {
    *out = members.front().row[at];
    for (const Member& member : members) *out = std::max(*out, member.row[at]);
  };
}

// Generates this rank's share of 20,000 droplets. Each has one unit of salt, so that the sum is easy to check.
Parcels droplets(const Grid& grid, int rank, int size) {
  Parcels parcels(droplet_schema());
  std::mt19937_64 random(7);
  auto uniform = [&] { return static_cast<double>(random() >> 11) * 0x1p-53; };
  for (std::int64_t id = 0; id < 20000; ++id) {
    double draw[8];
    for (double& d : draw) d = uniform();
    if (id % size != rank) continue;
    const std::size_t i = parcels.size();
    parcels.resize(i + 1);
    parcels.site(i) = {draw[0], draw[1], draw[2], draw[3] * grid.cell_volume() / 10};
    parcels.set_id(i, id);
    for (int c = 0; c < 3; ++c) parcels.column("velocity", c)[i] = draw[4 + c];
    parcels.column("salt")[i] = 1;
    parcels.column("kind")[i] = static_cast<double>(id % 3);
    parcels.column("hottest")[i] = 280 + 20 * draw[7];
  }
  return parcels;
}

struct Totals {
  double salt = 0;
  double momentum = 0;
  double hottest = 0;
};

// Returns the sums of salt and momentum and the maximum temperature over all ranks. Collective.
Totals totals(const Parcels& parcels, comm::Transport& transport) {
  const ConstColumn salt = parcels.column("salt");
  const ConstColumn u = parcels.column("velocity");
  const ConstColumn hottest = parcels.column("hottest");
  double sums[2] = {0, 0};
  double top[1] = {0};
  for (std::size_t i = 0; i < parcels.size(); ++i) {
    sums[0] += salt[i];
    sums[1] += parcels.site(i).volume * u[i];
    top[0] = std::max(top[0], hottest[i]);
  }
  transport.all_reduce(sums, comm::Op::sum);
  transport.all_reduce(top, comm::Op::max);
  return {sums[0], sums[1], top[0]};
}

void merge(comm::Transport& transport) {
  Grid grid;
  grid.cells = {16, 16, 16};
  grid.box.periodic = {false, false, false};  // walls all around
  const Decomposition decomposition(grid, transport.size());
  Parcels parcels = droplets(grid, transport.rank(), transport.size());
  distribute(parcels, decomposition, transport);
  const Totals before = totals(parcels, transport);

  ClusterOptions options;
  options.min_volume_ratio = 20;
  options.callbacks.resize(parcels.schema().attributes().size());
  options.callbacks.back() = hottest_member(parcels.schema());
  Clusterer clusterer(transport, decomposition, parcels.schema(), options);
  for (int step = 0; step < 3; ++step) {
    clusterer.step(parcels);
    clusterer.redistribute(parcels);
  }

  const Totals after = totals(parcels, transport);
  const auto left = transport.all_reduce(static_cast<std::int64_t>(parcels.size()), comm::Op::sum);
  if (transport.rank() != 0) return;
  std::printf("%ld droplets left of 20000\n", static_cast<long>(left));
  std::printf("salt %.0f -> %.0f\n", before.salt, after.salt);
  std::printf("momentum changed by less than 1e-12: %s\n",
              std::fabs(after.momentum - before.momentum) < 1e-12 * before.momentum ? "yes" : "no");
  std::printf("hottest %.3f -> %.3f\n", before.hottest, after.hottest);
}

int main(int argc, char** argv) { return start(argc, argv, merge); }
