// Rows of datasets of a new HDF5 file: each rank writes its own to the place that HDF5 has given them; into chunks rank 0 writes all.
#include "src/io/particles/hdf_rows.hpp"

#include <cstring>
#include <optional>

namespace merganser::io {

void HdfRows::write(int group, const Dataset& dataset, const GatheredParcels::Values& values,
                    const GatheredParcels::Bytes& bytes) {
  const std::size_t row_bytes = dataset.width * type_bytes(dataset.type);
  std::optional<std::uint64_t> place;
  gathered_.on_first([&] {
    place = file()->place_of_numbers(dataset.at);
    if (place) *place += static_cast<std::uint64_t>(dataset.begin) * row_bytes;
  });
  place = gathered_.from_first(place);
  if (place) return gathered_.write_rows(output_.file, group, dataset.width, values, bytes, {place, row_bytes});
  std::vector<std::byte> typed;
  gathered_.write(group, dataset.width, values, [&](std::int64_t first, std::span<const double> rows) {
    bytes(rows, typed);
    const auto count = static_cast<std::int64_t>(rows.size() / dataset.width);
    const std::int64_t width = dataset.width > 1 ? static_cast<std::int64_t>(dataset.width) : 0;
    file()->write(dataset.at, dataset.type, {dataset.begin + first, count, width}, typed.data());
  });
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
