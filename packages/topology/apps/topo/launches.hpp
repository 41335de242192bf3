#pragma once
/// Measuring exchanges from one process: on threads of it, or in jobs of topo bench whose records are joined.
///
/// TopoBenchOptions is the one structure of settings: a job gets them as arguments, made by a walk over the list of its
/// options, and gives back the record that it writes with --json.
#include <string>
#include <vector>

#include "apps/topo/bench.hpp"
#include "apps/topo/known_cells.hpp"

namespace merganser::app {

/// Returns the reason why no launcher can start ranks of a process model here; empty if one can. Local.
[[nodiscard]] std::string why_no_processes();

/// Makes the arguments with which `merganser` measures as the options say: "topo", "bench" and one for each option whose value
/// is not the default. A graph in memory (`given`) is no option and not among them. Local.
[[nodiscard]] std::vector<std::string> job_arguments(const TopoBenchOptions& options, const LogOptions& log);

/// Measures without a launcher: kernels of threads in this process if they are all and there is one launch; else every
/// launch and kind of ranks is a job of its own, whose record is joined with the others.
/// @param log  log options of the jobs
/// @param limit_s  seconds after which a job is ended; 0: never
/// @return exit code of the first job that failed, else 0
/// @throws CommError if no launcher fits, a job was killed, or did not end in time; Interrupted as run_job()
int measure_alone(const TopoBenchOptions& options, const LogOptions& log, double limit_s, BenchResults& results);

/// Measures all exchange kernels of the communication models in `options`, in jobs of topo bench or in threads of this process, and
/// prints nothing.
/// @param options  with a time above 0, from which the limit of a job follows
/// @throws CommError if a job failed or did not end in time, or nothing could be measured
[[nodiscard]] Known measure_known(TopoBenchOptions options);

}  // namespace merganser::app
