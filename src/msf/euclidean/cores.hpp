#pragma once
/// Core distances: to the k-th nearest point, a point itself being the first.
#include <vector>

#include "merganser/comm/transport.hpp"
#include "src/msf/euclidean/point_tree.hpp"
#include "src/msf/euclidean/remote_boxes.hpp"

namespace merganser::msf::euclidean {

/// Squared core distances of the points of this rank's tree, which folds `k` and more equal points; 16 zeros behind them.
/// `others` is null on one rank. Collective.
template <std::size_t D>
[[nodiscard]] std::vector<double> core_squares(const PointTree<D>& tree, std::uint32_t k, int threads,
                                               const RemoteBoxes<D>* others, comm::Transport& transport);

}  // namespace merganser::msf::euclidean
