// Reads the description of an NPY file: one array of NumPy's, whose entries have a field for each column.
#include <charconv>
#include <fstream>

#include "merganser/base/error.hpp"
#include "merganser/base/utf8.hpp"
#include "src/io/tables/npz_format.hpp"
#include "src/io/tables/tables.hpp"

namespace merganser::io {
namespace {

/// Field of a structured type of NumPy's.
struct NpyField {
  std::string name;  ///< empty: padding
  std::string type;  ///< as written, as "<f8"
  bool several;      ///< true: an array of numbers
  std::uint64_t bytes;
};

/// Reader of a text that Python writes of a structured type, word by word.
class TypeText {
 public:
  explicit TypeText(std::string_view text) : rest_(text) {}

  /// Passes over blanks, and over `what` behind them. @return false if that is not there
  bool skip(std::string_view what) {
    while (rest_.starts_with(' ')) rest_.remove_prefix(1);
    if (!rest_.starts_with(what)) return false;
    rest_.remove_prefix(what.size());
    return true;
  }
  /// Reads a text in quotation marks of either kind, with the escapes that Python's repr() writes. @return false if there is none, or one
  /// with other escapes
  bool word(std::string& to) {
    const bool single = skip("'");
    if (!single && !skip("\"")) return false;
    to.clear();
    for (std::size_t i = 0; i < rest_.size(); ++i) {
      char c = rest_[i];
      if (c == (single ? '\'' : '"')) {
        rest_.remove_prefix(i + 1);
        return true;
      }
      if (c != '\\') {
        to += c;
      } else if (!escape(++i, to)) {
        return false;
      }
    }
    return false;
  }
  /// Reads a whole number from 0 to 999999999. @return false if there is none
  bool number(std::uint64_t& to) {
    skip("");
    std::size_t digits = 0;
    to = 0;
    while (digits < rest_.size() && digits < 9 && rest_[digits] >= '0' && rest_[digits] <= '9')
      to = 10 * to + static_cast<std::uint64_t>(rest_[digits++] - '0');
    rest_.remove_prefix(digits);
    return digits > 0;
  }

 private:
  /// Reads what follows a backslash, up to position `at` in the rest, which is left at its last character. @return false if it is not known
  bool escape(std::size_t& at, std::string& to) {
    const char kind = at < rest_.size() ? rest_[at] : '\0';
    if (kind == '\\' || kind == '\'' || kind == '"') {
      to += kind;
      return true;
    }
    if (kind == 'n' || kind == 'r' || kind == 't') {
      to += kind == 'n' ? '\n' : kind == 'r' ? '\r' : '\t';
      return true;
    }
    const std::size_t digits = kind == 'x' ? 2 : kind == 'u' ? 4 : kind == 'U' ? 8 : 0;
    if (digits == 0 || rest_.size() - at <= digits) return false;
    std::uint32_t character = 0;
    const char* const begin = rest_.data() + at + 1;
    const auto read = std::from_chars(begin, begin + digits, character, 16);
    if (read.ec != std::errc() || read.ptr != begin + digits || character > 0x10ffff) return false;
    if (character >= 0xd800 && character < 0xe000) return false;  // half a character of UTF-16
    append_character(character, to);
    at += digits;
    return true;
  }

  std::string_view rest_;
};

/// Returns the bytes of one value of a type of NumPy's, as "|b1", "<U3" or "<M8[ns]"; nothing for objects and what is not known.
std::optional<std::uint64_t> npy_bytes(const std::string& type) {
  if (type.size() < 3) return std::nullopt;
  TypeText digits(std::string_view(type).substr(2));
  std::uint64_t bytes = 0;
  if (type[1] == 'O' || !digits.number(bytes)) return std::nullopt;
  return type[1] == 'U' ? 4 * bytes : bytes;
}

/// Parses a structured type, as "[('x', '<f8'), ('', '|V4'), (('title', 'id'), '<i8'), ('v', '<f8', (3,))]". @return nothing for
/// any other text
std::optional<std::vector<NpyField>> parse_fields(std::string_view text) {
  constexpr std::uint64_t kMaxBytes = std::uint64_t{1} << 40;  // of an entry
  std::vector<NpyField> out;
  TypeText in(text);
  if (!in.skip("[")) return std::nullopt;
  while (!in.skip("]")) {
    NpyField f{};
    std::string title;
    if (!in.skip("(")) return std::nullopt;
    if (in.skip("(") ? !in.word(title) || !in.skip(",") || !in.word(f.name) || !in.skip(")") : !in.word(f.name))
      return std::nullopt;
    if (!in.skip(",") || !in.word(f.type)) return std::nullopt;
    const std::optional<std::uint64_t> bytes = npy_bytes(f.type);
    if (!bytes) return std::nullopt;
    f.bytes = *bytes;
    if (in.skip(",")) {
      f.several = true;
      if (!in.skip("(")) return std::nullopt;
      for (std::uint64_t length = 0; !in.skip(")"); in.skip(",")) {
        if (!in.number(length) || f.bytes * length > kMaxBytes) return std::nullopt;
        f.bytes *= length;
      }
    }
    if (!in.skip(")")) return std::nullopt;
    in.skip(",");
    out.push_back(std::move(f));
  }
  return out;
}

}  // namespace

TableFile describe_npy(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  file.seekg(0, std::ios::end);
  const auto size = static_cast<std::uint64_t>(file.tellg());
  std::string begin(std::min(size, kMaxNpyHead), '\0');
  file.seekg(0);
  file.read(begin.data(), static_cast<std::streamsize>(begin.size()));
  const std::optional<ArrayHead> head = parse_array_head(begin);
  if (static_cast<std::size_t>(file.gcount()) != begin.size() || !head)
    throw InputError(path + ": no array of NumPy's; truncated or damaged");
  const auto fields = parse_fields(head->type);
  if (!fields || head->shape.size() != 1)
    throw InputError(
        path + ": an array of type " + head->type.substr(0, 200) +
        "; allowed: of one dimension, whose entries have named fields of numbers (x_position, ..., volume)");
  TableFile out;
  out.begin = head->data;
  for (const NpyField& f : *fields) {
    const std::uint64_t at = out.entry;
    out.entry += f.bytes;
    if (f.name.empty()) continue;  // padding
    const std::optional<FileType> type = f.several ? std::nullopt : parse_npy_type(f.type);
    const std::string why = f.several ? "of several numbers in an entry, which are not read" : unread_type(f.type);
    if (!type && is_own_name(f.name)) throw InputError(path + ": the field " + f.name + " is " + why);
    if (!type) {
      out.lost.push_back({f.name, "field " + f.name + ", " + why});
      continue;
    }
    out.offsets[f.name] = head->data + at;
    out.arrays.push_back(
        {.name = f.name, .at = f.name, .type = *type, .rows = head->shape[0], .storage = {}, .rule = {}, .place = {}});
  }
  if (out.entry == 0) throw InputError(path + ": its entries have no fields; allowed: x_position, ..., volume");
  const double bytes =
      static_cast<double>(head->data) + static_cast<double>(out.entry) * static_cast<double>(head->shape[0]);
  if (bytes > static_cast<double>(size))
    throw InputError(path + ": it has fewer entries than its shape says; truncated or damaged");
  if (bytes < static_cast<double>(size))
    throw InputError(path + ": " +
                     std::to_string(size - head->data - out.entry * static_cast<std::uint64_t>(head->shape[0])) +
                     " bytes stand behind its entries; allowed: one array in a file, as numpy.save writes it");
  return out;
}

}  // namespace merganser::io
