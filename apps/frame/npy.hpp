#pragma once
/// Headers of array files of NumPy (.npy), which precede the numbers: parsing of versions 1 to 3, writing of version 1.0.
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace merganser::app {

inline constexpr std::string_view kNpyMagic{"\x93NUMPY", 6};  ///< first bytes of a .npy file
inline constexpr std::uint64_t kMaxNpyHead = 1 << 16;         ///< largest header of a .npy file that is read, in bytes

/// Header of NumPy's array file (.npy); filled by parse_npy_head().
struct NpyHead {
  std::uint64_t data = 0;            ///< offset of the numbers in the file, in bytes
  std::string type;                  ///< type descriptor as written: "'<f8'" or a list
  bool fortran_order = false;        ///< true: the array is stored by columns
  std::vector<std::uint64_t> shape;  ///< length of each axis; empty if it is no tuple of whole numbers
  std::string shape_text;            ///< shape as written in the header, "(3, 2)"
};

/// Parses the header of a .npy file of version 1 to 3.
/// @param file   name of the file, for messages
/// @param begin  first bytes of the file, up to kMaxNpyHead of them
/// @throws InputError if they are no such header, or the header is longer
[[nodiscard]] NpyHead parse_npy_head(const std::string& file, std::string_view begin);

/// Returns the header of a .npy file of version 1.0 for an array stored by rows (C order), padded to a multiple of 64 bytes.
/// @param type   quoted type descriptor, as "'<f8'"
/// @param shape  lengths of the axes, as "3, 2" or "3,"
[[nodiscard]] std::string npy_head(const std::string& type, const std::string& shape);

}  // namespace merganser::app
