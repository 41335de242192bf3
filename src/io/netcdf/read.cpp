/// Reads the parcels of a NetCDF file, a slice per rank, and validates them (read_parcels()).
#include <netcdf.h>
#include <netcdf_filter.h>

#include <algorithm>
#include <array>
#include <limits>
#include <memory>
#include <span>

#include "merganser/base/aligned_memory.hpp"
#include "merganser/base/error.hpp"
#include "merganser/comm/collectives.hpp"
#include "merganser/comm/netcdf_parallel.hpp"
#include "merganser/io/data_file.hpp"
#include "merganser/io/parcel_file.hpp"
#include "src/io/columns.hpp"
#include "src/io/layout.hpp"
#include "src/io/missing.hpp"
#include "src/io/netcdf/column_variable.hpp"
#include "src/io/numbering.hpp"
#include "src/io/parcel_check.hpp"
#include "src/io/particles/particle_file.hpp"

namespace merganser::io {
namespace {

constexpr std::int64_t kBlock = std::int64_t{1} << 22;  // values read by one call
constexpr std::int64_t kLot = std::int64_t{1} << 16;    // parcels of which all columns are read before the next ones
constexpr std::size_t kTile = 1024;                     // parcels of which all columns stay in the second cache

/// Returns the bytes in memory of one chunk of a parcel file's variable; 0 if it is stored contiguously. Call under the NetCDF
/// lock.
std::size_t chunk_bytes(const NcFile& file, const ColumnVariable& v) {
  int storage = 0;
  std::array<std::size_t, 2> chunk{1, 1};
  if (nc_inq_var_chunking(file.id(), v.id, &storage, chunk.data()) != NC_NOERR || storage != NC_CHUNKED) return 0;
  return chunk[0] * (v.has_time ? chunk[1] : 1) * sizeof(double);
}

/// Reads values of the last time level of a parcel file's variable, converted to doubles. Takes the NetCDF lock.
/// @param range  first parcel and number of parcels
/// @return NetCDF status
int read_values(const NcFile& file, const Column& column, const ColumnVariable& v,
                const std::array<std::int64_t, 2>& range, double* to) {
  const std::int64_t first = range[0], count = range[1];
  if (count == 0) return NC_NOERR;
  VariablePart part{{static_cast<std::size_t>(first), 0}, {static_cast<std::size_t>(count), 1}};
  if (v.has_time) part = {{v.level, static_cast<std::size_t>(first), 0}, {1, static_cast<std::size_t>(count), 1}};
  return file.call_locked([&] {
    // 64-bit integers that nothing is computed with are read as bits, since not every one is representable as a double.
    if (column.bits() || column.type == FileType::f64) return get_part(file, file.id(), v.id, part, sizeof(double), to);
    FileValues values{static_cast<int>(column.type), count, {}, {}};
    values.bytes.resize(static_cast<std::size_t>(count) * type_bytes(column.type));
    const int status = get_part(file, file.id(), v.id, part, type_bytes(column.type), values.bytes.data());
    const std::vector<double> numbers = to_doubles(values);
    if (status == NC_NOERR) std::copy(numbers.begin(), numbers.end(), to);
    return status;
  });
}

/// Prepares a parcel file's variable for reading in parts, in any order, if that takes no more work than reading the whole: if its
/// values are stored as they are, neither compressed nor with checksums over chunks. Takes the NetCDF lock. @return whether they are
bool prepare_for_parts(const NcFile& file, const ColumnVariable& v) {
  const auto lock = file.lock();
  if (chunk_bytes(file, v) == 0) return true;
  std::size_t filters = 1;
  if (nc_inq_var_filter_ids(file.id(), v.id, &filters, nullptr) != NC_NOERR || filters != 0) return false;
  turn_off_chunk_cache(file.id(), v.id);
  return true;
}

/// Enlarges NetCDF's chunk cache of a parcel file's variable to hold one chunk: else every read of a part of a chunk
/// decompresses it again.
void enlarge_chunk_cache(const NcFile& file, const ColumnVariable& v) {
  const auto lock = file.lock();
  const std::size_t bytes = chunk_bytes(file, v);
  ChunkCache cache;
  if (nc_get_var_chunk_cache(file.id(), v.id, &cache.bytes, &cache.slots, &cache.preemption) != NC_NOERR) return;
  if (cache.bytes >= bytes) return;
  cache.bytes = bytes;
  set_chunk_cache(file.id(), v.id, cache);
}

/// Reader of this rank's slice of a parcel file. Every process opens the file by itself, without MPI-IO:
/// ompio of Open MPI 4.1 does not report a read that fails, so that a damaged file would leave uninitialised values.
/// Ranks that are threads share one NetCDF library and its lock, and the file that rank 0 has opened. Member functions are
/// collective unless they say otherwise; errors are agreed on after every rank has read.
class SliceReader {
 public:
  /// Opens the parcel file: each process by itself, else rank 0 for all. Collective.
  /// @throws InputError on every rank if one fails, or if the number of parcels has changed
  SliceReader(std::string path, const ParcelFileInfo& info, comm::Transport& transport)
      : path_(std::move(path)), transport_(transport), slices_(equal_slices(info.parcels, transport.size())) {
    const bool by_itself = transport.size() == 1 || transport.capabilities().processes;
    comm::agree(transport, [&] {
      if (!by_itself && transport_.rank() > 0) return;
      file_ = std::make_shared<NcFile>(NcFile::open(path_));
      const auto parcels = file_->dimension("n_parcels");
      if (!parcels || *parcels != info.parcels)
        throw InputError(path_ + ": n_parcels is no longer " + std::to_string(info.parcels));
    });
    if (!by_itself) file_ = share_file(file_, transport_);
  }

