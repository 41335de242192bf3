// Writes parcels as an openPMD file: what is not the particles' comes from the file that was read, or is made anew.
#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <ctime>
#include <map>

#include "merganser/base/error.hpp"
#include "merganser/io/data_file.hpp"
#include "src/io/particles/gathered.hpp"
#include "src/io/particles/hdf_rows.hpp"
#include "src/io/particles/openpmd_records.hpp"
#include "src/io/particles/positions.hpp"
#include "src/io/particles/write_particles.hpp"

namespace merganser::io {
namespace {

constexpr std::uint64_t kIdMark = std::uint64_t{1} << 63;

/// Returns the time now as openPMD writes dates.
std::string openpmd_date() {
  const std::time_t now = std::time(nullptr);
  std::tm parts{};
  gmtime_r(&now, &parts);
  std::array<char, 40> text{};
  std::strftime(text.data(), text.size(), "%Y-%m-%d %H:%M:%S +0000", &parts);
  return text.data();
}

/// Returns the attribute iterationFormat for the group of an iteration: "/data/%06T/" where its number is filled with zeros, as in
/// /data/000100.
std::string iteration_format(const std::string& iteration) {
  const std::string number = iteration.substr(iteration.rfind('/') + 1);
  const bool filled = number.size() > 1 && number[0] == '0';
  return filled ? "/data/%0" + std::to_string(number.size()) + "T/" : "/data/%T/";
}

/// Writer of one openPMD file. On ranks above 0 the file is null, and functions that write it do nothing.
class OpenpmdWriter {
 public:
  OpenpmdWriter(const ParticleOutput& output, const hdf5::File* from, const ParticlesToWrite& in)
      : output_(output),
        file_(output.hdf5),
        from_(from),
        in_(in),
        iteration_(from == nullptr ? "/data/0" : in.metadata.openpmd.iteration),
        particles_(from == nullptr ? iteration_ + "/particles" : in.metadata.openpmd.particles) {}

  /// Writes what is not the particles': attributes, meshes, our box. On rank 0.
  void write_surroundings(double time) {
    file_->make_group(iteration_);
    file_->make_group(particles_);
    if (from_ == nullptr) {
      put_new_root();
    } else {
      carry_root();
    }
    file_->put("/", "iterationEncoding", std::string_view("groupBased"));
    file_->put("/", "iterationFormat", std::string_view(iteration_format(iteration_)));
    file_->put("/", "merganser_version", std::string_view(MERGANSER_VERSION));
    put_time(time);
    put_box_attributes(*file_, iteration_, in_);
  }

  /// Writes the particles of one species. Collective.
  void write_species(int number, const std::string& name, GatheredParcels& gathered) {
    const std::string at = particles_ + '/' + name;
    const std::string source = from_ == nullptr ? std::string() : in_.metadata.openpmd.particles + '/' + name;
    gathered.on_first([&] {
      file_->make_group(at);
      if (from_ == nullptr) return;
      if (from_->kind(source) != hdf5::ObjectKind::group)
        throw InputError(from_->path() + ": the species " + name + " is no longer there");
      file_->copy_attributes(*from_, source, at);
      carry_constants(source, at, gathered.total(number));
    });
    HdfRows rows(output_, gathered);
    for (int axis = 0; axis < 3; ++axis) write_positions(axis, number, at, source, gathered, rows);
    for (const Column& column : in_.columns) {
      if (column.in_site && column.offset < 3) continue;
      if (column.name != kSpeciesName || in_.species.size() == 1)
        write_column(column, number, at, source, gathered, rows);
    }
  }

 private:
  void put_new_root() {
    file_->put("/", "openPMD", std::string_view("1.1.0"));
    file_->put("/", "openPMDextension", FileType::u32, std::array<std::int64_t, 1>{0}, false);
    file_->put("/", "basePath", std::string_view("/data/%T/"));
    file_->put("/", "particlesPath", std::string_view("particles/"));
    file_->put("/", "software", std::string_view("merganser"));
    file_->put("/", "softwareVersion", std::string_view(MERGANSER_VERSION));
    file_->put("/", "date", openpmd_date());
  }

  /// Copies attributes of the root and the iteration, and all groups but the particles, from the file that was read.
  void carry_root() {
    file_->copy_attributes(*from_, "/", "/");
    for (const std::string& name : from_->members("/"))
      if (name != "data") file_->copy(*from_, "/" + name, "/" + name);
    if (from_->kind(iteration_) != hdf5::ObjectKind::group)
      throw InputError(from_->path() + ": " + iteration_ + " is no longer there");
    file_->copy_attributes(*from_, iteration_, iteration_);
    for (const std::string& name : from_->members(iteration_)) {
      const std::string path = iteration_ + '/' + name;
      if (!particles_.starts_with(path + '/') && particles_ != path) file_->copy(*from_, path, path);
    }
    file_->copy_attributes(*from_, in_.metadata.openpmd.particles, particles_);
  }

