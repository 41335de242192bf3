#pragma once
/// Wall-clock time of named stages.
///
///     Profile profile;
///     { Scope s{profile, "read"}; read(); }
///     profile.seconds("read");
#include <string>
#include <string_view>
#include <vector>

#include "merganser/base/pinned.hpp"

namespace merganser {

/// Seconds of a clock that never goes back.
[[nodiscard]] double now();

/// Seconds and calls by stage, in order of first use. One rank's; not shared between threads.
class Profile {
 public:
  /// Time spent in one stage.
  struct Stage {
    std::string name;
    double seconds = 0;
    long calls = 0;
  };
  /// Adds a call of so many seconds to a stage.
  void add(std::string_view stage, double seconds);
  /// Seconds of a stage; 0 for one that is not there.
  [[nodiscard]] double seconds(std::string_view stage) const;
  /// All stages, in the order of their first use.
  [[nodiscard]] const std::vector<Stage>& stages() const noexcept { return stages_; }

 private:
  std::vector<Stage> stages_;
};

/// Adds the time from here to the end of the block to a stage.
class Scope : Pinned {
 public:
  Scope(Profile& profile, std::string_view stage) : profile_(profile), stage_(stage), start_(now()) {}
  ~Scope() { profile_.add(stage_, now() - start_); }

 private:
  Profile& profile_;
  std::string_view stage_;
  double start_;
};

}  // namespace merganser
