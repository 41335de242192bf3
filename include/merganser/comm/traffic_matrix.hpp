#pragma once
/// The traffic between all ranks of one run: flows from rank to rank, gathered, joined and packed into text.
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "merganser/comm/traffic.hpp"
#include "merganser/comm/transport.hpp"

namespace merganser::comm {

/// Operations of one kind from one rank to another. Bytes flow from `from` to `to`: a get by rank 2 of what rank 5 owns is
/// a flow from 5 to 2.
struct TrafficFlow {
  int from = 0;
  int to = 0;
  Move move = Move::message;
  std::int64_t operations = 0;
  std::int64_t bytes = 0;
  /// Operations by size class (size_class) from `first_class` on; neither begins nor ends with 0. Empty where sizes
  /// are not known.
  std::size_t first_class = 0;
  std::vector<std::int64_t> sizes;

  friend bool operator==(const TrafficFlow&, const TrafficFlow&) = default;
};
/// The name of a kind of operation: "message", "put", "get".
[[nodiscard]] std::string_view move_name(Move move);
/// The kind of operation that a name stands for.
/// @throws InputError for an unknown name
[[nodiscard]] Move move_of_name(std::string_view name);

/// TrafficMatrix between all ranks of one run.
class TrafficMatrix {
 public:
  TrafficMatrix() = default;
  /// Flows in any order; those with equal ends and move are added up, empty ones left out. @throws InputError for a rank
  /// outside 0 .. ranks - 1, a flow of a rank to itself, a negative count, sizes that contradict the operations
  TrafficMatrix(int ranks, std::vector<TrafficFlow> flows);

  /// Number of ranks.
  [[nodiscard]] int ranks() const noexcept { return ranks_; }
  /// Ascending by (from, to, move), each once.
  [[nodiscard]] const std::vector<TrafficFlow>& flows() const noexcept { return flows_; }
  /// Operations of all flows.
  [[nodiscard]] std::int64_t operations() const;
  /// Bytes of all flows.
  [[nodiscard]] std::int64_t bytes() const;

  /// How often the pattern was repeated (steps, phases), where the source knows; at least 1.
  std::optional<std::int64_t> exchanges;
  std::string source;  ///< where the numbers come from, for people

  /// Known exchanges, else the most operations of one flow, at least 1.
  [[nodiscard]] std::int64_t exchange_count() const;

  friend bool operator==(const TrafficMatrix&, const TrafficMatrix&) = default;

 private:
  int ranks_ = 1;
  std::vector<TrafficFlow> flows_;
};

/// The counts of every rank put together. Collective; every rank gets the result.
[[nodiscard]] TrafficMatrix gather_traffic(Transport& transport, const TrafficCount& mine);

/// Flows as text of letters, digits, "+" and "/": about 14 characters for a flow of one size class.
[[nodiscard]] std::string pack_flows(const std::vector<TrafficFlow>& flows);
/// The flows that pack_flows() made such a text of.
/// @throws InputError if the text was not made by pack_flows
[[nodiscard]] std::vector<TrafficFlow> unpack_flows(std::string_view text);

}  // namespace merganser::comm
