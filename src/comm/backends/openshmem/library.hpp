#pragma once
/// Initialisation of OpenSHMEM for the model shmem, and the size of its symmetric heap.
#include <cstddef>
#include <string>

namespace merganser::comm::detail {

/// Initialises OpenSHMEM if it is not initialised, after MPI if that is in this build too, and reserves memory for transports of
/// some of the processes (heap.hpp). Collective over all processes. @throws CommError if the launcher belongs to another library
void start_shmem();
/// Returns true if start_shmem() has initialised OpenSHMEM in this process and it is not finalised. Local.
[[nodiscard]] bool shmem_started();

/// Environment variable that sets the size of the symmetric heap, as it was before OpenSHMEM was initialised.
struct HeapSetting {
  std::string name;   ///< name of the environment variable that the OpenSHMEM library reads
  std::string value;  ///< value of the variable as text, a size perhaps with a unit; "not set" without one
};
/// Returns the environment variable that sets the size of OpenSHMEM's symmetric heap, with its value. Local.
[[nodiscard]] const HeapSetting& heap_setting();
/// Returns the size of the symmetric heap in bytes by heap_setting(), 256 MiB if it is no number. Local.
[[nodiscard]] std::size_t heap_bytes();

}  // namespace merganser::comm::detail
