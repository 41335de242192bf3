#pragma once
/// Traffic matrices as JSON, in run records under "traffic" and as files: bytes and operations from each rank to each other.
#include <string>

#include "apps/frame/record.hpp"
#include "merganser/comm/traffic_matrix.hpp"

namespace merganser::app {

inline constexpr const char* kTrafficSchema = "merganser-traffic";
inline constexpr int kTrafficVersion = 1;
/// Largest number of flows of a traffic matrix that are written as rows of JSON; more are packed into one text
/// (comm::pack_flows), about 14 characters each.
inline constexpr std::size_t kMaxTrafficRows = 128;

/// Returns a traffic matrix as {"schema", "schema_version", "ranks", "exchanges", "source", "operations", "bytes", and "columns"
/// with "rows" of [from, to, move, operations, bytes, first size class, operations of that class, of the next, ...], or "packed"}.
[[nodiscard]] Json traffic_json(const comm::TrafficMatrix& traffic);
/// Parses a traffic matrix. @param name  name of the file, for messages @throws InputError naming the file and what is wrong
[[nodiscard]] comm::TrafficMatrix parse_traffic(const Json& json, const std::string& name);

}  // namespace merganser::app
