// Friends of friends on all ranks: halos of a random field, without merging. Particles around 300 centres and some between
// them; all that a linking length of 0.2 mean spacings connects is a halo. Each is listed where its lowest id is.
// ./11_friends_of_friends 4, or mpirun -n 4 ./11_friends_of_friends.
#include <algorithm>
#include <cstdio>
#include <random>
#include <vector>

#include <merganser/cluster/friends.hpp>
#include <merganser/comm/collectives.hpp>

#include "start.hpp"

using namespace merganser;

// Particles of one rank, as a program might store them.
struct Particles {
  std::vector<double> xyz;
  std::vector<double> v[3];
  std::vector<std::int64_t> ids;
};

// Generates those of 100,000 particles that lie in this rank's block: four of five around a centre.
Particles particles(const Decomposition& blocks, int rank) {
  Particles mine;
  std::mt19937_64 random(7);
  auto uniform = [&] { return static_cast<double>(random() >> 11) * 0x1p-53; };
  const Box& box = blocks.grid().box;
  double centre[300][4];
  for (auto& c : centre)
    for (double& x : c) x = uniform();
  for (std::int64_t id = 0; id < 100000; ++id) {
    const auto& c = centre[random() % 300];
    const bool is_near = random() % 5 > 0;
    Vec3 p;
    for (int a = 0; a < 3; ++a) {
      const double offset = uniform() + uniform() + uniform() - 1.5;
      p[a] = box.wrap(a, is_near ? c[a] + 0.02 * c[3] * offset : uniform());
    }
    const double speed[3] = {uniform() + c[0], uniform() + c[1], uniform() + c[2]};
    if (blocks.owner(p) != rank) continue;
    mine.xyz.insert(mine.xyz.end(), p.begin(), p.end());
    for (int a = 0; a < 3; ++a) mine.v[a].push_back(speed[a]);
    mine.ids.push_back(id);
  }
  return mine;
}

void find(comm::Transport& transport) {
  // A periodic cube, cut into blocks of cells.
  const Decomposition blocks({{{0, 0, 0}, {1, 1, 1}, {true, true, true}}, {16, 16, 16}}, transport.size());
  const Particles mine = particles(blocks, transport.rank());

  FriendsOfFriends friends(transport, blocks, {.linking = {0.2, Length::Unit::spacing}, .least_members = 20});
  FriendColumns columns;
  for (const auto& v : mine.v) columns.velocity.push_back({v.data()});
  const FriendLabels labels = friends.label(PointView::rows(mine.xyz.data(), mine.ids.size()), mine.ids, columns);
  // labels.group[i] is the halo of particle i: the lowest id in it, whichever ranks it covers.

  auto halos = comm::gather_to_first(transport, std::span<const FriendGroup>(labels.groups)).flat();
  if (transport.rank() != 0) return;
  std::sort(halos.begin(), halos.end(), [](const FriendGroup& a, const FriendGroup& b) {
    return a.members != b.members ? a.members > b.members : a.id < b.id;
  });
  std::printf("%zu halos of at least 20 of 100000 particles; the largest:\n", halos.size());
  for (std::size_t i = 0; i < std::min<std::size_t>(halos.size(), 5); ++i)
    std::printf("  id %6ld  %5ld members  centre %.6f %.6f %.6f  velocity %.6f %.6f %.6f%s\n",
                static_cast<long>(halos[i].id), static_cast<long>(halos[i].members), halos[i].centre[0],
                halos[i].centre[1], halos[i].centre[2], halos[i].velocity[0], halos[i].velocity[1],
                halos[i].velocity[2], halos[i].winds ? "  winds round the box" : "");
}

int main(int argc, char** argv) { return start(argc, argv, find); }
