#pragma once
/// Measuring exchanges from one process: on threads of it, or in launches of topo bench on other processes.
#include <string>
#include <vector>

#include "apps/topo/bench.hpp"
#include "apps/topo/known_cells.hpp"

namespace merganser::app {

/// Why no launcher can start ranks here; empty if one can.
[[nodiscard]] std::string why_no_processes();

/// Measures without a launcher: kernels of threads in this process if they are all and there is one launch; else every
/// launch and kind of ranks is a job of its own, whose results are joined.
/// @param arguments  of topo bench, of the same meaning as `o`, for the jobs; without ranks, kernels and outputs
/// @param limit_s  a job may take so long; 0: any time
/// @return exit code @throws CommError if no launcher fits, a job was killed, or did not end in time
int measure_alone(const TopoBenchOptions& o, const std::vector<std::string>& arguments, double limit_s,
                  BenchResults& results);

/// Of what was measured just now, on this machine. @throws CommError if that is nothing
[[nodiscard]] Known known_of(const BenchResults& results);

/// All kernels of some models on one graph.
struct MeasurePlan {
  std::string graph;     ///< kind of topo gen, or
  bool pattern = false;  ///< a file as read_pattern() reads it
  int ranks = 2;
  std::vector<std::string> models;  ///< "all", "threads"
  std::vector<std::string> sizes;   ///< "weights" or numbers
  double seconds = 5;
  int launches = 2;
};
/// Measures in this process, or in launches of ranks; see measure_alone().
/// @throws CommError if a job failed or did not end in time
[[nodiscard]] Known measure_job(const MeasurePlan& plan);

}  // namespace merganser::app
