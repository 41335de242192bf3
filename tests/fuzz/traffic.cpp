// requires: apps topology
/// Takes traffic from files: run records, traffic files, parts of a trace, monitoring.
/// Input: a character (a digit: only that phase), then up to four files, each ended by a byte 0.
#include "apps/frame/traffic_json.hpp"
#include "apps/topo/extract_sources.hpp"
#include "tests/fuzz/support/files.hpp"
#include "tests/fuzz/support/target.hpp"

namespace merganser::fuzz {
namespace {

using namespace app;

void check(const comm::TrafficMatrix& traffic) {
  Json json;
  // Sums that exceed 64 bits are refused when they are computed.
  if (!read_or_refuse([&] { json = traffic_json(traffic); })) return;
  comm::TrafficMatrix again = parse_traffic(parse_json(json_text(json), "again"), "again");
  if (again.source == bytes_to_utf8(traffic.source)) again.source = traffic.source;  // JSON holds no other bytes
  require(again == traffic, "what was written is other traffic");
}

bool feed_traffic(std::string_view input) {
  std::optional<int> phase;
  if (!input.empty() && input[0] >= '0' && input[0] <= '9') phase = input[0] - '0';
  input.remove_prefix(std::min<std::size_t>(1, input.size()));
  std::vector<std::string> paths;
  for (constexpr std::size_t most = 4; paths.size() < most && (paths.empty() || !input.empty());) {
    const std::size_t end = std::min(input.find('\0'), input.size());
    paths.push_back(make_file("part-" + std::to_string(paths.size()), input.substr(0, end)));
    input.remove_prefix(std::min(end + 1, input.size()));
  }
  try {
    Extracted extracted;
    if (!read_or_refuse([&] { extracted = extract_traffic(paths, phase); })) return false;
    check(extracted.traffic);
  } catch (const UsageError&) {  // a phase of what has none
    return false;
  }
  return true;
}

}  // namespace

extern const Target traffic_target{"traffic", 4096, feed_traffic};

}  // namespace merganser::fuzz
