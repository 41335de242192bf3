#pragma once
/// Flags of the axes x, y and z, as of options such as --periodic.
#include <array>

#include "merganser/base/language.hpp"

namespace merganser {

/// One flag for each of the axes x, y, z. As text the letters of the axes that are set: "xy" is {true, true, false}, "none" is no
/// axis.
using AxisFlags = std::array<bool, 3>;

}  // namespace merganser
