// Reader of BVGraph files of WebGraph [boldi2004]: PATH.graph, a bit stream with a list of successors for each vertex;
// PATH.properties; and, optionally, PATH.offsets, the gaps between the positions of the lists. A list may be encoded by
// reference to the list of a vertex up to `window` before, so a rank decodes some lists before its own.
#include <algorithm>
#include <filesystem>
#include <map>
#include <memory>
#include <optional>

#include "merganser/base/text.hpp"
#include "src/graphs/files/bit_stream.hpp"
#include "src/graphs/files/raw.hpp"
#include "src/graphs/files/text.hpp"

namespace merganser::graphs::detail {
namespace {

constexpr std::uint64_t kMaxProperties = std::uint64_t{1} << 20;  ///< bytes of PATH.properties, at most
constexpr std::uint64_t kMaxWarmUp = std::uint64_t{1} << 20;      ///< lists decoded before a rank's own, at most

/// Contents of PATH.properties of a BVGraph: sizes, parameters of the compression, and the code of each part of a successor list.
struct BvProperties {
  std::uint64_t vertices = 0;  ///< number of vertices, "nodes"
  std::uint64_t arcs = 0;      ///< number of arcs
  std::uint64_t window = 7;    ///< largest distance of a list and the one it refers to, in vertices; 0: no references
  std::uint64_t most_references = 0;    ///< longest chain of references; 0: any length
  std::uint64_t shortest_interval = 4;  ///< fewest consecutive successors that are encoded as an interval; 0: none are
  int zeta_k = 3;                       ///< parameter of the zeta code
  Code degrees = Code::gamma, references = Code::unary, block_counts = Code::gamma, blocks = Code::gamma,
       residuals = Code::zeta, offsets = Code::gamma;
};

/// Reads a Java properties file: "key=value" or "key:value" a line, comments after # and !. @throws InputError
std::map<std::string, std::string> read_java_properties(const std::string& path) {
  const File file(path);
  if (file.size() > kMaxProperties)
    throw InputError(path + ": " + std::to_string(file.size()) + " bytes; allowed: at most " +
                     std::to_string(kMaxProperties));
  std::string text(file.size(), '\0');
  text.resize(file.read(0, text.data(), text.size()));
  std::map<std::string, std::string> pairs;
  for (LineWalk walk(text); walk.next();) {
    const std::string_view line = walk.line();
    const std::size_t equals = line.find_first_of("=:");
    if (line.starts_with('#') || line.starts_with('!') || equals == std::string_view::npos) continue;
    pairs[std::string(trimmed(line.substr(0, equals)))] = trimmed(line.substr(equals + 1));
  }
  return pairs;
}

/// Parses the compression flags of a BVGraph, as "OUTDEGREES_DELTA | REFERENCES_GAMMA": the code of each part of a successor list.
/// @throws InputError for unknown parts and codes
void read_flags(const std::string& path, std::string flags, BvProperties& p) {
  const std::map<std::string, Code*> parts{{"OUTDEGREES", &p.degrees},       {"REFERENCES", &p.references},
                                           {"BLOCK_COUNT", &p.block_counts}, {"BLOCKS", &p.blocks},
                                           {"RESIDUALS", &p.residuals},      {"OFFSETS", &p.offsets}};
  const std::map<std::string, Code> codes{
      {"UNARY", Code::unary}, {"GAMMA", Code::gamma}, {"DELTA", Code::delta}, {"ZETA", Code::zeta}};
  std::replace(flags.begin(), flags.end(), '|', ' ');
  Words words(flags);
  for (std::string_view word = words.next(); !word.empty(); word = words.next()) {
    const std::size_t cut = word.rfind('_');
    const auto part = parts.find(std::string(word.substr(0, cut)));
    const auto code = cut == std::string_view::npos ? codes.end() : codes.find(std::string(word.substr(cut + 1)));
    if (part == parts.end() || code == codes.end())
      throw InputError(path + ": compressionflags " + quote(word) +
                       "; allowed: OUTDEGREES, REFERENCES, BLOCK_COUNT, BLOCKS, RESIDUALS or OFFSETS with _UNARY, "
                       "_GAMMA, _DELTA or _ZETA");
    *part->second = code->second;
  }
}

/// Reads and checks PATH.properties of the BVGraph `base`. Local. @throws InputError naming the key, the value and what is allowed
BvProperties read_properties(const std::string& base) {
  const std::string path = base + ".properties";
  const auto pairs = read_java_properties(path);
  const auto text = [&](const std::string& key) {
    const auto found = pairs.find(key);
    return found == pairs.end() ? std::string() : found->second;
  };
  const auto number = [&](const std::string& key, std::uint64_t low, std::uint64_t high,
                          std::optional<std::uint64_t> usual) {
    std::uint64_t value = 0;
    if (text(key).empty() && usual) return *usual;
    if (!parse_id(text(key), value) || value < low || value > high)
      throw InputError(path + ": " + key + " " + quote(text(key)) + "; allowed: " + std::to_string(low) + " to " +
                       std::to_string(high));
    return value;
  };
  // "class it.unimi..." and "it.unimi.dsi.big.webgraph.BVGraph" too; other classes may be made of graphs in other files.
  if (const auto kind = text("graphclass"); !kind.empty() && kind.substr(kind.rfind('.') + 1) != "BVGraph")
    throw InputError(path + ": graphclass " + quote(kind) + "; allowed: it.unimi.dsi.webgraph.BVGraph");
  if (const auto other = text("underlyinggraph"); !other.empty())
    throw InputError(path + ": underlyinggraph " + quote(other) +
                     ": it is made of a graph in other files; allowed: graphs that hold "
                     "their own lists");
  if (const auto order = text("endianness"); !order.empty() && order != "big")
    throw InputError(path + ": endianness " + quote(order) + "; allowed: big");
  BvProperties p;
  if (number("version", 0, 0, 0) != 0) throw InputError(path + ": version; allowed: 0");
  const std::uint64_t bits = 8 * File(base + ".graph").size();
  p.vertices = number("nodes", 0, bits, std::nullopt);  // a list takes at least one bit
  p.arcs = number("arcs", 0, std::uint64_t{1} << 62, std::nullopt);
  p.window = number("windowsize", 0, std::uint64_t{1} << 20, 7);
  p.shortest_interval = number("minintervallength", 0, std::uint64_t{1} << 40, 4);
  p.zeta_k = static_cast<int>(number("zetak", 1, 32, 3));
  std::uint64_t references = 0;
  if (parse_id(text("maxrefcount"), references) && references < (std::uint64_t{1} << 31) - 1)
    p.most_references = references;
  read_flags(path, text("compressionflags"), p);
  return p;
}

/// Successors of a vertex of a BVGraph, ascending.
using BvList = std::vector<std::uint64_t>;

/// Decoder of the successor lists of a BVGraph file, one after the other. The last window + 1 lists are kept for
/// references, in ring buffers: vertex v has entry v modulo their length.
class SuccessorDecoder {
 public:
  /// Starts at the list of vertex 0. The file and the properties must outlive the decoder.
  SuccessorDecoder(const File& file, const BvProperties& p)
      : stream_(file), p_(p), lists_(p.window + 1), lengths_(p.window + 1), known_(p.window + 1) {
    if (p.most_references > 0) chains_.resize(p.window + 1);
  }

