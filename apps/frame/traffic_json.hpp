#pragma once
/// Traffic as JSON: in run records under "traffic", and as files of its own.
#include <string>

#include "apps/frame/record.hpp"
#include "merganser/comm/traffic_matrix.hpp"

namespace merganser::app {

inline constexpr const char* kTrafficSchema = "merganser-traffic";
inline constexpr int kTrafficVersion = 1;
/// From so many flows on they are packed into one text (comm::pack_flows), about 14 characters each.
inline constexpr std::size_t kMaxTrafficRows = 128;

/// {"schema", "schema_version", "ranks", "exchanges", "source", "operations", "bytes", and "columns" with "rows" of
/// [from, to, move, operations, bytes, first size class, operations of that class, of the next, ...], or "packed"}
[[nodiscard]] Json traffic_json(const comm::TrafficMatrix& traffic);
/// @param name  of the file, for messages @throws InputError naming it and what is wrong
[[nodiscard]] comm::TrafficMatrix traffic_of_json(const Json& json, const std::string& name);

}  // namespace merganser::app
