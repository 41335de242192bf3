#pragma once
/// Tolerance that the advice on exchange kernels and the evaluation of that advice share.

namespace merganser::topology::detail {

inline constexpr double kEqual = 0.05;  ///< relative difference up to which two kernels count as equally fast

}  // namespace merganser::topology::detail
