// Process graph in compressed sparse rows: checks of arcs, queries, one rank's adjacency, quotient graph, digest.
#include "merganser/graphs/process_graph.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <limits>

#include "merganser/base/error.hpp"
#include "merganser/base/random.hpp"
#include "merganser/base/text.hpp"

namespace merganser::graphs {
namespace {

/// Returns "the arc from rank 1 to rank 2", for messages on arcs of a process graph.
std::string arc_text(std::size_t from, int to) {
  return "the arc from rank " + std::to_string(from) + " to rank " + std::to_string(to);
}

/// Checks an arc of a process graph. @throws InputError for an arc that leaves the graph, is a loop, or has a bad
/// weight
void check_arc(std::size_t from, const ProcessGraph::Arc& arc, std::size_t ranks) {
  if (arc.to < 0 || static_cast<std::size_t>(arc.to) >= ranks) {
    throw InputError(arc_text(from, arc.to) + " leaves the graph; allowed: ranks 0 to " + std::to_string(ranks - 1));
  }
  if (static_cast<std::size_t>(arc.to) == from)
    throw InputError(arc_text(from, arc.to) + " is a loop; allowed: arcs between two ranks");
  if (!(arc.bytes >= 0) || !std::isfinite(arc.bytes)) {
    throw InputError(arc_text(from, arc.to) + " has the weight " + number_text(arc.bytes) +
                     "; allowed: finite numbers >= 0");
  }
}

/// Sorts the arcs that leave a rank of a process graph by receiving rank, and joins arcs with equal heads, adding their weights.
/// @throws InputError if a sum is infinite
void join_row(std::size_t from, std::vector<ProcessGraph::Arc>& row) {
  const auto before = [](const ProcessGraph::Arc& a, const ProcessGraph::Arc& b) { return a.to < b.to; };
  // Stable, so that the sum of weights does not depend on how equal heads happen to be moved.
  if (!std::is_sorted(row.begin(), row.end(), before)) std::stable_sort(row.begin(), row.end(), before);
  std::size_t kept = 0;
  for (std::size_t i = 0; i < row.size(); ++i) {
    row[i].bytes += 0.0;  // -0.0 becomes +0.0, so that equal graphs have equal digests
    if (kept > 0 && row[kept - 1].to == row[i].to) {
      row[kept - 1].bytes += row[i].bytes;
      if (!std::isfinite(row[kept - 1].bytes))
        throw InputError("the weights of " + arc_text(from, row[i].to) + " add up to infinity; allowed: a finite sum");
    } else {
      row[kept++] = row[i];
    }
  }
  row.resize(kept);
}

/// Hash of 128 bits for the digest of a process graph: two lanes of 64 bits, each a chain of bijections of its state
/// per word.
class GraphDigest {
 public:
  /// Adds the next word of a process graph; the digest depends on the order.
  void add(std::uint64_t word) {
    lanes_[0] = mix64((lanes_[0] ^ word) * 0x9E3779B97F4A7C15ULL + 0xD1B54A32D192ED03ULL);
    lanes_[1] = mix64(lanes_[1] * 0xC2B2AE3D27D4EB4FULL + word + 0x165667B19E3779F9ULL);
  }
  /// Returns the digest of the words added so far as 32 hexadecimal digits.
  [[nodiscard]] std::string text() const { return hex16_text(lanes_[0]) + hex16_text(lanes_[1]); }

