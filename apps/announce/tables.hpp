#pragma once
/// What is published of announcement networks, beside what is known of them here.
#include <array>
#include <optional>
#include <span>
#include <string>

#include "merganser/announce/network.hpp"

namespace merganser::app {

/// A row of Table II of [berghoff2018] and the row of its Table III for the same machine.
struct PublishedMachine {
  const char* name;
  int cores;                     ///< Table II
  int processes;                 ///< Table III
  std::array<int, 9> diameters;  ///< Table III: degrees 2 to 10
  std::array<int, 9> exact;      ///< found from every vertex (announce table3 --exact); 0: not known
};
[[nodiscard]] std::span<const PublishedMachine> published_machines();
inline constexpr int kFirstDegree = 2;

/// A cell of Table III that follows no rule found.
[[nodiscard]] bool unexplained_cell(int processes, int degree);

/// The two ways a diameter can be known.
struct KnownDiameter {
  announce::Diameter found;     ///< now
  std::optional<int> recorded;  ///< exact, from an earlier search from every vertex
  [[nodiscard]] int value() const { return found.exact ? found.value : recorded.value_or(found.value); }
  [[nodiscard]] bool exact() const { return found.exact || recorded.has_value(); }
  /// False if the two contradict each other.
  [[nodiscard]] bool consistent() const {
    return !recorded || (found.exact ? found.value == *recorded : found.value <= *recorded);
  }
  [[nodiscard]] std::string text() const;  ///< "33", ">=45"
};
/// @param exact  no limit: hours and gigabytes for millions of vertices
[[nodiscard]] KnownDiameter known_diameter(const announce::Network& network, bool exact);

}  // namespace merganser::app
