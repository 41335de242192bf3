#pragma once
/// The head of array files of NumPy (.npy): what stands before the numbers.
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace merganser::app {

inline constexpr std::string_view kNpyMagic{"\x93NUMPY", 6};  ///< first bytes of a file
inline constexpr std::uint64_t kMaxNpyHead = 1 << 16;         ///< bytes of a head that is read

struct NpyHead {
  std::uint64_t data = 0;            ///< where the numbers begin
  std::string type;                  ///< as it stands: "'<f8'" or a list
  bool fortran_order = false;        ///< columns one after the other
  std::vector<std::uint64_t> shape;  ///< empty if it is no tuple of whole numbers
  std::string shape_text;            ///< as it stands
};

/// The head of a file of version 1 to 3.
/// @param file  its name, for messages
/// @param begin  its first bytes, up to kMaxNpyHead of them
/// @throws InputError for what is no such head
[[nodiscard]] NpyHead parse_npy_head(const std::string& file, std::string_view begin);

/// A head of version 1.0 for rows (C order). @param type  as "'<f8'" @param shape  as "3, 2" or "3,"
[[nodiscard]] std::string npy_head(const std::string& type, const std::string& shape);

}  // namespace merganser::app