  /// Returns the bit stream of PATH.graph, positioned at the next successor list.
  BitStream& stream() { return stream_; }

  /// Decodes the successor list of a vertex, which must begin at the position of the stream, and keeps it for later references.
  /// @return the successors; null if the list refers to a list that was not decoded
  /// @throws PlacedError for a malformed list, and for a longer chain of references than the properties allow
  const BvList* next(std::uint64_t vertex) {
    BvList& list = lists_[vertex % lists_.size()];
    list.clear();
    known_[vertex % known_.size()] = false;
    if (!chains_.empty()) chains_[vertex % chains_.size()] = 0;
    const std::uint64_t degree = read_degree(vertex);
    if (degree > 0 && !read_list(vertex, degree, list)) return nullptr;
    known_[vertex % known_.size()] = true;
    return &list;
  }

  /// Moves over the successor list of a vertex, which must begin at the position of the stream. The list is not decoded, but its length
  /// is kept, from which the ends of lists that refer to it are found. All lists from vertex 0 on must have been decoded or passed
  /// over so. @throws PlacedError for a malformed list, but for successors outside the graph and long chains of references
  void pass_over(std::uint64_t vertex) {
    known_[vertex % known_.size()] = false;
    const std::uint64_t degree = read_degree(vertex);
    if (degree == 0) return;
    std::uint64_t left = degree;
    if (p_.window > 0) {
      const std::uint64_t back = read_reference(vertex);
      const std::uint64_t copied =
          back > 0 ? read_blocks(lengths_[(vertex - back) % lengths_.size()], [](auto, auto) {}) : 0;
      if (copied > degree) refuse_surplus(vertex, degree);
      left -= copied;
    }
    if (left > 0 && p_.shortest_interval > 0) {
      for (std::uint64_t count = stream_.gamma(); count > 0; --count) {
        static_cast<void>(stream_.gamma());  // the gap before the interval
        const std::uint64_t length = stream_.gamma() + p_.shortest_interval;
        if (length > left) refuse_surplus(vertex, degree);
        left -= length;
      }
    }
    for (; left > 0; --left) static_cast<void>(stream_.read(p_.residuals, p_.zeta_k));
  }

