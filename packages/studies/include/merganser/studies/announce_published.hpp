#pragma once
/// Formulas, machines and diameters of Tables I to III of [berghoff2018], beside what is known of these networks here.
#include <array>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "merganser/announce/network.hpp"

namespace merganser::studies {

/// One regular network: what Table I of [berghoff2018] says, and what a search of it finds.
struct RegularNetwork {
  std::string network;
  int published_degree, degree;
  int published_diameter, diameter;
  bool must;  ///< be as published
  std::string
      note;  ///< why it is not: "a" where Eq. (1) adds 1 and 4 does not divide every extent, "b" where an extent is odd
  /// Whether both numbers of the search are those of the table.
  [[nodiscard]] bool as_published() const { return degree == published_degree && diameter == published_diameter; }
};
/// Hypercubes, tori and Manhattan Street Networks of up to a few thousand vertices. Local.
[[nodiscard]] std::vector<RegularNetwork> regular_networks();

/// A row of Table II of [berghoff2018] and the row of its Table III for the same machine.
struct PublishedMachine {
  const char* name;
  int cores;                     ///< Table II
  int processes;                 ///< Table III
  std::array<int, 9> diameters;  ///< Table III: degrees 2 to 10
  std::array<int, 9> exact;      ///< found from every vertex (announce table3 --exact); 0: not known
  /// The least degree whose published diameter is at most `budget`; 10 where there is none.
  [[nodiscard]] int degree_within(int budget) const;
};
/// All seven, by size.
[[nodiscard]] std::span<const PublishedMachine> published_machines();
inline constexpr int kFirstDegree = 2;

/// True for the two cells of Table III that follow no rule found; the other 61 are
/// announce::ManhattanStreetNetwork::published_diameter().
[[nodiscard]] bool unexplained_cell(int processes, int degree);

/// The two ways a diameter can be known.
struct KnownDiameter {
  announce::Diameter found;     ///< now
  std::optional<int> recorded;  ///< exact, from an earlier search from every vertex
  /// The diameter, or the greatest distance that is known of.
  [[nodiscard]] int value() const { return found.exact ? found.value : recorded.value_or(found.value); }
  /// Whether value() is the diameter.
  [[nodiscard]] bool exact() const { return found.exact || recorded.has_value(); }
  /// False if the two contradict each other.
  [[nodiscard]] bool consistent() const {
    return !recorded || (found.exact ? found.value == *recorded : found.value <= *recorded);
  }
  [[nodiscard]] std::string text() const;  ///< "33", ">=45"
};
/// What a search tells of the diameter of a network now, and what is on record for it: of Manhattan Street Networks of
/// the published machines. Local. Up to 30,000 vertices the effort is that of announce::diameter(); beyond, 20 million
/// arcs are followed at most to be exact, and a sample has four vertices: one where there are three million, or where the
/// exact diameter is on record, which is only to be contradicted then.
/// @param exact  no limit: hours and gigabytes for millions of vertices
[[nodiscard]] KnownDiameter known_diameter(const announce::Network& network, bool exact);

}  // namespace merganser::studies
