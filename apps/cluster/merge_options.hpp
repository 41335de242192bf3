#pragma once
/// Options of a merge step, shared by the commands that make one.
#include <optional>
#include <string>

#include "apps/frame/answers.hpp"
#include "merganser/base/options.hpp"
#include "merganser/cluster/cluster.hpp"
#include "merganser/geometry/decomposition.hpp"
#include "merganser/io/parcel_file.hpp"

namespace merganser::app {

/// How links are found and pruned.
struct MethodOptions {
  Search search = Search::exact;
  Prune prune = Prune::single_pass;
  comm::Epoch epoch = comm::Epoch::per_operation;
  bool sub_communicator = false;
};
[[nodiscard]] Choices<Search> search_choices();
[[nodiscard]] Choices<Prune> prune_choices();
/// Their names, and "all" behind them.
[[nodiscard]] Words prune_words_and_all();
[[nodiscard]] Choices<comm::Epoch> epoch_choices();
[[nodiscard]] std::string search_name(Search s);
[[nodiscard]] std::string prune_name(Prune p);
[[nodiscard]] std::string epoch_name(comm::Epoch e);

template <class V>
void describe_search(MethodOptions& o, V&& option) {
  option("search", o.search, "the true nearest parcel, or the nearest in the 2x2x2 cells around the nearest grid node",
         search_choices());
}
template <class V>
void describe_iterative(MethodOptions& o, V&& option, const UsedWith& iterative) {
  option("epoch", o.epoch, "how one-sided models open access epochs in --prune iterative", epoch_choices(), iterative);
  option("sub-communicator", o.sub_communicator, "--prune iterative on ranks that have links only", iterative);
}
template <class V>
void describe(MethodOptions& o, V&& option) {
  option.section("Method");
  describe_search(o, option);
  option("prune", o.prune, "closed form without global synchronisation, or the published sweeps", prune_choices());
  describe_iterative(o, option, UsedWith{"--prune iterative"});
}

/// Options that a parcel file can answer.
struct FileOptions {
  std::optional<double> min_volume_ratio;
  std::optional<AxisFlags> periodic;
};
template <class V>
void describe_ratio(FileOptions& o, V&& option, const char* otherwise) {
  option("min-volume-ratio", o.min_volume_ratio, "cell volume / smallest volume that is not small, V_min = V_cell / R",
         positive(), Kind{"R"}, FromInput{std::string("min_vratio of the file, else ") + otherwise});
}
template <class V>
void describe_periodic(FileOptions& o, V&& option) {
  option("periodic", o.periodic, "periodic axes, as letters; the others have walls",
         FromInput{"periodic of the file, else xy"});
}
/// The ratio that counts; `otherwise` where neither the option nor the file says it.
[[nodiscard]] double ratio_of(const FileOptions& o, const io::ParcelFileInfo& info, double otherwise, Answers& answers);
/// The periodic axes that count.
[[nodiscard]] AxisFlags periodic_of(const FileOptions& o, const io::ParcelFileInfo& info, Answers& answers);

/// How cells are dealt to ranks.
struct BlockOptions {
  std::string decomposition = "auto";
  bool balance = false;
};
template <class V>
void describe_decomposition(BlockOptions& o, V&& option) {
  option.section("Blocks");
  option("decomposition", o.decomposition, "auto (least surface), 1d, 2d, 3d, or a shape like 2x2x1", Kind{"SHAPE"});
}
template <class V>
void describe(BlockOptions& o, V&& option) {
  describe_decomposition(o, option);
  option("balance", o.balance, "place the cuts so that every rank has about as many parcels");
}

[[nodiscard]] ClusterOptions cluster_options(const MethodOptions& method, double min_volume_ratio);

/// The decomposition asked for. Collective with --balance (looks at the parcels wherever they are).
[[nodiscard]] Decomposition decompose(const Grid& grid, const BlockOptions& blocks, const Parcels& parcels,
                                      comm::Transport& transport);

/// Memory of a rank while decompose() balances, for forecasts: every rank sees all ranks' weights of the planes of cells.
[[nodiscard]] double balance_bytes(const BlockOptions& blocks, const Grid& grid, int ranks);

/// What a parcel takes in a parcel file: a variable for each number of the container, and what keeps track of chunks
/// (measured with 2.1 million parcels).
[[nodiscard]] inline double parcel_file_bytes(const Schema& schema) {
  return static_cast<double>(Parcels(schema).parcel_bytes()) + 4;
}

/// Bytes on each rank for the search: cells8 has numbers for every cell, whether parcels are there or not.
[[nodiscard]] double search_bytes(Search search, const Grid& grid, int ranks);
[[nodiscard]] std::string grid_text(const Grid& grid);  ///< "32 x 32 x 32 cells, periodic in xy"

}  // namespace merganser::app
