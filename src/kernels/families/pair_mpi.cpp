// requires: MPI
#include <algorithm>
#include <array>
#include <chrono>
#include <cstdint>
#include <functional>
#include <vector>

#include "merganser/base/error.hpp"
#include "merganser/comm/collectives.hpp"
#include "src/kernels/families/mpi/window.hpp"
#include "src/kernels/families/support/family.hpp"

/// Latency between ranks 0 and 1 by blocking calls of MPI, so that the library's own way of waiting is part of what is measured.
namespace merganser::kernels::detail {
namespace {

using Clock = std::chrono::steady_clock;

constexpr int kBlock = 8;                   // operations between two readings of the clock
constexpr std::size_t kMaxBlocks = 200000;  // bound of the memory for times

/// Repeats block(last), which makes kBlock operations of MPI between ranks 0 and 1, for the given duration and returns the median
/// time of an operation in seconds. The first tenth of the duration is a warm-up. `last` is true in the last call, by which the
/// other rank ends its loop.
double median_time(double seconds, const std::function<void(bool)>& block) {
  const auto begin = Clock::now();
  const auto since_begin = [&] { return std::chrono::duration<double>(Clock::now() - begin).count(); };
  std::vector<double> times;
  for (bool last = false; !last;) {
    const double before = since_begin();
    last = before >= seconds || times.size() + 1 >= kMaxBlocks;
    block(last);
    const double after = since_begin();
    if (before >= seconds / 10 || last) times.push_back((after - before) / kBlock);
  }
  const auto middle = times.begin() + static_cast<std::ptrdiff_t>(times.size() / 2);
  std::nth_element(times.begin(), middle, times.end());
  return *middle;
}

/// Sends one word of 8 bytes by a blocking MPI_Send. @throws CommError if the library fails
void send(std::uint64_t word, int to, int tag, MPI_Comm comm) {
  check(MPI_Send(&word, 1, MPI_UINT64_T, to, tag, comm), "MPI_Send");
}

/// Receives one word of 8 bytes by a blocking MPI_Recv. @throws CommError if the library fails
std::uint64_t receive(int from, int tag, MPI_Comm comm) {
  std::uint64_t word = 0;
  check(MPI_Recv(&word, 1, MPI_UINT64_T, from, tag, comm, MPI_STATUS_IGNORE), "MPI_Recv");
  return word;
}

/// Measures a ping-pong of 8 bytes on rank 0; rank 1 echoes every word until it receives 1. Returns half of the median round trip
/// in seconds on rank 0, 0 on other ranks.
double time_ping(int rank, int tag, MPI_Comm comm, double seconds) {
  // Rank 1 is the echo; rank 0 measures, and ends its partner's loop by the word 1.
  if (rank == 1) {
    for (std::uint64_t last = 0; last == 0;) {
      last = receive(0, tag, comm);
      send(last, 0, tag, comm);
    }
  }
  if (rank != 0) return 0;
  return median_time(seconds,
                     [&](bool last) {
                       for (int i = 0; i < kBlock; ++i) {
                         send(last && i == kBlock - 1 ? 1 : 0, 1, tag, comm);
                         (void)receive(1, tag, comm);
                       }
                     }) /
         2;
}

/// Measures MPI_Put of 8 bytes with MPI_Win_flush from rank 0 to rank 1. Returns the median time in seconds on rank 0, 0 on other
/// ranks. Rank 1 waits for a message at the end.
double time_put(int rank, int tag, const Window& window, double seconds) {
  double time = 0;
  if (rank == 1) (void)receive(0, tag, window.comm());  // drives the progress of the puts, where the library needs that
  if (rank == 0) {
    const std::uint64_t word = 1;
    time = median_time(seconds, [&](bool) {
      for (int i = 0; i < kBlock; ++i) {
        check(MPI_Put(&word, 1, MPI_UINT64_T, 1, 0, 1, MPI_UINT64_T, window.handle()), "MPI_Put");
        check(MPI_Win_flush(1, window.handle()), "MPI_Win_flush");
      }
    });
    send(1, 1, tag, window.comm());
  }
  return time;
}

/// Measures the latencies of a ping-pong and of a put with flush between ranks 0 and 1, `seconds` each, and broadcasts them from
/// rank 0. Collective.
PairTimes time_pair(comm::Transport& control, double seconds) {
  MpiGroup& group = mpi_group(control);
  const int tag = group.new_tag();
  PairTimes times;
  times.ping_s = time_ping(control.rank(), tag, group.comm, seconds);
  try {
    const auto window = make_window(control, group, sizeof(std::uint64_t), Window::Use::in_one_epoch);
    times.put_flush_s = time_put(control.rank(), tag, *window, seconds);
  } catch (const CommError& e) {  // make_window() throws on every rank or on none
    times.put_error = e.what();
  }
  const std::array<double, 2> measured{times.ping_s, times.put_flush_s};
  const auto all = broadcast_from_first(control, measured);
  times.ping_s = all[0];
  times.put_flush_s = all[1];
  return times;
}

}  // namespace

extern const KernelFamily pair_mpi_kernels;
const KernelFamily pair_mpi_kernels{{}, {}, {}, time_pair};

}  // namespace merganser::kernels::detail
