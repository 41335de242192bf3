#pragma once
/// Reading of the run records that commands under test have written.
#include <nlohmann/json.hpp>
#include <string>

#include "tests/io/folder.hpp"

namespace merganser::test {

using Json = nlohmann::ordered_json;

/// Parses a JSON file. @throws Json::parse_error if it is none
inline Json read_json_file(const std::string& path) { return Json::parse(read_bytes(path)); }

}  // namespace merganser::test
