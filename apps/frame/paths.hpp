#pragma once
/// The files of a command line, looked at before any work is done for them.
#include "merganser/base/options.hpp"

namespace merganser::app {

/// Refuses results that would destroy an input or each other, and places where nothing can be written. Paths are compared
/// by the files they lead to: through links, and before the files exist. Under a launcher, where ranks may see different
/// disks and must agree on errors, commands find out themselves whether a place can be written to.
/// @throws UsageError if two options name one file, a result has an empty name, or two results would be mixed on standard
/// output; InputError for a place where nothing can be written
void check_paths(const OptionTable& table);

/// Whether standard output is free for a report: no result goes there.
[[nodiscard]] bool may_report(const OptionTable& table);

}  // namespace merganser::app
