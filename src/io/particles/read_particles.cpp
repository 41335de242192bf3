// Reads the particles of a file of openPMD or VTKHDF: every rank its slice, from one species or several.
#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <limits>

#include "merganser/base/error.hpp"
#include "merganser/base/text.hpp"
#include "merganser/comm/collectives.hpp"
#include "src/io/layout.hpp"
#include "src/io/netcdf/nc_file.hpp"
#include "src/io/numbering.hpp"
#include "src/io/parcel_check.hpp"
#include "src/io/particles/particle_file.hpp"
#include "src/io/particles/positions.hpp"
#include "src/io/tables/tables.hpp"

namespace merganser::io {
namespace {

constexpr std::int64_t kReadAtOnce = std::int64_t{1} << 20;  // values read by one call
constexpr double kExact = 0x1p53;                            // up to which a double holds every integer
constexpr std::uint64_t kMark = std::uint64_t{1} << 63;

/// Returns all digits of a 64-bit integer whose bits stand in a double. @param type  of the column, u64 or a signed one
std::string integer_text(FileType type, double bits) {
  return type == FileType::u64 ? std::to_string(std::bit_cast<std::uint64_t>(bits))
                               : std::to_string(std::bit_cast<std::int64_t>(bits));
}

/// Part of a rank's slice that lies in one species: particles `first` to `first + count - 1` of it, which become parcels from `to`.
struct Part {
  const Species* species;
  std::int64_t number;  ///< of the species, from 0
  std::int64_t first;
  std::int64_t count;
  std::size_t to;
};

/// Divides parcels first .. first + count - 1 of all species, one after the other, by species.
std::vector<Part> parts_of(const std::vector<Species>& species, std::int64_t first, std::int64_t count) {
  std::vector<Part> parts;
  std::int64_t begin = 0;
  for (std::size_t s = 0; s < species.size(); ++s) {
    const std::int64_t low = std::max(first, begin);
    const std::int64_t high = std::min(first + count, begin + species[s].count);
    if (low < high)
      parts.push_back(
          {&species[s], static_cast<std::int64_t>(s), low - begin, high - low, static_cast<std::size_t>(low - first)});
    begin += species[s].count;
  }
  return parts;
}

/// Reads columns of this rank's parts of a particle file into the container.
class PartReader {
 public:
  PartReader(std::string path, ReadNumbers numbers, const ParticleFile& about, Parcels& parcels)
      : path_(std::move(path)), numbers_(std::move(numbers)), about_(about), parcels_(parcels) {}

  /// Reads one column of a part. @throws InputError for a number that a double cannot hold
  void read(const Column& column, const Part& part) {
    for (std::int64_t done = 0; done < part.count; done += kReadAtOnce) {
      const std::int64_t first = part.first + done;
      const std::int64_t count = std::min(kReadAtOnce, part.count - done);
      values_.assign(static_cast<std::size_t>(count), static_cast<double>(part.number));
      if (column.in_site && column.offset < 3) {
        read_positions(column, part, first, count);
      } else if (column.name == kIdName) {
        read_ids(part, first, count);
      } else if (column.name != kSpeciesName || part.species->columns.contains(kSpeciesName)) {
        read_numbers(part, column.name, {first, count}, column.bits(), values_);
      }
      scatter(parcels_, column, part.to + static_cast<std::size_t>(done), values_.data(), values_.size());
    }
  }

 private:
  using Range = std::array<std::int64_t, 2>;  // first particle of the species, and number

  /// Reads numbers of a column of a species as doubles, or with `bits` the bits of 64-bit integers.
  void read_numbers(const Part& part, const std::string& name, Range range, bool bits, std::vector<double>& to) {
    const Component& c = part.species->columns.at(name);
    to.resize(static_cast<std::size_t>(range[1]));
    if (c.value && bits) throw InputError(path_ + ": " + c.at + " is a constant; allowed: a rule mean or sum");
    if (c.value) {
      std::fill(to.begin(), to.end(), *c.value);
      return;
    }
    const bool wide = c.type == FileType::i64 || c.type == FileType::u64;
    numbers_(c.at, wide ? c.type : FileType::f64, {c.first_row + range[0], range[1], c.width, c.column}, to.data());
    if (!wide || bits) return;
    for (std::size_t i = 0; i < to.size(); ++i) {
      const double value = c.type == FileType::u64 ? static_cast<double>(std::bit_cast<std::uint64_t>(to[i]))
                                                   : static_cast<double>(std::bit_cast<std::int64_t>(to[i]));
      if (std::fabs(value) >= kExact)
        throw InputError(path_ + ": " + c.at + ": value " + std::to_string(range[0] + static_cast<std::int64_t>(i)) +
                         " is " + integer_text(c.type, to[i]) +
                         "; allowed: whole numbers below 2^53, which a double holds");
      to[i] = value;
    }
  }

