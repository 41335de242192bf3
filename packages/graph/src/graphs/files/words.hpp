#pragma once
/// Words of the lines of graph files.
#include "merganser/base/lines.hpp"

namespace merganser::graphs::detail {

/// Between blanks and tabs.
using Words = BlankWords;

}  // namespace merganser::graphs::detail
