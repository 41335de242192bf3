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

/// Refuses the characters U+FE20 to U+FEFF in UTF-8, but a byte order mark at the beginning: toml++ 3.3 reaches what it declares
/// unreachable where it asks whether one of them is a space. @throws InputError
void check_characters(const std::string& text, const std::string& name) {
  for (std::size_t i = 1; i + 2 < text.size(); ++i) {
    const auto byte = [&](std::size_t at) { return static_cast<unsigned char>(text[i + at]); };
    const bool is_in_range =
        byte(0) == 0xEF && ((byte(1) == 0xB8 && byte(2) >= 0xA0) || (byte(1) >= 0xB9 && byte(1) <= 0xBB));
    if (is_in_range)
      throw InputError(name + ": byte " + std::to_string(i) +
                       " begins one of the characters U+FE20 to U+FEFF; allowed: others");
  }
}

}  // namespace

bool reads_toml() { return true; }

Json parse_toml(const std::string& text, const std::string& name) {
  check_characters(text, name);
  try {
    return to_json(toml::parse(text, name), name, "");
  } catch (const toml::parse_error& e) {
    std::ostringstream at;
    at << name << ": line " << e.source().begin.line << ", column " << e.source().begin.column << ": ";
    throw InputError(at.str() + std::string(e.description()) + "; allowed: TOML");
  }
}

}  // namespace merganser::app