  /// Reads the columns of this rank's slice of the parcel file into the container, and examines every parcel while the cache has it:
  /// counts missing values and replaces those that merging computes with by NaN, wraps positions on periodic axes, and keeps the
  /// first parcel that `check` refuses for refused(). Collective. @throws InputError on every rank if a column cannot be read, for
  /// the first of them, or if the attributes of one do not define missing values
  void read(std::span<const Column> columns, const Box& box, const ParcelCheck& check, Parcels& parcels) {
    std::vector<OpenColumn> open = open_columns(columns);
    const std::int64_t first = slices_.first[static_cast<std::size_t>(transport_.rank())];
    const std::int64_t count = slices_.count(transport_.rank());
    refused_ = static_cast<std::size_t>(count);
    for (OpenColumn& c : open)
      if (!c.in_parts) c.status = read_whole(c, parcels);
    RawBuffer lot;
    comm::agree(transport_, [&] {
      lot = RawBuffer(open.size() * static_cast<std::size_t>(std::min(kLot, count)) * sizeof(double));
    });
    for (std::int64_t done = 0; done < count; done += kLot) {
      const std::int64_t part = std::min(kLot, count - done);
      auto* to = reinterpret_cast<double*>(lot.data());
      for (OpenColumn& c : open) {
        if (!c.in_parts) continue;
        c.values = {to, static_cast<std::size_t>(part)};
        to += part;
        if (const int status = read_values(*file_, *c.column, c.variable, {first + done, part}, c.values.data());
            status != NC_NOERR) {
          c.status = status;
          std::fill(c.values.begin(), c.values.end(), 0.0);  // read by the examination, whose result is not used then
        }
      }
      examine(open, box, check, static_cast<std::size_t>(done), static_cast<std::size_t>(part), parcels);
    }
    for (const OpenColumn& c : open) comm::agree(transport_, [&] { file_->check(c.status, "read " + c.column->name); });
  }

  /// Closes the parcel file for this rank, after read(). Local.
  void close() { file_.reset(); }
  [[nodiscard]] const Layout& slices() const { return slices_; }
  /// Returns the range of the ids of this rank's parcels.
  [[nodiscard]] const IdRange& ids() const { return ids_; }
  /// Returns the position in this rank's container of the first parcel that is refused; the number of parcels if none is.
  [[nodiscard]] std::size_t refused() const { return refused_; }

  /// Returns the counts of missing values over all ranks' slices of the parcel file, one per column of read(). Collective: two
  /// reductions.
  [[nodiscard]] std::vector<MissingCount> reduce_missing() const {
    constexpr auto kNone = std::numeric_limits<std::int64_t>::max();
    // Place and kind of the first share one word, the place in the upper digits: one reduction by minimum then finds both.
    constexpr std::int64_t kKinds = 8;
    std::vector<std::int64_t> counts, firsts;
    for (const MissingCount& m : missing_) {
      counts.push_back(m.count);
      firsts.push_back(m.count == 0 ? kNone : m.first * kKinds + static_cast<int>(m.kind));
    }
    transport_.all_reduce(std::span<std::int64_t>(counts), comm::Op::sum);
    transport_.all_reduce(std::span<std::int64_t>(firsts), comm::Op::min);
    std::vector<MissingCount> all;
    for (std::size_t i = 0; i < missing_.size(); ++i)
      all.push_back(
          {missing_[i].name, counts[i], firsts[i] / kKinds, static_cast<MissingValues::Kind>(firsts[i] % kKinds)});
    return all;
  }

