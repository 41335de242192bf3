#pragma once
/// Fuzz target: a reader of files that gets arbitrary bytes, from libFuzzer (support/fuzz.cpp) or from seeds (support/replay.cpp).
#include <cstddef>
#include <span>
#include <string>
#include <string_view>

#include "merganser/base/error.hpp"

namespace merganser::fuzz {

/// A file tests/fuzz/NAME.cpp defines one, called NAME_target.
struct Target {
  const char* name;     ///< name of the target and of its folder of seeds
  std::size_t longest;  ///< largest input, in bytes
  /// Reads an input. @return true if it was read, false if it was refused with an InputError. Anything else is a finding:
  /// another exception, what a sanitizer reports, finding(), much memory, much time.
  bool (*feed)(std::string_view input);
};

/// Returns all targets of this build, in the order of their names.
[[nodiscard]] std::span<const Target* const> targets();

/// Prepares the process: readers see no limits of the system's memory, so that an input has the same effect on every machine.
void prepare();

/// Ends the process with a message of what is wrong; libFuzzer and the replay store the input. Does not return.
[[noreturn]] void finding(const std::string& what);
/// Ends the process by finding() unless the condition holds.
inline void require(bool holds, const char* what) {
  if (!holds) finding(what);
}

/// Calls `read`. @return false if it throws an InputError, which must have a message
template <class Read>
bool read_or_refuse(const Read& read) {
  try {
    read();
    return true;
  } catch (const InputError& e) {
    require(!std::string_view(e.what()).empty(), "an error without a message");
    return false;
  }
}

/// Returns true for about one of n inputs, selected by a hash of their bytes, for checks that take long; for all inputs if
/// `every_check` is set.
[[nodiscard]] bool is_selected(std::size_t n, std::string_view input);
inline bool every_check = false;

}  // namespace merganser::fuzz
