// requires: topology
/// Reads a part of a trace.
#include "merganser/topology/traffic.hpp"
#include "tests/fuzz/support/target.hpp"

namespace merganser::fuzz {
namespace {

using namespace topology;

bool feed_trace_part(std::string_view input) {
  TracePart part;
  if (!read_or_refuse([&] { part = parse_trace_part(input, "file"); })) return false;
  require(part.rank >= 0 && part.rank < part.ranks, "a rank that is none");
  static_cast<void>(read_or_refuse([&] { static_cast<void>(join_trace_parts({part}, {})); }));
  for (const auto& phase : part.phases)
    static_cast<void>(read_or_refuse([&] { static_cast<void>(join_trace_parts({part, part}, phase.first)); }));
  return true;
}

}  // namespace

extern const Target trace_part_target{"trace_part", 2048, feed_trace_part};

}  // namespace merganser::fuzz