 private:
  /// Column that is read: its variable in the file, and what of it is known so far.
  struct OpenColumn {
    const Column* column = nullptr;
    ColumnVariable variable{};
    MissingValues missing;
    bool in_parts = false;     ///< read lot by lot; else as a whole, since its chunks are compressed or summed
    int status = NC_NOERR;     ///< NetCDF's, of the last failure
    std::span<double> values;  ///< of the lot that was read last, if in parts
  };

  /// Finds the variables of all columns in the parcel file and prepares them for reading. Collective. @throws InputError on every rank
  /// for a variable that is missing or of another shape or type, or attributes that do not define missing values
  std::vector<OpenColumn> open_columns(std::span<const Column> columns) {
    std::vector<OpenColumn> open;
    for (const Column& column : columns) {
      open.push_back({.column = &column, .missing = missing_values(column)});
      comm::agree(transport_, [&] {
        OpenColumn& c = open.back();
        c.variable = find_column_variable(*file_, column, slices_.total());
        if (transport_.size() > 1) enlarge_chunk_cache(*file_, c.variable);
        c.in_parts = prepare_for_parts(*file_, c.variable);
      });
    }
    for (const OpenColumn& c : open) {  // the description of the file, and so the error, is the same on every rank
      if (!c.missing.problem().empty())
        throw InputError(path_ + ": variable \"" + c.column->name + "\": " + c.missing.problem());
      missing_.push_back(MissingCount{c.column->name});
    }
    return open;
  }

  /// Reads a column of this rank's slice of the parcel file as a whole, in blocks of at most kBlock values. Local. @return NetCDF
  /// status of the last failure
  int read_whole(const OpenColumn& c, Parcels& parcels) const {
    const std::int64_t first = slices_.first[static_cast<std::size_t>(transport_.rank())];
    const std::int64_t count = slices_.count(transport_.rank());
    int worst = NC_NOERR;
    std::vector<double> values(static_cast<std::size_t>(std::min(kBlock, count)));
    for (std::int64_t done = 0; done < count; done += kBlock) {
      const std::int64_t part = std::min(kBlock, count - done);
      const int status = read_values(*file_, *c.column, c.variable, {first + done, part}, values.data());
      if (status != NC_NOERR) worst = status;
      scatter(parcels, *c.column, static_cast<std::size_t>(done), values.data(), static_cast<std::size_t>(part));
    }
    return worst;
  }

  /// Stores the columns of the lot begin .. begin + count - 1 of this rank's parcels in the container, tile by tile, and examines
  /// each tile: see read(). Local.
  void examine(std::span<const OpenColumn> columns, const Box& box, const ParcelCheck& check, std::size_t begin,
               std::size_t count, Parcels& parcels) {
    const std::int64_t place = slices_.first[static_cast<std::size_t>(transport_.rank())];
    std::array<double, kTile> stored;
    for (std::size_t at = begin; at < begin + count; at += kTile) {
      const std::size_t end = std::min(at + kTile, begin + count);
      for (std::size_t c = 0; c < columns.size(); ++c) {
        const Column& column = *columns[c].column;
        std::span<double> tile(stored.data(), end - at);
        if (columns[c].in_parts) {
          tile = columns[c].values.subspan(at - begin, end - at);
        } else {
          gather(parcels, column, at, tile.data(), tile.size());
        }
        const std::int64_t before = missing_[c].count;
        count_missing(column, columns[c].missing, place + static_cast<std::int64_t>(at), tile, missing_[c]);
        if (columns[c].in_parts || (missing_[c].count > before && column.computed))
          scatter(parcels, column, at, tile.data(), tile.size());
      }
      wrap_parcels(parcels, box, at, end);
      for (std::size_t i = at; i < end; ++i) ids_.add(parcels.id(i));
      if (refused_ < parcels.size()) continue;  // the first one is known
      const std::size_t refused = check.find_refused(parcels, at, end);
      if (refused < end) refused_ = refused;
    }
  }

