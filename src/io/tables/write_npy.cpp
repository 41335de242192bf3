// Writes parcels as an NPY file: one array of NumPy's, whose entries have a field for each column.
#include <algorithm>
#include <array>
#include <cstring>
#include <numeric>
#include <optional>

#include "merganser/base/error.hpp"
#include "src/io/particles/gathered.hpp"
#include "src/io/particles/point_arrays.hpp"
#include "src/io/tables/npz_format.hpp"
#include "src/io/tables/tables.hpp"

namespace merganser::io {
namespace {

/// Returns a name between quotation marks, as Python reads it. @throws InputError for a name that NPY cannot hold
std::string quoted_name(const std::string& name) {
  const bool is_printed =
      std::all_of(name.begin(), name.end(), [](char c) { return static_cast<unsigned char>(c) >= 0x20; });
  if (name.empty() || !is_printed)
    throw InputError("cannot write the column \"" + name + "\" as NPY; allowed: names without control characters");
  check_utf8(name);
  std::string out = "'";
  for (const char c : name) {
    if (c == '\'' || c == '\\') out += '\\';
    out += c;
  }
  return out + "'";
}

/// Returns the structured type of an entry, as NumPy writes it. @throws InputError for a name that it cannot hold
std::string structured_type(std::span<const Column> list) {
  std::string out = "[";
  for (const Column& c : list) {
    out += out.size() > 1 ? ", (" : "(";
    out += quoted_name(c.name) + ", '" + npy_type(c.type) + "')";
  }
  return out + "]";
}

}  // namespace

void write_npy(ByteSink& sink, const ParticlesToWrite& in, comm::Transport& transport) {
  GatheredParcels gathered(in.parcels, transport);
  std::vector<Column> list{in.columns.back()};  // ids first
  list.insert(list.end(), in.columns.begin(), in.columns.end() - 1);
  const std::size_t width = list.size();
  const std::size_t entry = std::accumulate(list.begin(), list.end(), std::size_t{0},
                                            [](std::size_t sum, const Column& c) { return sum + type_bytes(c.type); });
  std::optional<std::uint64_t> begin;
  gathered.on_first([&] {
    sink.put(npy_array_head(structured_type(list), std::to_string(gathered.total(0)) + ","));
    begin = sink.leave_room(static_cast<std::uint64_t>(gathered.total(0)) * entry);
  });
  const auto row = [&](std::span<const std::size_t> parcels, double* to) { put_array_rows(in, list, parcels, to); };
  std::vector<double> values;
  std::vector<std::byte> typed;
  const auto pack = [&](std::span<const double> rows, std::vector<std::byte>& entries) {
    const std::size_t count = rows.size() / width;
    values.resize(count);
    entries.resize(count * entry);
    std::size_t at = 0;
    for (std::size_t c = 0; c < width; ++c) {
      for (std::size_t i = 0; i < count; ++i) values[i] = rows[i * width + c];
      to_particle_type(list[c], values, typed);
      const std::size_t bytes = type_bytes(list[c].type);
      for (std::size_t i = 0; i < count; ++i)
        std::memcpy(entries.data() + i * entry + at, typed.data() + i * bytes, bytes);
      at += bytes;
    }
  };
  std::array arrays{GatheredParcels::Array{width, row, pack, begin, entry}};
  gathered.write_rows(sink.file(), 0, arrays);
  gathered.throw_error();
}

}  // namespace merganser::io
