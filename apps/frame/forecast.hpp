#pragma once
/// What a command will need, looked at before it begins.
///
/// One rule for every command: what cannot be is refused before the work, in one line that says what is needed, what is
/// there and what would help. Where options say how large it is the exit code is 2 (usage), where a file does, 3 (input).
#include <string>

#include "merganser/comm/transport.hpp"

namespace merganser::app {

/// An estimate. Numbers are doubles: products of options do not wrap.
struct Need {
  std::string what;        ///< "8,000,000,000 parcels in 2,000 x 2,000 x 2,000 cells"
  double rank_bytes = 0;   ///< memory of the rank that needs most
  double first_bytes = 0;  ///< memory of rank 0 beside that
  double disk_bytes = 0;   ///< of files to be written, beside what is there
  std::string file;        ///< one of them; empty: no file is written
  bool of_file = false;    ///< a file says how large it is, not an option
  std::string help;        ///< what would help: "fewer --cells"; empty: nothing but more memory
};

/// What a command does with a graph or points once they are there; points count as vertices.
struct AfterLoading {
  double bytes_per_edge = 0;              ///< memory beside the graph itself, of a rank's share
  double bytes_per_vertex = 0;            ///< the same
  double first_bytes_per_vertex = 0;      ///< memory of rank 0, of all vertices
  double first_bytes_per_coordinate = 0;  ///< the same of points, of each of their coordinates
  double disk_bytes_per_edge = 0;         ///< of what is written
  double disk_bytes_per_vertex = 0;
  std::string file;  ///< one of the files written; empty: none
};

struct ForceOption {
  bool force = false;
};
template <class V>
void describe(ForceOption& o, V&& option) {
  option("force", o.force, "go on where the forecast of memory and disk says that it does not fit");
}

/// Refuses a need that the memory for the ranks of some host, or the disk, is too small for; with `force` it warns.
/// Collective: errors are thrown on every rank alike, call it inside collective_try().
/// @throws UsageError, or InputError where a file says how large it is
void require(const Need& need, bool force, comm::Transport& transport);

/// The same for what this process does alone.
void require(const Need& need, bool force);

}  // namespace merganser::app
