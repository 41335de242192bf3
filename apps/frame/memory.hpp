#pragma once
/// Resident memory of this process and its peak, from /proc, for measurements. Free memory of the host:
/// merganser/base/resources.hpp.
#include <cstdint>
#include <string>

namespace merganser::app {

/// Returns the resident memory of this process in bytes; 0 if the system does not give it.
[[nodiscard]] std::int64_t resident_bytes();

/// Measurement of the highest resident memory of this process since the construction of the object.
class PeakWatch {
 public:
  /// Begins a measurement of peak memory; returns freed memory to the system first. The peak counter of the process is reset
  /// where the system allows it.
  PeakWatch();
  /// Returns the highest resident memory of this process since construction, in bytes; a lower bound if the counter could not be
  /// reset.
  [[nodiscard]] std::int64_t peak_bytes() const;
  /// Returns the name of the way in which peak_bytes() measures memory: "VmHWM", or "resident after" if the counter could not be
  /// reset.
  [[nodiscard]] std::string method() const;

 private:
  bool reset_ = false;
};

/// Returns freed memory of this process's allocator to the system.
void trim_memory();

}  // namespace merganser::app
