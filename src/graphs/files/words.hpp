#pragma once
/// Words of the lines of graph files.
#include "merganser/base/lines.hpp"

namespace merganser::graphs::detail {

/// Between blanks, tabs and commas.
using Words = WordsBetween<' ', '\t', ',', '\r'>;

}  // namespace merganser::graphs::detail
