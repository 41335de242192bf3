#pragma once
/// Interface of the readers of all graph formats: arcs as they stand in the file, with weights of one type, and the functions
/// that produce them.
#include <bit>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "merganser/graphs/files.hpp"
#include "src/graphs/files/arc_list.hpp"

namespace merganser::graphs::detail {

/// Representation of the weights of arcs while a graph file is read: unsigned 64 bits, signed 64 bits, double. Each can represent
/// the ones before it, doubles with rounding.
enum class Numbers : std::uint8_t { natural, integer, real };

/// Vertex of a graph file with a name that is text. @see Raw::names
struct VertexName {
  std::uint64_t vertex;  ///< id; of an edge list the first place of the name in the file
  std::string name;
};

/// This rank's arcs of a file, with the properties of the graph that its reader determined. Later, build_edge_list() makes edges
/// of those of all ranks.
struct Raw {
  /// Creates an empty list of arcs for the reader of a graph file.
  /// @param file     path, for errors
  /// @param sharing  ranks that share the memory of this host
  explicit Raw(std::string file, int sharing = 1) : path(std::move(file)), sharing_(sharing) {}
  std::string path;             ///< path of the graph file, for errors
  ArcList arcs;                 ///< arcs that this rank has read
  std::uint64_t vertices = 0;   ///< number of vertices that the file gives; 0 if it does not (see vertices_known)
  bool vertices_known = false;  ///< else vertices are 0 .. greatest id, or relabelled
  bool weighted = false;        ///< the file has weights
  Numbers numbers = Numbers::natural;  ///< representation of the weights of `arcs`
  // Properties of the weights read so far, those of loops too. build_edge_list() checks that all ranks' weights fit one type.
  bool negative = false;            ///< some weights are below 0
  bool real = false;                ///< some weights are no integers
  std::uint64_t beyond_signed = 0;  ///< the first weight from 2^63 on; 0: none
  std::string beyond_real;          ///< the first integer weight that double precision cannot hold; empty: none
  bool directed = false;            ///< an arc does not imply its reverse
  std::uint64_t left = 0;           ///< bipartite: the greatest `from` of this rank's arcs, plus 1; else 0
  bool bipartite = false;           ///< ids of `to` count apart from those of `from`
  std::vector<std::string> lines;   ///< notes of the reader for ReadLog, the same on every rank
  bool named = false;  ///< vertices have names that are text; without vertices_known, ids are places of names
  std::vector<VertexName> names;  ///< names of vertices, each on one rank (any)

  /// Limits the arcs that are stored to the number that the header of the graph file announces, at least those added so far; those
  /// beyond are counted alone.
  void limit(std::uint64_t most) {
    most_ = most;
    arcs.clip(static_cast<std::size_t>(most));
  }
  /// Adds an arc of the graph file with a weight as text. @return false if that is no number or does not fit 64 bits; then nothing
  /// is added
  bool add(std::uint64_t from, std::uint64_t to, std::string_view weight);
  /// Adds an arc of the graph file without a weight.
  void add(std::uint64_t from, std::uint64_t to) { append({from, to, 0}); }
  /// Adds an arc of the graph file with an integer weight below 2^63, without a sign in the text.
  void add_natural(std::uint64_t from, std::uint64_t to, std::uint64_t weight) {
    if (weight >> kBitsOfReal != 0) check_real(false, weight);
    // A weight below 2^63 has the same bits as a signed and as an unsigned integer, so it is stored for both kinds unchanged.
    append({from, to, numbers == Numbers::real ? std::bit_cast<std::uint64_t>(static_cast<double>(weight)) : weight});
  }
  /// Adds an arc of the graph file with a weight that is no integer in the text, and no NaN.
  void add_real(std::uint64_t from, std::uint64_t to, double weight) {
    if (!real || numbers != Numbers::real) widen(Numbers::real);
    append({from, to, std::bit_cast<std::uint64_t>(weight)});
  }
  /// Adds an arc of the graph file with an integer weight.
  void add_integer(std::uint64_t from, std::uint64_t to, std::int64_t weight);
  /// Converts the weights of all arcs, and those added later, to a wider representation.
  void widen(Numbers to);
  /// Throws the error of integer weights of a graph file that no type of 64 bits can hold together: negative ones beside one from
  /// 2^63 on. @throws InputError
  [[noreturn]] void refuse_beyond_signed() const;
  /// Throws the error of `beyond_real` beside weights of a graph file that are floating-point numbers. @throws InputError
  [[noreturn]] void refuse_beyond_real() const;
  /// Returns the number of arcs added by the reader on this rank, those beyond the limit included.
  [[nodiscard]] std::uint64_t added() const { return arcs.size() + beyond_; }

 private:
  static constexpr int kBitsOfReal = 53;  ///< every integer of so many bits is a double
  /// Notes an integer weight in `beyond_real` if it is the first one that double precision cannot hold.
  void check_real(bool is_negative, std::uint64_t magnitude);
  /// Appends an arc of the graph file, unless there are as many as the limit on this rank already.
  void append(const Arc& arc) {
    if (arcs.is_full() && !grow()) return;
    arcs.append(arc);
  }
  /// Reserves memory for more arcs of this rank, within the limit. @return false if it is reached; then the next arc was counted
  /// @throws InputError if the memory that is available does not suffice
  bool grow();
  /// Converts the representation of the weights to `to` or a wider one: integers of both signs of which 64 bits cannot hold all
  /// become doubles, which build_edge_list() accepts only if some weight is real.
  void convert_numbers(Numbers to);
  /// Adds an arc with an integer weight given by sign and magnitude, which the present representation may not hold.
  void add_bits(std::uint64_t from, std::uint64_t to, bool is_negative, std::uint64_t magnitude);

