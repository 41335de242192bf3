#pragma once
/// Names of files that are written.
#include <string>

namespace merganser {

/// Refuses a name that says gzip: nothing here writes compressed files, and one under such a name would be none.
/// Every writer calls it before its work. @throws UsageError
void check_output_name(const std::string& path);

}  // namespace merganser
