#pragma once
/// Reading of points from NumPy arrays (.npy).
#include <cstdint>
#include <string>
#include <string_view>

#include "merganser/comm/transport.hpp"
#include "merganser/msf/euclidean.hpp"

namespace merganser::app {

/// Kinds of numbers in NumPy arrays of points.
enum class ArrayNumber : std::uint8_t { real, integer, natural };

/// Layout of a NumPy array of points in a file, by parse_points_array().
struct PointsArray {
  std::uint64_t data = 0;     ///< offset of the first number in the file, in bytes
  std::uint64_t rows = 0;     ///< number of points
  std::uint64_t columns = 0;  ///< number of coordinates of a point
  std::uint64_t bytes = 8;    ///< size of a number: 2, 4 or 8; of integers 1 too
  ArrayNumber kind =
      ArrayNumber::real;      ///< floating-point numbers (float16 to float64), integers with or without a sign
  bool big_endian = false;    ///< highest byte first
  bool column_major = false;  ///< columns one after the other (Fortran order)
};

/// Parses the header of a NumPy array of points and checks that it fits the size of the file. Local.
/// @param head  first bytes of the file @param size  of the file in bytes
/// @throws InputError for what is no array (n, d) of float16, float32, float64 or integers of up to 64 bits
[[nodiscard]] PointsArray parse_points_array(const std::string& file, std::string_view head, std::uint64_t size);

/// Reads this rank's rows of a NumPy array of points. Local. @throws InputError if the file ends too early, and for an integer that
/// float64 does not hold exactly, of several the one in the first row
[[nodiscard]] msf::Points read_points_array(const std::string& file, const PointsArray& array,
                                            const comm::Transport& transport);

}  // namespace merganser::app
