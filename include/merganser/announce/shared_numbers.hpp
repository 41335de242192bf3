#pragma once
/// Sums, minima and maxima over all ranks of numbers that ranks publish, over an announcement network: a reduction without a
/// collective, whose result has a known age in steps.
///
///     SharedNumbers totals(network, 2);
///     totals.publish({{parcels, energy}});     // any rank, when its numbers have changed
///     network.step();
///     if (totals.complete()) report(totals.sum(0), totals.max(1), totals.as_of());
#include <cstdint>
#include <span>
#include <vector>

#include "merganser/announce/announcement_network.hpp"
#include "merganser/base/exact_sum.hpp"
#include "merganser/base/pinned.hpp"

namespace merganser::announce {

/// Default topic of the announcements by which SharedNumbers publishes rows of numbers.
inline constexpr Topic kSharedNumbersTopic = kFirstServiceTopic + 1;

/// Table of numbers, one row per rank and the same columns on every rank, that is replicated on all ranks, with reductions over the
/// ranks.
///
/// A row that a rank publishes is delivered on all ranks by the same step, time_to_live() steps later. So after the same step all
/// ranks have the same bits; sums are exact until they are rounded once. Only changed rows are announced. Memory: 8 bytes per rank
/// and column.
class SharedNumbers : Pinned {
 public:
  /// Makes an empty table. Local, but every rank must make one, with the same columns and topic, before the first step that follows
  /// the first publish() of any rank. The network must outlive this object and must not be moved. Two tables on one network need
  /// different topics.
  /// @param columns  numbers per rank, at least 1
  /// @throws UsageError if columns < 1 or a row exceeds max_bytes of the network
  SharedNumbers(AnnouncementNetwork& network, std::size_t columns, Topic topic = kSharedNumbersTopic);
  ~SharedNumbers();

  /// Publishes the row of this rank, which replaces the one before. Local; announces nothing if the row is bitwise equal to that.
  /// @param mine  one finite number per column
  /// @throws UsageError for another number of columns, for a number that is not finite, and if the network does not accept the
  /// announcement
  void publish(std::span<const double> mine);

  /// Returns the number of ranks whose rows have been delivered on this rank. Reductions are over these.
  [[nodiscard]] int known() const noexcept { return known_; }
  /// Returns true if the rows of all ranks have been delivered on this rank.
  [[nodiscard]] bool complete() const noexcept { return known_ == network_.size(); }
  /// Returns the step whose state the table has: each row is the last that its rank published before it had made more steps than
  /// this. Negative: no row can have been delivered yet.
  [[nodiscard]] std::int64_t as_of() const noexcept { return network_.now() - network_.time_to_live(); }
  /// Returns the age of the table: the number of steps from as_of() to now.
  [[nodiscard]] int age() const noexcept { return network_.time_to_live(); }

  /// Returns the sum of a column over the ranks whose rows have been delivered, rounded once; 0 without any. Local.
  /// @throws UsageError unless column < columns
  [[nodiscard]] double sum(std::size_t column) const;
  /// Returns the least value of a column over the ranks whose rows have been delivered; 0 without any. Local; O(ranks).
  /// @throws UsageError unless column < columns
  [[nodiscard]] double min(std::size_t column) const;
  /// Returns the greatest value of a column over the ranks whose rows have been delivered; 0 without any. Local; O(ranks).
  /// @throws UsageError unless column < columns
  [[nodiscard]] double max(std::size_t column) const;
  /// Returns the row of one rank; empty if it has not been delivered. Local. @throws UsageError unless 0 <= rank < ranks
  [[nodiscard]] std::span<const double> row(int rank) const;

 private:
  /// Stores a delivered row of the table and updates the sums of the columns. @throws CommError for a row of another length
  void accept(const Announcement& announcement);
  /// Checks that the table of shared numbers has a column. @throws UsageError if not
  void check_column(std::size_t column) const;
  /// Returns the value of a column that is better than those of all other delivered rows; 0 without any.
  [[nodiscard]] double best(std::size_t column, bool (*better)(double, double)) const;

  AnnouncementNetwork& network_;
  std::size_t columns_;         // numbers in the row of a rank
  Topic topic_;                 // topic of the announcements of rows
  std::size_t subscription_;    // number of this rank's subscription to rows
  std::vector<double> last_;    // last row of numbers that this rank published
  bool published_ = false;      // this rank has published a row
  int known_ = 0;               // ranks whose rows have been delivered
  std::vector<char> received_;  // by rank: a row has been delivered
  std::vector<double> values_;  // by rank, then column; 0 before the first delivery
  std::vector<ExactSum> sums_;  // by column: exact sum over all ranks
};

}  // namespace merganser::announce
