// Options of merge steps: words of the command line, resolution against the parcel file, decomposition, forecasts of memory.
#include "apps/cluster/merge_options.hpp"

#include <cmath>

#include "apps/frame/table.hpp"

namespace merganser::app {
Choices<Search> search_choices() { return {{{"exact", Search::exact}, {"cells8", Search::cells8}}}; }
Choices<Prune> prune_choices() { return {{{"single-pass", Prune::single_pass}, {"iterative", Prune::iterative}}}; }
Words prune_words_and_all() {
  Words names;
  for (const auto& [word, prune] : prune_choices().words) names.words.push_back(word);
  names.words.emplace_back("all");
  return names;
}
Choices<comm::Epoch> epoch_choices() {
  return {{{"lifetime", comm::Epoch::lifetime},
           {"per-phase", comm::Epoch::per_phase},
           {"per-operation", comm::Epoch::per_operation}}};
}
std::string search_name(Search s) { return search_choices().name(s); }
std::string prune_name(Prune p) { return prune_choices().name(p); }
std::string epoch_name(comm::Epoch e) { return epoch_choices().name(e); }

ClusterOptions cluster_options(const MethodOptions& method, double min_volume_ratio) {
  ClusterOptions o;
  o.min_volume_ratio = min_volume_ratio;
  o.search = method.search;
  o.prune = method.prune;
  o.iterative.epoch = method.epoch;
  o.iterative.sub_communicator = method.sub_communicator;
  return o;
}

double resolve_ratio(const FileOptions& o, const io::ParcelFileInfo& info, double otherwise, Answers& answers) {
  return answers.resolve("min-volume-ratio", o.min_volume_ratio, info.min_volume_ratio, otherwise,
                         "default of files without the attribute min_vratio");
}

AxisFlags resolve_periodic(const FileOptions& o, const io::ParcelFileInfo& info, Answers& answers) {
  const auto& flags = info.grid.box.periodic;
  const AxisFlags periodic{flags[0], flags[1], flags[2]};
  return answers.resolve("periodic", o.periodic, info.says_periodic ? std::optional(periodic) : std::nullopt, periodic,
                         "EPIC's files, without the attribute periodic, are periodic in x and y");
}

// Decomposition of the grid into blocks; with --balance cuts are placed by the numbers of parcels in planes of cells, summed over
// ranks.
Decomposition decompose(const Grid& grid, const BlockOptions& blocks, const Parcels& parcels,
                        comm::Transport& transport) {
  const Decomposition even(grid, transport.size(), blocks.decomposition);
  if (!blocks.balance) return even;
  std::array<std::vector<std::int64_t>, 3> weight;
  for (int a = 0; a < 3; ++a) weight[a].assign(static_cast<std::size_t>(grid.cells[a]), 0);
  for (std::size_t i = 0; i < parcels.size(); ++i) {
    const Site& s = parcels.site(i);
    ++weight[0][static_cast<std::size_t>(grid.cell(0, s.x))];
    ++weight[1][static_cast<std::size_t>(grid.cell(1, s.y))];
    ++weight[2][static_cast<std::size_t>(grid.cell(2, s.z))];
  }
  for (auto& w : weight) transport.all_reduce(std::span<std::int64_t>(w), comm::Op::sum);
  return even.balanced(weight);
}

double balance_bytes(const BlockOptions& blocks, const Grid& grid, int ranks) {
  if (!blocks.balance) return 0;
  double planes = 0;
  for (const auto cells : grid.cells) planes += static_cast<double>(cells);
  return planes * sizeof(std::int64_t) * (1 + ranks);
}

double search_bytes(Search search, const Grid& grid, int ranks) {
  return search == Search::cells8 ? std::ceil(static_cast<double>(grid.cell_count()) / ranks) * 8 : 0;
}

std::string grid_text(const Grid& grid) {
  return count_text(grid.cells[0]) + " x " + count_text(grid.cells[1]) + " x " + count_text(grid.cells[2]) +
         " cells, periodic in " + merganser::detail::axes_text(grid.box.periodic);
}

}  // namespace merganser::app
