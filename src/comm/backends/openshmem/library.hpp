#pragma once
#include <string>

namespace merganser::comm::detail {

/// Starts OpenSHMEM, if nobody has, after MPI where that is in this build too. @throws CommError as start_mpi()
void start_shmem();

/// The variable that gives the size of the symmetric heap, and its value, as they were before OpenSHMEM started.
struct HeapSetting {
  std::string name;
  std::string value;
};
[[nodiscard]] const HeapSetting& heap_setting();

}  // namespace merganser::comm::detail
