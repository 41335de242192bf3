// Reader of points in NumPy arrays: float32 or float64 of any byte order, row- or column-major; each rank reads its rows.
#include "apps/msf/points_npy.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <bit>
#include <cstring>

#include "apps/frame/npy.hpp"
#include "apps/msf/points_bytes.hpp"
#include "merganser/base/error.hpp"

namespace merganser::app {
namespace {

constexpr std::uint64_t kMaxColumns = 1 << 16;

/// Throws the error of a NumPy array of another type than floating-point numbers. @throws InputError with advice by the type
[[noreturn]] void refuse_type(const std::string& file, const std::string& type) {
  const std::string shown = type.substr(0, 80);
  if (type.starts_with('['))
    throw InputError(file + ": a structured array, " + shown +
                     "; allowed: '<f8', '<f4', '>f8', '>f4' (numpy.lib.recfunctions.structured_to_unstructured())");
  if (type.find('O') != std::string::npos)
    throw InputError(
        file + ": objects of Python (" + shown +
        "), which are pickled and are not read; allowed: '<f8', '<f4', '>f8', '>f4' (array.astype(float))");
  throw InputError(file + ": numbers of type " + shown + "; allowed: '<f8', '<f4', '>f8', '>f4' (array.astype(float))");
}

/// Converts a number of a NumPy array, whose bytes begin at `from`, to double. @param swapped  the bytes are big-endian
template <class Bits, class Number>
double number_at(const char* from, bool swapped) {
  Bits bits = 0;
  if (swapped) {
    for (std::size_t i = 0; i < sizeof bits; ++i) bits = bits << 8U | static_cast<unsigned char>(from[i]);
  } else {
    std::memcpy(&bits, from, sizeof bits);
  }
  return static_cast<double>(std::bit_cast<Number>(bits));
}

/// Converts a number of a NumPy array of points to double by the array's type and byte order.
double number_at(const char* from, const PointsArray& array) {
  static_assert(std::endian::native == std::endian::little);
  return array.bytes == 8 ? number_at<std::uint64_t, double>(from, array.big_endian)
                          : number_at<std::uint32_t, float>(from, array.big_endian);
}

}  // namespace

// Header of a .npy file of points: type, shape and byte order are checked, and the data must fill the file.
PointsArray parse_points_array(const std::string& file, std::string_view begin, std::uint64_t size) {
  const NpyHead head = parse_npy_head(file, begin);
  const bool is_double = head.type == "'<f8'" || head.type == "'>f8'";
  if (!is_double && head.type != "'<f4'" && head.type != "'>f4'") refuse_type(file, head.type);
  if (head.shape.size() != 2 || head.shape[1] < 1 || head.shape[1] > kMaxColumns ||
      head.shape[0] > (std::uint64_t{1} << 48U) / head.shape[1])
    throw InputError(file + ": shape " + head.shape_text.substr(0, 40) + "; allowed: (n, 1) to (n, 65536)");
  const PointsArray array{head.data,           head.shape[0],       head.shape[1],
                          is_double ? 8U : 4U, head.type[1] == '>', head.fortran_order};
  if (size - array.data != array.rows * array.columns * array.bytes)
    throw InputError(fmt::format("{}: {} bytes behind the header; allowed: {}, as its shape says", file,
                                 size - array.data, array.rows * array.columns * array.bytes));
  return array;
}

// This rank's rows of a .npy file of points, converted to float64.
msf::Points read_points_array(const std::string& file, const PointsArray& array, const comm::Transport& transport) {
  const std::uint64_t first = share_begin(array.rows, transport.rank(), transport.size());
  const std::uint64_t rows = share_begin(array.rows, transport.rank() + 1, transport.size()) - first;
  msf::Points points;
  points.dimension = static_cast<int>(array.columns);
  points.coordinates.resize(rows * array.columns);
  const PointsBytes in(file);
  const auto read = [&](std::uint64_t begin, std::uint64_t numbers) {
    std::string bytes = in.read(array.data + begin * array.bytes, numbers * array.bytes);
    if (bytes.size() != numbers * array.bytes)
      throw InputError(file + ": ended while it was read; allowed: a file that stays");
    return bytes;
  };
  if (!array.column_major) {
    const std::string bytes = read(first * array.columns, rows * array.columns);
    for (std::size_t i = 0; i < points.coordinates.size(); ++i)
      points.coordinates[i] = number_at(bytes.data() + array.bytes * i, array);
    return points;
  }
  // Column-major: this rank's rows are one run of bytes in each column.
  for (std::uint64_t column = 0; rows > 0 && column < array.columns; ++column) {
    const std::string bytes = read(column * array.rows + first, rows);
    for (std::size_t i = 0; i < rows; ++i)
      points.coordinates[i * array.columns + column] = number_at(bytes.data() + array.bytes * i, array);
  }
  return points;
}

}  // namespace merganser::app
