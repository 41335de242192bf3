// Checks of positions against the domain, and formats of points and boxes in error messages.
#include "merganser/geometry/box_checks.hpp"

#include <cmath>

#include "merganser/base/text.hpp"

namespace merganser {

// Tests that a position is finite and, on axes with walls, within the domain.
bool is_between_walls(const Box& box, const Vec3& p) {
  for (int a = 0; a < 3; ++a) {
    const bool inside = p[a] >= box.lower[a] && p[a] <= box.lower[a] + box.extent[a];
    if (!std::isfinite(p[a]) || !(box.periodic[a] || inside)) return false;
  }
  return true;
}

std::string point_text(const Vec3& p) {
  return "(" + number_text(p[0]) + ", " + number_text(p[1]) + ", " + number_text(p[2]) + ")";
}

// Formats a domain for error messages: half-open intervals on periodic axes, closed ones between walls.
std::string box_text(const Box& box) {
  std::string out;
  std::string axes;
  for (int a = 0; a < 3; ++a) {
    out += a > 0 ? " x [" : "[";
    out += number_text(box.lower[a]) + ", " + number_text(box.lower[a] + box.extent[a]);
    out += box.periodic[a] ? ')' : ']';
    if (box.periodic[a]) axes += (axes.empty() ? ", periodic in " : " and ") + std::string(1, "xyz"[a]);
  }
  return out + axes;
}

}  // namespace merganser
