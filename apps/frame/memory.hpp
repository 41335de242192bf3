#pragma once
/// Memory of this process as the system sees it. What there is for it: merganser/base/resources.hpp.
#include <cstdint>
#include <string>

namespace merganser::app {

[[nodiscard]] std::int64_t resident_bytes();

/// Watches the highest resident memory from its construction on.
class PeakWatch {
 public:
  /// Returns freed memory to the system first. The peak counter of the process is reset where the system allows it.
  PeakWatch();
  [[nodiscard]] std::int64_t peak_bytes() const;
  /// "VmHWM", or "resident after" where the counter cannot be reset: then a lower bound.
  [[nodiscard]] std::string method() const;

 private:
  bool reset_ = false;
};

/// Hands memory that was freed back to the system.
void trim_memory();

}  // namespace merganser::app
