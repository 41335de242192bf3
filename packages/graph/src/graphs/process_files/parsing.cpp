// Shared parts of the parsers of process graph files: errors with a place, checked numbers and weights, lists of arcs.
#include "src/graphs/process_files/parsing.hpp"

#include <cmath>

#include "merganser/base/error.hpp"
#include "merganser/base/lines.hpp"
#include "merganser/base/text.hpp"
#include "src/graphs/files/disk.hpp"

namespace merganser::graphs::detail {
namespace {

constexpr const char* kWeights = "; allowed: finite numbers >= 0";

/// Returns true for a valid weight of a process graph's arc: finite and not negative.
bool is_weight(double weight) { return std::isfinite(weight) && weight >= 0; }

}  // namespace

std::string_view FileBytes::line(std::uint64_t at) const {
  LineWalk walk(bytes_.substr(static_cast<std::size_t>(at)));
  return walk.next() ? walk.line() : std::string_view();
}

// Place of an offset in a process graph file, for errors.
std::string FileBytes::place(std::uint64_t at) const {
  if (places_ == Places::offsets) return "offset " + std::to_string(at);
  // An offset at the end of the text counts as one in its last line, not in an empty line behind it.
  const std::size_t last = std::max<std::size_t>(1, bytes_.size()) - 1;
  return "line " + std::to_string(1 + count_lines(bytes_.substr(0, std::min(last, static_cast<std::size_t>(at)))));
}

void FileBytes::fail(std::uint64_t at, const std::string& what) const {
  throw InputError(path_ + ": " + place(at) + ": " + what);
}

std::int64_t FileBytes::integer(std::uint64_t at, std::string_view word, std::string_view what, std::int64_t low,
                                std::int64_t high) const {
  std::int64_t value = 0;
  if (parse_integer(word, value) && value >= low && value <= high) return value;
  fail(at, std::string(what) + " " + quote(word) + "; allowed: " + std::to_string(low) + " to " + std::to_string(high));
}

void FileBytes::check(std::uint64_t at, std::uint64_t value, std::string_view what, std::uint64_t low,
                      std::uint64_t high) const {
  if (value >= low && value <= high) return;
  fail(at, std::string(what) + " " + quote(std::to_string(value)) + "; allowed: " + std::to_string(low) + " to " +
               std::to_string(high));
}

double FileBytes::weight(std::uint64_t at, std::string_view word) const {
  double value = 0;
  if (parse_real(word, value) && is_weight(value)) return value;
  fail(at, "weight " + quote(word) + kWeights);
}

void FileBytes::check_weight(std::uint64_t at, double weight) const {
  if (!is_weight(weight)) fail(at, "weight " + number_text(weight) + kWeights);
}

// Entry of a METIS or Matrix Market file as one or two arcs of a process graph.
void ArcSink::entry(std::uint64_t at, std::uint64_t from, std::uint64_t to, std::string_view weight) {
  if (++entries_ > rules_.most)
    fail(at, quote(file_.line(at)) + " after the last entry; allowed: " + std::to_string(rules_.most) +
                 " entries, as its sizes say");
  if (from == to) return;
  const double bytes = rules_.weighted ? file_.weight(at, weight) : 1;
  list_.add(static_cast<int>(from), static_cast<int>(to), bytes, at);
  if (rules_.both) list_.add(static_cast<int>(to), static_cast<int>(from), bytes, at);
}

void ProcessArcs::add(int from, int to, double bytes, std::uint64_t at) {
  arcs_.push_back({from, to, bytes, at});
  largest_ = std::max({largest_, from, to});
}

// Check of the ranks of a process graph file: the first arc beyond the number of ranks is reported.
void ProcessArcs::check(int ranks) const {
  if (largest_ < ranks) return;
  for (const Entry& e : arcs_) {
    if (std::max(e.from, e.to) < ranks) continue;
    file_.fail(e.at, "rank " + std::to_string(std::max(e.from, e.to)) + " in a graph of " + std::to_string(ranks) +
                         " ranks; allowed: 0 to " + std::to_string(ranks - 1));
  }
}

// Process graph from the arcs of a file, sorted by rows; loops and repeated arcs are errors at their place in the file.
ProcessGraph ProcessArcs::graph(int ranks, int base) {
  // Ties by place in the file, so that of a repeated arc the second one is reported.
  const auto before = [](const Entry& a, const Entry& b) {
    if (a.from != b.from) return a.from < b.from;
    return a.to != b.to ? a.to < b.to : a.at < b.at;
  };
  if (!std::is_sorted(arcs_.begin(), arcs_.end(), before)) std::sort(arcs_.begin(), arcs_.end(), before);
  std::vector<std::vector<ProcessGraph::Arc>> rows(static_cast<std::size_t>(ranks));
  const Entry* last = nullptr;
  for (const Entry& e : arcs_) {
    const auto text = [&] { return "from " + std::to_string(e.from + base) + " to " + std::to_string(e.to + base); };
    if (e.from == e.to) file_.fail(e.at, "an arc " + text() + "; allowed: arcs between two ranks");
    if (last != nullptr && last->from == e.from && last->to == e.to)
      file_.fail(e.at,
                 "the arc " + text() + " stands at " + file_.place(last->at) + " already; allowed: every arc once");
    rows[static_cast<std::size_t>(e.from)].push_back({e.to, e.bytes});
    last = &e;
  }
  return ProcessGraph(std::move(rows));
}

}  // namespace merganser::graphs::detail
