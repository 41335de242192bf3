#pragma once
/// Numbers of [ing2021], and what follows from them. Where text and tables of the publication disagree both are here.
#include <array>
#include <span>
#include <string_view>

namespace merganser::app::msf_published {

/// A row of Table 1, with its columns of Tables 7 and 8. "Edges" are arcs: twice the undirected edges.
struct Webgraph {
  std::string_view name;
  double gigabytes;
  double vertices;
  double arcs;
  double max_degree;
  double arcs_per_vertex;
  double improvement;  ///< percent of the time, from MPI to OpenSHMEM (Table 8)
  std::string_view best_mpi;
  std::string_view best_shmem;  ///< (nodes, processes), Table 7
};
[[nodiscard]] std::span<const Webgraph> webgraphs();

/// Tables 2 and 3: did a run with that much symmetric memory work? One letter per (1, 2, 4 nodes) x (4, 8, 16, 32
/// processes).
struct MemoryRow {
  std::string_view heap;    ///< symmetric heap per process
  std::string_view buffer;  ///< for collectives
  std::string_view ara_2005;
  std::string_view uk_2005;
};
[[nodiscard]] std::span<const MemoryRow> memory_rows();

/// Two numbers by a third: Table 4 (microseconds by nodes), 5 (percent by processes), 6 (percent by nodes).
struct Pair {
  int at;
  double mpi;
  double shmem;
};
[[nodiscard]] std::span<const Pair> barrier_us();
[[nodiscard]] std::span<const Pair> process_scaling();
[[nodiscard]] std::span<const Pair> node_scaling();
/// Figure 5: how much longer `leader` takes than `single`, percent by processes (MPI only).
struct PostRow {
  int processes;
  double percent;
};
[[nodiscard]] std::span<const PostRow> post_processing();

/// Table 9.
struct ProductivityRow {
  std::string_view function;
  int calls_mpi, calls_shmem, lines_mpi, lines_shmem;
};
[[nodiscard]] std::span<const ProductivityRow> productivity();

/// Correlation of two samples of one length, at least two long; 0 where one of them does not vary.
[[nodiscard]] double pearson(std::span<const double> x, std::span<const double> y);

/// What the publication derives from its tables, as printed and as they give it.
struct Derived {
  std::string_view what;
  std::string_view printed;
  double recomputed;
  int digits;
  std::string_view remark;
};
[[nodiscard]] std::array<Derived, 14> derived();

}  // namespace merganser::app::msf_published
