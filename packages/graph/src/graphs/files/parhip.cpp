// Reader of ParHIP binary files: a header of three words, offsets in bytes from the start of the file, neighbours, weights of the
// vertices and of the edges. Bits of the first word: 1 no edge weights, 2 no vertex weights, 4 offsets, 8 ids,
// 16 vertex weights, 32 edge weights of 32 bits instead of 64.
#include <algorithm>
#include <array>
#include <bit>
#include <cstring>

#include "src/graphs/files/disk.hpp"
#include "src/graphs/files/raw.hpp"

namespace merganser::graphs::detail {
namespace {

constexpr std::uint64_t kParhipHeader = 24;
constexpr std::size_t kNumbersAtOnce = std::size_t{1} << 16;  ///< numbers of a ParHIP file that are read at once

/// Layout of a ParHIP file: sizes and widths from the header, and the positions in the file that follow from them.
struct ParhipLayout {
  std::uint64_t vertices = 0;   ///< number of vertices
  std::uint64_t arcs = 0;       ///< number of arcs, two for each edge
  bool weighted = false;        ///< the file has edge weights
  bool vertex_weights = false;  ///< the file has vertex weights, which are skipped
  std::uint64_t offset_bytes = 8, id_bytes = 8, vertex_weight_bytes = 8,
                weight_bytes = 8;  ///< bytes per number: 4 or 8
  /// Returns the offset in the file of the neighbours' ids, behind header and offsets of the adjacency lists.
  [[nodiscard]] std::uint64_t ids_at() const { return kParhipHeader + (vertices + 1) * offset_bytes; }
  /// Returns the offset in the file of the edge weights, behind ids and vertex weights.
  [[nodiscard]] std::uint64_t weights_at() const {
    return ids_at() + arcs * id_bytes + (vertex_weights ? vertices * vertex_weight_bytes : 0);
  }
  /// Returns the length of the ParHIP file in bytes that follows from its header.
  [[nodiscard]] std::uint64_t bytes() const { return weights_at() + (weighted ? arcs * weight_bytes : 0); }
};

/// Returns the little-endian number of `width` bytes, up to 8, that begin at `from`, on machines of any byte order.
std::uint64_t little_endian(const char* from, std::size_t width) {
  std::uint64_t value = 0;
  if constexpr (std::endian::native == std::endian::little)
    std::memcpy(&value, from, width);
  else
    for (std::size_t i = width; i-- > 0;) value = value << 8U | static_cast<unsigned char>(from[i]);
  return value;
}

/// Reads the header of a ParHIP file and checks that it fits the length of the file. Local. @throws PlacedError if it does not
ParhipLayout read_parhip_layout(const File& file) {
  std::array<std::uint64_t, 3> head{};
  file.read_all(0, head.data(), kParhipHeader, "the header");
  for (std::uint64_t& word : head) word = little_endian(reinterpret_cast<const char*>(&word), sizeof word);
  const auto [version, n, m] = head;
  if (version > 63) fail_at_byte(file.path(), 0, "version " + std::to_string(version) + "; allowed: 0 to 63");
  const auto narrow = [version = version](std::uint64_t bit) { return (version & bit) != 0 ? std::uint64_t{4} : 8; };
  const ParhipLayout layout{n, m, (version & 1) == 0, (version & 2) == 0, narrow(4), narrow(8), narrow(16), narrow(32)};
  // Bounds both numbers first, so that the products in bytes() cannot overflow.
  if (n > file.size() / layout.offset_bytes || m > file.size() / layout.id_bytes) {
    fail_at_byte(file.path(), 8,
                 std::to_string(n) + " vertices and " + std::to_string(m) + " arcs; allowed: as many as " +
                     std::to_string(file.size()) + " bytes hold");
  }
  if (layout.bytes() != file.size()) {
    throw PlacedError(0, file.path() + ": " + std::to_string(file.size()) +
                             " bytes; allowed: " + std::to_string(layout.bytes()) + ", as its header says");
  }
  return layout;
}

/// Buffered reader of consecutive unsigned numbers of 4 or 8 bytes in a ParHIP file.
class ParhipNumbers {
 public:
  /// Starts at offset `at` of the file, for `count` numbers of `width` bytes (4 or 8).
  ParhipNumbers(const File& file, std::uint64_t at, std::uint64_t width, std::uint64_t count)
      : file_(file), at_(at), width_(width), left_(count) {}
  /// Returns the next number of the run, widened to 64 bits. @throws PlacedError at the end of the file
  std::uint64_t next() {
    if (used_ == have_) fill();
    return little_endian(buffer_.data() + used_++ * width_, width_);
  }
  /// Returns the offset in the file of the number that next() returned last.
  [[nodiscard]] std::uint64_t place() const { return at_ - (have_ - used_ + 1) * width_; }

