#pragma once
/// Reading and writing of JSON and CBOR: parsers with limits on nesting and size, so that no file crashes a reader, and strings of
/// arbitrary bytes as valid UTF-8, so that no file name makes a writer fail.
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>

namespace merganser::app {

using Json = nlohmann::ordered_json;

/// Returns the JSON array of make(item) for each item, in order.
template <class Items, class Make>
[[nodiscard]] Json json_list(const Items& items, Make make) {
  Json out = Json::array();
  for (const auto& item : items) out.push_back(make(item));
  return out;
}

/// Formats a JSON value as text. Strings that are no UTF-8 are written as bytes_to_utf8() converts them. @param indent  spaces;
/// -1: one line
[[nodiscard]] std::string json_text(const Json& json, int indent = -1);

/// Parses a text as JSON. @param name  name of its file, for messages
/// @throws InputError if it is no JSON, nested deeper than kJsonDepth, an object has more than kJsonMembers members or two
/// of one name, or a number is none of 64 bits
[[nodiscard]] Json parse_json(std::string_view text, const std::string& name);
inline constexpr std::size_t kJsonDepth = 64;       ///< largest nesting of arrays and objects that is read
inline constexpr std::size_t kJsonMembers = 10000;  ///< largest number of members of an object that is read

/// Reads and parses a JSON file.
/// @throws InputError if it cannot be read, is larger than read_text() allows, or parse_json() refuses it
[[nodiscard]] Json read_json(const std::string& path);
/// Reads a whole file of any kind as text. @throws InputError if it cannot be read or has more than `most` bytes
[[nodiscard]] std::string read_text(const std::string& path, std::size_t most = std::size_t{1} << 29U);

/// Writes JSON as CBOR, in which numbers keep all their bits: for files between processes of one job. @throws InputError if it
/// fails
void write_cbor(const std::string& path, const Json& json);
/// Reads a CBOR file. @throws InputError if it cannot be read, is no CBOR, or exceeds the limits of parse_json()
[[nodiscard]] Json read_cbor(const std::string& path);

/// Converts arbitrary bytes to UTF-8: a byte that belongs to no character becomes U+EF00 + byte, of the private use area.
/// Characters U+EF80 to U+EFFF of the input are converted byte by byte too, so that the conversion can be inverted.
[[nodiscard]] std::string bytes_to_utf8(std::string_view bytes);
/// Inverse of bytes_to_utf8(): returns the bytes that bytes_to_utf8() converted to this text.
[[nodiscard]] std::string utf8_to_bytes(std::string_view text);

}  // namespace merganser::app
