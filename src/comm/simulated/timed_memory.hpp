#pragma once
/// Memory of the model rma on simulated ranks, whose puts and gets are timers of the simulator (network.hpp) instead of SMPI's.
#include <mpi.h>
#include <sys/mman.h>

#include <algorithm>
#include <memory>
#include <new>

#include "merganser/base/pinned.hpp"
#include "merganser/comm/transport.hpp"
#include "src/comm/detail/memory.hpp"

namespace merganser::comm::detail {

/// Zeroed pages of a simulated rank's one-sided memory, which take memory only once they are written: rings are sized for the
/// longest messages.
class ZeroPages : Pinned {
 public:
  explicit ZeroPages(std::size_t bytes) : bytes_(std::max<std::size_t>(bytes, 8)) {
    constexpr int kProtection = PROT_READ | PROT_WRITE;
    data_ = ::mmap(nullptr, bytes_, kProtection, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (data_ == MAP_FAILED) throw std::bad_alloc();
  }
  ~ZeroPages() { ::munmap(data_, bytes_); }
  [[nodiscard]] void* data() const noexcept { return data_; }

 private:
  std::size_t bytes_;
  void* data_;
};

/// Makes the one-sided memory of the model rma, `bytes` bytes on this simulated rank, with puts and gets that are timers of the
/// simulator. Costs are those that costs.cpp adds to SMPI's calls. A fetch_or is timed as a get and a put, one after
/// the other, but fetch_ors of several ranks do not block each other. Collective.
[[nodiscard]] std::shared_ptr<Memory> timed_memory(MPI_Comm comm, std::size_t bytes, Epoch epoch, Counters& counters);

}  // namespace merganser::comm::detail
