#pragma once
/// What advice and its evaluation judge by.
#include <array>

namespace merganser::topology::detail {

/// When an iteration is complete, in the order in which advice is given.
inline constexpr std::array kCompletions{"local", "remote", "notified", "global"};
inline constexpr double kEqual = 0.05;  ///< kernels this near are as good

}  // namespace merganser::topology::detail
