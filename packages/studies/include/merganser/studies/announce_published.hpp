#pragma once
/// Tables I to III of [berghoff2018]: degrees and diameters of announcement networks, and the exact ones that are known here.
#include <array>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "merganser/announce/network.hpp"

namespace merganser::studies {

/// One regular network: degree and diameter by Table I of [berghoff2018], and those found by searching the network.
struct RegularNetwork {
  std::string network;
  int published_degree, degree;
  int published_diameter, diameter;
  bool must;  ///< true: it is an error of this library if they differ
  std::string
      note;  ///< why they differ: "a" where Eq. (1) adds 1 and 4 does not divide every extent, "b" where an extent is odd
  /// Returns true if both numbers of the search are those of the table.
  [[nodiscard]] bool as_published() const { return degree == published_degree && diameter == published_diameter; }
};
/// Searches hypercubes, tori and Manhattan Street Networks of up to a few thousand vertices. Local.
[[nodiscard]] std::vector<RegularNetwork> regular_networks();

/// A machine of Tables II and III of [berghoff2018].
struct PublishedMachine {
  const char* name;
  int cores;                     ///< number of cores, Table II
  int processes;                 ///< number of processes, Table III
  std::array<int, 9> diameters;  ///< Table III: for degrees 2 to 10
  std::array<int, 9>
      exact;  ///< exact diameters, found by a search from every vertex (announce table3 --exact); 0: unknown
  /// Returns the least degree whose published diameter is at most `budget`; 10 where there is none.
  [[nodiscard]] int degree_within(int budget) const;
};
/// Returns all seven machines, by size.
[[nodiscard]] std::span<const PublishedMachine> published_machines();
inline constexpr int kFirstDegree = 2;

/// Returns true for the two entries of Table III for which no rule was found; the other 61 are
/// announce::ManhattanStreetNetwork::published_diameter().
[[nodiscard]] bool is_unexplained_cell(int processes, int degree);

/// A diameter as found now and as recorded.
struct KnownDiameter {
  announce::Diameter found;     ///< result of the search now: exact, or a lower bound
  std::optional<int> recorded;  ///< exact diameter of an earlier search from every vertex
  /// Returns the diameter, or the largest distance that was found.
  [[nodiscard]] int value() const { return found.exact ? found.value : recorded.value_or(found.value); }
  /// Returns true if value() is the exact diameter.
  [[nodiscard]] bool exact() const { return found.exact || recorded.has_value(); }
  /// Returns false if search and record contradict each other.
  [[nodiscard]] bool consistent() const {
    return !recorded || (found.exact ? found.value == *recorded : found.value <= *recorded);
  }
  /// Formats the diameter: "33", or ">=45" for a lower bound.
  [[nodiscard]] std::string to_string() const;
};
/// Searches for the diameter of a network, and looks up the recorded one of Manhattan Street Networks of the published machines.
/// Local. Up to 30,000 vertices the effort is that of announce::diameter(); beyond, 20 million
/// arcs are followed at most for an exact result, and a sample has four vertices: one where there are three million, or where the
/// exact diameter is recorded, which the sample can only contradict.
/// @param exact  no limit: hours and gigabytes for millions of vertices
[[nodiscard]] KnownDiameter known_diameter(const announce::Network& network, bool exact);

}  // namespace merganser::studies
