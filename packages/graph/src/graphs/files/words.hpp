#pragma once
/// Splitting of the lines of graph files into words.
#include "merganser/base/lines.hpp"

namespace merganser::graphs::detail {

/// Words of a line, separated by blanks and tabs.
using Words = BlankWords;

}  // namespace merganser::graphs::detail
