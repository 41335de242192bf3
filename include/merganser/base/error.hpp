#pragma once
/// Exception classes of the library, one for each exit code of the command. The library throws; it never prints, exits or aborts.
#include <stdexcept>
#include <string>

#include "merganser/base/language.hpp"

namespace merganser {

/// Base class of every exception that the library throws. what() names the thing, its value and what is allowed.
class Error : public std::runtime_error {
 public:
  /// Makes an error with its message and the exit code of a program that it ends.
  Error(const std::string& what, int exit_code) : std::runtime_error(what), exit_code_(exit_code) {}
  /// Returns the exit code of a program that ends by this error: 1 verification, 2 usage, 3 input, 4 communication.
  [[nodiscard]] int exit_code() const noexcept { return exit_code_; }

 private:
  int exit_code_;
};

/// Error thrown if a computed result fails its verification. Exit code 1.
struct VerificationError : Error {
  explicit VerificationError(const std::string& what) : Error(what, 1) {}
};
/// Error thrown for an invalid option or argument, or for a combination of them that is not allowed. Exit code 2.
struct UsageError : Error {
  explicit UsageError(const std::string& what) : Error(what, 2) {}
};
/// Error thrown for invalid data (files, parcels, graphs) and for files that cannot be read or written. Exit code 3.
struct InputError : Error {
  explicit InputError(const std::string& what) : Error(what, 3) {}
};
/// Error thrown if communication fails: a call that violates the contract of the module comm, an error of MPI or OpenSHMEM, or a
/// timeout (MERGANSER_WAIT_LIMIT). Exit code 4.
struct CommError : Error {
  explicit CommError(const std::string& what) : Error(what, 4) {}
};

}  // namespace merganser
