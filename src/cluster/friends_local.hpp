#pragma once
/// Friends of friends among the points and ghosts of one rank: cells of at least the linking length, trees in crowded
/// cells.
#include <array>
#include <cstdint>
#include <span>
#include <tuple>
#include <vector>

#include "merganser/base/aligned_memory.hpp"
#include "merganser/geometry/box.hpp"
#include "merganser/geometry/point_view.hpp"

namespace merganser::cluster {

/// Periods along each axis by which a point moves relative to another one.
using FriendPeriods = std::array<std::int32_t, 3>;

/// Point of a rank in the search of friends: its position and its number.
struct FriendSpot {
  double x;             ///< x coordinate, inside the box
  double y;             ///< y coordinate, inside the box
  double z;             ///< z coordinate, inside the box
  std::uint32_t point;  ///< number of the point; ghosts come after the points of the rank
  std::uint32_t unused = 0;
};

/// Edge between two friends that are near across periodic faces of the box.
struct FriendEdge {
  std::uint32_t a;  ///< number of a point
  std::uint32_t b;  ///< number of another
  FriendPeriods k;  ///< b is near a when moved by so many periods; not all 0
  friend bool operator==(const FriendEdge&, const FriendEdge&) = default;
  /// Orders edges by their ends, then by k.
  friend bool operator<(const FriendEdge& x, const FriendEdge& y) {
    return std::tie(x.a, x.b, x.k) < std::tie(y.a, y.b, y.k);
  }
};

/// Vector on huge pages, whose memory a search keeps for the next one.
template <class T>
using FriendVector = std::vector<T, AlignedAllocator<T>>;

/// Memory of a search of friends, kept for the next one.
struct FriendWorkspace {
  FriendVector<FriendSpot> spots;      ///< points and ghosts in the order of cells
  FriendVector<std::uint32_t> keys;    ///< by point, then by ghost: its cell
  FriendVector<std::uint32_t> start;   ///< by cell: the first of its spots; and the number of all
  FriendVector<std::uint32_t> parent;  ///< by spot: another one of its set, or itself
  FriendVector<float> filter;          ///< coordinates of spots in single precision (friends_scan.hpp), by axis
};

/// Finds the friends among points and ghosts of this rank. Local. Points connected by edges that cross no periodic face
/// get one number; the others' edges are listed, at least one for each pair of connected sets and each k.
/// @param box      domain; every periodic extent is above twice the length
/// @param length   linking length, in units of the box, inclusive
/// @param own      points of this rank; edges between two ghosts may be left out
/// @param subset   numbers of the points to look at; empty: all
/// @param ghosts   ghosts to look at, with their numbers
/// @param workspace  memory to use
/// @param set      by number: receives the number of a point of the connected set; written for the points looked at
/// @param edges    receives edges across periodic faces, appended
/// Cost: O(n log n) whatever the positions; O(n) where points are spread evenly.
void find_friends(const Box& box, double length, const PointView& own, std::span<const std::uint32_t> subset,
                  std::span<const FriendSpot> ghosts, FriendWorkspace& workspace, std::uint32_t* set,
                  std::vector<FriendEdge>& edges);

}  // namespace merganser::cluster