  /// Writes the time of the iteration, in the unit that the file has.
  void put_time(double time) {
    std::vector<double> unit = file_->numbers(iteration_, "timeUnitSI");
    const std::vector<double> there = file_->numbers(iteration_, "time");
    if (unit.empty()) {
      unit = {1};
      file_->put(iteration_, "timeUnitSI", unit, false);
    }
    if (file_->numbers(iteration_, "dt").empty()) file_->put(iteration_, "dt", std::array<double, 1>{0}, false);
    if (!there.empty() && there[0] * unit[0] == time) return;
    file_->put(iteration_, "time", std::array<double, 1>{time / unit[0]}, false);
  }

  /// Copies the records that are constants of a species, for so many particles.
  void carry_constants(const std::string& source, const std::string& at, std::int64_t count) {
    for (const std::string& name : in_.metadata.openpmd.constants) {
      const std::string record = at + '/' + name;
      if (from_->kind(source + '/' + name) != hdf5::ObjectKind::group) continue;
      file_->copy(*from_, source + '/' + name, record);
      std::vector<std::string> parts{record};
      for (const std::string& member : file_->members(record)) parts.push_back(record + '/' + member);
      for (const std::string& part : parts)
        if (!file_->numbers(part, "shape").empty()) put_shape(part, count);
    }
  }
  void put_shape(const std::string& at, std::int64_t count) {
    file_->put(at, "shape", FileType::u64, std::array<std::int64_t, 1>{count}, true);
  }

  /// Writes the attributes of a record and of one component (the same object for a scalar): those it has in the file that was
  /// read, then what is missing.
  /// @param unit  unitSI of the component; empty: as in the file that was read, else 1
  void put_attributes(const RecordPath& path, const std::string& at, const std::string& source,
                      const std::optional<double>& unit, const RecordMeaning& meaning) {
    const std::vector<std::string> of_constants{"value", "shape"};
    const std::string record = at + '/' + path.record;
    const std::string component = path.component.empty() ? record : record + '/' + path.component;
    if (from_ != nullptr && from_->kind(source + '/' + path.record) != hdf5::ObjectKind::none)
      file_->copy_attributes(*from_, source + '/' + path.record, record, of_constants);
    if (from_ != nullptr && !path.component.empty() &&
        from_->kind(source + '/' + path.record + '/' + path.component) != hdf5::ObjectKind::none)
      file_->copy_attributes(*from_, source + '/' + path.record + '/' + path.component, component, of_constants);
    if (file_->numbers(record, "unitDimension").size() != 7)
      file_->put(record, "unitDimension", meaning.dimension, true);
    if (file_->numbers(record, "timeOffset").empty()) file_->put(record, "timeOffset", std::array<double, 1>{0}, false);
    if (file_->numbers(record, "macroWeighted").empty())
      file_->put(record, "macroWeighted", FileType::u32, std::array<std::int64_t, 1>{meaning.macro_weighted ? 1 : 0},
                 false);
    if (file_->numbers(record, "weightingPower").empty())
      file_->put(record, "weightingPower", std::array<double, 1>{meaning.weighting_power}, false);
    if (unit || file_->numbers(component, "unitSI").empty())
      file_->put(component, "unitSI", std::array<double, 1>{unit.value_or(1)}, false);
  }

  /// Writes position and positionOffset along one axis. Collective.
  void write_positions(int axis, int number, const std::string& at, const std::string& source,
                       GatheredParcels& gathered, HdfRows& rows) {
    const std::string name(1, "xyz"[axis]);
    const Column& column = in_.columns[static_cast<std::size_t>(axis)];
    const PositionCodec codec(in_.metadata.column(column.name), axis);
    const std::array<std::int64_t, 1> shape{gathered.total(number)};
    const std::string position = at + "/position/" + name;
    const std::string offset = at + "/positionOffset/" + name;
    const FileType type = codec.is_float() ? FileType::f32 : FileType::f64;
    gathered.on_first([&] {
      file_->make_dataset(position, type, shape, column.storage);
      put_attributes({"position", name}, at, source, codec.unit(), meaning_of("position", Rule::mean));
      if (codec.offset_type()) {
        file_->make_dataset(offset, *codec.offset_type(), shape, column.storage);
      } else {
        file_->make_group(offset);
        file_->put(offset, "value", std::array<double, 1>{codec.offset()}, false);
        put_shape(offset, shape[0]);
      }
      put_attributes({"positionOffset", name}, at, source, codec.offset_unit(), meaning_of("position", Rule::mean));
    });
    const auto site_value = [&](std::span<const std::size_t> parcels, double* to) {
      gather(in_.parcels, column, parcels, to, 1);
    };
    std::vector<double> split;
    const auto write_part = [&](const std::string& path, FileType kind, double SplitPosition::*part) {
      const auto typed = [&](std::span<const double> values, std::vector<std::byte>& to) {
        split.assign(values.begin(), values.end());
        for (double& x : split) x = codec.split(x, in_.grid.box).*part;
        to_type(kind, split, to);
      };
      rows.write(number, std::array{HdfRows::Dataset{path, kind, 0, 1, site_value, typed}});
    };
    write_part(position, type, &SplitPosition::position);
    if (codec.offset_type()) write_part(offset, *codec.offset_type(), &SplitPosition::offset);
  }

