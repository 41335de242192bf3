#pragma once
/// What a reader of any format hands on: arcs as they stand in the file, with weights of one kind.
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "merganser/graphs/files.hpp"

namespace merganser::graphs::detail {

struct Arc {
  std::uint64_t from;
  std::uint64_t to;
  std::uint64_t weight;  ///< by the mode of the Raw that holds it
};

/// How the weights of arcs are kept; a later one holds what the earlier ones do.
enum class Numbers : std::uint8_t { natural, integer, real };

/// One rank's arcs.
struct Raw {
  /// @param sharing  ranks that share the memory of this machine
  explicit Raw(std::string file, int sharing = 1) : path(std::move(file)), sharing_(sharing) {}
  std::string path;  ///< for errors
  std::vector<Arc> arcs;
  std::uint64_t most = UINT64_MAX;  ///< arcs that the head of the file speaks of; those beyond are counted, not kept
  std::uint64_t vertices = 0;       ///< as the file tells them; 0 where it does not (see vertices_known)
  bool vertices_known = false;      ///< else: the greatest id + 1, or a name for each
  bool weighted = false;
  Numbers numbers = Numbers::natural;
  // What the weights are so far, loops' too. Whether they go together is told when all ranks' are known: finish().
  bool negative = false;            ///< some are below 0
  bool real = false;                ///< some are no integers
  std::uint64_t beyond_signed = 0;  ///< the first integer from 2^63 on; 0: none
  bool directed = false;            ///< an arc alone does not say that its reverse is there
  std::uint64_t left = 0;           ///< bipartite: of this rank's, the greatest `from` + 1; else 0
  bool bipartite = false;           ///< ids of `to` follow those of `from`
  std::vector<std::string> lines;   ///< for ReadLog, the same on every rank

  /// Adds an arc with a weight as text. @return false if it is none; then nothing is added
  bool add(std::uint64_t from, std::uint64_t to, std::string_view weight);
  void add(std::uint64_t from, std::uint64_t to) { keep({from, to, 0}); }
  void add_integer(std::uint64_t from, std::uint64_t to, std::int64_t weight);
  /// Makes the weights of a wider kind.
  void widen(Numbers to);
  [[noreturn]] void refuse_beyond_signed() const;
  /// Arcs added, those beyond `most` too.
  [[nodiscard]] std::uint64_t added() const { return arcs.size() + beyond_; }

 private:
  void keep(const Arc& arc) {
    if (arcs.size() == arcs.capacity() && !grow()) return;
    arcs.push_back(arc);
  }
  /// Makes room for more arcs. @return false at `most` @throws InputError where what was read would not fit any more
  bool grow();
  /// Keeps the weights in a wider way; integers of both signs that 64 bits do not hold together as real numbers.
  void keep_as(Numbers to);
  void add_bits(std::uint64_t from, std::uint64_t to, bool below, std::uint64_t magnitude);

  int sharing_;
  std::uint64_t beyond_ = 0;
};

/// Made edges of the graph, from all ranks' arcs: see files.hpp. Collective.
[[nodiscard]] EdgeList finish(Raw raw, const ReadOptions& options, comm::Transport& transport, ReadLog& log);

/// Most vertices that a file of so many bytes may speak of without a line for each.
[[nodiscard]] std::uint64_t most_vertices(std::uint64_t file_bytes, bool compressed);

/// What a reader needs to know of the file that it reads.
struct Source {
  std::string path;
  comm::Transport& transport;
  ReadLog& log;
  int sharing = 1;  ///< ranks of this machine
};

// One for each format. Collective; errors are the same on every rank.
[[nodiscard]] Raw read_edge_list(const Source& source);
[[nodiscard]] Raw read_matrix_market(const Source& source);
[[nodiscard]] Raw read_metis(const Source& source);
[[nodiscard]] Raw read_dimacs(const Source& source);
[[nodiscard]] Raw read_parhip(const Source& source);
[[nodiscard]] Raw read_bvgraph(const Source& source);
[[nodiscard]] EdgeList read_binary(const Source& source, const ReadOptions& options);
void write_binary(const std::string& path, const EdgeList& graph, comm::Transport& transport);

/// Sizes that the head of a file tells, for a forecast. `arcs` as in ReadLog.
struct Sizes {
  std::uint64_t vertices = 0;
  std::uint64_t arcs = 0;
  bool exact = false;
  bool twice = false;            ///< every edge stands twice
  std::uint64_t edge_bytes = 0;  ///< 0: by the weights
};
[[nodiscard]] Sizes sizes_of_edge_list(const std::string& path, std::string_view head);
[[nodiscard]] Sizes sizes_of_matrix_market(const std::string& path, std::string_view head);
[[nodiscard]] Sizes sizes_of_metis(const std::string& path, std::string_view head);
[[nodiscard]] Sizes sizes_of_dimacs(const std::string& path, std::string_view head);
[[nodiscard]] Sizes sizes_of_parhip(const std::string& path);
[[nodiscard]] Sizes sizes_of_bvgraph(const std::string& path);
[[nodiscard]] Sizes sizes_of_binary(const std::string& path);

}  // namespace merganser::graphs::detail
