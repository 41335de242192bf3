#pragma once
/// Stars that Python owns: the centre of every point of this process, and the messages that migrate rows to centres.
#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "merganser/cluster/star_finder.hpp"
#include "python/src/arrays.hpp"
#include "python/src/team.hpp"

namespace merganser::python {

/// Arguments of merganser.stars(). A StarTask owns its arrays, since an interrupted call may outlive its caller.
struct StarTask {
  Rows<double> points;                    ///< coordinates of this process's points, shape (n, 2) or (n, 3)
  Line<std::uint8_t> small;               ///< by point: not 0 if it links to its nearest neighbour, to merge with it
  std::optional<Line<std::int64_t>> ids;  ///< ids of the points, unique over all ranks; none: consecutive
  std::optional<Box> box;                 ///< domain of the points; none: the bounding box of all ranks' points
  std::optional<Decomposition::Block> block;  ///< block of this rank if it contains all of its points; none: unknown
};

/// Message row that this rank receives when rows migrate to centres: a star source of another rank whose centre is on this one.
struct Receive {
  std::int64_t centre;  ///< position of the centre in this rank's arrays
  std::int64_t source;  ///< position of the source in the arrays of its rank
  std::int32_t rank;    ///< rank of the source
};

/// Stars of a process's points, filled by find_stars() for merganser.stars(): each point stays or merges into the centre of its
/// star. Positions are indices of the arrays that a rank passed.
struct Stars {
  std::shared_ptr<Team> team;        ///< ranks that found the stars
  Box box;                           ///< domain of the points
  int dimension = 3;                 ///< dimensions of the points: 2 or 3
  std::vector<std::int64_t> centre;  ///< position of the centre of each point; its own if it stays
  std::vector<std::int32_t> rank;    ///< rank of the centre of each point; empty if all ranks are in this process
  std::vector<std::int64_t> ids;     ///< id of each point
  std::vector<std::int64_t> sends;   ///< points whose centre is on another rank, by that rank, then ascending
  std::vector<Receive> receives;     ///< rows to be received, by rank, then by the source's position
};

/// Finds the stars of this rank's points for merganser.stars(): links of small points to nearest neighbours, pruned. Collective.
/// @param share  rows of the task's points that this rank passes
/// @param stars  receives the result for these points
/// @throws UsageError on every rank if ranks differ in what they pass; InputError on every rank for invalid points or equal ids
void find_stars(const StarTask& task, RowRange share, comm::Transport& transport, Stars& stars);

/// Sends the row (`row_bytes` bytes) of each point in stars.sends to the rank of the centre of its star. Collective.
/// @return a row for each of stars.receives, in that order
/// @throws CommError if rows differ in length between ranks
[[nodiscard]] std::vector<std::byte> migrate(const Stars& stars, std::span<const std::byte> rows, std::size_t row_bytes,
                                             comm::Transport& transport);

}  // namespace merganser::python
