#pragma once
/// Communication matrix of a run: operations and bytes between each pair of ranks, gathered, merged and packed into text.
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "merganser/comm/traffic.hpp"
#include "merganser/comm/transport.hpp"

namespace merganser::comm {

/// Entry of a communication matrix: operations of one kind from one rank to another. Bytes flow from `from` to `to`: a get by
/// rank 2 of what rank 5 owns is a flow from 5 to 2.
struct TrafficFlow {
  int from = 0;                 ///< rank that the bytes of the flow leave
  int to = 0;                   ///< rank that the bytes of the flow reach
  Move move = Move::message;    ///< kind of the flow's operations: message, put or get
  std::int64_t operations = 0;  ///< number of communication operations of the flow, >= 0
  std::int64_t bytes = 0;       ///< payload of all operations of the flow in bytes, >= 0
  std::size_t first_class = 0;  ///< size class of sizes[0], as size_class() returns it
  /// Number of the flow's operations per size class from `first_class` on; neither the first nor the last is 0. Empty if unknown.
  std::vector<std::int64_t> sizes;

  friend bool operator==(const TrafficFlow&, const TrafficFlow&) = default;
};
/// Returns the name of a kind of operation: "message", "put" or "get".
[[nodiscard]] std::string_view move_name(Move move);
/// Parses the name of a kind of operation: "message", "put" or "get".
/// @throws InputError for any other name
[[nodiscard]] Move parse_move(std::string_view name);

/// Sparse communication matrix of one run: operations and bytes from each rank to each other one.
class TrafficMatrix {
 public:
  /// Makes the communication matrix of one rank, without flows.
  TrafficMatrix() = default;
  /// Makes the communication matrix of `ranks` ranks from flows in any order. Flows of equal sender, receiver and kind of operation are
  /// summed, flows without operations left out. Local.
  /// @throws InputError for ranks below 1, a rank outside 0 to ranks - 1, a flow from a rank to itself, a negative count, bytes without
  ///         an operation, size classes out of range or whose operations are not as many as the flow has, and sums beyond 64 bits
  TrafficMatrix(int ranks, std::vector<TrafficFlow> flows);

  /// Returns the number of ranks of the communication matrix, at least 1.
  [[nodiscard]] int ranks() const noexcept { return ranks_; }
  /// Returns the flows of the communication matrix that have operations, ascending by (from, to, move), each key once.
  [[nodiscard]] const std::vector<TrafficFlow>& flows() const noexcept { return flows_; }
  /// Returns the number of communication operations between all ranks. @throws InputError if it exceeds 64 bits
  [[nodiscard]] std::int64_t operations() const;
  /// Returns the number of bytes that all communication operations move between ranks. @throws InputError if it exceeds 64 bits
  [[nodiscard]] std::int64_t bytes() const;

  /// Number of repetitions of the communication pattern (steps, phases), at least 1; empty if the source does not give it.
  std::optional<std::int64_t> exchanges;
  std::string source;  ///< origin of the counts (a run, a trace, a file), as text for people

  /// Returns the number of repetitions of the communication pattern: `exchanges` if known, else the largest number of operations
  /// of one flow, at least 1.
  [[nodiscard]] std::int64_t exchange_count() const;

  friend bool operator==(const TrafficMatrix&, const TrafficMatrix&) = default;

 private:
  int ranks_ = 1;
  std::vector<TrafficFlow> flows_;
};

/// Gathers the operation counts of every rank into one communication matrix, on every rank. Collective.
/// @param mine  counts of this rank by other rank
[[nodiscard]] TrafficMatrix gather_traffic(Transport& transport, const TrafficCount& mine);

/// Encodes the flows of a communication matrix, in the order of TrafficMatrix::flows(), as text of letters, digits, "+" and "/"
/// for a run record: about 14 characters for a flow of one size class. Local.
[[nodiscard]] std::string pack_flows(const std::vector<TrafficFlow>& flows);
/// Decodes the flows of a communication matrix from a text that pack_flows() made. Local.
/// @throws InputError if the text was not made by pack_flows
[[nodiscard]] std::vector<TrafficFlow> unpack_flows(std::string_view text);

}  // namespace merganser::comm
