#include "src/graphs/process_files/parsing.hpp"

#include <charconv>
#include <cmath>

#include "merganser/base/error.hpp"
#include "merganser/base/options.hpp"

namespace merganser::graphs::detail {

void fail_at(const std::string& path, Place place, const std::string& what) {
  throw InputError(path + ": " + std::string(place.unit) + " " + std::to_string(place.number) + ": " + what);
}

void split_blanks(std::string_view text, std::vector<std::string_view>& pieces) {
  pieces.clear();
  for (std::size_t at = 0;;) {
    at = text.find_first_not_of(" \t", at);
    if (at == std::string_view::npos) return;
    const std::size_t end = std::min(text.find_first_of(" \t", at), text.size());
    pieces.push_back(text.substr(at, end - at));
    at = end;
  }
}

std::int64_t PlacedNumbers::integer(std::string_view text, std::string_view what, std::int64_t low,
                                    std::int64_t high) const {
  std::int64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error == std::errc() && end == text.data() + text.size() && value >= low && value <= high) return value;
  fail_at(path_, place_,
          std::string(what) + " " + shown(text) + "; allowed: " + std::to_string(low) + " to " + std::to_string(high));
}

double PlacedNumbers::weight(std::string_view text) const {
  double value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error == std::errc() && end == text.data() + text.size() && std::isfinite(value) && value >= 0) return value;
  fail_at(path_, place_, "weight " + shown(text) + "; allowed: finite numbers >= 0");
}

void PlacedNumbers::check_weight(double weight) const {
  if (!(std::isfinite(weight) && weight >= 0))
    fail_at(path_, place_, "weight " + number_text(weight) + "; allowed: finite numbers >= 0");
}

void ArcList::add(int from, int to, double bytes, std::uint64_t place) {
  arcs_.push_back({from, to, bytes, place});
  largest_ = std::max({largest_, from, to});
}

void ArcList::check(int ranks) const {
  if (largest_ < ranks) return;
  for (const Entry& e : arcs_) {
    if (std::max(e.from, e.to) < ranks) continue;
    fail_at(path_, {unit_, e.place},
            "rank " + std::to_string(std::max(e.from, e.to)) + " in a graph of " + std::to_string(ranks) +
                " ranks; allowed: 0 to " + std::to_string(ranks - 1));
  }
}

ProcessGraph ArcList::graph(int ranks, int base) {
  const auto before = [](const Entry& a, const Entry& b) {
    if (a.from != b.from) return a.from < b.from;
    return a.to != b.to ? a.to < b.to : a.place < b.place;
  };
  if (!std::is_sorted(arcs_.begin(), arcs_.end(), before)) std::sort(arcs_.begin(), arcs_.end(), before);
  std::vector<std::vector<ProcessGraph::Arc>> rows(static_cast<std::size_t>(ranks));
  const Entry* last = nullptr;
  for (const Entry& e : arcs_) {
    const auto text = [&] { return "from " + std::to_string(e.from + base) + " to " + std::to_string(e.to + base); };
    if (e.from == e.to) fail_at(path_, {unit_, e.place}, "an arc " + text() + "; allowed: arcs between two ranks");
    if (last != nullptr && last->from == e.from && last->to == e.to) {
      fail_at(path_, {unit_, e.place},
              "the arc " + text() + " stands at " + std::string(unit_) + " " + std::to_string(last->place) +
                  " already; allowed: every arc once");
    }
    rows[static_cast<std::size_t>(e.from)].push_back({e.to, e.bytes});
    last = &e;
  }
  return ProcessGraph(std::move(rows));
}

}  // namespace merganser::graphs::detail