  /// Reads positions along one axis: position and, in openPMD, offset, each in its unit.
  void read_positions(const Column& column, const Part& part, std::int64_t first, std::int64_t count) {
    read_numbers(part, column.name, {first, count}, false, values_);
    const std::string offset = column.name.substr(0, 1) + "_offset";
    if (!part.species->columns.contains(offset)) return;
    read_numbers(part, offset, {first, count}, false, offsets_);
    const double unit = part.species->columns.at(column.name).unit;
    const double offset_unit = part.species->columns.at(offset).unit;
    for (std::size_t i = 0; i < values_.size(); ++i)
      values_[i] = position_in_metres(values_[i], unit, offsets_[i], offset_unit);
  }

  /// Reads ids: bits of 64-bit integers, without the mark that all have, and distinct between species.
  void read_ids(const Part& part, std::int64_t first, std::int64_t count) {
    const Component& c = part.species->columns.at(std::string(kIdName));
    const auto species = static_cast<std::int64_t>(about_.species.size());
    numbers_(c.at, c.type == FileType::u64 ? FileType::u64 : FileType::i64,
             {c.first_row + first, count, c.width, c.column}, values_.data());
    for (std::size_t i = 0; i < values_.size(); ++i) {
      auto bits = std::bit_cast<std::uint64_t>(values_[i]);
      if (about_.info.metadata.openpmd.marked_ids) bits ^= kMark;
      const auto id = std::bit_cast<std::int64_t>(bits);
      const std::int64_t most = (std::numeric_limits<std::int64_t>::max() - part.number) / species;
      if (id < 0 || id > most)
        throw InputError(
            path_ + ": " + c.at + ": id " + std::to_string(first + static_cast<std::int64_t>(i)) + " is " +
            integer_text(c.type, values_[i]) + "; allowed: 0 to " + std::to_string(most) +
            (about_.info.metadata.format == FileFormat::openpmd ? ", or the highest bit in all of them" : ""));
      values_[i] = std::bit_cast<double>(id * species + part.number);
    }
  }