  /// Writes one column of a species. Collective.
  void write_column(const Column& column, int number, const std::string& at, const std::string& source,
                    GatheredParcels& gathered, HdfRows& rows) {
    const bool ids = column.name == kIdName;
    const RecordPath path = record_path(column, in_.parcels.schema());
    const std::string full = at + '/' + path.record + (path.component.empty() ? "" : '/' + path.component);
    const FileType type = ids ? FileType::u64 : column.type;
    gathered.on_first([&] {
      file_->make_dataset(full, type, std::array<std::int64_t, 1>{gathered.total(number)}, column.storage);
      put_attributes(path, at, source, {}, meaning_of(path.record, rule_of(column, in_.parcels.schema())));
    });
    const auto value = [&](std::span<const std::size_t> parcels, double* to) {
      gather(in_.parcels, column, parcels, to, 1);
    };
    std::vector<double> changed;
    const auto typed = [&](std::span<const double> values, std::vector<std::byte>& to) {
      if (ids) {
        changed.assign(values.begin(), values.end());
        for (double& id : changed) id = file_id(id, number);
        values = changed;
      }
      to_particle_type(column, values, to);
    };
    rows.write(number, std::array{HdfRows::Dataset{full, type, 0, 1, value, typed}});
  }

  /// Returns the bits of the id that the file has for the bits of a parcel's id.
  [[nodiscard]] double file_id(double bits, int number) const {
    auto id = std::bit_cast<std::int64_t>(bits);
    if (in_.species.size() > 1) id = (id - number) / static_cast<std::int64_t>(in_.species.size());
    auto value = std::bit_cast<std::uint64_t>(id);
    if (in_.metadata.openpmd.marked_ids) value |= kIdMark;
    return std::bit_cast<double>(value);
  }

  const ParticleOutput& output_;
  const hdf5::File* file_;
  const hdf5::File* from_;
  const ParticlesToWrite& in_;
  std::string iteration_, particles_;
};

/// Checks that the ids of several species tell the species, as those read from one file do. @throws UsageError
void check_species(const ParticlesToWrite& in) {
  if (in.species.size() <= 1) return;
  const std::size_t at = in.parcels.schema().offset(kSpeciesName);
  const auto count = static_cast<std::int64_t>(in.species.size());
  for (std::size_t i = 0; i < in.parcels.size(); ++i) {
    const double number = in.parcels.row(i)[at];
    if (!(number >= 0) || number >= static_cast<double>(count) || number != std::floor(number))
      throw InputError("parcel with id " + std::to_string(in.parcels.id(i)) + ": its species is " +
                       std::to_string(number) + "; allowed: 0 to " + std::to_string(count - 1));
    if (in.parcels.id(i) % count != static_cast<std::int64_t>(number))
      throw InputError("parcel with id " + std::to_string(in.parcels.id(i)) + ": its id is one of species " +
                       in.species[static_cast<std::size_t>(in.parcels.id(i) % count)] + ", but its species is " +
                       in.species[static_cast<std::size_t>(number)]);
  }
}

}  // namespace

void write_openpmd(const ParticleOutput& output, const ParticlesToWrite& in, double time, comm::Transport& transport) {
  const hdf5::File* const file = output.hdf5;
  comm::agree(transport, [&] { check_species(in); });
  const bool several = in.species.size() > 1;
  const std::size_t at = several ? in.parcels.schema().offset(kSpeciesName) : 0;
  GatheredParcels gathered(
      in.parcels, static_cast<int>(in.species.size()),
      [&](std::size_t i) { return several ? static_cast<int>(in.parcels.row(i)[at]) : 0; }, transport);
  std::optional<hdf5::File> from;
  std::optional<OpenpmdWriter> writer;
  comm::agree(transport, [&] {
    if (file != nullptr && !in.metadata.openpmd.file.empty()) from.emplace(hdf5::File::open(in.metadata.openpmd.file));
    writer.emplace(output, from ? &*from : nullptr, in);
    if (file != nullptr) writer->write_surroundings(time);
  });
  for (std::size_t s = 0; s < in.species.size(); ++s)
    writer->write_species(static_cast<int>(s), in.species[s], gathered);
  gathered.throw_error();
}

}  // namespace merganser::io
