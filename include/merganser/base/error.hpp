#pragma once
/// Errors of the library. It throws; it never prints, exits or aborts.
#include <stdexcept>
#include <string>

#include "merganser/base/language.hpp"

namespace merganser {

/// Base of every error the library throws. A message says what, the value, and what is allowed.
class Error : public std::runtime_error {
 public:
  Error(const std::string& what, int exit_code) : std::runtime_error(what), exit_code_(exit_code) {}
  /// Exit status of the command line program: 1 verification, 2 usage, 3 input, 4 communication.
  [[nodiscard]] int exit_code() const noexcept { return exit_code_; }

 private:
  int exit_code_;
};

/// A result is not what it must be. Exit code 1.
struct VerificationError : Error {
  explicit VerificationError(const std::string& what) : Error(what, 1) {}
};
/// The caller asks for what makes no sense: a bad option, argument or combination of them. Exit code 2.
struct UsageError : Error {
  explicit UsageError(const std::string& what) : Error(what, 2) {}
};
/// Data is bad, or cannot be read or written: files, parcels, graphs. Exit code 3.
struct InputError : Error {
  explicit InputError(const std::string& what) : Error(what, 3) {}
};
/// Ranks cannot talk: a call against the contract of comm, a library that fails, a wait in vain. Exit code 4.
struct CommError : Error {
  explicit CommError(const std::string& what) : Error(what, 4) {}
};

}  // namespace merganser
