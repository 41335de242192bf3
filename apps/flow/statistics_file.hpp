#pragma once
/// The statistics of a flow as a file: one line for every state, by the names that EPIC's files have.
#include <string>
#include <vector>

#include "merganser/comm/transport.hpp"
#include "merganser/flow/statistics.hpp"
#include "merganser/geometry/box.hpp"

namespace merganser::app {

/// Writes rank 0's rows; the file appears whole or not at all. Collective. @throws InputError on every rank
void write_statistics(const std::string& path, const Grid& grid, const std::vector<flow::Statistics>& rows,
                      comm::Transport& transport);

/// Rows of a file that write_statistics() has made, exact. Serial. @throws InputError if it lacks one of its variables
[[nodiscard]] std::vector<flow::Statistics> read_statistics(const std::string& path);

}  // namespace merganser::app
