#pragma once
/// Columns of distributed parcels on their way into a file: each rank writes its own rows, or rank 0 gathers and writes them.
#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "merganser/comm/shared_output.hpp"
#include "merganser/comm/transport.hpp"
#include "merganser/parcels/parcels.hpp"
#include "src/io/columns.hpp"

namespace merganser::io {

/// Parcels of all ranks in the order in which a file is to hold them: group after group (species), in each rank after rank.
class GatheredParcels {
 public:
  /// Takes the parcels of this rank as one group. Collective.
  GatheredParcels(const Parcels& parcels, comm::Transport& transport);
  /// Groups the parcels of this rank. Collective. @param group  of a parcel, from 0 to groups - 1
  GatheredParcels(const Parcels& parcels, int groups, const std::function<int(std::size_t)>& group,
                  comm::Transport& transport);
  /// Returns the number of parcels of a group, over all ranks.
  [[nodiscard]] std::int64_t total(int group) const { return total_[static_cast<std::size_t>(group)]; }

  /// Returns how many parcels of a group this rank has.
  [[nodiscard]] std::int64_t own_count(int group) const;
  /// Returns how many parcels of a group the ranks before this one have: the row of its first one.
  [[nodiscard]] std::int64_t own_first(int group) const;

  /// Values of columns for some parcels of this rank, `width` doubles for each.
  using Values = std::function<void(std::span<const std::size_t> parcels, double* to)>;
  /// Takes rows on rank 0: the first row in the group, and their values, `width` for each.
  using Sink = std::function<void(std::int64_t first, std::span<const double> values)>;
  /// Passes the values of all parcels of a group to `sink` on rank 0, in parts. Collective. An error of the sink is kept for
  /// throw_error().
  void write(int group, std::size_t width, const Values& values, const Sink& sink);
  /// Makes the bytes of rows, as the file holds them, from their values. Called on every rank.
  using Bytes = std::function<void(std::span<const double> values, std::vector<std::byte>& to)>;
  /// An array of a file with a row for each parcel of a group: its values, and the place of its rows.
  struct Array {
    std::size_t width;  ///< values of a row
    Values values;
    Bytes bytes;
    std::optional<std::uint64_t> begin;  ///< on rank 0: offset of the first row in the file; none: nothing is written
    std::size_t row_bytes;               ///< bytes from one row to the next, on every rank
  };
  /// Writes the rows of all parcels of a group to where they belong in a file, every rank its own, of all arrays a block of parcels at
  /// a time, so that the container goes through memory once. Collective, but ranks do not wait for each other's writes. An error of any
  /// rank is kept for throw_error(). @param arrays  of the same number on every rank
  void write_rows(comm::SharedOutput& file, int group, std::span<Array> arrays);
  /// Passes the values of this rank's parcels of a group, without the first `skipped`, to `sink` on this rank, in parts; rows are counted
  /// in the group over all ranks. Local. An error of the sink is kept for throw_error().
  void visit_own(int group, std::size_t width, const Values& values, const Sink& sink, std::int64_t skipped = 0);
  /// Returns a number of rank 0 on every rank; none where rank 0 has none, or had an error. Collective.
  [[nodiscard]] std::optional<std::uint64_t> from_first(const std::optional<std::uint64_t>& number);
  /// Calls `action` on rank 0, unless there was an error before. Local. Its error is kept for throw_error().
  void on_first(const std::function<void()>& action);
  /// Calls `action` on this rank, unless it had an error before. Local. Its error is kept for throw_error().
  void on_this_rank(const std::function<void()>& action);
  /// Returns true once an error of this rank is kept. Local.
  [[nodiscard]] bool failed() const noexcept { return !error_.empty(); }
  /// Throws the first error that was kept, of the first rank that has one, on every rank. Collective.
  void throw_error();

 private:
  /// Counts the parcels of each group over all ranks. Collective. @param mine  of this rank, by group
  void count(std::span<const std::int64_t> mine);
  /// Returns some of this rank's parcels of a group, valid until the next call.
  [[nodiscard]] std::span<const std::size_t> own(int group, std::int64_t first, std::int64_t count);

  comm::Transport& transport_;
  std::vector<std::vector<std::size_t>> mine_;     // by group: parcels of this rank; empty: one group, of all
  std::vector<std::size_t> numbers_;               // those of one group that own() returned last
  std::vector<std::vector<std::int64_t>> counts_;  // by group, then rank
  std::vector<std::int64_t> total_;
  std::string error_;
};

}  // namespace merganser::io
