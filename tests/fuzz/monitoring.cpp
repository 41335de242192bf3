// requires: topology
/// Reads a file of Open MPI's monitoring.
#include "merganser/topology/monitoring.hpp"
#include "tests/fuzz/support/target.hpp"

namespace merganser::fuzz {
namespace {

using namespace topology;

bool feed_monitoring(std::string_view input) {
  MonitoringPart part;
  if (!read_or_refuse([&] { part = parse_monitoring(input, "file"); })) return false;
  require(part.rank >= 0 && part.rank < part.ranks, "a rank that is none");
  require(part.internal_operations >= 0 && part.internal_bytes >= 0, "less than nothing was sent");
  static_cast<void>(read_or_refuse([&] { static_cast<void>(join_monitoring({part})); }));
  return true;
}

}  // namespace

extern const Target monitoring_target{"monitoring", 4096, feed_monitoring};

}  // namespace merganser::fuzz
