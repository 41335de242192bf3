#pragma once
/// Folders that tests read data from.
#include <filesystem>

namespace merganser::test {

/// Returns the root of the source tree. (A function: a macro with the path would keep compilers' caches from serving two trees.)
[[nodiscard]] std::filesystem::path source_folder();

/// Returns the folder `shared` of real input, which MERGANSER_SHARED names; otherwise the one beside the source tree. It may be
/// missing: tests that read it are skipped then.
[[nodiscard]] std::filesystem::path shared_folder();

}  // namespace merganser::test
