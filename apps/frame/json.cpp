// Parsing and formatting of JSON and CBOR with limits on nesting and size, and reversible conversion of arbitrary bytes to UTF-8.
#include "apps/frame/json.hpp"

#include <fmt/core.h>

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <vector>

#include "merganser/base/error.hpp"
#include "merganser/base/output_file.hpp"
#include "merganser/base/text_table.hpp"
#include "merganser/base/utf8.hpp"

namespace merganser::app {
namespace {

constexpr char32_t kEscape = 0xef00;  // U+EF80 to U+EFFF stand for the bytes 0x80 to 0xff

/// Returns true if a character of a JSON string stands for a byte that is no UTF-8.
bool is_escape(char32_t c) { return c >= kEscape + 0x80 && c <= kEscape + 0xff; }

/// SAX handler that builds a value and throws InputError for nesting, size or duplicate names beyond the limits of json.hpp.
class JsonBuilder : public nlohmann::json_sax<Json> {
 public:
  explicit JsonBuilder(std::string name) : name_(std::move(name)) {}
  Json result;

  bool null() override { return insert(nullptr), true; }
  bool boolean(bool v) override { return insert(v), true; }
  bool number_integer(number_integer_t v) override { return insert(v), true; }
  bool number_unsigned(number_unsigned_t v) override { return insert(v), true; }
  bool number_float(number_float_t v, const string_t&) override { return insert(v), true; }
  bool string(string_t& v) override { return insert(std::move(v)), true; }
  bool binary(binary_t& v) override { return insert(std::move(v)), true; }
  bool start_object(std::size_t) override { return open(Json::object()); }
  bool start_array(std::size_t) override { return open(Json::array()); }
  bool end_object() override { return open_.pop_back(), true; }
  bool end_array() override { return open_.pop_back(), true; }

  /// Begins a member of the open JSON object. @throws InputError for a duplicate name or too many members
  bool key(string_t& v) override {
    Json& object = *open_.back();
    if (object.size() >= kJsonMembers)
      throw InputError(
          fmt::format("{} has an object with more than {} members; allowed: {}", name_, kJsonMembers, kJsonMembers));
    const auto [at, is_new] = object.emplace(v, nullptr);
    if (!is_new) throw InputError(name_ + " has an object with two members \"" + v + "\"; allowed: one of a name");
    member_ = &*at;
    return true;
  }

  bool parse_error(std::size_t, const std::string&, const Json::exception& e) override {
    throw InputError(name_ + " is not JSON: " + e.what());
  }

 private:
  /// Inserts a parsed value into the JSON array or object that is open, or as the result. @return its place
  template <class T>
  Json* insert(T&& v) {
    Json* place = &result;
    if (!open_.empty() && open_.back()->is_array()) {
      open_.back()->push_back(nullptr);
      place = &open_.back()->back();
    } else if (!open_.empty()) {
      place = member_;
    }
    *place = std::forward<T>(v);
    return place;
  }
  /// Opens a JSON array or object within the one that is open. @throws InputError beyond the nesting limit
  bool open(Json&& v) {
    if (open_.size() >= kJsonDepth)
      throw InputError(fmt::format("{} is nested deeper than {} values; allowed: {}", name_, kJsonDepth, kJsonDepth));
    open_.push_back(insert(std::move(v)));
    return true;
  }

  std::string name_;
  std::vector<Json*> open_;  // arrays and objects that have not ended; they do not move, only the last one grows
  Json* member_ = nullptr;
};

/// Returns the JSON with all strings and keys converted by bytes_to_utf8().
Json strings_to_utf8(const Json& json) {
  if (json.is_string()) return bytes_to_utf8(json.get_ref<const std::string&>());
  if (json.is_array()) {
    Json out = Json::array();
    for (const auto& v : json) out.push_back(strings_to_utf8(v));
    return out;
  }
  if (!json.is_object()) return json;
  Json out = Json::object();
  for (const auto& [key, v] : json.items()) out[bytes_to_utf8(key)] = strings_to_utf8(v);
  return out;
}

}  // namespace

// Reversible conversion of file names and variables, which may hold any bytes, for JSON.
std::string bytes_to_utf8(std::string_view bytes) {
  std::string out;
  while (!bytes.empty()) {
    const auto [code, length] = first_character(bytes);
    if (length > 0 && !is_escape(code)) {
      out += bytes.substr(0, length);
      bytes.remove_prefix(length);
      continue;
    }
    const auto byte = static_cast<unsigned char>(bytes[0]);  // at least 0x80
    out += {static_cast<char>(0xee), static_cast<char>(0xbc | byte >> 6U), static_cast<char>(0x80 | (byte & 0x3fU))};
    bytes.remove_prefix(1);
  }
  return out;
}

std::string utf8_to_bytes(std::string_view text) {
  std::string out;
  while (!text.empty()) {
    const auto [code, length] = first_character(text);
    const std::size_t used = length > 0 ? length : 1;
    if (length > 0 && is_escape(code)) {
      out += static_cast<char>(code - kEscape);
    } else {
      out += text.substr(0, used);
    }
    text.remove_prefix(used);
  }
  return out;
}

std::string json_text(const Json& json, int indent) {
  try {
    return json.dump(indent);
  } catch (const Json::type_error&) {  // bytes that are no UTF-8, from the name of a file or the environment
    return strings_to_utf8(json).dump(indent);
  }
}

// Parser of every JSON input: limits keep a malformed file from exhausting stack or memory.
Json parse_json(std::string_view text, const std::string& name) {
  if (const auto what = foreign_text(text.substr(0, 512)); !what.empty()) throw InputError(name + ": " + what);
  JsonBuilder builder(name);
  Json::sax_parse(text.begin(), text.end(), &builder);
  return std::move(builder.result);
}

// Input of every small file: read whole, up to a limit.
std::string read_text(const std::string& path, std::size_t most) {
  std::error_code ignored;
  if (std::filesystem::is_directory(path, ignored)) throw InputError("cannot read " + path + ": it is a folder");
  std::ifstream in(path, std::ios::binary);
  if (!in) throw InputError("cannot read " + path + ": " + std::strerror(errno));
  std::string text;
  for (std::size_t part = 1U << 16U; in && text.size() <= most; part = std::min(2 * part, std::size_t{1} << 24U)) {
    const std::size_t before = text.size();
    text.resize(before + part);
    in.read(text.data() + before, static_cast<std::streamsize>(part));
    text.resize(before + static_cast<std::size_t>(in.gcount()));
  }
  if (in.bad()) throw InputError("cannot read " + path + ": " + std::strerror(errno));
  if (text.size() > most) throw InputError(fmt::format("{} has more than {} bytes; allowed: {}", path, most, most));
  return text;
}

Json read_json(const std::string& path) { return parse_json(read_text(path), path); }

void write_cbor(const std::string& path, const Json& json) {
  std::string bytes;
  Json::to_cbor(json, nlohmann::detail::output_adapter<char>(bytes));
  write_file(path, bytes);
}

Json read_cbor(const std::string& path) {
  const std::string bytes = read_text(path);
  JsonBuilder builder(path);
  Json::sax_parse(bytes.begin(), bytes.end(), &builder, Json::input_format_t::cbor);
  return std::move(builder.result);
}

}  // namespace merganser::app
