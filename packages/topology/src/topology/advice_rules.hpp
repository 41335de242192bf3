#pragma once
/// Rules that advice and its evaluation share.

namespace merganser::topology::detail {

inline constexpr double kEqual = 0.05;  ///< relative difference up to which two kernels count as equally fast

}  // namespace merganser::topology::detail
