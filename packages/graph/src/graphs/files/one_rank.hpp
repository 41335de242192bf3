#pragma once
/// Shared parts of the readers of formats that cannot be parsed in pieces (Pajek, GML, GraphML): rank 0 reads the file from its
/// beginning to its end, and the arcs are distributed later, with those of all formats.
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "merganser/graphs/decompressor.hpp"
#include "src/graphs/files/disk.hpp"
#include "src/graphs/files/raw.hpp"
#include "src/graphs/files/vertex_names.hpp"

namespace merganser::graphs::detail {

/// Bytes of a graph file, decompressed if it is compressed, from the beginning to the end. Local.
class ByteStream {
 public:
  /// Opens a graph file. @throws InputError if it cannot be read
  explicit ByteStream(const std::string& path);
  /// Reads the next bytes of the graph file. @return bytes read; 0 at the end @throws InputError
  std::size_t read(char* to, std::size_t bytes);
  /// Returns true if the graph file is compressed.
  [[nodiscard]] bool compressed() const { return unpacked_ != nullptr; }
  /// Returns the size of the graph file on disk, in bytes.
  [[nodiscard]] std::uint64_t file_bytes() const { return file_.size(); }

 private:
  File file_;
  std::unique_ptr<Decompressor> unpacked_;
  std::uint64_t at_ = 0;
};

/// Characters of a graph file one after the other, with the number of the line. Local. A byte order mark of UTF-8 is passed over.
class Characters {
 public:
  static constexpr int kEnd = -1;
  /// Opens a graph file. @throws InputError if it cannot be read, or is no text
  explicit Characters(const std::string& path);
  /// Returns the next character of the graph file, kEnd at its end, without passing it.
  [[nodiscard]] int peek() {
    if (at_ == filled_ && !refill()) return kEnd;
    return static_cast<unsigned char>(buffer_[at_]);
  }
  /// Passes the next character of the graph file and returns it; kEnd at its end.
  int next() {
    const int c = peek();
    if (c == kEnd) return c;
    ++at_;
    line_ += c == '\n' ? 1U : 0U;
    return c;
  }
  /// Reads the next line of the graph file without its end. @return false at the end of the file @throws PlacedError for a line of more
  /// than 1 MiB
  bool next_line(std::string& line);
  /// Returns the number of the line that the next character of the graph file is in, from 1.
  [[nodiscard]] std::uint64_t line() const { return line_; }
  /// Returns the file's bytes.
  [[nodiscard]] const ByteStream& stream() const { return stream_; }
  /// Throws the error of a line of the graph file. @throws PlacedError "path: line 3: what"
  [[noreturn]] void fail(std::uint64_t line, const std::string& what) const;

 private:
  /// Reads the next bytes of the graph file. @return false at its end
  bool refill();

  std::string path_;
  ByteStream stream_;
  std::string buffer_;
  std::size_t at_ = 0, filled_ = 0;
  std::uint64_t line_ = 1;
};

/// Longest word or line of a graph file that one rank parses, in bytes.
inline constexpr std::size_t kLongestWord = std::size_t{1} << 20;

/// Vertices and edges of a graph file that one rank parses, where vertices have ids that are text or any numbers: numbers vertices in
/// the order in which they are declared, and adds the arcs to a Raw. Edges may come before their vertices.
class DeclaredGraph {
 public:
  /// Throws the error of a line. @see Characters::fail()
  using Fail = std::function<void(std::uint64_t, const std::string&)>;
  /// Takes the destination of arcs and names; it and `fail` must outlive the object. @param node  the format's word for a vertex
  DeclaredGraph(const Source& source, Raw& raw, std::string node, Fail fail);

  /// Declares a vertex. @param label  its name; empty: its id @throws PlacedError for an id that another vertex has
  void add_vertex(std::string_view id, std::string_view label, std::uint64_t line);
  /// Adds an edge. @param weight  as text; empty: none @throws PlacedError for a weight that is no number
  void add_edge(std::string_view from, std::string_view to, std::string_view weight, std::uint64_t line);
  /// Checks what must hold of the whole file, and numbers the vertices. @throws PlacedError for edges of vertices that are not declared,
  /// weights that only some edges have, and with names for two vertices of one name
  void finish();

 private:
  static constexpr std::uint64_t kNone = UINT64_MAX;
  /// Vertex of the file by its id.
  struct Vertex {
    std::uint64_t number = kNone;  ///< in the order of declarations; kNone: not declared yet
    std::uint64_t line = 0;        ///< of the declaration, or of the first edge
  };
  /// Returns the vertex with an id, made if it is new.
  std::uint64_t vertex(std::string_view id, std::uint64_t line);

  const Source& source_;
  Raw& raw_;
  std::string node_;
  Fail fail_;
  NameTable ids_;
  std::vector<Vertex> vertices_;  // by their numbers in ids_
  std::uint64_t declared_ = 0;
  std::uint64_t with_ = 0, without_ = 0;            // edges with and without a weight
  std::uint64_t with_line_ = 0, without_line_ = 0;  // of the first of them
};

/// Checks that vertices have different names, and no line breaks in them. Local. @param named  each vertex once
/// @throws InputError naming two vertices
void check_distinct_names(const std::string& path, const std::vector<VertexName>& named);

/// Runs `parse` on rank 0, which fills `raw`, and tells the other ranks what of it must be the same on all. Collective.
/// @throws InputError on every rank
void parse_on_first(const Source& source, Raw& raw, const std::function<void()>& parse);

/// Returns how many bytes of text a byte of a graph file stands for, about: 1 unless it is compressed. Local.
[[nodiscard]] std::uint64_t expansion(const std::string& path);
/// Estimates the sizes of a graph in a file that one rank parses, by how often a mark of an edge stands in its first bytes. Local.
/// @param mark  of an edge, in lower case; "\n": every line is one
[[nodiscard]] Sizes estimate_sizes(const std::string& path, std::string_view head, std::string_view mark);

}  // namespace merganser::graphs::detail
