#pragma once
/// Splitting of the lines of graph files into words.
#include "merganser/base/lines.hpp"

namespace merganser::graphs::detail {

/// Iterator over the words of a line of a graph file, separated by blanks and tabs.
using Words = BlankWords;

}  // namespace merganser::graphs::detail
