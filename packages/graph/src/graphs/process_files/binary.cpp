// Process graphs in the binary format of [neve]: ranks, arcs, offsets of rows, then (rank, weight) of every arc; 64-bit fields.
#include <bit>
#include <cstdint>
#include <limits>

#include "src/graphs/process_files/formats.hpp"
#include "src/graphs/process_files/parsing.hpp"

namespace merganser::graphs::detail {
namespace {

__extension__ using Wide = unsigned __int128;

/// Returns the little-endian number of `width` bytes at offset `at` of a binary process graph.
std::uint64_t read_little_endian(std::string_view bytes, std::size_t at, int width) {
  std::uint64_t value = 0;
  for (int i = width - 1; i >= 0; --i)
    value = value << 8 | static_cast<unsigned char>(bytes[at + static_cast<std::size_t>(i)]);
  return value;
}

/// Returns the big-endian number of `width` bytes at offset `at` of a binary process graph of another machine.
std::uint64_t read_big_endian(std::string_view bytes, std::size_t at, int width) {
  std::uint64_t value = 0;
  for (int i = 0; i < width; ++i)
    value = value << 8 | static_cast<unsigned char>(bytes[at + static_cast<std::size_t>(i)]);
  return value;
}

/// Returns the length in bytes of a binary process graph file of `ranks` rows and `arcs` arcs with fields of `field` bytes and arcs
/// of `arc` bytes; in 128 bits, since the numbers are unchecked.
Wide file_length(std::uint64_t ranks, std::uint64_t arcs, unsigned field, unsigned arc) {
  return Wide{field} * (Wide{ranks} + 3) + Wide{arc} * arcs;
}

/// Returns a 128-bit number as text for messages; "more than 18446744073709551615" above 64 bits.
std::string wide_text(Wide value) {
  if (value > std::numeric_limits<std::uint64_t>::max()) return "more than 18446744073709551615";
  return std::to_string(static_cast<std::uint64_t>(value));
}

/// Throws the error of a binary process graph whose header does not fit the length of the file, with the variant of the format
/// (32-bit fields, arcs of two ranks, big-endian) that would fit. @throws InputError
[[noreturn]] void fail_for_length(const FileBytes& file) {
  const std::string_view bytes = file.bytes();
  struct Variant {  // build of the published program that writes another layout
    unsigned field;
    unsigned arc;
    bool swapped;
    const char* name;
  };
  constexpr Variant variants[] = {
      {4, 8, false, "with fields of 32 bits (built with USE_32_BIT_GRAPH)"},
      {8, 24, false, "with arcs of two ranks and a weight (built with EDGE_AS_VERTEX_PAIR)"},
      {8, 16, true, "of a big-endian machine"},
      {4, 8, true, "of a big-endian machine, with fields of 32 bits (built with USE_32_BIT_GRAPH)"},
  };
  for (const Variant& v : variants) {
    const auto field = [&](std::size_t at) {
      const int width = static_cast<int>(v.field);
      return v.swapped ? read_big_endian(bytes, at * v.field, width) : read_little_endian(bytes, at * v.field, width);
    };
    if (field(0) > 0 && field(0) < (1ULL << 31) && file_length(field(0), field(1), v.field, v.arc) == bytes.size()) {
      file.fail(0, "a binary graph " + std::string(v.name) +
                       "; allowed: little-endian, fields of 64 bits, arcs of a rank and a weight");
    }
  }
  const std::uint64_t ranks = read_little_endian(bytes, 0, 8), arcs = read_little_endian(bytes, 8, 8);
  // The length bounds both numbers, so that the positions below are inside of the file.
  if (ranks < 1 || ranks >= (1ULL << 31)) {
    file.fail(0, std::to_string(static_cast<std::int64_t>(ranks)) + " ranks; allowed: 1 to 2147483647");
  }
  if (arcs >= (1ULL << 63)) {
    file.fail(8, std::to_string(static_cast<std::int64_t>(arcs)) + " arcs; allowed: at least 0");
  }
  file.fail(0, std::to_string(ranks) + " ranks and " + std::to_string(arcs) + " arcs in a file of " +
                   std::to_string(bytes.size()) + " bytes; allowed: " + wide_text(file_length(ranks, arcs, 8, 16)) +
                   " bytes for these");
}

/// Appends a number of 64 bits to a binary process graph, little-endian.
void append_little_endian(std::string& out, std::uint64_t value) {
  for (int i = 0; i < 8; ++i) out += static_cast<char>(value >> (8 * i) & 0xff);
}

}  // namespace

// Parser of binary process graphs: offsets and arcs are checked before they are used.
ProcessGraph parse_binary(const std::string& path, const std::string& bytes) {
  const FileBytes file(path, bytes, FileBytes::Places::offsets);
  constexpr std::size_t kMin = 24;
  if (bytes.size() < kMin) {
    file.fail(bytes.size(), "the file ends; allowed: at least " + std::to_string(kMin) + " bytes in a binary graph");
  }
  const std::uint64_t ranks = read_little_endian(bytes, 0, 8), arcs = read_little_endian(bytes, 8, 8);
  if (ranks < 1 || ranks >= (1ULL << 31) || file_length(ranks, arcs, 8, 16) != bytes.size()) fail_for_length(file);
  const std::size_t first_arc = 16 + 8 * (ranks + 1);
  ProcessArcs list(file);
  std::uint64_t begin = 0;
  for (std::uint64_t r = 0; r <= ranks; ++r) {
    const std::size_t at = 16 + 8 * r;
    const std::uint64_t end = read_little_endian(bytes, at, 8);
    const bool fits = r == 0 ? end == 0 : end >= begin && end <= arcs && (r < ranks || end == arcs);
    if (!fits) {
      const std::string low = std::to_string(r == ranks ? arcs : begin), high = std::to_string(r == 0 ? 0 : arcs);
      file.fail(at, "the arcs of rank " + std::to_string(r) + " begin at " +
                        std::to_string(static_cast<std::int64_t>(end)) +
                        "; allowed: " + (low == high ? low : low + " to " + high));
    }
    for (std::uint64_t a = begin; a < end; ++a) {
      const std::size_t arc_at = first_arc + 16 * a;
      const std::uint64_t to = read_little_endian(bytes, arc_at, 8);
      if (to >= ranks) {
        file.fail(arc_at, "rank " + std::to_string(static_cast<std::int64_t>(to)) + "; allowed: 0 to " +
                              std::to_string(ranks - 1));
      }
      const double weight = std::bit_cast<double>(read_little_endian(bytes, arc_at + 8, 8));
      file.check_weight(arc_at + 8, weight);
      list.add(static_cast<int>(r - 1), static_cast<int>(to), weight, arc_at);
    }
    begin = end;
  }
  return list.graph(static_cast<int>(ranks), 0);
}

// Binary process graph: ranks, arcs, row offsets, then (receiving rank, weight) of every arc.
std::string serialize_binary(const ProcessGraph& graph) {
  std::string out;
  out.reserve(16 + 8 * graph.offsets().size() + 16 * static_cast<std::size_t>(graph.arcs()));
  append_little_endian(out, static_cast<std::uint64_t>(graph.ranks()));
  append_little_endian(out, static_cast<std::uint64_t>(graph.arcs()));
  for (const std::int64_t offset : graph.offsets()) append_little_endian(out, static_cast<std::uint64_t>(offset));
  for (int r = 0; r < graph.ranks(); ++r) {
    for (const auto& arc : graph.row(r)) {
      append_little_endian(out, static_cast<std::uint64_t>(arc.to));
      append_little_endian(out, std::bit_cast<std::uint64_t>(arc.bytes));
    }
  }
  return out;
}

}  // namespace merganser::graphs::detail
