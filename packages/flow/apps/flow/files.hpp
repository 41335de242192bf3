#pragma once
/// Files of the flow command besides its snapshots, by the names that EPIC's files have: fields at the nodes, and the
/// statistics of every state.
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "merganser/comm/transport.hpp"
#include "merganser/flow/model.hpp"

namespace merganser::app {

/// Values of one flow field at all nodes of the grid, on one rank: z slowest, then y, then x; levels 0 .. cells[2].
using WholeField = std::vector<double>;

/// Gathers one flow value of every node of the grid on rank 0. Collective. @return the values; empty on other ranks
/// @param at  returns the value at an own node, by its local indices
[[nodiscard]] WholeField collect_field(const Decomposition& decomposition, comm::Transport& transport,
                                       const std::function<double(std::int64_t i, std::int64_t j, std::int64_t k)>& at);

/// Writes the flow's node fields as Model::observe() left them to a NetCDF fields file in EPIC's format; it appears whole or not
/// at all. Collective.
/// @throws InputError on every rank if the file cannot be written
/// Cost: memory for all fields on rank 0
void write_fields(const std::string& path, const flow::Model& model, comm::Transport& transport);

/// Writes rank 0's rows of flow statistics to a NetCDF file by EPIC's names; it appears whole or not at all. Collective.
/// @throws InputError on every rank if the file cannot be written
void write_statistics(const std::string& path, const Grid& grid, const std::vector<flow::Statistics>& rows,
                      comm::Transport& transport);

/// Reads the rows of a flow's statistics file that write_statistics() has written, every bit as it was. Local.
/// @throws InputError if a variable is missing or has another length
[[nodiscard]] std::vector<flow::Statistics> read_statistics(const std::string& path);

}  // namespace merganser::app
