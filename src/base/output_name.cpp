#include "merganser/base/output_name.hpp"

#include "merganser/base/error.hpp"

namespace merganser {

void check_output_name(const std::string& path) {
  if (!path.ends_with(".gz")) return;
  throw UsageError(path + " is the name of a compressed file; allowed: names without .gz, files are written plain (" +
                   path.substr(0, path.size() - 3) + ", then gzip)");
}

}  // namespace merganser
