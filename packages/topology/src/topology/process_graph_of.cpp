// Process graph of a traffic matrix: flows are sorted by sender and receiver, so that those of one arc are adjacent.
#include <limits>

#include "merganser/base/error.hpp"
#include "merganser/topology/traffic.hpp"

namespace merganser::topology {

// Process graph of a program for the benchmark and the placement of ranks: an arc for each pair of ranks with traffic.
graphs::ProcessGraph process_graph_of(const comm::TrafficMatrix& traffic) {
  std::vector<std::vector<graphs::ProcessGraph::Arc>> rows(static_cast<std::size_t>(traffic.ranks()));
  const auto repeats = static_cast<double>(traffic.exchange_count());
  const auto& flows = traffic.flows();
  for (std::size_t i = 0; i < flows.size();) {
    const comm::TrafficFlow& first = flows[i];
    std::int64_t bytes = 0;
    for (; i < flows.size() && flows[i].from == first.from && flows[i].to == first.to; ++i) {
      if (flows[i].bytes > std::numeric_limits<std::int64_t>::max() - bytes)
        throw InputError("traffic: bytes from rank " + std::to_string(first.from) + " to rank " +
                         std::to_string(first.to) + " are more than 64 bits can count");
      bytes += flows[i].bytes;
    }
    rows[static_cast<std::size_t>(first.from)].push_back({first.to, static_cast<double>(bytes) / repeats});
  }
  return graphs::ProcessGraph(std::move(rows));
}

}  // namespace merganser::topology
