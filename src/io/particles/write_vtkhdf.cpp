// Writes parcels as a VTKHDF file of points (PolyData): each parcel a vertex, its attributes arrays over the points.
#include <algorithm>
#include <array>
#include <numeric>

#include "merganser/base/error.hpp"
#include "src/io/particles/gathered.hpp"
#include "src/io/particles/hdf_rows.hpp"
#include "src/io/particles/point_arrays.hpp"
#include "src/io/particles/vtkhdf_names.hpp"
#include "src/io/particles/vtkhdf_series.hpp"
#include "src/io/particles/write_particles.hpp"

namespace merganser::io {
namespace {

/// Writes an array over the points, after its rows of earlier steps (null: none). Collective.
void write_array(HdfRows& rows, const ParticlesToWrite& in, const PointArray& array, GatheredParcels& gathered,
                 const EarlierSteps* earlier) {
  const std::string at = std::string(kPointData) + "/" + array.name;
  const std::size_t width = array.columns.size();
  const FileType type = array.columns[0].type;
  const std::int64_t begin = earlier == nullptr ? 0 : earlier->rows;
  gathered.on_first([&] {
    const hdf5::File& file = *rows.file();
    std::vector<std::int64_t> shape{begin + gathered.total(0)};
    if (width > 1) shape.push_back(static_cast<std::int64_t>(width));
    file.make_dataset(at, type, shape, array.columns[0].storage);
    if (earlier != nullptr) copy_rows(file, *earlier, at, type, width > 1 ? shape[1] : 0);
    if (array.attribute == nullptr) return;
    const std::string rule = rule_name(array.attribute->rule);
    if (rule.empty()) return;
    file.put(at, kRuleAttribute, std::string_view(rule));
    file.put(at, kPlaceAttribute, FileType::i64, std::array<std::int64_t, 1>{array.place}, false);
  });
  rows.write(
      0, {at, type, begin, width},
      [&](std::span<const std::size_t> parcels, double* to) { put_array_rows(in, array.columns, parcels, to); },
      [&](std::span<const double> values, std::vector<std::byte>& to) {
        to_particle_type(array.columns[0], values, to);
      });
}

/// Writes one kind of cells of PolyData for each step: vertices, one for each point, or none. On rank 0.
/// @param counts  number of cells of each step
void put_cells(const hdf5::File& file, const char* name, const std::vector<std::int64_t>& counts) {
  const std::string at = std::string(kVtkhdf) + "/" + name;
  std::vector<std::int64_t> begins{0};  // first cell of each step
  for (const std::int64_t count : counts) begins.push_back(begins.back() + count);
  const auto steps = static_cast<std::int64_t>(counts.size());
  const auto put = [&](const char* what, std::int64_t length, auto&& value) {
    constexpr std::int64_t kPart = std::int64_t{1} << 20;
    const std::string path = at + "/" + what;
    file.make_dataset(path, FileType::i64, std::array<std::int64_t, 1>{length}, {});
    std::vector<std::int64_t> numbers;
    for (std::int64_t done = 0; done < length; done += kPart) {
      numbers.resize(static_cast<std::size_t>(std::min(kPart, length - done)));
      for (std::size_t i = 0; i < numbers.size(); ++i) numbers[i] = value(done + static_cast<std::int64_t>(i));
      file.write(path, FileType::i64, {done, static_cast<std::int64_t>(numbers.size())}, numbers.data());
    }
  };
  const auto number = [&](std::int64_t step) { return counts[static_cast<std::size_t>(step)]; };
  put("NumberOfCells", steps, number);
  put("NumberOfConnectivityIds", steps, number);
  // Each step has the offsets 0 to its number of cells, and the places 0 to one less.
  std::size_t step = 0;
  put("Offsets", begins.back() + steps, [&](std::int64_t i) {
    while (i > begins[step + 1] + static_cast<std::int64_t>(step)) ++step;
    return i - begins[step] - static_cast<std::int64_t>(step);
  });
  step = 0;
  put("Connectivity", begins.back(), [&](std::int64_t i) {
    while (i >= begins[step + 1]) ++step;
    return i - begins[step];
  });
}

/// Writes what stands beside the points: type, version, box, cells of PolyData. On rank 0. @param counts  points of each step
void put_frame(const hdf5::File& file, const ParticlesToWrite& in, double time,
               const std::vector<std::int64_t>& counts) {
  file.make_group(kVtkhdf);
  file.put(kVtkhdf, "Version", FileType::i64, std::array<std::int64_t, 2>{2, 0}, true);
  file.put(kVtkhdf, "Type", std::string_view("PolyData"));
  file.put(kVtkhdf, kVersionAttribute, std::string_view(MERGANSER_VERSION));
  file.put(kVtkhdf, kTimeAttribute, std::array<double, 1>{time}, false);
  put_box_attributes(file, kVtkhdf, in);
  const std::string number = std::string(kVtkhdf) + "/NumberOfPoints";
  const auto steps = static_cast<std::int64_t>(counts.size());
  file.make_dataset(number, FileType::i64, std::array<std::int64_t, 1>{steps}, {});
  file.write(number, FileType::i64, {0, steps}, counts.data());
  put_cells(file, "Vertices", counts);
  for (const char* none : {"Lines", "Polygons", "Strips"})
    put_cells(file, none, std::vector<std::int64_t>(counts.size(), 0));
}

}  // namespace

void write_vtkhdf(const ParticleOutput& output, const ParticlesToWrite& in, double time, comm::Transport& transport,
                  const EarlierSteps* earlier) {
  const hdf5::File* const file = output.hdf5;
  GatheredParcels gathered(
      in.parcels, 1, [](std::size_t) { return 0; }, transport);
  HdfRows rows(output, gathered);
  const std::string points = std::string(kVtkhdf) + "/Points";
  const std::vector<PointArray> arrays = point_arrays(in);
  const std::int64_t begin = earlier == nullptr ? 0 : earlier->rows;
  const FileType type = in.columns[0].type == FileType::f32 ? FileType::f32 : FileType::f64;
  gathered.on_first([&] {
    std::vector<std::int64_t> counts = earlier == nullptr ? std::vector<std::int64_t>() : earlier->points;
    counts.push_back(gathered.total(0));
    put_frame(*file, in, time, counts);
    file->make_dataset(points, type, std::array<std::int64_t, 2>{begin + gathered.total(0), 3}, {});
    if (earlier == nullptr) return;
    check_arrays(*earlier, arrays, type);
    put_steps(*file, *earlier, arrays, time);
    copy_rows(*file, *earlier, points, type, 3);
  });
  rows.write(
      0, {points, type, begin, 3},
      [&](std::span<const std::size_t> parcels, double* to) {
        put_array_rows(in, std::span(in.columns).first(3), parcels, to);
      },
      [&](std::span<const double> values, std::vector<std::byte>& to) { to_type(type, values, to); });
  for (const PointArray& array : arrays) write_array(rows, in, array, gathered, earlier);
  gathered.throw_error();
}

}  // namespace merganser::io