  /// Throws the error of a vertex whose list refers to others in a longer chain than PATH.properties allows. @throws PlacedError
  [[noreturn]] void refuse_chain(std::uint64_t vertex) const {
    stream_.fail("vertex " + std::to_string(vertex) + " refers to more than " + std::to_string(p_.most_references) +
                 " lists in a chain; allowed: maxrefcount");
  }

 private:
  /// Reads the number of successors of a vertex and keeps it. @throws PlacedError for more than there are vertices
  std::uint64_t read_degree(std::uint64_t vertex) {
    const std::uint64_t degree = stream_.read(p_.degrees, p_.zeta_k);
    if (degree > p_.vertices)
      stream_.fail(std::to_string(degree) + " successors of vertex " + std::to_string(vertex) + "; allowed: at most " +
                   std::to_string(p_.vertices));
    return lengths_[vertex % lengths_.size()] = degree;
  }
  /// Reads how many vertices before `vertex` the one is to whose successor list that of `vertex` refers; 0: it refers to none. @throws
  /// PlacedError for more than the window
  std::uint64_t read_reference(std::uint64_t vertex) {
    const std::uint64_t back = stream_.read(p_.references, p_.zeta_k);
    if (back > std::min(p_.window, vertex))
      stream_.fail("reference " + std::to_string(back) + " lists back; allowed: at most " +
                   std::to_string(std::min(p_.window, vertex)));
    return back;
  }

  /// Decodes the part of a successor list behind its degree: successors copied by reference, intervals, and single successors,
  /// merged in ascending order. @return false if the list refers to a list that was not decoded. @throws PlacedError if malformed
  bool read_list(std::uint64_t vertex, std::uint64_t degree, BvList& list) {
    BvList& copied = scratch_[0];
    copied.clear();
    if (p_.window > 0) {
      const std::uint64_t back = read_reference(vertex);
      if (back > 0) {
        const std::uint64_t other = (vertex - back) % lists_.size();
        if (!known_[other]) return false;
        count_chain(vertex, other);
        const BvList& list_before = lists_[other];
        read_blocks(list_before.size(),
                    [&](std::uint64_t at, std::uint64_t length) { append(list_before, at, length, copied); });
      }
    }
    if (copied.size() > degree) refuse_surplus(vertex, degree);
    read_rest(vertex, degree, degree - copied.size());
    merge(copied, scratch_[1], scratch_[3]);
    merge(scratch_[3], scratch_[2], list);
    for (std::size_t i = 0; i < list.size(); ++i) {
      if (list[i] >= p_.vertices)
        stream_.fail("successor " + std::to_string(list[i]) + "; allowed: below " + std::to_string(p_.vertices));
    }
    return true;
  }

