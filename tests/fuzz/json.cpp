// requires: apps
/// Reads JSON of any kind; and any bytes as UTF-8.
#include "apps/frame/json.hpp"

#include "tests/fuzz/support/target.hpp"

namespace merganser::fuzz {
namespace {

using namespace app;

bool feed_json(std::string_view input) {
  require(utf8_to_bytes(bytes_to_utf8(input)) == input, "bytes as UTF-8 are other bytes");
  Json json;
  if (!read_or_refuse([&] { json = parse_json(input, "file"); })) return false;
  const std::string text = json_text(json);
  const Json again = parse_json(text, "again");
  require(again == json && json_text(again) == text, "what was written is other JSON");
  require(parse_json(json_text(json, 2), "again") == json, "on many lines it is other JSON");
  require(json_text(Json(std::string(input))).size() >= 2, "a text is no JSON");
  return true;
}

}  // namespace

extern const Target json_target{"json", 1024, feed_json};

}  // namespace merganser::fuzz
