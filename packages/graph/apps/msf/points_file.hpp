#pragma once
/// Parallel reading of files of points: tables of text, and NumPy arrays, plain or compressed.
#include <cstdint>
#include <string>

#include "merganser/comm/transport.hpp"
#include "merganser/msf/euclidean.hpp"

namespace merganser::app {

/// Size of a file of points, by estimate_points_size(): of .npy by its header, of text estimated by its size and first lines.
struct PointsSize {
  std::uint64_t bytes = 0;   ///< length of the file, decompressed, in bytes
  double points = 0;         ///< number of points
  bool exact = false;        ///< the number is exact, not an estimate
  int dimension = 3;         ///< coordinates per point; of text: entries of its first row
  double bytes_to_read = 0;  ///< memory of all ranks together while it is read
};
/// Determines or estimates the size of a file of points. Local; a compressed file is decompressed for it. @throws InputError if it
/// cannot be read
[[nodiscard]] PointsSize estimate_points_size(const std::string& file);

/// This rank's points of a file, filled by read_points(), and a description of the file's layout.
struct PointsOfFile {
  msf::Points points;  ///< coordinates of this rank's share
  std::string format;  ///< "2 columns x, y; separator ','; heading", the same on every rank; empty for .npy
};

/// Reads this rank's share of the points in a file. Collective; each rank reads its share of the bytes. Of a compressed file each
/// rank decompresses the bytes up to the end of its share and keeps the share.
///
/// The file is text (a row of numbers per point, see docs/tables.md: one separator, the same number of columns in every row, an
/// optional heading; # begins a comment) or .npy (float16 to float64 or integers of up to 64 bits, in any byte order, row- or
/// column-major; integers that float64 does not hold are refused). Points are in the order of the file, and have no ids and no periodic axes. Ambiguities of the text are logged.
/// @param bytes  PointsSize::bytes of the file, if the caller has them, so that a compressed file is not decompressed for them
/// again; 0: unknown
/// @throws InputError on every rank, with row, column and line, or the error of the header
[[nodiscard]] PointsOfFile read_points(const std::string& file, comm::Transport& transport, std::uint64_t bytes = 0);

}  // namespace merganser::app
