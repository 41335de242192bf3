#pragma once
/// Pictures of the flow command, as SVG.
#include <optional>
#include <string>
#include <vector>

#include "merganser/comm/transport.hpp"
#include "merganser/flow/model.hpp"

namespace merganser::app {

/// Range of buoyancy that the colours of cross-sections stand for, m/s^2.
struct BuoyancyRange {
  double least = 0;
  double most = 0;
};

/// Draws the flow's buoyancy on two planes through the middle of the box, as Model::observe() left it, and writes the picture on
/// rank 0, as SVG, PNG or PDF. Collective.
/// @param range  range of the colours, for all pictures of a run; none: the range of this picture, which is stored on rank 0
/// @throws InputError on rank 0 if it cannot be written
void draw_section(const flow::Model& model, const std::string& path, std::optional<BuoyancyRange>& range,
                  comm::Transport& transport);

/// Draws the number of parcels of a flow run, and the share of small ones, over time. Local. @return an SVG document
[[nodiscard]] std::string draw_small_share(const std::vector<flow::Statistics>& rows);
/// Draws the shares of merged clusters of a flow run by their number of parcels, over time and of the whole run. Local. @return
/// an SVG document
[[nodiscard]] std::string draw_clusters(const std::vector<flow::Statistics>& rows);

}  // namespace merganser::app
