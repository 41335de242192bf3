#pragma once
/// Pictures of `announce demo`: a plane of blocks as an SVG document.
#include <cstdint>
#include <functional>
#include <string>

#include "examples/simulations/halo.hpp"

namespace merganser::app::demo {

/// Contents of a picture of `announce demo`: a plane of cells divided into blocks, with the colours of cells and the owners of
/// blocks.
struct PictureOf {
  simulations::Plane plane;
  std::string title;    ///< headline of the SVG document
  std::string caption;  ///< line of text below the headline
  std::function<std::uint32_t(std::int64_t)>
      colour;                              ///< returns the colour 0xRRGGBB of a cell, by its number in the plane
  std::function<int(std::int64_t)> owner;  ///< returns the rank that holds a block, -1 where there is none
};
/// Draws a plane of a block simulation as SVG: cells from the lower left, blocks outlined in the colour of the rank that owns
/// them; equal colours along a row become one rectangle.
[[nodiscard]] std::string draw(const PictureOf& picture);

/// Returns a colour 0xRRGGBB for a numbered rank or Potts cell that differs from those of the preceding numbers. @param lightness
/// in [0, 1]
[[nodiscard]] std::uint32_t distinct_colour(std::int64_t number, double lightness);

}  // namespace merganser::app::demo
