#pragma once
/// Numbers for people.
#include <cstdint>
#include <string>

namespace merganser {

[[nodiscard]] std::string count_text(std::int64_t n);  ///< 374,900
[[nodiscard]] std::string seconds_text(double s);      ///< 12.3 ms
[[nodiscard]] std::string bytes_text(double bytes);    ///< 28.6 MiB

}  // namespace merganser
