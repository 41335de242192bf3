// GraphML in a build without expat: refused.
#include "merganser/base/error.hpp"
#include "src/graphs/files/raw.hpp"

namespace merganser::graphs::detail {

Raw read_graphml(const Source& source) {
  throw InputError(source.path +
                   ": GraphML needs expat, which this build has not (Debian: libexpat1-dev); allowed: another format");
}

}  // namespace merganser::graphs::detail
