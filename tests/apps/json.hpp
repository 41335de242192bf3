#pragma once
/// Records of runs, read back.
#include <nlohmann/json.hpp>
#include <string>

#include "tests/io/folder.hpp"

namespace merganser::test {

using Json = nlohmann::ordered_json;

inline Json json_of(const std::string& path) { return Json::parse(bytes_of(path)); }

}  // namespace merganser::test
