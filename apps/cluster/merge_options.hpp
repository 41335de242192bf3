#pragma once
/// Options of a merge step, shared by the verbs that make one: method, volume ratio, periodic axes, decomposition.
#include <optional>
#include <string>

#include "apps/frame/answers.hpp"
#include "merganser/base/options.hpp"
#include "merganser/cluster/cluster.hpp"
#include "merganser/geometry/decomposition.hpp"
#include "merganser/io/parcel_file.hpp"

namespace merganser::app {

/// Options of merge steps that select the search for nearest-neighbour links and their pruning.
struct MethodOptions {
  Search search = Search::exact;                   ///< search for the nearest parcel
  Prune prune = Prune::single_pass;                ///< pruning of nearest-neighbour links to stars
  comm::Epoch epoch = comm::Epoch::per_operation;  ///< access epochs of one-sided models, for iterative pruning only
  bool sub_communicator = false;                   ///< iterative pruning among ranks that have links only
};
/// Returns the words of --search, kinds of the search for nearest parcels, and their values.
[[nodiscard]] Choices<Search> search_choices();
/// Returns the words of --prune, kinds of the pruning of nearest-neighbour links, and their values.
[[nodiscard]] Choices<Prune> prune_choices();
/// Returns the words of --prune, kinds of the pruning of nearest-neighbour links, followed by "all".
[[nodiscard]] Words prune_words_and_all();
/// Returns the words of --epoch, kinds of access epochs of one-sided models in iterative pruning, and their values.
[[nodiscard]] Choices<comm::Epoch> epoch_choices();
/// Returns the word of --search for a kind of the search for nearest parcels.
[[nodiscard]] std::string search_name(Search s);
/// Returns the word of --prune for a kind of the pruning of nearest-neighbour links.
[[nodiscard]] std::string prune_name(Prune p);
/// Returns the word of --epoch for a kind of access epochs of iterative pruning.
[[nodiscard]] std::string epoch_name(comm::Epoch e);

/// Lists the option --search of merge steps for the option parser.
template <class V>
void describe_search(MethodOptions& o, V&& option) {
  option("search", o.search, "the true nearest parcel, or the nearest in the 2x2x2 cells around the nearest grid node",
         search_choices());
}
/// Lists the options of iterative pruning, --epoch and --sub-communicator, for the option parser.
/// @param iterative  condition under which they are used
template <class V>
void describe_iterative(MethodOptions& o, V&& option, const UsedWith& iterative) {
  option("epoch", o.epoch, "how one-sided models open access epochs in --prune iterative", epoch_choices(), iterative);
  option("sub-communicator", o.sub_communicator, "--prune iterative on ranks that have links only", iterative);
}
/// Lists the options of the method of merge steps, search and pruning, for the option parser.
template <class V>
void describe(MethodOptions& o, V&& option) {
  option.section("Method");
  describe_search(o, option);
  option("prune", o.prune, "closed form without global synchronisation, or the published sweeps", prune_choices());
  describe_iterative(o, option, UsedWith{"--prune iterative"});
}

/// Options of merge steps whose values a parcel file can give too: volume ratio and periodic axes.
struct FileOptions {
  std::optional<double> min_volume_ratio;  ///< volume of a cell over that below which a parcel is small
  std::optional<AxisFlags> periodic;       ///< periodic axes of the box
};
/// Lists the option --min-volume-ratio for the option parser. @param otherwise  default, for the help text
template <class V>
void describe_ratio(FileOptions& o, V&& option, const char* otherwise) {
  option("min-volume-ratio", o.min_volume_ratio, "cell volume / smallest volume that is not small, V_min = V_cell / R",
         positive(), Kind{"R"}, FromInput{std::string("min_vratio of the file, else ") + otherwise});
}
/// Lists the option --periodic, the periodic axes of the box of parcels, for the option parser.
template <class V>
void describe_periodic(FileOptions& o, V&& option) {
  option("periodic", o.periodic, "periodic axes, as letters; the others have walls",
         FromInput{"periodic of the file, else xy for EPIC's files"});
}
/// Returns the volume ratio to use, the option's, else the file's, else `otherwise`, and records its source in `answers`.
[[nodiscard]] double resolve_ratio(const FileOptions& o, const io::ParcelFileInfo& info, double otherwise,
                                   Answers& answers);
/// Returns the periodic axes to use, the option's, else the file's, else x and y, and records their source in `answers`.
[[nodiscard]] AxisFlags resolve_periodic(const FileOptions& o, const io::ParcelFileInfo& info, Answers& answers);

/// Options of the decomposition of the grid into one block per rank.
struct BlockOptions {
  std::string decomposition = "auto";  ///< shape of the blocks: "auto", "1d", "2d", "3d" or "2x2x1"
  bool balance = false;                ///< true: cuts are placed by the numbers of parcels
};
/// Lists the option --decomposition of the grid for the option parser.
template <class V>
void describe_decomposition(BlockOptions& o, V&& option) {
  option.section("Blocks");
  option("decomposition", o.decomposition, "auto (least surface), 1d, 2d, 3d, or a shape like 2x2x1", Kind{"SHAPE"});
}
/// Lists the options of the decomposition of the grid into blocks, for the option parser.
template <class V>
void describe(BlockOptions& o, V&& option) {
  describe_decomposition(o, option);
  option("balance", o.balance, "place the cuts so that every rank has about as many parcels");
}

/// Returns the library's options of merge steps for a method of search and pruning and a volume ratio.
[[nodiscard]] ClusterOptions cluster_options(const MethodOptions& method, double min_volume_ratio);

/// Returns the decomposition of the grid into blocks that the options describe. With --balance it is collective, and cuts are
/// placed by the parcels of all ranks, on whichever rank they are; else local, and `parcels` is not used. @throws UsageError for a
/// shape that does not fit
[[nodiscard]] Decomposition decompose(const Grid& grid, const BlockOptions& blocks, const Parcels& parcels,
                                      comm::Transport& transport);

/// Returns the bytes of a rank while decompose() balances, for forecasts: every rank holds all ranks' weights of the planes of
/// cells.
[[nodiscard]] double balance_bytes(const BlockOptions& blocks, const Grid& grid, int ranks);

/// Returns the bytes of a parcel in a parcel file, for forecasts: one number for each of the container, and a share of the file's
/// chunk index (measured with 2.1 million parcels).
[[nodiscard]] inline double parcel_file_bytes(const Schema& schema) {
  return static_cast<double>(Parcels(schema).parcel_bytes()) + 4;
}

/// Returns the bytes of the search on each rank, for forecasts: cells8 holds a number for every cell, even for empty ones.
[[nodiscard]] double search_bytes(Search search, const Grid& grid, int ranks);
/// Formats the shape of a grid: "32 x 32 x 32 cells, periodic in xy".
[[nodiscard]] std::string grid_text(const Grid& grid);

}  // namespace merganser::app