  std::string path_;
  comm::Transport& transport_;
  Layout slices_;
  std::shared_ptr<NcFile> file_;       // of threads the one of rank 0
  std::vector<MissingCount> missing_;  // counts of missing values in this rank's slice, one per column
  IdRange ids_;                        // of this rank's parcels
  std::size_t refused_ = 0;
};

/// Counts the missing values of all columns of a parcel file over all ranks and refuses those not allowed. Collective.
/// @return the columns that may lack values and do, the same on every rank
/// @throws InputError on every rank for the first column that must not lack values and does
std::vector<MissingFound> check_missing(const SliceReader& reader, const std::string& path, const ParcelFileInfo& info,
                                        std::span<const Column> list) {
  std::vector<MissingFound> found;
  const std::vector<MissingCount> all = reader.reduce_missing();
  for (std::size_t i = 0; i < list.size(); ++i) {
    if (all[i].count == 0) continue;
    found.push_back({all[i].name, all[i].count});
    if (list[i].may_lack) continue;
    throw InputError(path + ": " + format_missing(all[i], info.parcels, missing_values(list[i])) +
                     "; allowed: a value for every parcel" +
                     (list[i].epic || list[i].name == kIdName ? "" : ", or a rule with missing=skip"));
  }
  return found;
}

/// Checks that the ids read from a parcel file are unique, or assigns ids by content if it has none. Collective. @pre parcels
/// have the ids of the file or, if it has none, their places in it
/// @param first  place of this rank's first parcel @param range  of the ids of this rank's parcels, if they are those of the file
void assign_ids(const std::string& path, const ParcelFileInfo& info, std::int64_t first, const IdRange& range,
                Parcels& parcels, comm::Transport& transport, std::vector<FilePlace>* places) {
  if (places != nullptr) places->clear();
  if (!info.has_ids) {
    number_by_content(parcels, transport, places);
    return;
  }
  if (places != nullptr) {
    places->reserve(parcels.size());
    for (std::size_t i = 0; i < parcels.size(); ++i)
      places->push_back({parcels.id(i), first + static_cast<std::int64_t>(i)});
  }
  if (are_surely_valid_ids(parcels, range, transport)) return;
  std::vector<std::int64_t> ids(parcels.size());
  std::vector<std::int64_t> place(parcels.size());
  for (std::size_t i = 0; i < parcels.size(); ++i) {
    ids[i] = parcels.id(i);
    place[i] = first + static_cast<std::int64_t>(i);
  }
  check_ids(path, ids, place, transport);
}

}  // namespace

// Reading of a parcel file on all ranks: each reads and examines its slice lot by lot; what one rank refuses, all refuse.
Parcels read_parcels(const std::string& path, const ParcelFileInfo& info, comm::Transport& transport,
                     std::vector<FilePlace>* places, std::vector<MissingFound>* missing) {
  if (info.metadata.format != FileFormat::epic) return read_particles(path, info, transport, places, missing);
  SliceReader reader(path, info, transport);
  const std::int64_t first = reader.slices().first[static_cast<std::size_t>(transport.rank())];
  const auto count = static_cast<std::size_t>(reader.slices().count(transport.rank()));
  Parcels parcels(info.schema);
  comm::agree(transport, [&] {
    // Room for a few more, so that a rank that owns more than it reads needs no other container.
    if (transport.size() > 1) parcels.reserve(count + count / 16);
    parcels.resize(count);
  });
  const std::vector<Column> list = columns(parcels.schema(), info.metadata);
  std::vector<Column> with_ids = list;
  if (info.has_ids) with_ids.push_back(id_column(info.metadata));
  for (std::size_t i = 0; !info.has_ids && i < count; ++i) parcels.set_id(i, first + static_cast<std::int64_t>(i));
  const ParcelCheck check(parcels.schema(), info.grid.box, list);
  reader.read(with_ids, info.grid.box, check, parcels);
  reader.close();
  std::vector<MissingFound> found = check_missing(reader, path, info, with_ids);
  if (missing != nullptr) *missing = std::move(found);
  comm::agree(transport, [&] {
    const std::size_t i = reader.refused();
    if (i == count) return;
    const std::string place = path + ": parcel " + std::to_string(first + static_cast<std::int64_t>(i));
    throw InputError((info.has_ids ? place + " (id " + std::to_string(parcels.id(i)) + ")" : place) + ": " +
                     check.describe(parcels, i));
  });
  assign_ids(path, info, first, reader.ids(), parcels, transport, places);
  return parcels;
}

}  // namespace merganser::io
