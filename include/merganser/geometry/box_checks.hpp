#pragma once
/// Validation of positions that a caller passes (periodic axes wrap, walls bound), and formatting of points and boxes for error
/// messages.
#include <string>

#include "merganser/geometry/box.hpp"

namespace merganser {

/// Returns true if a point is finite and, on axes with walls, within the box, its faces included; Box::wrap() then maps it into the
/// box.
[[nodiscard]] bool is_between_walls(const Box& box, const Vec3& p);
/// Returns a finite point with its coordinates on periodic axes mapped into the box by Box::wrap().
[[nodiscard]] inline Vec3 wrapped(const Box& box, const Vec3& p) {
  return {box.wrap(0, p[0]), box.wrap(1, p[1]), box.wrap(2, p[2])};
}
/// Formats the coordinates of a point for error messages, with all digits: "(51, 0.1, 1e-17)".
[[nodiscard]] std::string point_text(const Vec3& p);
/// Formats a domain (box) for error messages, with all digits: "[0, 50) x [0, 50) x [0, 1], periodic in x and y".
[[nodiscard]] std::string box_text(const Box& box);

}  // namespace merganser
