// Prints the kind of vectors that runs, and digests of what the kernels make of it on one rank: the same lines, but for the
// first one, on every processor and with every kind of vectors. digests_test.py compares them.
#include <bit>
#include <cstdio>
#include <string>
#include <vector>

#include "merganser/base/error.hpp"
#include "merganser/cluster/cluster.hpp"
#include "merganser/comm/runtime.hpp"
#include "merganser/nearest/cell_list.hpp"
#include "merganser/parcels/generate.hpp"
#include "merganser/parcels/statistics.hpp"

#ifdef MERGANSER_DIGESTS_OF_GRAPHS
namespace merganser::test {
void tell_digests_of_graphs(comm::Transport& transport,
                            void (*tell)(const std::string& what, const std::string& digest));
}
#endif
#ifdef MERGANSER_DIGESTS_OF_FLOWS
namespace merganser::test {
void tell_digests_of_flows(comm::Transport& transport,
                           void (*tell)(const std::string& what, const std::string& digest));
}
#endif

namespace {

using namespace merganser;

void tell(const std::string& what, const std::string& digest) { std::printf("%s %s\n", what.c_str(), digest.c_str()); }

void merge(comm::Transport& transport, const Grid& grid, const RandomParcels& given) {
  const Decomposition decomposition(grid, 1);
  Parcels parcels = generate_random(given, decomposition, 0);
  ClusterOptions options;
  options.min_volume_ratio = given.min_volume_ratio;
  Clusterer clusterer(transport, decomposition, parcels.schema(), options);
  for (int step = 0; step < 2; ++step) (void)clusterer.step(parcels);
  tell("parcels", digest(parcels).to_string());
}

/// Merges under a policy, or friends of friends, parcels without shapes.
void merge_by_policy(comm::Transport& transport, const Grid& grid, const RandomParcels& given,
                     const std::string& text) {
  const Decomposition decomposition(grid, 1);
  const Parcels shaped = generate_random(given, decomposition, 0);
  Parcels parcels(Schema(std::vector<Attribute>{{"heat", 1, Rule::sum, {"heat"}, ""}}));
  for (std::size_t i = 0; i < shaped.size(); ++i) {
    const double row[2] = {std::bit_cast<double>(shaped.id(i)), static_cast<double>(i % 7)};
    parcels.append(shaped.site(i), row);
  }
  ClusterOptions options;
  options.policy = parse_policy(text);
  Clusterer clusterer(transport, decomposition, parcels.schema(), options);
  (void)clusterer.step(parcels);
  tell("parcels:" + text, digest(parcels).to_string());
}

void all(comm::Transport& transport) {
  // Highway has two ways to do without vectors, of which a build has one.
  const std::string vectors = nearest::CellList::vector_target();
  tell("vectors", vectors == "EMU128" ? "SCALAR" : vectors);
  merge(transport, {.box = {{0, 0, 0}, {2, 1, 1.5}, {true, true, false}}, .cells = {9, 5, 6}}, {.per_cell = 20});
  merge(transport, {.box = {{-1, 0, 3}, {1, 1, 1}, {true, true, true}}, .cells = {3, 4, 5}},
        {.per_cell = 40, .variable_per_cell = true, .min_volume_ratio = 40, .small_fraction = 0.8, .shuffle = true});
  for (const char* text : {"friends:0.2spacing", "friends:0.9spacing", "small:20,greedy:3", "crowded:16->10"})
    merge_by_policy(transport, {.box = {{0, 0, 0}, {2, 1, 1.5}, {true, true, false}}, .cells = {9, 5, 6}},
                    {.per_cell = 20, .shuffle = true}, text);
#ifdef MERGANSER_DIGESTS_OF_GRAPHS
  test::tell_digests_of_graphs(transport, tell);
#endif
#ifdef MERGANSER_DIGESTS_OF_FLOWS
  test::tell_digests_of_flows(transport, tell);
#endif
}

}  // namespace

int main() {
  try {
    comm::run({.backend = "threads", .ranks = 1, .within_process = true}, all);
  } catch (const merganser::Error& error) {
    std::fprintf(stderr, "%s\n", error.what());
    return error.exit_code();
  }
  return 0;
}
