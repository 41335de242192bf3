#pragma once
/// Numbers of [ing2021], spanning forests by MPI and by OpenSHMEM, and numbers derived from them. Where text and tables of the
/// publication disagree, both are here.
#include <array>
#include <string_view>

#include "merganser/base/language.hpp"

namespace merganser::studies {

/// A web graph: its row of Table 1, with its columns of Tables 7 and 8. "Edges" of the paper are arcs, two for every edge.
struct Webgraph {
  std::string_view name;
  double gigabytes;             ///< size of the file, GB
  double vertices;              ///< number of vertices of the web graph
  double arcs;                  ///< number of arcs of the web graph
  double max_degree;            ///< largest number of arcs at a vertex
  double arcs_per_vertex;       ///< as printed (E/V)
  double improvement;           ///< time saved from MPI to OpenSHMEM, percent (Table 8)
  std::string_view best_mpi;    ///< fastest (nodes, processes) with MPI, Table 7
  std::string_view best_shmem;  ///< fastest (nodes, processes) with OpenSHMEM, Table 7
};
/// Web graphs of [ing2021], Tables 1, 7 and 8.
inline constexpr std::array<Webgraph, 6> kWebgraphs{{
    {"uk-2014", 0.15, 1.77e6, 3.65e7, 6.59e4, 20.66, 21.07, "(4, 16)", "(8, 20)"},
    {"gsh-2015", 4.70, 3.08e7, 1.20e9, 2.18e6, 39.09, 20.71, "(4, 20)", "(8, 16)"},
    {"ara-2005", 4.90, 2.27e7, 1.28e9, 5.76e5, 56.28, 37.93, "(4, 16)", "(8, 16)"},
    {"uk-2005", 7.25, 3.95e7, 1.87e9, 1.78e6, 47.46, 26.75, "(1, 12)", "(4, 8)"},
    {"it-2004", 8.80, 4.13e7, 2.30e9, 1.33e6, 55.74, 39.04, "(4, 20)", "(8, 16)"},
    {"sk-2005", 15.00, 5.06e7, 3.90e9, 8.56e6, 77.00, 39.63, "(4, 16)", "(16, 32)"},
}};

/// A row of Tables 2 and 3 of [ing2021]: whether forests of two graphs could be found with that much symmetric memory worked (S) or
/// not (-), one letter per (1, 2, 4 nodes) x (4, 8, 16, 32 processes).
struct MemoryRow {
  std::string_view heap;      ///< symmetric heap per process
  std::string_view buffer;    ///< buffer for collectives per process
  std::string_view ara_2005;  ///< results for the web graph ara-2005
  std::string_view uk_2005;   ///< results for the web graph uk-2005
};
/// Tables 2 and 3 of [ing2021]: symmetric memory with which spanning forests could be found.
inline constexpr std::array<MemoryRow, 7> kMemoryRows{{
    {"1GB", "1GB", "SS-- ---- ----", "---- ---- ----"},
    {"2GB", "1GB", "SS-- SSSS SSSS", "SSS- SS-- SS--"},
    {"2GB", "2GB", "SS-- SSSS SSSS", "SS-- SS-- SSS-"},
    {"4GB", "2GB", "S--- SSSS SSSS", "SS-- SSS- SSSS"},
    {"4GB", "4GB", "S--- SSS- SSSS", "SS-- SS-- SSSS"},
    {"6GB", "6GB", "S--- SS-- SSSS", "S--- SS-- SSSS"},
    {"8GB", "8GB", "---- ---- SSS-", "---- S--- SSS-"},
}};

/// An entry of Table 4 (barriers, microseconds by nodes), 5 (time saved, percent by processes) or 6 (by nodes) of [ing2021].
struct MpiAndShmem {
  int at;        ///< number of nodes or processes
  double mpi;    ///< value of the MPI program
  double shmem;  ///< value of the OpenSHMEM program
};
/// Table 4 of [ing2021]: times of a barrier, microseconds by nodes.
inline constexpr std::array<MpiAndShmem, 6> kBarrierMicroseconds{
    {{2, 1.24, 1.48}, {4, 5.16, 2.15}, {8, 7.12, 2.62}, {16, 12.72, 6.41}, {32, 13.10, 4.62}, {64, 14.48, 6.64}}};
/// Table 5 of [ing2021]: time of spanning forests saved against 4 processes of 1 node, percent by processes.
inline constexpr std::array<MpiAndShmem, 7> kProcessScaling{{{4, 2.63, 10.04},
                                                             {8, 25.16, 23.37},
                                                             {12, 28.18, 29.96},
                                                             {16, 28.46, 32.94},
                                                             {20, 20.94, 17.28},
                                                             {32, 14.93, 19.10},
                                                             {64, -67.60, 2.43}}};
/// Table 6 of [ing2021]: time of spanning forests saved with more nodes, percent by nodes.
inline constexpr std::array<MpiAndShmem, 5> kNodeScaling{
    {{1, 19.53, 3.43}, {2, 14.94, 21.86}, {4, 22.16, 10.49}, {8, 17.90, 37.48}, {16, 13.40, 32.90}}};
/// An entry of Figure 5 of [ing2021], MPI only: time of post-processing by leaders against that by a single rank.
struct PostRow {
  int processes;   ///< number of processes
  double percent;  ///< time by which post-processing by leaders takes longer
};
/// Figure 5 of [ing2021]: post-processing by leaders against that by a single rank.
inline constexpr std::array<PostRow, 4> kPostProcessing{{{4, 1.1}, {8, 18.9}, {12, 21.7}, {16, 22.2}}};

/// A row of Table 9 of [ing2021]: API calls and lines of code of one function of the MPI and the OpenSHMEM program.
struct ProductivityRow {
  std::string_view function;
  int calls_mpi, calls_shmem, lines_mpi, lines_shmem;
};
/// Table 9 of [ing2021]: calls and lines of the two programs by function; the last row is the total as printed.
inline constexpr std::array<ProductivityRow, 5> kProductivity{{{"Graph Part", 3, 6, 247, 273},
                                                               {"Ghost Info", 7, 12, 54, 91},
                                                               {"Merge", 14, 25, 117, 185},
                                                               {"Post Proc", 24, 29, 128, 160},
                                                               {"Total", 82, 110, 1188, 1402}}};

/// A number that [ing2021] derives from its tables, as printed and as recomputed.
struct DerivedNumber {
  std::string_view what;     ///< description: "Pearson with edges"
  std::string_view printed;  ///< as printed in the publication
  double recomputed;         ///< from the tables above
  int digits;                ///< digits after the point for the comparison
  std::string_view remark;   ///< remark on a difference; may be empty
};
/// Computes all numbers that [ing2021] derives: means and correlations of Table 8, sums and increases of Table 9, ratios of Table
/// 4. Local.
[[nodiscard]] std::array<DerivedNumber, 14> derived_numbers();

}  // namespace merganser::studies
