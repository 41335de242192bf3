#pragma once
/// Whether ranks may run on other machines than this one, and what follows from it.
#include <string>

namespace merganser::app {

/// True where a job scheduler or a list of hosts says that there are other machines. From the environment; local.
[[nodiscard]] bool other_machines();

/// A folder for files that ranks read and write, wherever they run: that for temporary files, which every machine has for
/// itself, or the current one if there are other machines. @throws InputError if it cannot be used
[[nodiscard]] std::string folder_of_ranks();

}  // namespace merganser::app
