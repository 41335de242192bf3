#pragma once
/// Forecast of the memory and disk that a command needs, compared with what is free before it begins.
///
/// One rule for every command: work that cannot fit is refused before it begins, by one line with the amount needed, the amount
/// free and advice. The exit code is 2 (usage) if options determine the size, and 3 (input) if a file does.
#include <string>

#include "merganser/comm/transport.hpp"

namespace merganser::app {

/// Forecast of the memory and disk that a command needs, in bytes. Numbers are doubles, so that products of options do
/// not wrap.
struct Need {
  std::string what;        ///< work that has the need: "8,000,000,000 parcels in 2,000 x 2,000 x 2,000 cells"
  double rank_bytes = 0;   ///< memory of the rank that needs most
  double first_bytes = 0;  ///< memory of rank 0 in addition to rank_bytes
  double disk_bytes = 0;   ///< disk for the files to be written, beside existing ones
  std::string file;        ///< one of the files to be written; empty: none
  bool of_file = false;    ///< true: a file determines the size of the work, not an option
  std::string help;        ///< advice: "fewer --cells"; empty: only more memory helps
};

/// Forecast, per element, of the memory and disk that a command needs in addition to a loaded graph or set of points;
/// points count as vertices.
struct AfterLoading {
  double bytes_per_edge = 0;              ///< memory beside the graph itself, of a rank's share
  double bytes_per_vertex = 0;            ///< memory beside the graph itself, of a rank's share of the vertices
  double first_bytes_per_vertex = 0;      ///< memory of rank 0, of all vertices
  double first_bytes_per_coordinate = 0;  ///< memory of rank 0 for each coordinate of all points
  double disk_bytes_per_edge = 0;         ///< disk for the files written, per edge of the graph
  double disk_bytes_per_vertex = 0;       ///< disk for the files written, per vertex
  std::string file;                       ///< one of the files written; empty: none
};

/// Option --force, which turns a refusal by the forecast into a warning.
struct ForceOption {
  bool force = false;
};
/// Passes name, value and meaning of the option --force to option(...).
template <class V>
void describe(ForceOption& o, V&& option) {
  option("force", o.force, "go on where the forecast of memory and disk says that it does not fit");
}

/// Refuses a command whose forecast need exceeds the free memory of some host, shared by its ranks, or the free disk of rank 0;
/// with `force` it logs a warning. Collective; every rank throws or none does, so call it inside collective_try().
/// @throws UsageError, or InputError if a file determines the size (`of_file`)
void require(const Need& need, bool force, comm::Transport& transport);

/// Refuses a command in one process whose forecast need exceeds the free memory of this host or the free disk; with `force` it
/// logs a warning. Local. @throws UsageError, or InputError if a file determines the size (`of_file`)
void require(const Need& need, bool force);

}  // namespace merganser::app
