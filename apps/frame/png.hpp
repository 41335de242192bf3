#pragma once
/// Rasters as PNG, for pictures that hold fields.
#include <array>
#include <cstdint>
#include <string>
#include <vector>

namespace merganser::app::png {

using Colour = std::array<std::uint8_t, 3>;  ///< red, green, blue

/// A PNG file of width x height colours, rows from the top, not compressed.
[[nodiscard]] std::string encode(const std::vector<Colour>& pixels, std::uint32_t width, std::uint32_t height);

/// The bytes in base64.
[[nodiscard]] std::string base64(const std::string& bytes);

}  // namespace merganser::app::png
