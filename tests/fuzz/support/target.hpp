#pragma once
/// A reader of files that is fed arbitrary bytes: by libFuzzer (support/fuzz.cpp) or from seeds (support/replay.cpp).
#include <cstddef>
#include <span>
#include <string>
#include <string_view>

#include "merganser/base/error.hpp"

namespace merganser::fuzz {

/// A file tests/fuzz/NAME.cpp defines one, called NAME_target.
struct Target {
  const char* name;     ///< also of its folder of seeds
  std::size_t longest;  ///< input, in bytes
  /// Reads an input. @return true if it was read, false if it was refused with an InputError. Anything else is a finding:
  /// another exception, what a sanitizer reports, finding(), much memory, much time.
  bool (*feed)(std::string_view input);
};

/// All of this build, by name.
[[nodiscard]] std::span<const Target* const> targets();

/// What feeding needs of the process: memory is not asked for, so that an input does the same on every machine.
void prepare();

/// Ends the process with what is wrong: libFuzzer and the replay keep the input.
[[noreturn]] void finding(const std::string& what);
inline void require(bool holds, const char* what) {
  if (!holds) finding(what);
}

/// @return false if `read` throws InputError, whose message must say something
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

/// True for about one of n inputs, always the same ones: for checks that take long. For all inputs if `every_check` is set.
[[nodiscard]] bool one_of(std::size_t n, std::string_view input);
inline bool every_check = false;

}  // namespace merganser::fuzz
