// Communication matrix of a run: validation, order and merging of flows, and the gather of all ranks' counts.
#include "merganser/comm/traffic_matrix.hpp"

#include <algorithm>
#include <array>
#include <limits>
#include <numeric>
#include <tuple>

#include "merganser/base/error.hpp"
#include "merganser/comm/collectives.hpp"

namespace merganser::comm {
namespace {

constexpr std::array<std::string_view, kMoves> kMoveNames{"message", "put", "get"};

/// Returns the name of a traffic flow in errors: "puts from rank 1 to rank 3".
std::string flow_text(const TrafficFlow& flow) {
  return std::string(move_name(flow.move)) + "s from rank " + std::to_string(flow.from) + " to rank " +
         std::to_string(flow.to);
}

/// Returns the key by which the flows of a communication matrix are ordered and merged: sender, receiver, kind of operation.
auto flow_key(const TrafficFlow& flow) { return std::tuple(flow.from, flow.to, flow.move); }

/// Validates a traffic flow between two of `ranks` ranks. @throws InputError for ranks out of range or equal, negative counts, and
/// counts by size class that do not add up to the operations
void check_flow(const TrafficFlow& flow, int ranks) {
  for (const int rank : {flow.from, flow.to}) {
    if (rank < 0 || rank >= ranks) {
      throw InputError("traffic: " + flow_text(flow) + ", but there are ranks 0 to " + std::to_string(ranks - 1));
    }
  }
  if (flow.from == flow.to) throw InputError("traffic: " + flow_text(flow) + ": a rank and itself are no arc");
  if (flow.operations < 0 || flow.bytes < 0 || (flow.operations == 0 && flow.bytes > 0)) {
    throw InputError("traffic: " + flow_text(flow) + ": " + std::to_string(flow.operations) + " operations, " +
                     std::to_string(flow.bytes) + " bytes");
  }
  if (flow.sizes.empty()) return;
  std::int64_t counted = 0;
  for (const std::int64_t n : flow.sizes) {
    if (n < 0 || n > flow.operations - counted) {
      throw InputError("traffic: " + flow_text(flow) + ": the counts by size do not add up to " +
                       std::to_string(flow.operations) + " operations");
    }
    counted += n;
  }
  if (counted != flow.operations || flow.first_class + flow.sizes.size() > kSizeClasses) {
    throw InputError("traffic: " + flow_text(flow) + ": " + std::to_string(counted) +
                     " operations counted by size in classes " + std::to_string(flow.first_class) + " to " +
                     std::to_string(flow.first_class + flow.sizes.size() - 1) + ", but there are " +
                     std::to_string(flow.operations) + " in classes 0 to " + std::to_string(kSizeClasses - 1));
  }
}

/// Removes zeros from both ends of a traffic flow's operation counts by size class, so that equal flows compare equal.
void trim_sizes(TrafficFlow& flow) {
  while (!flow.sizes.empty() && flow.sizes.back() == 0) flow.sizes.pop_back();
  const auto first = std::find_if(flow.sizes.begin(), flow.sizes.end(), [](std::int64_t n) { return n != 0; });
  flow.first_class = flow.sizes.empty() ? 0 : flow.first_class + static_cast<std::size_t>(first - flow.sizes.begin());
  flow.sizes.erase(flow.sizes.begin(), first);
}

/// Returns the sum of two counts of traffic flows. @throws InputError naming `flow` if 64 bits do not hold it
std::int64_t checked_sum(std::int64_t a, std::int64_t b, const TrafficFlow& flow) {
  if (a > std::numeric_limits<std::int64_t>::max() - b) {
    throw InputError("traffic: " + flow_text(flow) + " are more than 64 bits can count");
  }
  return a + b;
}

/// Adds the counts of `more` to `to`, a traffic flow of the same ends and kind. Counts by size class are kept only if both flows
/// have them.
void add_flow(TrafficFlow& to, const TrafficFlow& more) {
  const bool sizes_known = !to.sizes.empty() && !more.sizes.empty();
  to.operations = checked_sum(to.operations, more.operations, to);
  to.bytes = checked_sum(to.bytes, more.bytes, to);
  if (!sizes_known) {
    to.sizes.clear();
    to.first_class = 0;
    return;
  }
  const std::size_t first = std::min(to.first_class, more.first_class);
  const std::size_t end = std::max(to.first_class + to.sizes.size(), more.first_class + more.sizes.size());
  std::vector<std::int64_t> sizes(end - first);
  for (std::size_t i = 0; i < to.sizes.size(); ++i) sizes[to.first_class - first + i] += to.sizes[i];
  for (std::size_t i = 0; i < more.sizes.size(); ++i) sizes[more.first_class - first + i] += more.sizes[i];
  to.first_class = first;
  to.sizes = std::move(sizes);
}

/// Counts of one rank's operations of one kind with another rank, in the form that ranks gather.
struct FlowRecord {
  std::int32_t other;  // the other rank; the counting rank is the sender of the record
  std::uint32_t move;  // kind of operation, a value of Move
  MoveCount count;     // the operations
};

}  // namespace

std::string_view move_name(Move move) { return kMoveNames[static_cast<std::size_t>(move)]; }

Move parse_move(std::string_view name) {
  const auto found = std::find(kMoveNames.begin(), kMoveNames.end(), name);
  if (found == kMoveNames.end()) {
    throw InputError("traffic: unknown kind of operation \"" + std::string(name) + "\"; known: message, put, get");
  }
  return static_cast<Move>(found - kMoveNames.begin());
}

// Makes the communication matrix of a run: flows are validated, ordered, and merged if they have the same ends and kind.
TrafficMatrix::TrafficMatrix(int ranks, std::vector<TrafficFlow> flows) : ranks_(ranks) {
  if (ranks < 1) throw InputError("traffic of " + std::to_string(ranks) + " ranks; allowed: 1 and more");
  for (TrafficFlow& flow : flows) {
    check_flow(flow, ranks);
    trim_sizes(flow);
  }
  std::erase_if(flows, [](const TrafficFlow& flow) { return flow.operations == 0; });
  std::stable_sort(flows.begin(), flows.end(),
                   [](const TrafficFlow& a, const TrafficFlow& b) { return flow_key(a) < flow_key(b); });
  for (TrafficFlow& flow : flows) {
    if (!flows_.empty() && flow_key(flows_.back()) == flow_key(flow)) {
      add_flow(flows_.back(), flow);
    } else {
      flows_.push_back(std::move(flow));
    }
  }
}

std::int64_t TrafficMatrix::operations() const {
  return std::accumulate(
      flows_.begin(), flows_.end(), std::int64_t{0},
      [](std::int64_t total, const TrafficFlow& flow) { return checked_sum(total, flow.operations, flow); });
}

std::int64_t TrafficMatrix::bytes() const {
  return std::accumulate(
      flows_.begin(), flows_.end(), std::int64_t{0},
      [](std::int64_t total, const TrafficFlow& flow) { return checked_sum(total, flow.bytes, flow); });
}

std::int64_t TrafficMatrix::exchange_count() const {
  if (exchanges) return *exchanges;
  std::int64_t most = 1;
  for (const TrafficFlow& flow : flows_) most = std::max(most, flow.operations);
  return most;
}

// Gathers the traffic counts of each rank and makes the communication matrix of the run of them. Collective.
TrafficMatrix gather_traffic(Transport& transport, const TrafficCount& mine) {
  std::vector<FlowRecord> records;
  for (const auto& peer : mine.peers()) {
    for (std::uint32_t move = 0; move < kMoves; ++move) {
      const auto& count = peer.traffic.moves[move];
      if (count.operations > 0) records.push_back({peer.rank, move, count});
    }
  }
  std::vector<TrafficFlow> flows;
  const auto all = all_gather(transport, records);
  for (std::size_t rank = 0; rank < all.size(); ++rank) {
    for (const FlowRecord& record : all[rank]) {
      TrafficFlow flow{static_cast<int>(rank),
                       record.other,
                       static_cast<Move>(record.move),
                       record.count.operations,
                       record.count.bytes,
                       0,
                       {record.count.sizes.begin(), record.count.sizes.end()}};
      if (flow.move == Move::get) std::swap(flow.from, flow.to);  // bytes of a get flow towards the rank that counts it
      flows.push_back(std::move(flow));
    }
  }
  return {transport.size(), std::move(flows)};
}

}  // namespace merganser::comm
