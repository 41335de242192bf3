#pragma once
/// JSON in and out: one way for every record, so that no file can crash a reader and no name a writer.
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>

namespace merganser::app {

using Json = nlohmann::ordered_json;

/// A list of what `make` (a function) makes of each item.
template <class Items, class Make>
[[nodiscard]] Json json_list(const Items& items, Make make) {
  Json out = Json::array();
  for (const auto& item : items) out.push_back(make(item));
  return out;
}

/// Text of a record, valid JSON whatever bytes its strings have: see bytes_to_utf8(). @param indent  spaces; -1: one line
[[nodiscard]] std::string json_text(const Json& json, int indent = -1);

/// Text as JSON. @param name  of its file, for messages
/// @throws InputError if it is no JSON, nested deeper than kJsonDepth, an object has more than kJsonMembers members or two
/// of one name, or a number is none of 64 bits
[[nodiscard]] Json parse_json(std::string_view text, const std::string& name);
inline constexpr std::size_t kJsonDepth = 64;
inline constexpr std::size_t kJsonMembers = 10000;

/// @throws InputError if the file is missing or no JSON, as parse_json() and read_text() say
[[nodiscard]] Json read_json(const std::string& path);
/// All of a file. @throws InputError if it cannot be read or has more than `most` bytes
[[nodiscard]] std::string read_text(const std::string& path, std::size_t most = std::size_t{1} << 29U);

/// JSON as CBOR, between processes of one job: exact, and without numbers as text.
void write_cbor(const std::string& path, const Json& json);
/// @throws InputError if the file is missing or no CBOR, as parse_json() says
[[nodiscard]] Json read_cbor(const std::string& path);

/// Any bytes as UTF-8: a byte that belongs to no character becomes the character U+EF00 + byte, of the private area.
[[nodiscard]] std::string bytes_to_utf8(std::string_view bytes);
/// The bytes again; exact for every text that bytes_to_utf8() has made.
[[nodiscard]] std::string utf8_to_bytes(std::string_view text);

}  // namespace merganser::app
