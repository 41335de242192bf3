// Links of the parcels in a scene's window before and after pruning, found by comparing all pairs, as a member of the run record.
#include "apps/cluster/links_json.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <map>
#include <numeric>
#include <set>
#include <utility>
#include <vector>

namespace merganser::app {
namespace {

constexpr std::size_t kNone = std::numeric_limits<std::size_t>::max();

/// Returns the displacement between two coordinates along an axis; on a periodic one that to the nearest image, of two the lower one.
double displacement(const Grid& grid, int axis, double from, double to) {
  const double d = to - from;
  return grid.box.periodic[axis] ? d - grid.box.extent[axis] * std::floor(d / grid.box.extent[axis] + 0.5) : d;
}

/// Parcels of a scene with the window's axes: which lie in it, and which is nearest to which.
class WindowLinks {
 public:
  explicit WindowLinks(const Scene& scene) : scene_(scene), grid_(scene.grid), parcels_(scene.before) {
    reach_ = std::numeric_limits<double>::infinity();
    for (int a = 0; a < 3; ++a)
      // Along an axis that is drawn whole there is nothing outside; else the scene has a layer of cells around the window.
      if (scene.window.cells[a] < grid_.cells[a]) reach_ = std::min(reach_, grid_.spacing(a));
  }

  /// Returns the offset of a parcel from the lower face of the window; on periodic axes of the image nearest to its centre.
  [[nodiscard]] double offset(int axis, std::size_t i) const {
    const double spacing = grid_.spacing(axis);
    const double half = 0.5 * length(axis);
    const double centre = grid_.box.lower[axis] + static_cast<double>(scene_.window.first[axis]) * spacing + half;
    return half + displacement(grid_, axis, centre, coordinate(axis, i));
  }
  /// Returns the length of the window along an axis.
  [[nodiscard]] double length(int axis) const {
    return static_cast<double>(scene_.window.cells[axis]) * grid_.spacing(axis);
  }
  /// Returns true if the window is all of a periodic axis, so that its ends are the same place.
  [[nodiscard]] bool is_closed(int axis) const {
    return grid_.box.periodic[axis] && scene_.window.cells[axis] == grid_.cells[axis];
  }
  /// Returns true if the window contains the centre of parcel i.
  [[nodiscard]] bool is_inside(std::size_t i) const {
    for (int a = 0; a < 3; ++a)
      if (const double d = offset(a, i); d < 0 || d >= length(a)) return false;
    return true;
  }
  /// Returns the parcel nearest to parcel i, of several that of least id; kNone if one outside the scene may be nearer.
  [[nodiscard]] std::size_t nearest(std::size_t i) const {
    std::pair<double, std::int64_t> best{reach_ * reach_, std::numeric_limits<std::int64_t>::min()};
    std::size_t found = kNone;
    for (std::size_t j = 0; j < parcels_.size(); ++j) {
      if (j == i) continue;
      double square = 0;
      for (int a = 0; a < 3; ++a) {
        const double d = displacement(grid_, a, coordinate(a, i), coordinate(a, j));
        square += d * d;
      }
      const std::pair<double, std::int64_t> key{square, parcels_.id(j)};
      if (key < best) {
        best = key;
        found = j;
      }
    }
    return found;
  }

 private:
  [[nodiscard]] double coordinate(int axis, std::size_t i) const {
    const Site& s = parcels_.site(i);
    return std::array{s.x, s.y, s.z}[static_cast<std::size_t>(axis)];
  }

  const Scene& scene_;
  const Grid& grid_;
  const Parcels& parcels_;
  double reach_;  // distance up to which the scene has every parcel near a parcel of the window
};

}  // namespace

Json links_json(const Scene& scene) {
  const WindowLinks links(scene);
  const Parcels& parcels = scene.before;
  std::set<std::pair<std::int64_t, std::int64_t>> merged;
  for (const auto& m : scene.merges) merged.emplace(m.source, m.centre);
  const int normal = scene.window.normal;
  const int u = normal == 0 ? 1 : 0;
  const int v = normal == 2 ? 1 : 2;
  constexpr std::array names{"x", "y", "z"};
  Json out = {{"axes", {names[static_cast<std::size_t>(u)], names[static_cast<std::size_t>(v)]}},
              {"extent", {links.length(u), links.length(v)}},
              {"closed", {links.is_closed(u), links.is_closed(v)}}};
  std::map<std::size_t, std::size_t> place;  // of parcels in the columns
  const auto add_parcel = [&](std::size_t i) {
    const auto [entry, is_new] = place.emplace(i, place.size());
    if (is_new) {
      out["u"].push_back(links.offset(u, i));
      out["v"].push_back(links.offset(v, i));
      out["id"].push_back(parcels.id(i));
      out["small"].push_back(parcels.site(i).volume < scene.small_volume);
    }
    return entry->second;
  };
  std::int64_t left_out = 0;
  for (const char* column : {"u", "v", "id", "small", "from", "to", "kept"}) out[column] = Json::array();
  // In the order of ids, which the number of ranks does not change.
  std::vector<std::size_t> order(parcels.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::sort(order.begin(), order.end(), [&](auto a, auto b) { return parcels.id(a) < parcels.id(b); });
  for (const std::size_t i : order) {
    if (!links.is_inside(i)) continue;
    const std::size_t from = add_parcel(i);
    if (!(parcels.site(i).volume < scene.small_volume)) continue;
    const std::size_t j = links.nearest(i);
    if (j == kNone) {
      ++left_out;
      continue;
    }
    out["from"].push_back(from);
    out["to"].push_back(add_parcel(j));
    out["kept"].push_back(merged.contains({parcels.id(i), parcels.id(j)}));
  }
  out["left_out"] = left_out;
  return out;
}

}  // namespace merganser::app
