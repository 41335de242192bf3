#pragma once
/// Numbers of every rank, known to every rank, with a stated age and without a collective.
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

inline constexpr Topic kSharedNumbersTopic = kFirstServiceTopic + 1;

/// The same columns of numbers on every rank; their sums, least and greatest values over all ranks.
///
/// What one rank publishes is seen by all in the same step, time_to_live() steps later. So in the same step every rank has
/// the same bits: sums are exact until they are rounded once. Only changes are announced: numbers that stay cost nothing.
/// Memory: 8 bytes per rank and column.
class SharedNumbers : Pinned {
 public:
  /// Makes room for the numbers of every rank. Local, but to be made on every rank with the same columns and topic
  /// before the first step that follows the first publish(). The network must outlive this and stay where it is. Two
  /// SharedNumbers of one network need different topics.
  /// @throws UsageError if columns < 1 or the numbers of one rank are more than one announcement holds
  SharedNumbers(AnnouncementNetwork& network, std::size_t columns, Topic topic = kSharedNumbersTopic);
  ~SharedNumbers();

  /// This rank's numbers from now on. Local; announces nothing if they are those of last time.
  /// @throws UsageError for another number of columns or a number that is not finite, and as announce()
  void publish(std::span<const double> mine);

  /// Number of ranks whose numbers have arrived here. Sums and the like are over these.
  [[nodiscard]] int known() const noexcept { return known_; }
  /// Whether the numbers of every rank have arrived here.
  [[nodiscard]] bool complete() const noexcept { return known_ == network_.size(); }
  /// Everything here is what ranks had published when they had made this many steps. Negative: nothing yet.
  [[nodiscard]] std::int64_t as_of() const noexcept { return network_.now() - network_.time_to_live(); }
  [[nodiscard]] int age() const noexcept { return network_.time_to_live(); }  ///< steps from then to now

  /// Sum over the ranks whose numbers have arrived; 0 where there are none. @throws UsageError unless column < columns
  [[nodiscard]] double sum(std::size_t column) const;
  /// Least value of a column over the ranks whose numbers have arrived. @throws UsageError as sum()
  [[nodiscard]] double min(std::size_t column) const;
  /// Greatest value of a column over the ranks whose numbers have arrived. @throws UsageError as sum()
  [[nodiscard]] double max(std::size_t column) const;
  /// The numbers of one rank; empty if they have not arrived. @throws UsageError unless rank is one
  [[nodiscard]] std::span<const double> of(int rank) const;

 private:
  void take(const Announcement& announcement);
  void check_column(std::size_t column) const;
  [[nodiscard]] double best(std::size_t column, bool (*better)(double, double)) const;

  AnnouncementNetwork& network_;
  std::size_t columns_;
  Topic topic_;
  std::size_t subscription_;
  std::vector<double> last_;  // published here
  bool published_ = false;
  int known_ = 0;
  std::vector<char> heard_;     // by rank
  std::vector<double> values_;  // by rank, then column
  std::vector<ExactSum> sums_;
};

}  // namespace merganser::announce
