#pragma once
/// Stars that Python holds: which points of this process merge into which, and what comes from other ranks.
#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "merganser/cluster/star_finder.hpp"
#include "python/src/arrays.hpp"
#include "python/src/team.hpp"

namespace merganser::python {

/// What stars() was given; it owns its arrays, since an interrupted call may outlive its caller.
struct StarTask {
  Rows<double> points;
  Line<std::uint8_t> small;
  std::optional<Line<std::int64_t>> ids;
  std::optional<Box> box;                     ///< none: the least that holds all points
  std::optional<Decomposition::Block> block;  ///< where this process's points lie, if they lie where they belong
};

/// A point that comes from another rank.
struct Receive {
  std::int64_t centre;  ///< position of its centre, here
  std::int64_t source;  ///< its position, there
  std::int32_t rank;    ///< where it is
};

/// The stars of a process's points. Positions are those in the arrays that a rank gave.
struct Stars {
  std::shared_ptr<Team> team;
  Box box;
  int dimension = 3;
  std::vector<std::int64_t> centre;  ///< by point: position of its centre, its own if it stays
  std::vector<std::int32_t> rank;    ///< by point: where that is; empty if all ranks are in this process
  std::vector<std::int64_t> ids;     ///< by point
  std::vector<std::int64_t> sends;   ///< points whose centre is elsewhere, by its rank, in ascending order
  std::vector<Receive> receives;     ///< by rank and position
};

/// Finds the stars of this rank's points. Collective. @param share  which of the task's points are this rank's
void find_stars(const StarTask& task, RowRange share, comm::Transport& transport, Stars& stars);

/// Sends a row of each of stars.sends to the rank of its centre. Collective. @return a row for each of stars.receives
[[nodiscard]] std::vector<std::byte> migrate(const Stars& stars, std::span<const std::byte> rows, std::size_t row_bytes,
                                             comm::Transport& transport);

}  // namespace merganser::python
