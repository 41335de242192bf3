#pragma once
/// One flag for each axis of space.
#include <array>

#include "merganser/base/language.hpp"

namespace merganser {

/// Three axes given as letters: "xy" for {true, true, false}; "none" for no axis.
using AxisFlags = std::array<bool, 3>;

}  // namespace merganser
