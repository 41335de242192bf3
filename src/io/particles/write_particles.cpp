// Writes parcels as a file of openPMD or VTKHDF: rank 0 defines the datasets, all ranks write them, and the file appears when it is
// complete.
#include "src/io/particles/write_particles.hpp"

#include <array>
#include <filesystem>

#include "merganser/base/error.hpp"
#include "merganser/comm/collectives.hpp"
#include "merganser/comm/shared_output.hpp"
#include "merganser/io/data_file.hpp"
#include "src/io/netcdf/nc_file.hpp"
#include "src/io/particles/positions.hpp"
#include "src/io/particles/vtkhdf_series.hpp"

namespace merganser::io {
namespace {

/// Returns the size of a file in bytes, 0 if there is none.
std::int64_t file_bytes(const std::string& path) {
  std::error_code none;
  const auto size = std::filesystem::file_size(path, none);
  return none ? 0 : static_cast<std::int64_t>(size);
}

/// Estimates, from above, the size of a particle file in bytes: numbers of 8 bytes, and what is carried of the file that was read.
std::int64_t estimate_bytes(const ParticlesToWrite& in, std::int64_t parcels) {
  const std::int64_t carried = in.metadata.openpmd.file.empty() ? 0 : file_bytes(in.metadata.openpmd.file);
  constexpr std::int64_t kHeader = 64 * 1024;
  return kHeader + carried + parcels * static_cast<std::int64_t>(8 * (in.columns.size() + 6));
}

/// Checks that every name can be that of a dataset of HDF5, in which / separates groups and . is the group itself.
/// @throws InputError
void check_names(const std::string& path, std::span<const Column> list) {
  for (const Column& c : list)
    if (c.name.find('/') != std::string::npos || c.name == ".")
      throw InputError("cannot write " + path + ": the column \"" + c.name +
                       "\" in HDF5; allowed: names without / (and not .), or drop");
}

}  // namespace

void put_box_attributes(const hdf5::File& file, const std::string& at, const ParticlesToWrite& in) {
  const Box& box = in.grid.box;
  std::array<std::int64_t, 3> periodic{};
  for (std::size_t a = 0; a < 3; ++a) periodic[a] = box.periodic[a] ? 1 : 0;
  file.put(at, kCellsAttribute, FileType::i64, in.grid.cells, true);
  file.put(at, kExtentAttribute, box.extent, true);
  file.put(at, kOriginAttribute, box.lower, true);
  file.put(at, kPeriodicAttribute, FileType::i32, periodic, true);
  constexpr std::array<std::pair<const char*, const char*>, 2> kNumbers{
      {{"min_vratio", kRatioAttribute}, {"merge_step", kStepAttribute}}};
  for (const auto& [name, as] : kNumbers) {
    const FileValues* const found = find_attribute(in.metadata.root, name);
    if (found == nullptr) continue;
    const std::vector<double> value = to_doubles(*found);
    if (value.size() == 1) file.put(at, as, value, false);
  }
}

void to_particle_type(const Column& column, std::span<const double> values, std::vector<std::byte>& out) {
  Column plain = column;
  plain.may_lack = column.may_lack && is_integer(column.type);
  to_file_type(plain, values.data(), values.size(), out);
}

void to_bytes(std::span<const double> values, std::vector<std::byte>& out) {
  const auto bytes = std::as_bytes(values);
  out.assign(bytes.begin(), bytes.end());
}

void fit_particles(Parcels& parcels, const Box& box, const FileMetadata& metadata) {
  const std::array<PositionCodec, 3> codecs{PositionCodec(metadata.column("x_position"), 0),
                                            PositionCodec(metadata.column("y_position"), 1),
                                            PositionCodec(metadata.column("z_position"), 2)};
  const FileVariable* const volume = metadata.column("volume");
  const bool narrow = volume != nullptr && volume->values.type == static_cast<int>(FileType::f32);
  for (std::size_t i = 0; i < parcels.size(); ++i) {
    Site& s = parcels.site(i);
    s.x = codecs[0].fit(s.x, box);
    s.y = codecs[1].fit(s.y, box);
    s.z = codecs[2].fit(s.z, box);
    if (narrow) s.volume = static_cast<double>(static_cast<float>(s.volume));
  }
}

void write_particles(const OutputName& name, const Parcels& parcels, const Grid& grid, double time,
                     comm::Transport& transport, const FileMetadata& metadata) {
  ParticlesToWrite in{parcels, grid, metadata, columns(parcels.schema(), metadata), metadata.openpmd.species};
  in.columns.push_back(id_column(metadata));
  check_names(name.path, in.columns);
  if (in.species.empty()) in.species.emplace_back("parcels");
  const std::int64_t total = transport.all_reduce(static_cast<std::int64_t>(parcels.size()), comm::Op::sum);
  std::int64_t bytes = estimate_bytes(in, total);
  if (name.appends) bytes += file_bytes(name.path);
  comm::SharedOutput output(name.path, transport, bytes, OutputFile::Opened::by_name);
  std::optional<SeriesLock> series;  // on rank 0 alone, as what follows
  std::optional<NetcdfLock> lock;
  std::optional<hdf5::File> file;
  std::optional<EarlierSteps> earlier;
  comm::agree(transport, [&] {
    if (transport.rank() != 0) return;
    if (name.appends) series.emplace(name.path);
    lock.emplace(name.path);
    if (name.appends) earlier = read_earlier_steps(name.path, in, time);
    file.emplace(hdf5::File::create(output.name(), name.path));
  });
  output.hold_room();
  const ParticleOutput here{file ? &*file : nullptr, output};
  name.format == FileFormat::openpmd ? write_openpmd(here, in, time, transport)
                                     : write_vtkhdf(here, in, time, transport, earlier ? &*earlier : nullptr);
  comm::agree(transport, [&] {
    if (file) file->close();
    file.reset();
    lock.reset();
    if (series) series->check();
  });
  output.commit();
}

}  // namespace merganser::io
