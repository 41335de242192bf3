#pragma once
/// Columns of distributed parcels, gathered on rank 0 in rounds of bounded size, to be written by it.
#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "merganser/comm/transport.hpp"
#include "merganser/parcels/parcels.hpp"
#include "src/io/columns.hpp"

namespace merganser::io {

/// Parcels of all ranks in the order in which a file is to hold them: group after group (species), in each rank after rank.
class GatheredParcels {
 public:
  /// Groups the parcels of this rank. Collective. @param group  of a parcel, from 0 to groups - 1
  GatheredParcels(const Parcels& parcels, int groups, const std::function<int(std::size_t)>& group,
                  comm::Transport& transport);
  /// Returns the number of parcels of a group, over all ranks.
  [[nodiscard]] std::int64_t total(int group) const { return total_[static_cast<std::size_t>(group)]; }

  /// Values of a column for one parcel of this rank, `width` doubles.
  using Values = std::function<void(std::size_t parcel, double* to)>;
  /// Takes rows on rank 0: the first row in the group, and their values, `width` for each.
  using Sink = std::function<void(std::int64_t first, std::span<const double> values)>;
  /// Passes the values of all parcels of a group to `sink` on rank 0, in parts. Collective. An error of the sink is kept for
  /// throw_error().
  void write(int group, std::size_t width, const Values& values, const Sink& sink);
  /// Passes the values as write() does, with the rows in ascending order. Collective. Rank after rank sends its own, so it takes
  /// longer.
  void write_in_order(int group, std::size_t width, const Values& values, const Sink& sink);
  /// Calls `action` on rank 0, unless there was an error before. Local. Its error is kept for throw_error().
  void on_first(const std::function<void()>& action);
  /// Throws the first error of a sink, on every rank. Collective.
  void throw_error();

 private:
  comm::Transport& transport_;
  std::vector<std::vector<std::size_t>> mine_;     // by group: parcels of this rank
  std::vector<std::vector<std::int64_t>> counts_;  // by group, then rank
  std::vector<std::int64_t> total_;
  std::string error_;
};

}  // namespace merganser::io