  /// Records the length of the chain of references that ends at the list of a vertex, one more than that of the list at ring buffer
  /// entry `other`. @throws PlacedError if it is too long
  void count_chain(std::uint64_t vertex, std::uint64_t other) {
    if (chains_.empty()) return;
    const std::uint64_t length = chains_[other] + 1;
    if (length > p_.most_references) refuse_chain(vertex);
    chains_[vertex % chains_.size()] = length;
  }

  /// Reads the copy blocks of a successor list, which say what part it copies of the list of `size` successors that it refers to: the
  /// first block is copied, the second skipped, and so on; the rest after the last block is copied if that block was skipped. Calls
  /// copy(at, length) for what is copied. @return the number of successors copied. @throws PlacedError for a block beyond the list
  template <class Copy>
  std::uint64_t read_blocks(std::uint64_t size, const Copy& copy) {
    const std::uint64_t blocks = stream_.read(p_.block_counts, p_.zeta_k);
    std::uint64_t at = 0, copied = 0;
    const auto take = [&](std::uint64_t length) {
      copy(at, length);
      copied += length;
    };
    for (std::uint64_t block = 0; block < blocks; ++block) {
      const std::uint64_t length = stream_.read(p_.blocks, p_.zeta_k) + (block == 0 ? 0 : 1);
      if (length > size - at)
        stream_.fail("a block of " + std::to_string(length) + " successors; allowed: " + std::to_string(size - at));
      if (block % 2 == 0) take(length);
      at += length;
    }
    if (blocks % 2 == 0) take(size - at);
    return copied;
  }
  /// Appends `count` successors of a list, from position `at` on, to another list.
  static void append(const BvList& from, std::uint64_t at, std::uint64_t count, BvList& to) {
    const auto begin = from.begin() + static_cast<std::ptrdiff_t>(at);
    to.insert(to.end(), begin, begin + static_cast<std::ptrdiff_t>(count));
  }

