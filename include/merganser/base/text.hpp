#pragma once
/// Numbers as texts for people.
#include <cstdint>
#include <string>

namespace merganser {

[[nodiscard]] std::string count_text(std::int64_t n);  ///< a count: 374,900
[[nodiscard]] std::string seconds_text(double s);      ///< a time: 12.3 ms
[[nodiscard]] std::string bytes_text(double bytes);    ///< an amount of memory: 28.6 MiB

}  // namespace merganser
