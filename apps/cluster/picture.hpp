#pragma once
/// Picture (SVG) of a merge step for `cluster --picture`: a slab of the domain before and after it.
#include <array>
#include <span>
#include <string>

#include "merganser/cluster/cluster.hpp"
#include "merganser/comm/transport.hpp"
#include "merganser/geometry/box.hpp"
#include "merganser/parcels/parcels.hpp"

namespace merganser::app {

/// Thickness of the slab of the domain that cluster --picture draws, in cells.
inline constexpr double kSlab = 0.5;

/// Part of the grid that cluster --picture draws: the middle of one layer of cells, seen along `normal`.
struct Window {
  int normal = 1;                       ///< axis of the domain looked along: 0, 1 or 2
  std::array<std::int64_t, 3> first{};  ///< first cell of the grid that is drawn, per axis
  std::array<std::int64_t, 3> cells{};  ///< number of cells that are drawn, per axis; 1 along the normal
};

/// Data of a picture of one merge step, complete on rank 0: parcels in and near the drawn window, and merges. Made by
/// SceneRecorder.
struct Scene {
  Grid grid;
  Window window;
  double small_volume = 0;                     ///< volume below which a parcel is small
  Parcels before;                              ///< parcels before the step
  Parcels after;                               ///< parcels after the step
  std::vector<StepReport::MergedPair> merges;  ///< ids of source and centre of each merge
};

/// Collector of the data that cluster --picture draws: parcels before and after one merge step, and merges.
class SceneRecorder {
 public:
  /// Starts before the step. @param small_volume  volume below which a parcel is small
  SceneRecorder(comm::Transport& transport, const Grid& grid, double small_volume)
      : transport_(transport), grid_(grid), small_volume_(small_volume) {}
  /// Copies this rank's parcels before the merge step. Local.
  void before(const Parcels& parcels) { before_ = parcels; }
  /// Chooses the window with the most merges and gathers the parcels in it, before and after the step, on rank 0. Called once,
  /// after the step; collective. @param merges  lineage of the step on this rank
  [[nodiscard]] Scene after(const Parcels& parcels, std::span<const StepReport::MergedPair> merges);

 private:
  [[nodiscard]] Window choose_window(const Parcels& parcels, std::span<const StepReport::MergedPair> merges) const;
  comm::Transport& transport_;
  Grid grid_;
  double small_volume_;
  Parcels before_;
};

/// Draws a merge step, before and after it, as an SVG document. Called on rank 0. @param title  heading of the picture
[[nodiscard]] std::string draw(const Scene& scene, const std::string& title);

}  // namespace merganser::app
