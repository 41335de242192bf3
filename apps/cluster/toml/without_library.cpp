// TOML in a program that was built without toml++: refused.
#include "apps/cluster/toml.hpp"
#include "merganser/base/error.hpp"

namespace merganser::app {

bool reads_toml() { return false; }

Json parse_toml(const std::string& /*text*/, const std::string& name) {
  throw InputError(name + ": this program reads no TOML (it was built without toml++; Debian: libtomlplusplus-dev); " +
                   "allowed: JSON");
}

}  // namespace merganser::app
