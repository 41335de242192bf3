#pragma once
/// A plane of blocks as an SVG document.
#include <cstdint>
#include <functional>
#include <string>

#include "examples/simulations/halo.hpp"

namespace merganser::app::demo {

struct PictureOf {
  simulations::Plane plane;
  std::string title;
  std::string caption;
  std::function<std::uint32_t(std::int64_t)> colour;  ///< 0xRRGGBB of a cell, by number
  std::function<int(std::int64_t)> owner;             ///< rank that holds a block, -1 where there is none
};
/// Cells from the lower left; equal colours along a row become one rectangle. Blocks are outlined in their owner's colour.
[[nodiscard]] std::string draw(const PictureOf& picture);

/// A colour that is told from those of the numbers before.
[[nodiscard]] std::uint32_t colour_of(std::int64_t number, double lightness);

}  // namespace merganser::app::demo
