#pragma once
/// Pictures of a flow, as SVG.
#include <string>
#include <vector>

#include "merganser/comm/transport.hpp"
#include "merganser/flow/model.hpp"

namespace merganser::app {

/// Draws buoyancy on two planes through the middle of the box, as Model::observe() left it, and writes the picture.
/// Collective. @throws InputError on rank 0 if it cannot be written
void draw_section(const flow::Model& model, const std::string& path, comm::Transport& transport);

/// Parcels, and the share of small ones, over time.
[[nodiscard]] std::string draw_small_share(const std::vector<flow::Statistics>& rows);
/// Shares of clusters by their number of members, over time and of the whole run.
[[nodiscard]] std::string draw_clusters(const std::vector<flow::Statistics>& rows);

}  // namespace merganser::app
