// Rows of datasets of a new HDF5 file: each rank writes its own to the place that HDF5 has given them; into chunks rank 0 writes all.
#include "src/io/particles/hdf_rows.hpp"

#include <cstring>
#include <optional>
#include <vector>

namespace merganser::io {

void HdfRows::write(int group, std::span<const Dataset> datasets) {
  std::vector<GatheredParcels::Array> placed;
  for (const Dataset& d : datasets) {
    const std::size_t row_bytes = d.width * type_bytes(d.type);
    std::optional<std::uint64_t> place;
    gathered_.on_first([&] {
      place = file()->place_of_numbers(d.at);
      if (place) *place += static_cast<std::uint64_t>(d.begin) * row_bytes;
    });
    place = gathered_.from_first(place);
    if (place) {
      placed.push_back({d.width, d.values, d.bytes, place, row_bytes});
      continue;
    }
    std::vector<std::byte> typed;
    gathered_.write(group, d.width, d.values, [&](std::int64_t first, std::span<const double> rows) {
      d.bytes(rows, typed);
      const auto count = static_cast<std::int64_t>(rows.size() / d.width);
      const std::int64_t width = d.width > 1 ? static_cast<std::int64_t>(d.width) : 0;
      file()->write(d.at, d.type, {d.begin + first, count, width}, typed.data());
    });
  }
  gathered_.write_rows(output_.file, group, placed);
}

void to_type(FileType type, std::span<const double> values, std::vector<std::byte>& out) {
  out.resize(values.size() * type_bytes(type));
  dispatch_type(type, [&](auto zero) {
    using T = decltype(zero);
    for (std::size_t i = 0; i < values.size(); ++i) {
      const T value = static_cast<T>(values[i]);
      std::memcpy(out.data() + i * sizeof value, &value, sizeof value);
    }
  });
}

}  // namespace merganser::io
