// Results of bench msf: joining those of several launches, and comparing the forests that they found.
#include "apps/bench_msf/bench_msf.hpp"

#include <fmt/core.h>

#include <iterator>
#include <map>
#include <utility>

namespace merganser::app {
namespace {

/// Moves all results of one kind from one launch to the end of those of earlier launches.
template <class T>
void append(std::vector<T>& to, std::vector<T>& from) {
  to.insert(to.end(), std::make_move_iterator(from.begin()), std::make_move_iterator(from.end()));
}

}  // namespace

void MsfResults::add(MsfResults more) {
  append(graphs, more.graphs);
  append(forests, more.forests);
  append(heaps, more.heaps);
  append(collectives, more.collectives);
  append(arcs, more.arcs);
  append(notes, more.notes);
  if (surroundings.is_null()) surroundings = std::move(more.surroundings);
}

// Verification of bench msf: every method and number of ranks must find the same spanning forest of a graph, by its digest.
std::vector<std::string> MsfResults::contradictions() const {
  std::map<std::string, const ForestResult*> first;
  std::vector<std::string> out;
  const auto text = [](const ForestResult& r) {
    return fmt::format("{} {} {} on {}", r.what.model, r.what.style, r.what.post, r.ranks);
  };
  for (const auto* list : {&forests, &heaps}) {
    for (const auto& r : *list) {
      if (r.digest.empty()) continue;
      const auto [at, is_new] = first.try_emplace(r.what.graph.name, &r);
      if (is_new || at->second->digest == r.digest) continue;
      out.push_back(r.what.graph.name + ": " + text(r) + " found the forest " + r.digest + ", " + text(*at->second) +
                    " found " + at->second->digest);
    }
  }
  return out;
}

}  // namespace merganser::app
