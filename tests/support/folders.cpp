// Folders that tests read data from: the macro MERGANSER_SOURCE_DIR is defined for this file alone.
#include "tests/support/folders.hpp"

#include <cstdlib>

namespace merganser::test {

std::filesystem::path source_folder() { return MERGANSER_SOURCE_DIR; }

std::filesystem::path shared_folder() {
  const char* named = std::getenv("MERGANSER_SHARED");
  return named != nullptr ? std::filesystem::path(named) : source_folder().parent_path() / "shared";
}

}  // namespace merganser::test
