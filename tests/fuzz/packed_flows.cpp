// requires: nothing
/// Reads traffic that is packed into a text.
#include "merganser/topology/traffic.hpp"
#include "tests/fuzz/support/target.hpp"

namespace merganser::fuzz {
namespace {

using namespace topology;

bool feed_packed_flows(std::string_view input) {
  std::vector<Flow> flows;
  if (!read_or_refuse([&] { flows = unpack_flows(input); })) return false;
  require(unpack_flows(pack_flows(flows)) == flows, "packed again they are other flows");
  Traffic traffic;
  if (!read_or_refuse([&] { traffic = Traffic(INT32_MAX, flows); })) return false;
  require(unpack_flows(pack_flows(traffic.flows())) == traffic.flows(), "packed in order they are other flows");
  return true;
}

}  // namespace

extern const Target packed_flows_target{"packed_flows", 1024, feed_packed_flows};

}  // namespace merganser::fuzz
