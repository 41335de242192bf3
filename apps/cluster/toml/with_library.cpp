// TOML by toml++.
#include <toml++/toml.h>
#include <cmath>
#include <sstream>

#include "apps/cluster/toml.hpp"
#include "merganser/base/error.hpp"

namespace merganser::app {
namespace {

/// Converts a value of TOML to JSON. @param name  name of the file @param key  keys that lead to the value, for messages
/// @throws InputError for dates and times
Json to_json(const toml::node& node, const std::string& name, const std::string& key) {
  if (const toml::table* const table = node.as_table()) {
    Json out = Json::object();
    for (const auto& [inner, value] : *table)
      out[std::string(inner.str())] = to_json(value, name, (key.empty() ? key : key + '.') + std::string(inner.str()));
    return out;
  }
  if (const toml::array* const array = node.as_array()) {
    Json out = Json::array();
    for (const toml::node& item : *array) out.push_back(to_json(item, name, key));
    return out;
  }
  if (const auto* const text = node.as_string()) return text->get();
  if (const auto* const integer = node.as_integer()) return integer->get();
  if (const auto* const real = node.as_floating_point()) return real->get();
  if (const auto* const truth = node.as_boolean()) return truth->get();
  throw InputError(name + ": \"" + key + "\" is a date or time; allowed: text, numbers, true, false, arrays, tables");
}

}  // namespace

bool reads_toml() { return true; }

Json parse_toml(const std::string& text, const std::string& name) {
  try {
    return to_json(toml::parse(text, name), name, "");
  } catch (const toml::parse_error& e) {
    std::ostringstream at;
    at << name << ": line " << e.source().begin.line << ", column " << e.source().begin.column << ": ";
    throw InputError(at.str() + std::string(e.description()) + "; allowed: TOML");
  }
}

}  // namespace merganser::app
