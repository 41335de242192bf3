// Traffic matrices as JSON: writing as rows or packed text, and parsing of files from anywhere with limits on the number of
// ranks.
#include "apps/frame/traffic_json.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <limits>

#include "merganser/base/error.hpp"

namespace merganser::app {
namespace {

constexpr std::size_t kFixedColumns = 5;  // from, to, move, operations, bytes
/// Limits on the number of ranks in a traffic file: a traffic matrix takes memory for every rank, and a small file must not make
/// it large. Allowed is the larger of kMaxRanksWithoutArcs and kMaxRanksPerFlow times the number of flows.
constexpr std::size_t kMaxRanksWithoutArcs = std::size_t{1} << 20;
constexpr std::size_t kMaxRanksPerFlow = 64;

/// Returns a flow of a traffic matrix as a row of JSON.
Json to_row(const comm::TrafficFlow& flow) {
  Json row = {flow.from, flow.to, comm::move_name(flow.move), flow.operations, flow.bytes};
  if (flow.sizes.empty()) return row;
  row.push_back(flow.first_class);
  for (const std::int64_t n : flow.sizes) row.push_back(n);
  return row;
}

/// Parses an integer of 64 bits of a traffic file. @param what  description of its place, for the message @throws InputError for
/// any other value
std::int64_t read_integer(const Json& value, const std::string& what) {
  if (!value.is_number_integer() || (value.is_number_unsigned() && value.get<std::uint64_t>() > INT64_MAX)) {
    throw InputError(what + " is " + json_text(value) + "; allowed: whole numbers");
  }
  return value.get<std::int64_t>();
}

/// Parses an integer from 0 to 2^31 - 1 of a traffic file. @param what  description of its place, for the message @throws
/// InputError for any other value
int read_int(const Json& value, const std::string& what) {
  const std::int64_t n = read_integer(value, what);
  if (n < 0 || n > std::numeric_limits<int>::max()) {
    throw InputError(fmt::format("{} is {}; allowed: 0 to 2^31 - 1", what, n));
  }
  return static_cast<int>(n);
}

/// Parses one row of a traffic file, a flow between two ranks. @param where  number of the row, for the message @throws
/// InputError for a row of another form
comm::TrafficFlow parse_flow(const Json& row, const std::string& where) {
  if (!row.is_array() || row.size() < kFixedColumns || row.size() == kFixedColumns + 1 || !row[2].is_string()) {
    throw InputError(where + " is " + json_text(row) +
                     "; allowed: [from, to, \"message\"|\"put\"|\"get\", operations, bytes, first size class, counts]");
  }
  comm::TrafficFlow flow;
  flow.from = read_int(row[0], where + ", column 1,");
  flow.to = read_int(row[1], where + ", column 2,");
  flow.move = comm::parse_move(row[2].get<std::string>());
  flow.operations = read_integer(row[3], where + ", column 4,");
  flow.bytes = read_integer(row[4], where + ", column 5,");
  if (row.size() > kFixedColumns) flow.first_class = static_cast<std::size_t>(read_int(row[5], where + ", column 6,"));
  for (std::size_t i = kFixedColumns + 1; i < row.size(); ++i) {
    flow.sizes.push_back(read_integer(row[i], fmt::format("{}, column {},", where, i + 1)));
  }
  return flow;
}

/// Parses a traffic matrix of rows or of packed flows from JSON. @throws InputError without the name of the file
comm::TrafficMatrix parse_traffic_object(const Json& json) {
  if (!json.is_object() || json.value("schema", "") != kTrafficSchema) {
    throw InputError(std::string("is no traffic: \"schema\" is not \"") + kTrafficSchema + '"');
  }
  if (!json.contains("schema_version") || json["schema_version"] != kTrafficVersion) {
    throw InputError(fmt::format("\"schema_version\" is {}; this program reads {}",
                                 json_text(json.value("schema_version", Json())), kTrafficVersion));
  }
  if (!json.contains("ranks")) throw InputError("\"ranks\" is missing");
  std::vector<comm::TrafficFlow> flows;
  if (json.contains("packed")) {
    if (!json["packed"].is_string()) throw InputError("\"packed\" is no text");
    flows = comm::unpack_flows(json["packed"].get<std::string>());
  } else if (json.contains("rows") && json["rows"].is_array()) {
    for (const Json& row : json["rows"]) {
      flows.push_back(parse_flow(row, fmt::format("row {}", flows.size() + 1)));
    }
  } else {
    throw InputError("\"rows\" or \"packed\" is missing");
  }
  const int ranks = read_int(json["ranks"], "\"ranks\"");
  const std::size_t most = std::max(kMaxRanksWithoutArcs, kMaxRanksPerFlow * flows.size());
  if (static_cast<std::size_t>(ranks) > most) {
    throw InputError(fmt::format("\"ranks\" is {}; allowed with {} rows: 1 to {}", ranks, flows.size(), most));
  }
  comm::TrafficMatrix traffic(ranks, std::move(flows));
  if (json.contains("exchanges") && !json["exchanges"].is_null()) {
    const std::int64_t n = read_integer(json["exchanges"], "\"exchanges\"");
    if (n < 1) throw InputError(fmt::format("\"exchanges\" is {}; allowed: 1 and more, or null", n));
    traffic.exchanges = n;
  }
  if (json.contains("source") && json["source"].is_string()) traffic.source = json["source"].get<std::string>();
  return traffic;
}

}  // namespace

// Writer of a traffic matrix: rows for few flows, packed text for many.
Json traffic_json(const comm::TrafficMatrix& traffic) {
  Json out = {{"schema", kTrafficSchema}, {"schema_version", kTrafficVersion},
              {"ranks", traffic.ranks()}, {"exchanges", traffic.exchanges ? Json(*traffic.exchanges) : Json()},
              {"source", traffic.source}, {"operations", traffic.operations()},
              {"bytes", traffic.bytes()}};
  if (traffic.flows().size() > kMaxTrafficRows) {
    out["packed"] = comm::pack_flows(traffic.flows());
    return out;
  }
  out["columns"] = {"from", "to", "move", "operations", "bytes", "first_size_class", "operations_by_size_class"};
  out["rows"] = Json::array();
  for (const comm::TrafficFlow& flow : traffic.flows()) out["rows"].push_back(to_row(flow));
  return out;
}

// Reader of a traffic matrix, which may come from any file: errors name the file.
comm::TrafficMatrix parse_traffic(const Json& json, const std::string& name) {
  try {
    return parse_traffic_object(json);
  } catch (const InputError& e) {
    throw InputError(name + ": traffic: " + e.what());
  } catch (const Json::exception& e) {
    throw InputError(name + ": traffic: " + e.what());
  }
}

}  // namespace merganser::app
