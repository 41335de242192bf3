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

/// Accumulated time and number of calls of each stage, of one rank. Not thread-safe.
class Profile {
 public:
  /// Accumulated time of one stage.
  struct Stage {
    std::string name;
    double seconds = 0;  ///< sum over the calls
    long calls = 0;      ///< number of calls
  };
  /// Adds one call with its duration in seconds to a stage, which is created by its first call.
  void add(std::string_view stage, double seconds);
  /// Returns the accumulated seconds of a stage; 0 for one without calls.
  [[nodiscard]] double seconds(std::string_view stage) const;
  /// Returns all stages, in the order of their first call.
  [[nodiscard]] const std::vector<Stage>& stages() const noexcept { return stages_; }

 private:
  std::vector<Stage> stages_;
};

/// Scope whose duration is added to a stage of a profile when it ends, by an exception too.
class Scope : Pinned {
 public:
  /// Starts the clock. `profile` and the characters of `stage` must outlive the scope.
  Scope(Profile& profile, std::string_view stage) : profile_(profile), stage_(stage), start_(now()) {}
  ~Scope() { profile_.add(stage_, now() - start_); }

 private:
  Profile& profile_;
  std::string_view stage_;
  double start_;
};

}  // namespace merganser
