// Choice of the window that `cluster --picture` draws, and gathering of its parcels on rank 0: SceneRecorder of picture.hpp.
#include <algorithm>
#include <cmath>
#include <unordered_set>

#include "apps/cluster/picture.hpp"
#include "apps/frame/gather.hpp"
#include "merganser/comm/collectives.hpp"

namespace merganser::app {
namespace {

constexpr std::int64_t kMargin = 1;     // cells kept around the window, for links that cross its edge
constexpr double kParcelsInView = 130;  // about as many as a reader can tell apart

/// Returns the indices along x, y and z of the grid cell that a parcel's centre lies in.
std::array<std::int64_t, 3> cell_index(const Grid& grid, const Site& s) {
  return {grid.cell(0, s.x), grid.cell(1, s.y), grid.cell(2, s.z)};
}

/// Returns the number of cells along an axis from the first cell of the drawn window to a cell; on a periodic axis counted
/// forwards, from 0 on.
std::int64_t cells_from(const Grid& grid, int axis, std::int64_t first, std::int64_t cell) {
  const std::int64_t d = cell - first;
  if (!grid.box.periodic[axis]) return d;
  const std::int64_t n = grid.cells[axis];
  return ((d % n) + n) % n;
}

/// Returns true if a parcel lies in the drawn window or within kMargin cells around it.
bool is_near_window(const Grid& grid, const Window& w, const Site& s) {
  const auto c = cell_index(grid, s);
  for (int a = 0; a < 3; ++a) {
    const std::int64_t d = cells_from(grid, a, w.first[a] - kMargin, c[a]);
    if (d < 0 || d >= w.cells[a] + 2 * kMargin) return false;
  }
  return true;
}

}  // namespace

/// Chooses the window of the picture: that with the most centres of merges among windows of equal size. Collective; the same on
/// all ranks.
Window SceneRecorder::choose_window(const Parcels& parcels, std::span<const StepReport::MergedPair> merges) const {
  const std::int64_t parcels_all =
      std::max<std::int64_t>(1, transport_.all_reduce(static_cast<std::int64_t>(before_.size()), comm::Op::sum));
  const double per_cell = std::max(0.25, static_cast<double>(parcels_all) / static_cast<double>(grid_.cell_count()));
  // A square window of the slab holds side^2 * kSlab cells, so this side brings about kParcelsInView parcels into view.
  const auto side = std::clamp<std::int64_t>(
      static_cast<std::int64_t>(std::round(std::sqrt(kParcelsInView / (kSlab * per_cell)))), 2, 64);
  Window w;
  std::array<std::int64_t, 3> blocks{};
  for (int a = 0; a < 3; ++a) {
    w.cells[a] = a == w.normal ? 1 : std::min(side, grid_.cells[a]);
    blocks[a] = std::min<std::int64_t>(64, grid_.cells[a] / w.cells[a]);
  }
  // Counts centres by block of the window's size; the block with the most is drawn. max_element() takes the first of several, and
  // the counts are equal on all ranks, so all ranks choose the same window.
  std::vector<std::int64_t> count(static_cast<std::size_t>(blocks[0] * blocks[1] * blocks[2]), 0);
  std::unordered_set<std::int64_t> centres;
  for (const auto& m : merges) centres.insert(m.centre);
  for (std::size_t i = 0; i < parcels.size(); ++i) {
    if (!centres.contains(parcels.id(i))) continue;
    const auto c = cell_index(grid_, parcels.site(i));
    std::array<std::int64_t, 3> b{};
    bool inside = true;
    for (int a = 0; a < 3; ++a) {
      b[a] = c[a] / w.cells[a];
      inside = inside && b[a] < blocks[a];
    }
    if (inside) ++count[static_cast<std::size_t>((b[0] * blocks[1] + b[1]) * blocks[2] + b[2])];
  }
  transport_.all_reduce(std::span<std::int64_t>(count), comm::Op::sum);
  const auto best = std::max_element(count.begin(), count.end()) - count.begin();
  w.first = {best / (blocks[1] * blocks[2]) * w.cells[0], best / blocks[2] % blocks[1] * w.cells[1],
             best % blocks[2] * w.cells[2]};
  return w;
}

// Data of cluster --picture: merges whose centre is near the window, and parcels near it before and after the step, on rank 0.
Scene SceneRecorder::after(const Parcels& parcels, std::span<const StepReport::MergedPair> merges) {
  Scene scene;
  scene.grid = grid_;
  scene.small_volume = small_volume_;
  scene.window = choose_window(parcels, merges);
  const auto select = [&](const Parcels& from) {
    Parcels out(from.schema());
    for (std::size_t i = 0; i < from.size(); ++i)
      if (is_near_window(grid_, scene.window, from.site(i))) out.append(from.site(i), from.row(i));
    return out;
  };
  const Parcels mine = select(parcels);
  std::unordered_set<std::int64_t> near;
  for (std::size_t i = 0; i < mine.size(); ++i) near.insert(mine.id(i));
  std::vector<StepReport::MergedPair> shown;
  for (const auto& m : merges)
    if (near.contains(m.centre)) shown.push_back(m);
  scene.before = collect(transport_, select(before_));
  scene.after = collect(transport_, mine);
  before_ = Parcels(before_.schema());
  scene.merges = comm::all_gather(transport_, shown).flat();
  return scene;
}

}  // namespace merganser::app
