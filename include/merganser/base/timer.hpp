#pragma once
/// Accumulated wall-clock time of named stages of a program.
///
///     Profile profile;
///     { Scope s{profile, "read"}; read(); }
///     profile.seconds("read");
#include <string>
#include <string_view>
#include <vector>

#include "merganser/base/pinned.hpp"

namespace merganser {

/// Returns the time of a monotonic clock in seconds, of simulated time in builds for SimGrid. Differences alone have a meaning, on
/// one host.
[[nodiscard]] double now();

/// Accumulated wall-clock time and number of calls of each named stage of a program, of one rank. Not thread-safe.
class Profile {
 public:
  /// Accumulated wall-clock time of one named stage of a program.
  struct Stage {
    std::string name;    ///< name of the stage: "read"
    double seconds = 0;  ///< sum over the calls
    long calls = 0;      ///< number of calls
  };
  /// Adds one call with its duration in seconds to a stage of the program, which is created by its first call.
  void add(std::string_view stage, double seconds);
  /// Returns the accumulated wall-clock seconds of a stage of the program; 0 for one without calls.
  [[nodiscard]] double seconds(std::string_view stage) const;
  /// Returns the accumulated times of all stages of the program, in the order of their first call.
  [[nodiscard]] const std::vector<Stage>& stages() const noexcept { return stages_; }

 private:
  std::vector<Stage> stages_;
};

/// Scope whose wall-clock duration is added to a stage of a Profile when it ends, by an exception too.
class Scope : Pinned {
 public:
  /// Starts to time one call of a stage. `profile` and the characters of `stage` must outlive the scope.
  Scope(Profile& profile, std::string_view stage) : profile_(profile), stage_(stage), start_(now()) {}
  ~Scope() { profile_.add(stage_, now() - start_); }

 private:
  Profile& profile_;        // profile that receives the duration
  std::string_view stage_;  // name of the stage
  double start_;            // time of now() at the beginning of the scope, in seconds
};

}  // namespace merganser
