#pragma once
/// Boruvka's rounds over all ranks, for the components that no rank can contract alone.
#include "merganser/comm/transport.hpp"
#include "merganser/msf/forest.hpp"
#include "src/msf/euclidean/remote_boxes.hpp"
#include "src/msf/euclidean/state.hpp"

namespace merganser::msf::euclidean {

/// Contracts all components of all ranks to one; the edges found come to the ranks that hold an end. Every rank knows
/// the least edge of every component that is left: memory of the cuts between ranks. Collective.
/// @param remote_bounds  as local_rounds() had it
template <std::size_t D>
void global_rounds(State<D>& state, RemoteBoxes<D>& others, std::vector<double> remote_bounds,
                   comm::Transport& transport, Report& report);

}  // namespace merganser::msf::euclidean
