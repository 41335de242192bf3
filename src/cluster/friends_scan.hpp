#pragma once
/// Vectorised comparison of the points of one cell with those around it, in the search of friends of a rank: in single precision,
/// which decides all pairs but those at the linking length.
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace merganser::cluster {

/// Coordinates in single precision of the spots of a rank, in units of about one cell, and the limits of squared distances there.
struct FriendFilter {
  /// Spots beyond the last one whose coordinates may be read.
  static constexpr std::size_t kPadding = 16;
  const float* at[3];  ///< coordinates by axis, in the order of cells
  float period[3];     ///< extents of periodic axes, infinite of others
  float near2;         ///< two spots that are farther apart are no friends
  float sure2;         ///< two spots that are at most so far apart are friends; negative: that is not known of any
};

/// Consecutive spots that may be friends of spots of a cell: of those within the limits.
struct FriendRun {
  std::uint32_t begin;  ///< first of the consecutive spots
  std::uint32_t end;    ///< behind the last of them
  float lower[3];       ///< least coordinates of spots of the cell that are compared
  float upper[3];       ///< greatest coordinates of these
};

/// Pair of spots that are friends, or may be.
struct FriendPair {
  std::uint32_t a;
  std::uint32_t b;
};

/// Pairs that scan_friends() found.
struct FriendPairs {
  std::vector<FriendPair> sure;  ///< friends; grows, and never shrinks
  std::vector<FriendPair> open;  ///< pairs for exact distances to decide; as `sure`
  std::size_t sure_count = 0;    ///< number of pairs in `sure`
  std::size_t open_count = 0;    ///< number of pairs in `open`
};

/// Finds the friends of the spots first .. last - 1, one cell, among each other and in runs of other spots. Local.
/// @param wraps  whether separations may be shorter across a periodic face; then they are taken modulo the periods
/// @param found  receives all pairs that are friends, and perhaps others in FriendPairs::open
/// Cost: O((last - first) (last - first + n)) for n spots in the runs.
void scan_friends(const FriendFilter& filter, std::uint32_t first, std::uint32_t last, std::span<const FriendRun> runs,
                  bool wraps, FriendPairs& found);

}  // namespace merganser::cluster
