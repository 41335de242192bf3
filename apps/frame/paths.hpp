#pragma once
/// Checks of the files that a command line names, made before any work.
#include "merganser/base/options.hpp"

namespace merganser::app {

/// Refuses results that would overwrite an input or each other, and results that cannot be written. Paths are compared by the files
/// they lead to, through links, and also before the files exist. Local. Under a launcher it does not test whether results can be
/// written: ranks may see different disks and must agree on errors, so commands find out collectively.
/// @throws UsageError if two options name one file, a result has an empty name, or two results would be mixed on standard
/// output; InputError for a place where nothing can be written
void check_paths(const OptionTable& table);

/// Returns true if a verb may print its report on standard output, because no option directs a result there.
[[nodiscard]] bool can_print_report(const OptionTable& table);

}  // namespace merganser::app
