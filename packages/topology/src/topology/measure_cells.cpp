// Configurations of the benchmark: which of them share an exchange, and which fit into memory.
#include "src/topology/measure_cells.hpp"

#include <algorithm>
#include <array>
#include <cmath>

#include "merganser/base/error.hpp"
#include "merganser/base/text.hpp"

namespace merganser::topology {

std::size_t MessageSize::on(const graphs::ProcessGraph::Arc& arc) const {
  return static_cast<std::size_t>(std::llround(weights ? bytes * arc.bytes : bytes));
}

std::string size_text(MessageSize size) {
  if (!size.weights) return std::to_string(std::llround(size.bytes));
  return size.bytes == 1 ? "weights" : "weights*" + number_text(size.bytes);
}

namespace detail {
namespace {

/// Class of message sizes whose configurations share an exchange object. Exchanges for long messages are created for their turn
/// only, since all at once would not fit into memory.
struct SizeClass {
  std::size_t up_to;    ///< largest message, bytes
  std::size_t rotated;  ///< sets of buffers with Buffers::rotate
};
constexpr std::array<SizeClass, 3> kClasses{{{1024, 256}, {65536, 16}, {SIZE_MAX, 4}}};
constexpr double kKeptBytes = 16.0 * 1024 * 1024;  // of all exchanges that exist from beginning to end, per rank

/// Returns the length of the longest message that a size gives on the arcs of a process graph, bytes.
std::size_t largest_message(const graphs::ProcessGraph& graph, MessageSize size) {
  if (!size.weights) return size.on({});
  std::size_t most = 0;
  for (int r = 0; r < graph.ranks(); ++r)
    for (const auto& arc : graph.row(r)) most = std::max(most, size.on(arc));
  return most;
}

/// Returns the bytes of sources and landing zones of one set of message buffers, on the rank that has most.
double buffer_bytes(const graphs::ProcessGraph& graph, MessageSize size) {
  std::vector<double> bytes(static_cast<std::size_t>(graph.ranks()), 0);
  for (int r = 0; r < graph.ranks(); ++r)
    for (const auto& arc : graph.row(r)) {
      bytes[static_cast<std::size_t>(r)] += static_cast<double>(size.on(arc));
      bytes[static_cast<std::size_t>(arc.to)] += static_cast<double>(size.on(arc));
    }
  return bytes.empty() ? 0 : *std::max_element(bytes.begin(), bytes.end());
}

/// Returns the index into kClasses of a longest message. Without rotation of buffers the two lowest classes have the same buffers
/// and share an exchange.
std::size_t size_class(std::size_t bytes, Buffers buffers) {
  std::size_t c = 0;
  while (bytes > kClasses[c].up_to) ++c;
  return c == 0 && buffers != Buffers::rotate ? 1 : c;
}

/// Throws UsageError unless the message sizes of the benchmark suit its graphs: multiples of weights need weights, and all stay up
/// to 2^40 bytes.
void check_options(const MeasureOptions& o) {
  for (const auto& g : o.graphs) {
    const bool has_weights = g.graph.is_weighted();
    for (const auto& s : o.sizes) {
      if (!(s.bytes >= 0 && s.bytes <= 0x1p40))
        throw UsageError("size of messages: " + size_text(s) + "; allowed: 0 to 2^40");
      if (s.weights && !has_weights)
        throw UsageError("size of messages: " + size_text(s) + ", but the arcs of graph " + g.name +
                         " have no weights; allowed: numbers of bytes");
    }
  }
  if (o.graphs.empty() || o.sizes.empty())
    throw UsageError("nothing to measure: no graph or no size; allowed: at least one of each");
}

}  // namespace

std::int64_t total_bytes(const graphs::ProcessGraph& graph, MessageSize size) {
  std::int64_t sum = 0;
  for (int r = 0; r < graph.ranks(); ++r)
    for (const auto& arc : graph.row(r)) sum += static_cast<std::int64_t>(size.on(arc));
  return sum;
}

ArcBytes arc_bytes(const graphs::ProcessGraph& graph, const comm::Graph& local, int rank, MessageSize size) {
  ArcBytes bytes;
  for (const auto& arc : graph.row(rank)) bytes.out.push_back(size.on(arc));
  for (const int from : local.in) bytes.in.push_back(size.on({rank, graph.bytes(from, rank)}));
  return bytes;
}

// Takes a configuration out of the benchmark, and notes the reason for the report.
void Cells::mark_unusable(std::size_t cell, const MeasureOptions& options, const std::string& reason) {
  Cell& c = cells[cell];
  if (!c.usable) return;
  c.usable = false;
  std::erase(slots[c.slot].cells, cell);
  unusable.push_back({options.kernels[c.kernel], options.graphs[c.graph].name, size_text(c.size), reason});
}

// Set-up of the benchmark: every combination of graph, kernel and size becomes a configuration, and configurations of
// one class of sizes share a slot. Those that exceed the memory are marked as unusable.
Cells make_cells(const MeasureOptions& o, const std::vector<std::string>& kernels) {
  check_options(o);
  Cells all;
  double kept = 0;
  for (std::size_t g = 0; g < o.graphs.size(); ++g) {
    std::vector<MessageSize> sizes = o.sizes;
    const auto message = [&](MessageSize s) { return largest_message(o.graphs[g].graph, s); };
    std::stable_sort(sizes.begin(), sizes.end(), [&](auto a, auto b) { return message(a) < message(b); });
    for (std::size_t k = 0; k < o.kernels.size(); ++k) {
      if (std::find(kernels.begin(), kernels.end(), o.kernels[k]) == kernels.end()) continue;
      std::array<std::size_t, kClasses.size()> slot_of{};
      slot_of.fill(SIZE_MAX);
      for (const auto size : sizes) {
        const std::size_t c = size_class(message(size), o.buffers);
        if (slot_of[c] == SIZE_MAX) {
          slot_of[c] = all.slots.size();
          all.slots.push_back({g, k, o.buffers == Buffers::rotate ? kClasses[c].rotated : 1, false, {}});
        }
        const std::size_t cell = all.cells.size();
        all.cells.push_back({g, k, slot_of[c], size});
        Slot& slot = all.slots[slot_of[c]];
        slot.cells.push_back(cell);
        const double bytes = buffer_bytes(o.graphs[g].graph, size) * static_cast<double>(slot.buffers);
        if (o.memory_bytes > 0 && bytes > o.memory_bytes)
          all.mark_unusable(cell, o,
                            "needs " + number_text(std::ceil(bytes / 1048576)) +
                                " MiB of buffers on one rank; allowed: " +
                                number_text(std::floor(o.memory_bytes / 1048576)) + " MiB");
      }
      // Exchanges of all but the longest class are kept from beginning to end, as long as their buffers fit into kKeptBytes.
      for (std::size_t c = 0; c + 1 < kClasses.size(); ++c) {
        if (slot_of[c] == SIZE_MAX || all.slots[slot_of[c]].cells.empty()) continue;
        Slot& slot = all.slots[slot_of[c]];
        const double bytes =
            buffer_bytes(o.graphs[g].graph, all.cells[slot.cells.back()].size) * static_cast<double>(slot.buffers);
        slot.kept = kept + bytes <= kKeptBytes;
        if (slot.kept) kept += bytes;
      }
    }
  }
  return all;
}

}  // namespace detail
}  // namespace merganser::topology
