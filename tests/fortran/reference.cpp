// What the clusterer and the friends of friends of C++ make of the parcels of the tests in Fortran, on one rank.
#include <algorithm>
#include <cstdint>
#include <string>

#include "merganser/cluster/cluster.hpp"
#include "merganser/cluster/friends.hpp"
#include "merganser/comm/open.hpp"
#include "merganser/parcels/statistics.hpp"

using namespace merganser;

namespace {

/// Grid of the tests in Fortran.
Grid the_grid() { return {{{-1, 0, 0.5}, {2, 1, 1}, {true, true, false}}, {20, 10, 10}}; }

}  // namespace

extern "C" void reference_digest(const char* policy, int steps, int n, const double* position, const double* volume,
                                 const double* vorticity, const double* buoyancy, const double* b,
                                 const std::int64_t* id, char* digest_text) {
  const Grid grid = the_grid();
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
  options.policy = parse_policy(policy);
  Clusterer clusterer(*transport, decomposition, p.schema(), options);
  for (int i = 0; i < steps; ++i) {
    clusterer.step(p);
    clusterer.redistribute(p);
  }
  const std::string text = digest(p).to_string();
  std::copy_n(text.c_str(), 33, digest_text);
}

/// Groups of friends of friends of all points: label by point, sum of the masses of groups of 3 points and more, their number.
extern "C" void reference_friends(double length, int n, const double* position, const double* volume,
                                  const std::int64_t* id, std::int64_t* labels, double* mass, std::int64_t* groups) {
  const auto transport = comm::open_alone();
  FriendsOfFriends friends(*transport, Decomposition(the_grid(), 1),
                           {.linking = {length, Length::Unit::spacing}, .least_members = 3});
  const auto size = static_cast<std::size_t>(n);
  const FriendLabels found = friends.label(PointView::rows(position, size), {id, size}, {{volume, 1}, {}, {}});
  std::copy(found.group.begin(), found.group.end(), labels);
  *mass = 0;
  for (const FriendGroup& g : found.groups) *mass += g.mass;
  *groups = static_cast<std::int64_t>(found.groups.size());
}
