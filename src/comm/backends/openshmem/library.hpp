#pragma once
#include <cstddef>
#include <string>

namespace merganser::comm::detail {

/// Starts OpenSHMEM, if nobody has, after MPI where that is in this build too. @throws CommError as start_mpi()
/// Collective over all processes, as is what it does first: it keeps memory for parts of them (heap.hpp).
void start_shmem();
/// Whether that has been done in this process, and has not been ended.
[[nodiscard]] bool shmem_started();

/// The variable that gives the size of the symmetric heap, and its value, as they were before OpenSHMEM started.
struct HeapSetting {
  std::string name;
  std::string value;
};
[[nodiscard]] const HeapSetting& heap_setting();
/// The number of bytes that it says.
[[nodiscard]] std::size_t heap_bytes();

}  // namespace merganser::comm::detail
