// Replicated table of numbers per rank, kept up to date by announcements, with exact sums over the ranks.
#include "merganser/announce/shared_numbers.hpp"

#include <algorithm>
#include <cmath>
#include <string>

#include "merganser/base/error.hpp"

namespace merganser::announce {

namespace {

/// Returns the number of columns of a table of shared numbers, if a row fits one announcement. @throws UsageError otherwise
std::size_t checked_columns(const AnnouncementNetwork& network, std::size_t columns) {
  const std::size_t most = network.options().max_bytes / sizeof(double);
  if (columns >= 1 && columns <= most) return columns;
  throw UsageError("SharedNumbers: " + std::to_string(columns) + " columns; allowed: 1 to " + std::to_string(most) +
                   ", which an announcement holds (max_bytes)");
}

}  // namespace

// Makes an empty table and subscribes to the rows of all ranks.
SharedNumbers::SharedNumbers(AnnouncementNetwork& network, std::size_t columns, Topic topic)
    : network_(network),
      columns_(checked_columns(network, columns)),
      topic_(topic),
      last_(columns),
      received_(static_cast<std::size_t>(network.size()), 0),
      values_(columns * static_cast<std::size_t>(network.size())),
      sums_(columns) {
  subscription_ = network.subscribe(topic, [this](const Announcement& a) { accept(a); });
}

SharedNumbers::~SharedNumbers() { network_.unsubscribe(subscription_); }

// Announces the row of this rank, unless it is bitwise equal to the last one.
void SharedNumbers::publish(std::span<const double> mine) {
  if (mine.size() != columns_) {
    throw UsageError("SharedNumbers: " + std::to_string(mine.size()) +
                     " numbers; allowed: " + std::to_string(columns_));
  }
  for (const double x : mine) {
    if (!std::isfinite(x)) throw UsageError("SharedNumbers: " + std::to_string(x) + "; allowed: finite numbers");
  }
  const bool same = published_ && std::memcmp(mine.data(), last_.data(), mine.size_bytes()) == 0;
  if (same) return;
  network_.announce(topic_, std::as_bytes(mine), Delivery::same_step);
  last_.assign(mine.begin(), mine.end());
  published_ = true;
}

// Replaces the row of a rank by the one that it announced, in the table and in the sums of the columns.
void SharedNumbers::accept(const Announcement& announcement) {
  if (announcement.bytes.size() != columns_ * sizeof(double)) {
    throw CommError("SharedNumbers: rank " + std::to_string(announcement.id.origin) + " sent " +
                    std::to_string(announcement.bytes.size()) + " bytes on topic " + std::to_string(topic_) +
                    "; expected " + std::to_string(columns_) + " numbers: do all ranks have the same columns?");
  }
  const auto rank = static_cast<std::size_t>(announcement.id.origin);
  double* mine = values_.data() + rank * columns_;
  // The sums are exact, so subtracting the old value and adding the new one leaves no rounding error behind.
  for (std::size_t i = 0; i < columns_; ++i) {
    sums_[i].add(-mine[i]);
    std::memcpy(mine + i, announcement.bytes.data() + i * sizeof(double), sizeof(double));
    sums_[i].add(mine[i]);
  }
  known_ += received_[rank] == 0 ? 1 : 0;
  received_[rank] = 1;
}

void SharedNumbers::check_column(std::size_t column) const {
  if (column < columns_) return;
  throw UsageError("SharedNumbers: column " + std::to_string(column) + "; allowed: 0 to below " +
                   std::to_string(columns_));
}

double SharedNumbers::sum(std::size_t column) const {
  check_column(column);
  return sums_[column].value();
}

// Returns the extreme value of a column over the ranks whose rows have been delivered.
double SharedNumbers::best(std::size_t column, bool (*better)(double, double)) const {
  check_column(column);
  const double* found = nullptr;
  for (std::size_t r = 0; r < received_.size(); ++r) {
    const double& x = values_[r * columns_ + column];
    if (received_[r] != 0 && (found == nullptr || better(x, *found))) found = &x;
  }
  return found != nullptr ? *found : 0;
}

double SharedNumbers::min(std::size_t column) const {
  return best(column, [](double a, double b) { return a < b; });
}

double SharedNumbers::max(std::size_t column) const {
  return best(column, [](double a, double b) { return a > b; });
}

// Returns the last row of shared numbers that a rank has published and that is delivered here.
std::span<const double> SharedNumbers::row(int rank) const {
  if (rank < 0 || rank >= network_.size()) {
    throw UsageError("SharedNumbers: rank " + std::to_string(rank) + "; allowed: 0 to below " +
                     std::to_string(network_.size()));
  }
  const auto r = static_cast<std::size_t>(rank);
  return received_[r] == 0 ? std::span<const double>() : std::span(values_).subspan(r * columns_, columns_);
}

}  // namespace merganser::announce
