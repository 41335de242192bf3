#pragma once
/// Tables I to III of [berghoff2018]: degrees and diameters of announcement networks, and the exact ones that are known here.
#include <array>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "merganser/announce/network.hpp"

namespace merganser::studies {

/// One announcement network (hypercube, torus or Manhattan Street Network) of Table I of [berghoff2018]: degree and diameter by the
/// table, and those found by searching the network.
struct RegularNetwork {
  std::string network;               ///< kind and extents of the announcement network
  int published_degree, degree;      ///< arcs that leave a vertex: by Table I, as found
  int published_diameter, diameter;  ///< steps between the vertices farthest apart: by Table I, as found
  bool must;                         ///< true: it is an error of this library if they differ
  std::string
      note;  ///< why they differ: "a" where Eq. (1) adds 1 and 4 does not divide every extent, "b" where an extent is odd
  /// Returns true if the degree and diameter found are those of Table I.
  [[nodiscard]] bool as_published() const { return degree == published_degree && diameter == published_diameter; }
};
/// Finds degree and diameter of hypercubes, tori and Manhattan Street Networks of up to a few thousand vertices. Local.
[[nodiscard]] std::vector<RegularNetwork> regular_networks();

/// A machine of Tables II and III of [berghoff2018].
struct PublishedMachine {
  const char* name;              ///< name of the machine in the publication
  int cores;                     ///< number of cores, Table II
  int processes;                 ///< number of processes, Table III
  std::array<int, 9> diameters;  ///< Table III: for degrees 2 to 10
  std::array<int, 9>
      exact;  ///< exact diameters, found by a search from every vertex (announce table3 --exact); 0: unknown
  /// Returns the least degree of a Manhattan Street Network over the machine's processes whose published diameter is at most
  /// `budget` steps; 10 where there is none.
  [[nodiscard]] int degree_within(int budget) const;
};
/// Returns the seven machines of Tables II and III of [berghoff2018], ascending by their number of processes.
[[nodiscard]] std::span<const PublishedMachine> published_machines();
inline constexpr int kFirstDegree = 2;  ///< degree of the first column of Table III

/// Returns true for the two entries of Table III for which no rule was found; the other 61 are
/// announce::ManhattanStreetNetwork::published_diameter().
[[nodiscard]] bool is_unexplained_cell(int processes, int degree);

/// Diameter of an announcement network as found now and as recorded; filled by known_diameter().
struct KnownDiameter {
  announce::Diameter found;     ///< result of the search now: exact, or a lower bound
  std::optional<int> recorded;  ///< exact diameter of an earlier search from every vertex
  /// Returns the diameter of the network, or a lower bound: the largest distance that was found.
  [[nodiscard]] int value() const { return found.exact ? found.value : recorded.value_or(found.value); }
  /// Returns true if value() is the exact diameter of the network.
  [[nodiscard]] bool exact() const { return found.exact || recorded.has_value(); }
  /// Returns false if the search now and the recorded diameter contradict each other.
  [[nodiscard]] bool consistent() const {
    return !recorded || (found.exact ? found.value == *recorded : found.value <= *recorded);
  }
  /// Formats the diameter of the network: "33", or ">=45" for a lower bound.
  [[nodiscard]] std::string to_string() const;
};
/// Searches for the diameter of a network, and looks up the recorded one of Manhattan Street Networks of the published machines.
/// Local. Up to 30,000 vertices the effort is that of announce::diameter(); beyond, 20 million
/// arcs are followed at most for an exact result, and a sample has four vertices: one where there are three million, or where the
/// exact diameter is recorded, which the sample can only contradict.
/// @param exact  no limit: hours and gigabytes for millions of vertices
[[nodiscard]] KnownDiameter known_diameter(const announce::Network& network, bool exact);

}  // namespace merganser::studies
