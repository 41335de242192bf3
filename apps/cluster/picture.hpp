#pragma once
/// A picture (SVG) of a merge step: a slab of the domain before and after it.
#include <array>
#include <span>
#include <string>

#include "merganser/cluster/cluster.hpp"
#include "merganser/comm/transport.hpp"
#include "merganser/geometry/box.hpp"
#include "merganser/parcels/parcels.hpp"

namespace merganser::app {

/// Thickness of the slab that is drawn, in cells.
inline constexpr double kSlab = 0.5;

/// Part of the grid that is drawn: the middle of a layer of cells, seen along `normal`.
struct Window {
  int normal = 1;                       ///< axis looked along
  std::array<std::int64_t, 3> first{};  ///< first cell per axis
  std::array<std::int64_t, 3> cells{};  ///< cells per axis; 1 along the normal
};

/// What rank 0 needs of the others to draw.
struct Scene {
  Grid grid;
  Window window;
  double small_volume = 0;
  Parcels before;
  Parcels after;
  std::vector<StepReport::MergedPair> merges;
};

/// Takes the pictures' data of one step. Collective throughout.
class SceneRecorder {
 public:
  SceneRecorder(comm::Transport& transport, const Grid& grid, double small_volume)
      : transport_(transport), grid_(grid), small_volume_(small_volume) {}
  /// Before the step: keeps a copy.
  void before(const Parcels& parcels) { before_ = parcels; }
  /// After it: chooses the window where most was merged and brings what lies in it to rank 0.
  [[nodiscard]] Scene after(const Parcels& parcels, std::span<const StepReport::MergedPair> merges);

 private:
  [[nodiscard]] Window choose(const Parcels& parcels, std::span<const StepReport::MergedPair> merges) const;
  comm::Transport& transport_;
  Grid grid_;
  double small_volume_;
  Parcels before_;
};

/// The scene as an SVG document. `title` stands above it.
[[nodiscard]] std::string draw(const Scene& scene, const std::string& title);

}  // namespace merganser::app
