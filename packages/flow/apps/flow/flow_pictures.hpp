#pragma once
/// Pictures of the flow command, as SVG.
#include <string>
#include <vector>

#include "merganser/comm/transport.hpp"
#include "merganser/flow/model.hpp"

namespace merganser::app {

/// Draws the flow's buoyancy on two planes through the middle of the box, as Model::observe() left it, and writes the SVG picture
/// on rank 0. Collective. @throws InputError on rank 0 if it cannot be written
void draw_section(const flow::Model& model, const std::string& path, comm::Transport& transport);

/// Draws the number of parcels of a flow run, and the share of small ones, over time. Local. @return an SVG document
[[nodiscard]] std::string draw_small_share(const std::vector<flow::Statistics>& rows);
/// Draws the shares of merged clusters of a flow run by their number of parcels, over time and of the whole run. Local. @return
/// an SVG document
[[nodiscard]] std::string draw_clusters(const std::vector<flow::Statistics>& rows);

}  // namespace merganser::app
