// requires: nothing
/// Reads traffic that is packed into a text.
#include "merganser/comm/traffic_matrix.hpp"
#include "tests/fuzz/support/target.hpp"

namespace merganser::fuzz {
namespace {

bool feed_packed_flows(std::string_view input) {
  std::vector<comm::TrafficFlow> flows;
  if (!read_or_refuse([&] { flows = comm::unpack_flows(input); })) return false;
  require(comm::unpack_flows(comm::pack_flows(flows)) == flows, "packed again they are other flows");
  comm::TrafficMatrix traffic;
  if (!read_or_refuse([&] { traffic = comm::TrafficMatrix(INT32_MAX, flows); })) return false;
  require(comm::unpack_flows(comm::pack_flows(traffic.flows())) == traffic.flows(),
          "packed in order they are other flows");
  return true;
}

}  // namespace

extern const Target packed_flows_target{"packed_flows", 1024, feed_packed_flows};

}  // namespace merganser::fuzz
