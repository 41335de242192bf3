#pragma once
/// Numbers for vertices whose ids are sparse or text: relabelling of ids, and names of edge lists, over all ranks.
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "merganser/comm/transport.hpp"
#include "src/graphs/files/raw.hpp"

namespace merganser::graphs::detail {

/// Number of a vertex id that a rank asked for.
struct NewId {
  std::uint64_t id, number;
};
/// New numbers of sparse vertex ids, in the order of the ids, filled by relabel_ids().
struct NewIds {
  std::vector<NewId> known;              ///< ids that this rank asked for, ascending
  std::uint64_t vertices = 0;            ///< different ids of all ranks
  std::vector<std::uint64_t> originals;  ///< original ids of this rank's range of Ranges::even()
  /// Returns the new number of an id that this rank asked for.
  [[nodiscard]] std::uint64_t of(std::uint64_t id) const;
};
/// Numbers the different vertex ids of all ranks in ascending order, from 0 on. Collective. @param wanted  ids of this rank, in any
/// order, perhaps repeated
[[nodiscard]] NewIds relabel_ids(std::vector<std::uint64_t> wanted, comm::Transport& transport);

/// Different names of vertices in this rank's lines of an edge list, numbered in the order of their first places.
class NameTable {
 public:
  /// Creates an empty table. @param path  file, for errors @param sharing  ranks that share the memory of this host
  NameTable(std::string path, int sharing) : path_(std::move(path)), sharing_(sharing) {}
  /// Returns the number of a name on this rank. @param place  of the name in the file; calls must be in ascending order of places
  /// @throws InputError if the memory that is available does not suffice
  [[nodiscard]] std::uint64_t number(std::string_view name, std::uint64_t place);
  /// Returns the names of this rank with their first places on it, in ascending order of both.
  [[nodiscard]] const std::vector<VertexName>& names() const { return names_; }

 private:
  /// Hash of names, equal on all ranks.
  struct Hash {
    using is_transparent = void;
    std::size_t operator()(std::string_view text) const { return static_cast<std::size_t>(hash_name(text)); }
  };

 public:
  /// Returns a hash of a name, the same on every rank.
  [[nodiscard]] static std::uint64_t hash_name(std::string_view name);

 private:
  std::string path_;
  int sharing_;
  std::uint64_t bytes_ = 0;                         // memory of the names, about
  std::uint64_t checked_ = std::uint64_t{1} << 24;  // memory at which check_memory() is called next
  std::vector<VertexName> names_;
  std::unordered_map<std::string, std::uint64_t, Hash, std::equal_to<>> numbers_;
};

/// Replaces the numbers of names on this rank, which are the ids of its arcs, by the first places of the names on all ranks, and
/// stores each name with that place on one rank in `raw.names`. Collective.
void merge_names(const NameTable& table, Raw& raw, comm::Transport& transport);

/// Sends the names of vertices to the ranks of Ranges::even(). Collective. @return the names of this rank's vertices, in their order
[[nodiscard]] std::vector<std::string> distribute_names(const std::vector<VertexName>& names, std::uint64_t vertices,
                                                        comm::Transport& transport);

}  // namespace merganser::graphs::detail
