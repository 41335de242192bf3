#pragma once
/// Files of a flow besides its snapshots, by the names that EPIC's files have: the fields at the nodes, and the statistics
/// with one line for every state.
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "merganser/comm/transport.hpp"
#include "merganser/flow/model.hpp"

namespace merganser::app {

/// Values at all nodes, z slowest, then y, then x; levels 0 .. cells[2].
using WholeField = std::vector<double>;

/// Brings a value of every node to rank 0; empty on the others. Collective.
/// @param at  the value at a node of this rank, by its local numbers
[[nodiscard]] WholeField collect_field(const Decomposition& decomposition, comm::Transport& transport,
                                       const std::function<double(std::int64_t i, std::int64_t j, std::int64_t k)>& at);

/// Writes the fields as Model::observe() left them, in EPIC's format; the file appears whole or not at all. Collective.
/// @throws InputError on every rank
/// Cost: all fields on rank 0
void write_fields(const std::string& path, const flow::Model& model, comm::Transport& transport);

/// Writes rank 0's rows; the file appears whole or not at all. Collective. @throws InputError on every rank
void write_statistics(const std::string& path, const Grid& grid, const std::vector<flow::Statistics>& rows,
                      comm::Transport& transport);

/// Rows of a file that write_statistics() has made, exact. Serial. @throws InputError if it lacks one of its variables
[[nodiscard]] std::vector<flow::Statistics> read_statistics(const std::string& path);

}  // namespace merganser::app