  /// Decodes the `left` successors of a vertex that are not copied by reference: intervals of consecutive ones into scratch_[1],
  /// single ones (residuals) into scratch_[2]. @throws PlacedError for successors beyond the graph or the degree
  void read_rest(std::uint64_t vertex, std::uint64_t degree, std::uint64_t left) {
    BvList& intervals = scratch_[1];
    BvList& single = scratch_[2];
    intervals.clear();
    single.clear();
    if (left > 0 && p_.shortest_interval > 0) {
      std::uint64_t at = 0;
      const std::uint64_t count = stream_.gamma();
      for (std::uint64_t i = 0; i < count; ++i) {
        const std::uint64_t gap = stream_.gamma();
        at = i == 0 ? first_successor(vertex, gap) : at + gap + 1;
        const std::uint64_t length = stream_.gamma() + p_.shortest_interval;
        if (length > left) refuse_surplus(vertex, degree);
        if (at > p_.vertices || length > p_.vertices - at)
          stream_.fail("successors " + std::to_string(at) + " and " + std::to_string(length - 1) +
                       " more; allowed: below " + std::to_string(p_.vertices));
        for (std::uint64_t j = 0; j < length; ++j) intervals.push_back(at + j);
        at += length;
        left -= length;
      }
    }
    std::uint64_t at = 0;
    for (std::uint64_t i = 0; i < left; ++i) {
      const std::uint64_t gap = stream_.read(p_.residuals, p_.zeta_k);
      at = i == 0 ? first_successor(vertex, gap) : at + gap + 1;
      if (at >= p_.vertices)
        stream_.fail("successor " + std::to_string(at) + "; allowed: below " + std::to_string(p_.vertices));
      single.push_back(at);
    }
  }
  /// Returns the first successor in an encoded list: the vertex at a signed distance from `vertex`, encoded as 0, -1, 1, -2, 2, ...
  /// @throws PlacedError for a successor outside the graph
  std::uint64_t first_successor(std::uint64_t vertex, std::uint64_t code) const {
    const std::uint64_t at = code % 2 == 0 ? vertex + code / 2 : vertex - (code + 1) / 2;
    if (at >= p_.vertices)
      stream_.fail("a successor outside the graph; allowed: 0 to below " + std::to_string(p_.vertices));
    return at;
  }
  /// Throws the error of a successor list that is longer than the degree of its vertex. @throws PlacedError
  [[noreturn]] void refuse_surplus(std::uint64_t vertex, std::uint64_t degree) const {
    stream_.fail("vertex " + std::to_string(vertex) + " has more successors than its degree, " +
                 std::to_string(degree));
  }
  /// Merges two ascending lists of successors into `out`.
  static void merge(const BvList& a, const BvList& b, BvList& out) {
    out.resize(a.size() + b.size());
    std::merge(a.begin(), a.end(), b.begin(), b.end(), out.begin());
  }

  BitStream stream_;
  const BvProperties& p_;
  std::vector<BvList> lists_;           // the lists decoded last
  std::vector<std::uint64_t> lengths_;  // of the lists decoded or passed over last
  std::vector<bool> known_;             // entries of lists_ that are complete
  std::vector<std::uint64_t> chains_;   // lengths of chains of references; empty if the properties set no limit
  BvList scratch_[4];                   // copied, intervals, single successors, the merge of the first two
};

/// Reader of PATH.offsets of a BVGraph: positions of the successor lists in the bit stream of PATH.graph, one after the other.
class ListOffsets {
 public:
  /// Opens PATH.offsets. @throws InputError if it cannot be read
  ListOffsets(const std::string& path, const BvProperties& p) : file_(path), stream_(file_), p_(p) {}
  /// Reads the position of the next successor list in PATH.graph, in bits. @throws PlacedError at the end of PATH.offsets
  std::uint64_t next() { return place_ += stream_.read(p_.offsets, p_.zeta_k); }
  /// Checks that the successor lists decoded so far end at bit `next`, where the next one begins. @throws PlacedError if they do
  /// not
  void check(const BitStream& lists, std::uint64_t next) const {
    if (lists.position() != next)
      stream_.fail(
          "a list begins at bit " + std::to_string(next) + "; allowed: " + std::to_string(lists.position()) +
          ", where the one before it ends (a file of another graph? without it the lists are read all the same)");
  }