  std::string path_;
  ReadNumbers numbers_;
  const ParticleFile& about_;
  Parcels& parcels_;
  std::vector<double> values_, offsets_;
};

/// Reads this rank's slice of all columns. Local. @throws InputError also if the file has changed
void read_columns(const std::string& path, const ParcelFileInfo& info, const ParticleFile& about,
                  std::span<const Column> list, std::int64_t first, const ReadNumbers& numbers, Parcels& parcels) {
  if (about.info.parcels != info.parcels || about.info.metadata.openpmd.species != info.metadata.openpmd.species)
    throw InputError(path + ": its particles are no longer " + std::to_string(info.parcels));
  PartReader reader(path, numbers, about, parcels);
  for (const Part& part : parts_of(about.species, first, static_cast<std::int64_t>(parcels.size())))
    for (const Column& column : list) reader.read(column, part);
}

/// Opens the file and reads this rank's slice of all columns. Local. @throws InputError also if the file has changed
void read_slice(const std::string& path, const ParcelFileInfo& info, std::span<const Column> list, std::int64_t first,
                Parcels& parcels) {
  if (is_table(info.metadata.format)) {
    const auto count = static_cast<std::int64_t>(parcels.size());
    const OpenTable table = open_table(path, info.metadata, {first, count});
    return read_columns(path, info, table.about, list, first, table.numbers, parcels);
  }
  const NetcdfLock lock(path);
  const hdf5::File file = hdf5::File::open(path);
  const std::vector<std::string>& names = info.metadata.openpmd.species;
  const ParticleFile about = info.metadata.format == FileFormat::vtkhdf
                                 ? describe_vtkhdf(file)
                                 : describe_openpmd(file, names.size() == 1 ? names[0] : std::string());
  const auto numbers = [&](const std::string& at, FileType type, const hdf5::File::Rows& rows, void* to) {
    file.read(at, type, rows, to);
  };
  read_columns(path, info, about, list, first, numbers, parcels);
}

/// Returns the id of a particle of a file without ids: its place, and of several species the species too, as where there are ids.
std::int64_t id_of_place(const Parcels& parcels, std::size_t i, std::int64_t place, std::size_t species) {
  if (species <= 1) return place;
  const double number = parcels.row(i)[parcels.schema().offset(kSpeciesName)];
  return place * static_cast<std::int64_t>(species) + static_cast<std::int64_t>(number);
}

/// Counts the values that are missing (NaN) where a rule lets them, over all ranks. Collective.
std::vector<MissingFound> count_not_numbers(const Parcels& parcels, std::span<const Column> list,
                                            comm::Transport& transport) {
  std::vector<MissingFound> found;
  for (const Column& column : list) {
    if (!column.may_lack) continue;
    std::int64_t count = 0;
    for (std::size_t i = 0; i < parcels.size(); ++i)
      count += !column.bits() && std::isnan(parcels.row(i)[column.offset]) ? 1 : 0;
    count = transport.all_reduce(count, comm::Op::sum);
    if (count > 0) found.push_back({column.name, count});
  }
  return found;
}

/// Throws InputError unless the file, or the caller in its place, tells box, cells and periodic axes.
void check_box_known(const std::string& path, const ParcelFileInfo& info) {
  if (!info.says_grid)
    throw InputError(path +
                     ": neither our attributes nor mesh records tell box and cells; allowed: both from options "
                     "(cluster --cells, --origin, --extent)");
  if (!info.says_periodic)
    throw InputError(path +
                     ": neither our attributes nor boundaries of the meshes tell which axes are periodic; allowed: an "
                     "option that does (cluster --periodic)");
  check_grid(info.grid, path + ": box and cells");
}

}  // namespace

Parcels read_particles(const std::string& path, const ParcelFileInfo& info, comm::Transport& transport,
                       std::vector<FilePlace>* places, std::vector<MissingFound>* missing) {
  check_box_known(path, info);
  const Layout slices = equal_slices(info.parcels, transport.size());
  const std::int64_t first = slices.first[static_cast<std::size_t>(transport.rank())];
  const auto count = static_cast<std::size_t>(slices.count(transport.rank()));
  Parcels parcels(info.schema);
  comm::agree(transport, [&] { parcels.resize(count); });
  const std::vector<Column> list = columns(parcels.schema(), info.metadata);
  std::vector<Column> with_ids = list;
  if (info.has_ids) with_ids.push_back(id_column(info.metadata));
  comm::agree(transport, [&] { read_slice(path, info, with_ids, first, parcels); });
  std::vector<std::int64_t> ids(count);
  std::vector<std::int64_t> place(count);
  if (places != nullptr) places->clear();
  for (std::size_t i = 0; i < count; ++i) {
    place[i] = first + static_cast<std::int64_t>(i);
    if (!info.has_ids) parcels.set_id(i, id_of_place(parcels, i, place[i], info.metadata.openpmd.species.size()));
    ids[i] = parcels.id(i);
    if (places != nullptr) places->push_back({ids[i], place[i]});
  }
  std::vector<MissingFound> found = count_not_numbers(parcels, list, transport);
  if (missing != nullptr) *missing = std::move(found);
  comm::agree(transport, [&] {
    wrap_parcels(parcels, info.grid.box);
    check_parcels(parcels, info.grid.box, list, [&](std::size_t i) {
      const std::string name = path + ": parcel " + std::to_string(place[i]);
      return info.has_ids ? name + " (id " + std::to_string(ids[i]) + ")" : name;
    });
  });
  check_ids(path, ids, place, transport);
  return parcels;
}

}  // namespace merganser::io