 private:
  /// Reads the next kNumbersAtOnce numbers of the run, or those that are left, into the buffer.
  void fill() {
    have_ = static_cast<std::size_t>(std::min<std::uint64_t>(kNumbersAtOnce, left_));
    buffer_.resize(have_ * width_);
    file_.read_all(at_, buffer_.data(), buffer_.size(), "its numbers");
    at_ += buffer_.size();
    left_ -= have_;
    used_ = 0;
  }
  const File& file_;
  std::uint64_t at_, width_, left_;
  std::size_t used_ = 0, have_ = 0;
  std::vector<char> buffer_;
};

/// Reads the adjacency lists of the vertices `first` .. `last` - 1 of a ParHIP file into arcs of this rank. Local. @throws
/// PlacedError for offsets that do not ascend or leave ids out, and neighbours that are no vertices
void read_parhip_rows(const File& file, const ParhipLayout& layout, std::uint64_t first, std::uint64_t last, Raw& raw) {
  // Three runs are read in step: offsets of the rows, and the ids and weights that they point to.
  ParhipNumbers offsets(file, kParhipHeader + first * layout.offset_bytes, layout.offset_bytes, last - first + 1);
  const auto arc_at = [&] {  // number of the arc that an offset leads to
    const std::uint64_t offset = offsets.next();
    const std::uint64_t arc = (offset - layout.ids_at()) / layout.id_bytes;
    if (offset < layout.ids_at() || (offset - layout.ids_at()) % layout.id_bytes != 0 || arc > layout.arcs) {
      fail_at_byte(file.path(), offsets.place(),
                   "offset " + std::to_string(offset) + "; allowed: " + std::to_string(layout.ids_at()) +
                       " and up to " + std::to_string(layout.arcs) + " ids behind it");
    }
    return arc;
  };
  std::uint64_t begin = arc_at();
  if (first == 0 && begin != 0) fail_at_byte(file.path(), kParhipHeader, "the first offset leaves ids out");
  ParhipNumbers ids(file, layout.ids_at() + begin * layout.id_bytes, layout.id_bytes, layout.arcs - begin);
  ParhipNumbers weights(file, layout.weights_at() + begin * layout.weight_bytes, layout.weight_bytes,
                        layout.weighted ? layout.arcs - begin : 0);
  for (std::uint64_t vertex = first; vertex < last; ++vertex) {
    const std::uint64_t end = arc_at();
    if (end < begin) fail_at_byte(file.path(), offsets.place(), "an offset below the one before it");
    for (; begin < end; ++begin) {
      const std::uint64_t to = ids.next();
      if (to >= layout.vertices) {
        fail_at_byte(file.path(), ids.place(),
                     "vertex " + std::to_string(to) + "; allowed: below " + std::to_string(layout.vertices));
      }
      if (!layout.weighted) {
        raw.add(vertex, to);
      } else {
        const std::uint64_t bits = weights.next();
        raw.add_integer(vertex, to,
                        layout.weight_bytes == 4 ? static_cast<std::int32_t>(bits) : static_cast<std::int64_t>(bits));
      }
    }
  }
  if (last == layout.vertices && begin != layout.arcs)
    fail_at_byte(file.path(), offsets.place(), "the last offset leaves ids out");
}

}  // namespace

// Reader of ParHIP files: each rank reads the adjacency lists of an equal range of vertices.
Raw read_parhip(const Source& source) {
  Raw raw(source.path, source.sharing);
  agree_first(source.transport, [&] {
    const File file(source.path);
    const ParhipLayout layout = read_parhip_layout(file);
    const auto rank = static_cast<std::size_t>(source.transport.rank());
    const Ranges ranges = Ranges::even(layout.vertices, source.transport.size());
    if (layout.vertices == 0 && layout.arcs > 0) fail_at_byte(source.path, 16, "arcs without vertices");
    if (ranges.first[rank] < ranges.first[rank + 1])
      read_parhip_rows(file, layout, ranges.first[rank], ranges.first[rank + 1], raw);
    raw.vertices = layout.vertices;
    raw.weighted = layout.weighted;
  });
  raw.vertices_known = true;
  return raw;
}

// Sizes of a graph in a ParHIP file, exact, from its header.
Sizes read_parhip_sizes(const std::string& path) {
  const ParhipLayout layout = read_parhip_layout(File(path));
  return {layout.vertices, layout.arcs, true, true, 0};
}

}  // namespace merganser::graphs::detail
