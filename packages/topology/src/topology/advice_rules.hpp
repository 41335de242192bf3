#pragma once
/// What advice and its evaluation judge by.

namespace merganser::topology::detail {

inline constexpr double kEqual = 0.05;  ///< kernels this near are as good

}  // namespace merganser::topology::detail
