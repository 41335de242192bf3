// StarFinder on points in arrays of the program's, without a container of parcels and without merging. Droplets in a square:
// each cold one is linked to its nearest, and its heat is added to that of its centre.
// ./10_stars_of_your_points 4, or mpirun -n 4 ./10_stars_of_your_points.
#include <cstdio>
#include <numeric>
#include <random>
#include <vector>

#include <merganser/cluster/star_finder.hpp>

#include "start.hpp"

using namespace merganser;

// Droplets of one rank, as a program might store them.
struct Droplets {
  std::vector<double> xy;  // x and y of each
  std::vector<double> heat;
  std::vector<std::int64_t> ids;
  std::vector<std::uint8_t> cold;
};

// Generates those of 50,000 droplets that lie in this rank's block.
Droplets droplets(const Decomposition& blocks, int rank) {
  Droplets mine;
  std::mt19937_64 random(11);
  auto uniform = [&] { return static_cast<double>(random() >> 11) * 0x1p-53; };
  for (std::int64_t id = 0; id < 50000; ++id) {
    const double x = uniform();
    const double y = uniform();
    const double heat = 1 + static_cast<double>(random() % 100);
    if (blocks.owner({x, y, 0}) != rank) continue;
    mine.xy.insert(mine.xy.end(), {x, y});
    mine.heat.push_back(heat);
    mine.ids.push_back(id);
    mine.cold.push_back(heat < 30);
  }
  return mine;
}

void find(comm::Transport& transport) {
  // A square that is periodic along x, cut into strips of different widths.
  const Grid square{.box = {{0, 0, 0}, {1, 1, 1}, {true, false, false}}};
  std::vector<double> cuts;
  for (int i = 1; i < transport.size(); ++i)
    cuts.push_back(static_cast<double>(i * i) / (transport.size() * transport.size()));
  const auto blocks = Decomposition::from_cuts(square, {cuts, {}, {}});
  Droplets mine = droplets(blocks, transport.rank());

  StarFinder finder(transport, blocks);
  finder.find(PointView::rows_2d(mine.xy.data(), mine.ids.size()), mine.cold, mine.ids);

  // Heat is moved along the links: directly within a rank, between ranks as the payload of a migration.
  std::vector<double> given = mine.heat;
  for (const StarLink& link : finder.links()) {
    mine.heat[link.source] = 0;
    if (link.rank == transport.rank()) mine.heat[link.centre] += given[link.source];
  }
  std::vector<double> received;
  finder.migrate(given, received);
  for (std::size_t k = 0; k < received.size(); ++k) mine.heat[finder.receives()[k].centre] += received[k];

  const auto total = [&](const std::vector<double>& heat) {
    return transport.all_reduce(static_cast<std::int64_t>(std::accumulate(heat.begin(), heat.end(), 0.0)),
                                comm::Op::sum);
  };
  const auto links = transport.all_reduce(static_cast<std::int64_t>(finder.links().size()), comm::Op::sum);
  const auto before = total(given);
  const auto after = total(mine.heat);
  if (transport.rank() == 0)
    std::printf("%ld of 50000 droplets gave their heat to the nearest one; heat %ld -> %ld\n", static_cast<long>(links),
                static_cast<long>(before), static_cast<long>(after));
}

int main(int argc, char** argv) { return start(argc, argv, find); }