  int sharing_;                      ///< ranks that share the memory of this host
  std::uint64_t most_ = UINT64_MAX;  ///< arcs that are stored
  std::uint64_t beyond_ = 0;         ///< arcs beyond `most_`
};

/// Builds the distributed edge list of an undirected graph from all ranks' arcs, by the rules of files.hpp. Collective.
/// @param log  statistics of the conversion, the same on every rank
/// @throws InputError on every rank for ids and weights that do not fit
[[nodiscard]] EdgeList build_edge_list(Raw raw, const ReadOptions& options, comm::Transport& transport, ReadLog& log);

/// Returns the largest number of vertices accepted from the header of a file of `file_bytes` bytes: isolated vertices take no
/// bytes, so a short file could announce any number of them and exhaust the memory.
[[nodiscard]] std::uint64_t max_vertices(std::uint64_t file_bytes, bool compressed);

/// Arguments of the readers of graph files.
struct Source {
  std::string path;            ///< path of the graph file; of a BVGraph without extension
  comm::Transport& transport;  ///< transport over all ranks that read the file
  ReadLog& log;                ///< log of the reading, written by the reader
  int sharing = 1;             ///< ranks on this host, which share its memory
  bool general = false;  ///< all lines of text go through the general parsers, which tests compare the others with
  bool names = false;    ///< vertices are named by text, see ReadOptions::names
};

// Readers and writer, one for each format: each rank reads about the same share of the file. Collective; InputError on every rank.

/// Reads this rank's share of an edge list file (SNAP, KONECT, TSV, CSV): the lines that begin in its share of the bytes.
/// Collective.
[[nodiscard]] Raw read_edge_list(const Source& source);
/// Reads this rank's share of the entries of a Matrix Market file as arcs. Collective.
[[nodiscard]] Raw read_matrix_market(const Source& source);
/// Reads this rank's share of the adjacency lists of a METIS file as arcs. Collective.
[[nodiscard]] Raw read_metis(const Source& source);
/// Reads this rank's share of the lines of a DIMACS graph file as arcs. Collective.
[[nodiscard]] Raw read_dimacs(const Source& source);
/// Reads the adjacency lists of this rank's range of vertices in a ParHIP file as arcs. Collective.
[[nodiscard]] Raw read_parhip(const Source& source);
/// Reads the arcs and edges of a Pajek network as arcs, all on rank 0. Collective.
[[nodiscard]] Raw read_pajek(const Source& source);
/// Reads the edges of a GML file as arcs, all on rank 0. Collective.
[[nodiscard]] Raw read_gml(const Source& source);
/// Reads the edges of a GraphML file as arcs, all on rank 0. Collective. @throws InputError on every rank in a build without expat
[[nodiscard]] Raw read_graphml(const Source& source);
/// Decodes the successor lists of this rank's range of vertices in a BVGraph of WebGraph as arcs. Collective.
[[nodiscard]] Raw read_bvgraph(const Source& source);
/// Reads this rank's share of the edges of a file in merganser's binary graph format, which needs no conversion. Collective.
[[nodiscard]] EdgeList read_binary(const Source& source, const ReadOptions& options);
/// Writes the edges of all ranks to a file in merganser's binary graph format. Collective; all ranks write.
void write_binary(const std::string& path, const EdgeList& graph, comm::Transport& transport);

/// Sizes of a graph by the header of its file, or estimated from its first bytes.
struct Sizes {
  std::uint64_t vertices = 0;    ///< number of vertices
  std::uint64_t arcs = 0;        ///< entries of the file, as ReadLog::arcs
  bool exact = false;            ///< the header gives the sizes; false: they are estimates
  bool twice = false;            ///< every edge stands twice in the file
  std::uint64_t edge_bytes = 0;  ///< bytes per edge that the weights need; 0: 12
  bool on_one_rank = false;      ///< rank 0 reads all arcs before they are distributed
};
// Functions that read the sizes from the header of each format. Local. @throws InputError

/// Estimates the sizes of a graph in an edge list file from its first bytes, `head`, and its length. @param names  vertices are named
/// by text
[[nodiscard]] Sizes read_edge_list_sizes(const std::string& path, std::string_view head, bool names);
/// Returns the sizes of a graph in the header of a Matrix Market file. @param head  its first bytes
[[nodiscard]] Sizes read_matrix_market_sizes(const std::string& path, std::string_view head);
/// Returns the sizes of a graph in the header of a METIS file. @param head  its first bytes
[[nodiscard]] Sizes read_metis_sizes(const std::string& path, std::string_view head);
/// Returns the sizes of a graph in the problem line of a DIMACS file. @param head  its first bytes
[[nodiscard]] Sizes read_dimacs_sizes(const std::string& path, std::string_view head);
/// Returns the sizes of a graph in the header of a ParHIP file.
[[nodiscard]] Sizes read_parhip_sizes(const std::string& path);
/// Returns the sizes of a BVGraph in its file PATH.properties.
[[nodiscard]] Sizes read_bvgraph_sizes(const std::string& path);
/// Returns the sizes of a graph in the header of a file in merganser's binary format.
[[nodiscard]] Sizes read_binary_sizes(const std::string& path);

}  // namespace merganser::graphs::detail
