#pragma once
/// The smallest operations between two ranks, in the blocking calls of MPI: they show which component of the library serves.
#include <string>

#include "merganser/base/language.hpp"
#include "merganser/comm/transport.hpp"

namespace merganser::kernels {

/// Medians of what rank 0 has measured with rank 1.
struct PairTimes {
  double ping_s = 0;       ///< a message of 8 bytes, one way: half of there and back
  double put_flush_s = 0;  ///< MPI_Put of 8 bytes and MPI_Win_flush; 0 where there is no window
  std::string put_error;   ///< why there is no window; empty if there is one
};

/// Measures each for about so many seconds on the first two ranks; the others wait. Collective over all processes of the
/// job, on a transport of any model of processes. @return the same on every rank
/// @param seconds  of each of the two, positive
/// @throws UsageError without MPI, with one rank, for ranks that are threads, or seconds that are not positive
[[nodiscard]] PairTimes time_pair(comm::Transport& control, double seconds);

}  // namespace merganser::kernels
