#pragma once
/// Constants of numbers that every module may use.
#include <limits>

#include "merganser/base/language.hpp"

namespace merganser {

inline constexpr double kInfinity = std::numeric_limits<double>::infinity();

}  // namespace merganser
