// Reads the description of an NPY file: one array of NumPy's, whose entries have a field for each column.
#include <fstream>

#include "merganser/base/error.hpp"
#include "src/io/tables/npz_format.hpp"
#include "src/io/tables/tables.hpp"

namespace merganser::io {
namespace {

/// Field of a structured type of NumPy's: name and type as written.
struct NpyField {
  std::string name, type;
};

/// Parses a structured type, as "[('x', '<f8'), ('id', '<i8')]". @return nothing for any other text, as fields of several numbers
std::optional<std::vector<NpyField>> parse_fields(std::string_view text) {
  std::vector<NpyField> out;
  const auto skip = [&](std::string_view what) {
    while (text.starts_with(' ')) text.remove_prefix(1);
    if (!text.starts_with(what)) return false;
    text.remove_prefix(what.size());
    return true;
  };
  const auto word = [&](std::string& to) {
    if (!skip("'")) return false;
    const std::size_t end = text.find('\'');
    if (end == std::string_view::npos) return false;
    to = std::string(text.substr(0, end));
    text.remove_prefix(end + 1);
    return true;
  };
  if (!skip("[")) return std::nullopt;
  while (!skip("]")) {
    NpyField f;
    if (!skip("(") || !word(f.name) || !skip(",") || !word(f.type) || !skip(")")) return std::nullopt;
    out.push_back(std::move(f));
    static_cast<void>(skip(","));
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
        "; allowed: of one dimension, whose entries have fields of one number each (x_position, ..., volume)");
  TableFile out;
  std::uint64_t at = 0;
  for (const NpyField& f : *fields) {
    const std::optional<FileType> type = parse_npy_type(f.type);
    if (!type && f.name.empty() && f.type.starts_with("|V"))
      throw InputError(path + ": " + f.type.substr(2) +
                       " bytes of padding between its fields; allowed: fields side by side, as NumPy's "
                       "numpy.lib.recfunctions.repack_fields makes them");
    if (!type)
      throw InputError(path + ": " + f.name + " is of type " + f.type +
                       "; allowed: numbers in this machine's byte order");
    out.offsets[f.name] = head->data + at;
    at += type_bytes(*type);
    out.arrays.push_back(
        {.name = f.name, .at = f.name, .type = *type, .rows = head->shape[0], .storage = {}, .rule = {}, .place = {}});
  }
  out.entry = at;
  if (static_cast<double>(head->data) + static_cast<double>(at) * static_cast<double>(head->shape[0]) >
      static_cast<double>(size))
    throw InputError(path + ": it has fewer entries than its shape says; truncated or damaged");
  return out;
}

}  // namespace merganser::io
