#pragma once
/// The vector code of columns.cpp's velocity().
#include "src/flow/columns.hpp"

namespace merganser::flow {

/// Doubles of memory that solve_velocity() works in.
std::size_t velocity_work(const Fold& fold);

/// The column of one wave, which is not the mean. @param spacing  of nodes in z
void solve_velocity(const Fold& fold, const std::array<SinePart, 2>& series, const Wave& wave, double spacing,
                    InColumn in, OutColumn out, double* work);

}  // namespace merganser::flow