 private:
  File file_;
  BitStream stream_;
  const BvProperties& p_;
  std::uint64_t place_ = 0;
};

/// Returns true if the properties limit chains of references so much that few lists before a rank's own must be decoded.
bool has_short_chains(const BvProperties& p) {
  return p.window == 0 || (p.most_references > 0 && p.window * p.most_references <= kMaxWarmUp);
}

/// Opens PATH.offsets of a BVGraph if the file exists and saves decoding (chains of references are short); else returns null.
std::unique_ptr<ListOffsets> open_offsets(const std::string& base, const BvProperties& p) {
  const std::string path = base + ".offsets";
  if (p.most_references > 0 && has_short_chains(p) && std::filesystem::exists(path))
    return std::make_unique<ListOffsets>(path, p);
  return nullptr;
}

/// Moves a decoder of a BVGraph with PATH.offsets to the list of vertex `first`, this rank's first: only the lists before it that a
/// chain of references can reach are decoded, at most window times chain length.
void seek_to_list(SuccessorDecoder& decoder, ListOffsets& places, const BvProperties& p, std::uint64_t first) {
  std::uint64_t place = places.next();
  places.check(decoder.stream(), place);
  const std::uint64_t before = p.window * p.most_references;
  for (std::uint64_t vertex = 0; vertex < first; ++vertex) {
    if (vertex + before >= first) {
      decoder.stream().seek(place);
      static_cast<void>(decoder.next(vertex));
    }
    place = places.next();
  }
  decoder.stream().seek(place);
}

/// Moves a decoder of a BVGraph without PATH.offsets to the list of vertex `first`, this rank's first. If chains of references are short,
/// the lists before those that they can reach are passed over without decoding; else all are decoded.
void scan_to_list(SuccessorDecoder& decoder, const BvProperties& p, std::uint64_t first) {
  const std::uint64_t before = has_short_chains(p) ? p.window * p.most_references : first;
  for (std::uint64_t vertex = 0; vertex < first; ++vertex) {
    const std::uint64_t place = decoder.stream().position();
    if (vertex + before >= first && decoder.next(vertex) != nullptr) continue;
    decoder.stream().seek(place);  // of a list that refers to one that was passed over
    decoder.pass_over(vertex);
  }
}

/// Reads the successor lists of the vertices `first` .. `last` - 1 of a BVGraph into arcs of this rank. With PATH.offsets every
/// rank checks the offsets of its own lists, so that all ranks together check all. Local. @throws PlacedError
void read_lists(const Source& source, const BvProperties& p, std::uint64_t first, std::uint64_t last, Raw& raw) {
  const File file(source.path + ".graph");
  SuccessorDecoder decoder(file, p);
  const std::unique_ptr<ListOffsets> places = open_offsets(source.path, p);
  if (places)
    seek_to_list(decoder, *places, p, first);
  else
    scan_to_list(decoder, p, first);
  for (std::uint64_t vertex = first; vertex < last; ++vertex) {
    const BvList* const list = decoder.next(vertex);
    if (list == nullptr) decoder.refuse_chain(vertex);
    if (raw.arcs.size() + list->size() > p.arcs)
      decoder.stream().fail("more than the " + std::to_string(p.arcs) + " arcs that the properties tell");
    for (const std::uint64_t to : *list) raw.add(vertex, to);
    if (places) places->check(decoder.stream(), places->next());
  }
}

}  // namespace

// Reader of BVGraph files: each rank decodes the lists of an equal range of vertices.
Raw read_bvgraph(const Source& source) {
  Raw raw(source.path, source.sharing);
  BvProperties p;
  agree_first(source.transport, [&] {
    p = read_properties(source.path);
    const Ranges ranges = Ranges::even(p.vertices, source.transport.size());
    const auto rank = static_cast<std::size_t>(source.transport.rank());
    if (ranges.first[rank] < ranges.first[rank + 1])
      read_lists(source, p, ranges.first[rank], ranges.first[rank + 1], raw);
  });
  const auto arcs = source.transport.all_reduce(static_cast<std::int64_t>(raw.arcs.size()), comm::Op::sum);
  agree_first(source.transport, [&] {
    if (static_cast<std::uint64_t>(arcs) != p.arcs)
      throw InputError(source.path + ".graph: " + std::to_string(arcs) + " arcs; allowed: " + std::to_string(p.arcs) +
                       ", as " + source.path + ".properties tells");
  });
  raw.vertices = p.vertices;
  raw.vertices_known = true;
  raw.directed = true;
  return raw;
}

// Sizes of a BVGraph, exact, from PATH.properties.
Sizes read_bvgraph_sizes(const std::string& path) {
  const BvProperties p = read_properties(path);
  return {p.vertices, p.arcs, true, false, 0};
}

}  // namespace merganser::graphs::detail
