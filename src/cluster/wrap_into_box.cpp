// Wrapping of moved parcels into the box before their owners are determined.
#include "src/cluster/wrap_into_box.hpp"

#include <algorithm>
#include <cmath>
#include <string>

#include "merganser/base/error.hpp"
#include "merganser/base/text.hpp"
#include "merganser/geometry/box_checks.hpp"
#include "src/cluster/owner_checks.hpp"

namespace merganser::cluster {

// Position of a parcel before its owner is determined, in distribute() and redistribution: wrapped, or clamped at walls.
void wrap_into_box(const Box& box, const Parcels& parcels, std::size_t i, Site& s, Walls walls) {
  const Vec3 given{s.x, s.y, s.z};
  double* const x[3] = {&s.x, &s.y, &s.z};
  for (int a = 0; a < 3; ++a) {
    if (!std::isfinite(given[a]))
      throw InputError("parcel id " + std::to_string(parcels.id(i)) + ": coordinate " + "xyz"[a] + " is " +
                       number_text(given[a]) + "; must be finite");
    if (box.periodic[a]) {
      *x[a] = box.wrap(a, given[a]);
      continue;
    }
    const double inside = std::clamp(given[a], box.lower[a], box.lower[a] + box.extent[a]);
    if (walls == Walls::refuse && std::fabs(given[a] - inside) > rounding_bound(box, a))
      throw InputError("parcel id " + std::to_string(parcels.id(i)) + " at " + point_text(given) +
                       " is outside of a wall of the box " + box_text(box) +
                       "; allowed: positions between the walls; periodic axes are wrapped");
    *x[a] = inside;
  }
}

}  // namespace merganser::cluster
