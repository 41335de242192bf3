// Writes parcels as a VTKHDF file of points (PolyData): each parcel a vertex, its attributes arrays over the points.
#include <algorithm>
#include <array>
#include <numeric>
#include <span>
#include <string_view>

#include "merganser/base/error.hpp"
#include "src/io/particles/gathered.hpp"
#include "src/io/particles/hdf_rows.hpp"
#include "src/io/particles/point_arrays.hpp"
#include "src/io/particles/vtkhdf_names.hpp"
#include "src/io/particles/vtkhdf_series.hpp"
#include "src/io/particles/write_particles.hpp"

namespace merganser::io {
namespace {

/// Makes the dataset of an array over the points, with its rows of earlier steps (null: none). On rank 0.
void make_array(const hdf5::File& file, const PointArray& array, std::int64_t points, const EarlierSteps* earlier) {
  const std::string at = std::string(kPointData) + "/" + array.name;
  const auto width = static_cast<std::int64_t>(array.columns.size());
  const FileType type = array.columns[0].type;
  std::vector<std::int64_t> shape{points};
  if (width > 1) shape.push_back(width);
  file.make_dataset(at, type, shape, array.columns[0].storage);
  if (earlier != nullptr) copy_rows(file, *earlier, at, type, width > 1 ? width : 0);
  if (array.attribute == nullptr) return;
  const std::string rule = rule_name(array.attribute->rule);
  if (rule.empty()) return;
  file.put(at, kRuleAttribute, std::string_view(rule));
  file.put(at, kPlaceAttribute, FileType::i64, std::array<std::int64_t, 1>{array.place}, false);
}

/// Writes numbers of a dataset of 64-bit integers, functions of their places, in parts.
template <class F>
void put_numbers(const hdf5::File& file, const std::string& at, std::int64_t count, F&& value) {
  constexpr std::int64_t kPart = std::int64_t{1} << 16;
  std::vector<std::int64_t> numbers;
  for (std::int64_t done = 0; done < count; done += kPart) {
    numbers.resize(static_cast<std::size_t>(std::min(kPart, count - done)));
    for (std::size_t i = 0; i < numbers.size(); ++i) numbers[i] = value(done + static_cast<std::int64_t>(i));
    file.write(at, FileType::i64, {done, static_cast<std::int64_t>(numbers.size())}, numbers.data());
  }
}

/// Makes the datasets of one kind of cells and writes those of earlier steps; the ranks write the cells of the last step. On rank 0.
/// @param counts  number of cells of each step: as many as points for vertices, 0 for the other kinds
void put_cells(const hdf5::File& file, const char* name, const std::vector<std::int64_t>& counts) {
  const std::string at = std::string(kVtkhdf) + "/" + name;
  std::vector<std::int64_t> begins{0};  // first cell of each step
  for (const std::int64_t count : counts) begins.push_back(begins.back() + count);
  const auto steps = static_cast<std::int64_t>(counts.size());
  const std::int64_t earlier = begins[counts.size() - 1];
  const auto put = [&](const char* what, std::int64_t length, std::int64_t written, auto&& value) {
    const std::string path = at + "/" + what;
    file.make_dataset(path, FileType::i64, std::array<std::int64_t, 1>{length}, {});
    put_numbers(file, path, written, value);
  };
  const auto number = [&](std::int64_t step) { return counts[static_cast<std::size_t>(step)]; };
  put("NumberOfCells", steps, steps, number);
  put("NumberOfConnectivityIds", steps, steps, number);
  // Each step has the offsets 0 to its number of cells, and the places 0 to one less.
  std::size_t step = 0;
  put("Offsets", begins.back() + steps, earlier + steps, [&](std::int64_t i) {
    while (i > begins[step + 1] + static_cast<std::int64_t>(step)) ++step;
    return i - begins[step] - static_cast<std::int64_t>(step);
  });
  step = 0;
  put("Connectivity", begins.back(), earlier, [&](std::int64_t i) {
    while (i >= begins[step + 1]) ++step;
    return i - begins[step];
  });
}

/// Returns the cells of the step that is written: one dataset of those that put_cells() has made, a row for each point.
/// @param plus  what is added to a point's row: 0 for its place, 1 for the end of its cell
HdfRows::Dataset cells_of_step(const char* what, std::int64_t begin, const GatheredParcels& gathered, double plus) {
  const double first = static_cast<double>(gathered.own_first(0)) + plus;
  return {std::string(kVtkhdf) + "/Vertices/" + what,
          FileType::i64,
          begin,
          1,
          [first](std::span<const std::size_t> parcels, double* to) {
            for (const std::size_t i : parcels) *to++ = first + static_cast<double>(i);
          },
          [](std::span<const double> values, std::vector<std::byte>& to) { to_type(FileType::i64, values, to); }};
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
  GatheredParcels gathered(in.parcels, transport);
  HdfRows rows(output, gathered);
  const std::string points = std::string(kVtkhdf) + "/Points";
  const std::vector<PointArray> arrays = point_arrays(in);
  const std::int64_t begin = earlier == nullptr ? 0 : earlier->rows;  // of use on rank 0
  const auto steps = static_cast<std::int64_t>(earlier == nullptr ? 1 : earlier->points.size() + 1);
  const FileType type = in.columns[0].type == FileType::f32 ? FileType::f32 : FileType::f64;
  gathered.on_first([&] {
    std::vector<std::int64_t> counts = earlier == nullptr ? std::vector<std::int64_t>() : earlier->points;
    counts.push_back(gathered.total(0));
    put_frame(*file, in, time, counts);
    file->make_dataset(points, type, std::array<std::int64_t, 2>{begin + gathered.total(0), 3}, {});
    if (earlier != nullptr) {
      check_arrays(*earlier, arrays, type);
      put_steps(*file, *earlier, arrays, time);
      copy_rows(*file, *earlier, points, type, 3);
    }
    for (const PointArray& array : arrays) make_array(*file, array, begin + gathered.total(0), earlier);
  });
  const auto row = [&in](std::span<const Column> columns) {
    return
        [&in, columns](std::span<const std::size_t> parcels, double* to) { put_array_rows(in, columns, parcels, to); };
  };
  std::vector<HdfRows::Dataset> datasets{
      {points, type, begin, 3, row(std::span(in.columns).first(3)),
       [type](std::span<const double> values, std::vector<std::byte>& to) { to_type(type, values, to); }},
      cells_of_step("Offsets", begin + steps, gathered, 1),
      cells_of_step("Connectivity", begin, gathered, 0)};
  for (const PointArray& array : arrays)
    datasets.push_back({std::string(kPointData) + "/" + array.name, array.columns[0].type, begin, array.columns.size(),
                        row(array.columns), [&array](std::span<const double> values, std::vector<std::byte>& to) {
                          to_particle_type(array.columns[0], values, to);
                        }});
  rows.write(0, datasets);
  gathered.throw_error();
}

}  // namespace merganser::io
