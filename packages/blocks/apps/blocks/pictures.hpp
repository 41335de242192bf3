#pragma once
/// Pictures of `announce demo`: a plane of blocks as an SVG document.
#include <cstdint>
#include <functional>
#include <string>

#include "examples/simulations/halo.hpp"

namespace merganser::app::demo {

/// A plane of cells and blocks to draw.
struct PictureOf {
  simulations::Plane plane;
  std::string title;
  std::string caption;
  std::function<std::uint32_t(std::int64_t)> colour;  ///< 0xRRGGBB of a cell, by its number
  std::function<int(std::int64_t)> owner;             ///< rank that holds a block, -1 where there is none
};
/// Draws cells from the lower left, blocks outlined in their owner's colour; equal colours along a row become one rectangle.
[[nodiscard]] std::string draw(const PictureOf& picture);

/// Returns a colour 0xRRGGBB that differs from those of the preceding numbers. @param lightness  in [0, 1]
[[nodiscard]] std::uint32_t distinct_colour(std::int64_t number, double lightness);

}  // namespace merganser::app::demo
