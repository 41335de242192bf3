#pragma once
/// Directed graph of a merge step in the run record: the links of a window of the domain before and after pruning.
#include "apps/cluster/picture.hpp"
#include "apps/frame/json.hpp"

namespace merganser::app {

/// Converts the links of the small parcels in a scene's window to the member `links` of the run record: each small parcel has a link
/// to its nearest other parcel (of several at one distance, that of least id), and a link is kept if the step merged the parcel along
/// it. Local, of a step without a policy. A link whose nearest parcel may lie outside what the scene holds is left out and counted.
/// @return axes that are drawn, extent of the window along them, columns `u`, `v` (from the window's lower corner, in the units of
///         the domain), `id` and `small` by parcel, columns `from`, `to` (positions in those) and `kept` by link, `left_out`
/// Cost: O(n^2) for n parcels in and near the window, which are some hundred
[[nodiscard]] Json links_json(const Scene& scene);

}  // namespace merganser::app
