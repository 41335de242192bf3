#pragma once
/// Files of points, read by all ranks together.
#include <string>

#include "merganser/comm/transport.hpp"
#include "merganser/msf/euclidean.hpp"

namespace merganser::app {

/// How many points a file has: of .npy as its header says, of text by its size and first lines.
struct PointsSize {
  double points = 0;
  bool exact = false;
  int dimension = 3;         ///< of text as its first row has it
  double bytes_to_read = 0;  ///< memory of all ranks together while it is read
};
/// Local. @throws InputError
[[nodiscard]] PointsSize size_of_points(const std::string& file);

/// Points of a file, and how they are written there.
struct PointsOfFile {
  msf::Points points;
  std::string format;  ///< "2 columns x, y; separator ','; heading", on every rank; empty of .npy
};

/// Text (a row of numbers per point, as docs/tables.md says: one separator, the same number of cells in every row, maybe a heading;
/// # begins a comment) or .npy (float32 or float64 in any byte order, rows or columns first). Each rank reads its share of the bytes;
/// points are in the order of the file, and have no ids. Nothing is periodic. What may not be meant as it is read is told in the
/// log. Collective.
/// @throws InputError on every rank, with row, column and line, or what is wrong in the header
[[nodiscard]] PointsOfFile read_points(const std::string& file, comm::Transport& transport);

}  // namespace merganser::app
