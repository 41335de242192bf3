#pragma once
/// Latency of the smallest operations between two ranks by blocking calls of MPI, which shows the transport that the MPI library
/// selected.
#include <string>

#include "merganser/base/language.hpp"
#include "merganser/comm/transport.hpp"

namespace merganser::kernels {

/// Median latencies of MPI operations between ranks 0 and 1, measured by rank 0; time_pair() fills it.
struct PairTimes {
  double ping_s = 0;       ///< half of a round trip of a message of 8 bytes, in seconds
  double put_flush_s = 0;  ///< MPI_Put of 8 bytes and MPI_Win_flush, in seconds; 0 if there is no window
  std::string put_error;   ///< error of the library if it could not allocate a window; empty if it could
};

/// Measures the latency of a ping-pong and of a put with flush between ranks 0 and 1 by MPI; the other ranks wait. Collective over
/// all processes of the job, on a transport of any model of processes.
/// @param seconds  duration of each of the two measurements, positive
/// @return the same on every rank
/// @throws UsageError in a build without MPI, with one rank, for ranks that are threads, and for seconds that are not positive
[[nodiscard]] PairTimes time_pair(comm::Transport& control, double seconds);

}  // namespace merganser::kernels