 private:
  std::array<std::uint64_t, 2> lanes_{0x243F6A8885A308D3ULL, 0x13198A2E03707344ULL};
};

}  // namespace

// Process graph from the rows of all ranks, which are checked, sorted and stored behind each other.
ProcessGraph::ProcessGraph(std::vector<std::vector<Arc>> rows) {
  if (rows.size() > static_cast<std::size_t>(std::numeric_limits<int>::max()))
    throw InputError("a process graph of " + std::to_string(rows.size()) + " ranks; allowed: at most 2147483647");
  offsets_.reserve(rows.size() + 1);
  offsets_.push_back(0);
  for (std::size_t r = 0; r < rows.size(); ++r) {
    for (const Arc& arc : rows[r]) check_arc(r, arc, rows.size());
    join_row(r, rows[r]);
    offsets_.push_back(offsets_.back() + static_cast<std::int64_t>(rows[r].size()));
  }
  arcs_.reserve(static_cast<std::size_t>(offsets_.back()));
  // Rows are freed one by one while they are copied, to keep the peak of memory low.
  for (auto& row : rows) {
    arcs_.insert(arcs_.end(), row.begin(), row.end());
    std::vector<Arc>().swap(row);
  }
}

// Arcs that leave a rank: its row of the compressed sparse rows.
std::span<const ProcessGraph::Arc> ProcessGraph::row(int rank) const {
  if (rank < 0 || rank >= ranks()) {
    throw UsageError("rank " + std::to_string(rank) + " of a process graph of " + std::to_string(ranks()) +
                     " ranks; allowed: 0 to the number of ranks less 1");
  }
  const auto r = static_cast<std::size_t>(rank);
  return std::span(arcs_).subspan(static_cast<std::size_t>(offsets_[r]),
                                  static_cast<std::size_t>(offsets_[r + 1] - offsets_[r]));
}

namespace {

/// Returns the arc of a process graph's row to rank `to`, by binary search; null if there is none.
const ProcessGraph::Arc* find_arc(std::span<const ProcessGraph::Arc> row, int to) {
  const auto at =
      std::lower_bound(row.begin(), row.end(), to, [](const ProcessGraph::Arc& a, int t) { return a.to < t; });
  return at != row.end() && at->to == to ? &*at : nullptr;
}

}  // namespace

// Symmetry of the process graph: a binary search for the reverse of every arc.
bool ProcessGraph::is_symmetric() const {
  for (int r = 0; r < ranks(); ++r)
    for (const Arc& arc : row(r))
      if (find_arc(row(arc.to), r) == nullptr) return false;
  return true;
}

bool ProcessGraph::is_weighted() const {
  return std::any_of(arcs_.begin(), arcs_.end(), [](const Arc& a) { return a.bytes != 1; });
}

int ProcessGraph::max_degree() const {
  std::int64_t most = 0;
  for (std::size_t r = 0; r + 1 < offsets_.size(); ++r) most = std::max(most, offsets_[r + 1] - offsets_[r]);
  return static_cast<int>(most);
}

double ProcessGraph::mean_degree() const {
  return ranks() > 0 ? static_cast<double>(arcs()) / static_cast<double>(ranks()) : 0;
}

// Part of the process graph that one rank's exchange needs: its neighbours in both directions.
comm::Graph ProcessGraph::local(int rank) const {
  comm::Graph g;
  for (const Arc& arc : row(rank)) g.out.push_back(arc.to);
  for (int r = 0; r < ranks(); ++r)
    if (find_arc(row(r), rank) != nullptr) g.in.push_back(r);
  return g;
}

double ProcessGraph::bytes(int from, int to) const {
  const Arc* arc = find_arc(row(from), to);
  if (arc == nullptr)
    throw UsageError(arc_text(static_cast<std::size_t>(from), to) + " is not in the process graph; allowed: its arcs");
  return arc->bytes;
}

// Process graph of fewer ranks, each of which stands for consecutive ranks of this one; arcs within a rank vanish.
ProcessGraph ProcessGraph::coarsened(int ranks) const {
  const std::int64_t fine = this->ranks();
  if (ranks < 1 || ranks > fine) {
    throw UsageError("a process graph of " + std::to_string(fine) + " ranks made coarser to " + std::to_string(ranks) +
                     "; allowed: 1 to " + std::to_string(fine));
  }
  // Block b begins at floor(fine * b / ranks); the last such b whose beginning is not beyond r.
  const auto block = [&](std::int64_t r) { return static_cast<int>(((r + 1) * ranks - 1) / fine); };
  std::vector<std::vector<Arc>> rows(static_cast<std::size_t>(ranks));
  for (int r = 0; r < fine; ++r) {
    const int from = block(r);
    for (const Arc& arc : row(r))
      if (const int to = block(arc.to); to != from) rows[static_cast<std::size_t>(from)].push_back({to, arc.bytes});
  }
  return ProcessGraph(std::move(rows));
}

// Digest of the process graph: number of ranks, row offsets, then receiving rank and weight of every arc.
std::string ProcessGraph::digest() const {
  GraphDigest hash;
  hash.add(offsets_.size() - 1);
  for (const std::int64_t offset : offsets_) hash.add(static_cast<std::uint64_t>(offset));
  for (const Arc& arc : arcs_) {
    hash.add(static_cast<std::uint64_t>(arc.to));
    hash.add(std::bit_cast<std::uint64_t>(arc.bytes));
  }
  return hash.text();
}

}  // namespace merganser::graphs
