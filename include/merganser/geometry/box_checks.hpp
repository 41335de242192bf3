#pragma once
/// The rule for positions that a caller gives: periodic axes wrap, walls refuse. And a box as words for errors.
#include <string>

#include "merganser/geometry/box.hpp"

namespace merganser {

/// Whether a point is finite and not outside of a wall of the box; Box::wrap() then brings it inside.
[[nodiscard]] bool between_walls(const Box& box, const Vec3& p);
/// The point with its periodic axes wrapped.
[[nodiscard]] inline Vec3 wrapped(const Box& box, const Vec3& p) {
  return {box.wrap(0, p[0]), box.wrap(1, p[1]), box.wrap(2, p[2])};
}
/// A point with every digit: "(51, 0.1, 1e-17)".
[[nodiscard]] std::string point_text(const Vec3& p);
/// The box with every digit: "[0, 50) x [0, 50) x [0, 1], periodic in x and y".
[[nodiscard]] std::string box_text(const Box& box);

}  // namespace merganser
