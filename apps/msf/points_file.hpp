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
  int dimension = 3;         ///< of text as its first line with numbers has it
  double bytes_to_read = 0;  ///< memory of all ranks together while it is read
};
/// Local. @throws InputError
[[nodiscard]] PointsSize size_of_points(const std::string& file);

/// Text (the coordinates of a point per line, separated by blanks or commas; # begins a comment; a first line without a
/// number is a header) or .npy (float32 or float64, little-endian, one row per point). Each rank reads its share of the bytes; points
/// are in the order of the file, and have no ids. Nothing is periodic. Collective.
/// @throws InputError on every rank, with the line or what is wrong in the header
[[nodiscard]] msf::Points read_points(const std::string& file, comm::Transport& transport);

}  // namespace merganser::app
