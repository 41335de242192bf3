#pragma once
/// Encoding of rasters as PNG, for pictures that hold fields.
#include <array>
#include <cstdint>
#include <string>
#include <vector>

namespace merganser::app::png {

using Colour = std::array<std::uint8_t, 3>;  ///< colour of a pixel: red, green, blue

/// Encodes a raster as an uncompressed PNG file. @param pixels  width x height colours, row by row from the top
[[nodiscard]] std::string encode(const std::vector<Colour>& pixels, std::uint32_t width, std::uint32_t height);

/// Encodes the bytes of a picture in base64, for a data URL within SVG or HTML.
[[nodiscard]] std::string base64(const std::string& bytes);

}  // namespace merganser::app::png
