#pragma once
/// Names in VTK's XML files that reader and writer share: types of numbers, the time.
#include <array>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "src/io/columns.hpp"

namespace merganser::io {

/// Name of the field data that VTK takes for the time.
inline constexpr const char* kVtkTime = "TimeValue";
/// Types of numbers in VTK's XML files, by name.
inline constexpr std::array<std::pair<FileType, const char*>, 10> kVtkTypes{{{FileType::i8, "Int8"},
                                                                             {FileType::u8, "UInt8"},
                                                                             {FileType::i16, "Int16"},
                                                                             {FileType::u16, "UInt16"},
                                                                             {FileType::i32, "Int32"},
                                                                             {FileType::u32, "UInt32"},
                                                                             {FileType::i64, "Int64"},
                                                                             {FileType::u64, "UInt64"},
                                                                             {FileType::f32, "Float32"},
                                                                             {FileType::f64, "Float64"}}};

/// Returns the name of a type of numbers in VTK's XML files.
[[nodiscard]] inline std::string vtk_type_name(FileType type) {
  for (const auto& [known, name] : kVtkTypes)
    if (known == type) return name;
  return "Float64";
}

/// Returns the type of numbers that VTK's XML files call so; nothing for others.
[[nodiscard]] inline std::optional<FileType> parse_vtk_type(std::string_view name) {
  for (const auto& [type, known] : kVtkTypes)
    if (known == name) return type;
  return std::nullopt;
}

}  // namespace merganser::io
