// Reader of points in NumPy arrays: floating-point numbers or integers of any byte order, row- or column-major; each rank reads its
// rows.
#include "apps/msf/points_npy.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <limits>
#include <type_traits>

#include "apps/frame/npy.hpp"
#include "apps/msf/points_bytes.hpp"
#include "merganser/base/error.hpp"

namespace merganser::app {
namespace {

constexpr std::uint64_t kMaxColumns = 1 << 16;

constexpr const char* kTypes =
    "'<f8', '<f4', '<f2', '<i8', '<i4', '<i2', '|i1', '<u8', '<u4', '<u2', '|u1', and the same with '>' "
    "(array.astype(float))";

/// Throws the error of a NumPy array of a type that points are not read from. @throws InputError with advice by the type
[[noreturn]] void refuse_type(const std::string& file, const std::string& type) {
  const std::string shown = type.substr(0, 80);
  if (type.starts_with('['))
    throw InputError(file + ": a structured array, " + shown + "; allowed: " + kTypes +
                     " (numpy.lib.recfunctions.structured_to_unstructured())");
  if (type.find('O') != std::string::npos)
    throw InputError(file + ": objects of Python (" + shown +
                     "), which are pickled and are not read; allowed: " + kTypes);
  throw InputError(file + ": numbers of type " + shown + "; allowed: " + kTypes);
}

/// Parses the type of the numbers of a NumPy array, in quotes as in its header, into the layout of the array. @return false for
/// types that points are not read from
bool parse_type(std::string_view type, PointsArray& array) {
  if (type.size() != 5 || type.front() != '\'' || type.back() != '\'') return false;
  const char order = type[1], kind = type[2], digit = type[3];
  array.bytes = static_cast<std::uint64_t>(digit - '0');
  array.big_endian = order == '>';
  array.kind = kind == 'f' ? ArrayNumber::real : kind == 'i' ? ArrayNumber::integer : ArrayNumber::natural;
  // A byte has no order, and NumPy writes '|' for it. '=' would be the order of the machine that wrote the file, which is not known.
  const bool ordered = order == '<' || order == '>';
  if (kind != 'f' && kind != 'i' && kind != 'u') return false;
  if (digit == '1') return kind != 'f' && (ordered || order == '|');
  return ordered && (digit == '2' || digit == '4' || digit == '8');
}

/// Number of a NumPy array of points as double.
struct ArrayValue {
  double value;
  bool exact;  ///< the array's number is this one; false: an integer that double does not hold
};

/// Returns the value of a number of IEEE 754 binary16 (float16), which double holds exactly.
double half_value(std::uint16_t bits) {
  const int exponent = bits >> 10 & 31;
  const double fraction = bits & 1023;
  const double sign = bits >> 15 != 0 ? -1 : 1;
  if (exponent == 31)
    return fraction == 0 ? sign * std::numeric_limits<double>::infinity() : std::numeric_limits<double>::quiet_NaN();
  return sign * (exponent == 0 ? std::ldexp(fraction, -24) : std::ldexp(1024 + fraction, exponent - 25));
}

/// Converts the bits of a number of a NumPy array to double. @tparam Number  type of the number; std::uint16_t with `real`: float16
template <class Number, bool real>
ArrayValue value_of(auto bits) {
  if constexpr (real && sizeof bits == 2) {
    return {half_value(bits), true};
  } else if constexpr (real) {
    return {static_cast<double>(std::bit_cast<Number>(bits)), true};
  } else {
    const auto number = static_cast<Number>(bits);
    const std::uint64_t magnitude =
        number < 0 ? 0 - static_cast<std::uint64_t>(number) : static_cast<std::uint64_t>(number);
    const bool exact = magnitude == 0 || std::bit_width(magnitude) - std::countr_zero(magnitude) <= 53;
    return {static_cast<double>(number), exact};
  }
}

/// Reads the bits of a number of a NumPy array, whose bytes begin at `from`, on machines of any byte order. @param big_endian  of the
/// array
template <class Bits>
Bits bits_at(const char* from, bool big_endian) {
  Bits bits = 0;
  if (big_endian == (std::endian::native == std::endian::big)) {
    std::memcpy(&bits, from, sizeof bits);
  } else {
    char turned[sizeof bits];
    std::reverse_copy(from, from + sizeof bits, turned);
    std::memcpy(&bits, turned, sizeof bits);
  }
  return bits;
}

/// Calls `use` with a function that converts the number at a place of a NumPy array's bytes to ArrayValue, by the array's type and
/// byte order.
void with_reader(const PointsArray& array, const auto& use) {
  const bool big_endian = array.big_endian;
  const auto of_width = [&]<class Bits, class Real>(Bits, Real) {
    if (array.kind == ArrayNumber::real)
      use([=](const char* at) { return value_of<Real, true>(bits_at<Bits>(at, big_endian)); });
    else if (array.kind == ArrayNumber::integer)
      use([=](const char* at) { return value_of<std::make_signed_t<Bits>, false>(bits_at<Bits>(at, big_endian)); });
    else
      use([=](const char* at) { return value_of<Bits, false>(bits_at<Bits>(at, big_endian)); });
  };
  if (array.bytes == 8) return of_width(std::uint64_t{}, double{});
  if (array.bytes == 4) return of_width(std::uint32_t{}, float{});
  if (array.bytes == 2) return of_width(std::uint16_t{}, std::uint16_t{});
  of_width(std::uint8_t{}, std::uint8_t{});
}

/// Number of a NumPy array of points that double does not hold, by its place in this rank's rows.
struct InexactNumber {
  std::size_t place = SIZE_MAX;  ///< row times columns plus column; SIZE_MAX: none
  std::string bytes;             ///< of the number, as in the file
};

/// Throws the error of an integer of a NumPy array that double does not hold. @param first  this rank's first row
[[noreturn]] void refuse_inexact(const std::string& file, const PointsArray& array, std::uint64_t first,
                                 const InexactNumber& number) {
  const auto bits = bits_at<std::uint64_t>(number.bytes.data(), array.big_endian);  // shorter ones are held
  const std::string text =
      array.kind == ArrayNumber::integer ? std::to_string(static_cast<std::int64_t>(bits)) : std::to_string(bits);
  throw InputError(
      fmt::format("{}: row {}, column {}: {}, which float64 does not hold; allowed: integers up to 2^53, or any "
                  "that float64 holds exactly (array.astype(float) rounds)",
                  file, first + number.place / array.columns + 1, number.place % array.columns + 1, text));
}

}  // namespace

// Header of a .npy file of points: type, shape and byte order are checked, and the data must fill the file.
PointsArray parse_points_array(const std::string& file, std::string_view begin, std::uint64_t size) {
  const NpyHead head = parse_npy_head(file, begin);
  PointsArray array;
  if (!parse_type(head.type, array)) refuse_type(file, head.type);
  if (head.shape.size() != 2 || head.shape[1] < 1 || head.shape[1] > kMaxColumns ||
      head.shape[0] > (std::uint64_t{1} << 48U) / head.shape[1])
    throw InputError(file + ": shape " + head.shape_text.substr(0, 40) + "; allowed: (n, 1) to (n, 65536)");
  array.data = head.data;
  array.rows = head.shape[0];
  array.columns = head.shape[1];
  array.column_major = head.fortran_order;
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
  InexactNumber wrong;
  // Converts a run of numbers to coordinates at `place` and every `stride` behind it.
  const auto convert = [&](const std::string& bytes, std::size_t place, std::size_t stride) {
    with_reader(array, [&](const auto& reader) {
      for (std::size_t at = 0; at < bytes.size(); at += array.bytes, place += stride) {
        const ArrayValue number = reader(bytes.data() + at);
        points.coordinates[place] = number.value;
        if (!number.exact && place < wrong.place) wrong = {place, bytes.substr(at, array.bytes)};
      }
    });
  };
  if (!array.column_major) convert(read(first * array.columns, rows * array.columns), 0, 1);
  // Column-major: this rank's rows are one run of bytes in each column.
  for (std::uint64_t column = 0; array.column_major && rows > 0 && column < array.columns; ++column)
    convert(read(column * array.rows + first, rows), column, array.columns);
  if (wrong.place != SIZE_MAX) refuse_inexact(file, array, first, wrong);
  return points;
}

}  // namespace merganser::app
