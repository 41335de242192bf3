/// Reads the parcels of a NetCDF file, a slice per rank, and validates them (read_parcels()).
#include <netcdf_filter.h>

#include <algorithm>
#include <array>
#include <limits>
#include <span>

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

constexpr std::int64_t kBlock = std::int64_t{1} << 22;  // values read by one call, or sent to all ranks in one round
/// Parcels of which all columns are read before the next ones: 4 MB of EPIC's container, which stay in the cache meanwhile
constexpr std::int64_t kTogether = std::int64_t{1} << 15;

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

/// Reader of this rank's slice of a parcel file, column by column. Every process opens the file by itself, without MPI-IO:
/// ompio of Open MPI 4.1 does not report a read that fails, so that a damaged file would leave uninitialised values.
/// Ranks that are threads share one NetCDF library and its lock, so rank 0 reads for all and sends each its slice. Member
/// functions are collective unless they say otherwise; errors are agreed on after every rank has read.
class SliceReader {
 public:
  /// Opens the parcel file on the ranks that read it: each process by itself, else rank 0 for all. Collective.
  /// @throws InputError on every rank if one fails, or if the number of parcels has changed
  SliceReader(std::string path, const ParcelFileInfo& info, comm::Transport& transport)
      : path_(std::move(path)),
        transport_(transport),
        slices_(equal_slices(info.parcels, transport.size())),
        by_itself_(transport.size() == 1 || transport.capabilities().processes) {
    comm::agree(transport, [&] {
      if (!by_itself_ && transport_.rank() > 0) return;
      file_.emplace(NcFile::open(path_));
      const auto parcels = file_->dimension("n_parcels");
      if (!parcels || *parcels != info.parcels)
        throw InputError(path_ + ": n_parcels is no longer " + std::to_string(info.parcels));
    });
  }

  /// Reads the columns of this rank's slice of the parcel file into the container. Collective. @throws InputError on every rank if
  /// one fails, for the first of the columns that do
  void read(std::span<const Column> columns, Parcels& parcels) {
    std::vector<std::optional<ColumnVariable>> variables(columns.size());
    std::vector<int> status(columns.size(), NC_NOERR);
    std::vector<std::size_t> in_parts;
    for (std::size_t c = 0; c < columns.size(); ++c) {
      comm::agree(transport_, [&] {
        if (!file_) return;
        variables[c] = find_column_variable(*file_, columns[c], slices_.total());
        if (transport_.size() > 1) enlarge_chunk_cache(*file_, *variables[c]);
      });
      if (!by_itself_) {
        status[c] = send_parts(variables[c], columns[c], parcels);
      } else if (prepare_for_parts(*file_, *variables[c])) {
        in_parts.push_back(c);
      } else {
        status[c] = read_part(*variables[c], columns[c], 0, slices_.count(transport_.rank()), parcels);
      }
    }
    // Column by column the container would go through memory once for each.
    const std::int64_t count = in_parts.empty() ? 0 : slices_.count(transport_.rank());
    for (std::int64_t done = 0; done < count; done += kTogether)
      for (const std::size_t c : in_parts) {
        const int part = read_part(*variables[c], columns[c], done, std::min(kTogether, count - done), parcels);
        if (part != NC_NOERR) status[c] = part;
      }
    for (std::size_t c = 0; c < columns.size(); ++c)
      comm::agree(transport_, [&] {
        if (file_) file_->check(status[c], "read " + columns[c].name);
      });
  }

  /// Closes the parcel file on the ranks that have opened it, after the last read(). Local.
  void close() { file_.reset(); }
  [[nodiscard]] const Layout& slices() const { return slices_; }

  /// Counts the missing values of the columns in this rank's slice of the parcel file, and replaces those that merging computes
  /// with by NaN. Local. @throws InputError if the attributes of a variable do not define missing values
  void find_missing_values(std::span<const Column> columns, Parcels& parcels) {
    std::vector<MissingValues> missing;
    for (const Column& column : columns) {
      missing.push_back(missing_values(column));
      if (!missing.back().problem().empty())
        throw InputError(path_ + ": variable \"" + column.name + "\": " + missing.back().problem());
      missing_.push_back(MissingCount{column.name});
    }
    const std::int64_t first = slices_.first[static_cast<std::size_t>(transport_.rank())];
    const auto count = static_cast<std::size_t>(slices_.count(transport_.rank()));
    constexpr std::size_t kPart = 1024;  // of all columns: stays in the cache
    values_.resize(std::min(kPart, count));
    for (std::size_t done = 0; done < count; done += kPart)
      for (std::size_t c = 0; c < columns.size(); ++c) {
        const std::span<double> part(values_.data(), std::min(kPart, count - done));
        const std::int64_t before = missing_[c].count;
        gather(parcels, columns[c], done, part.data(), part.size());
        count_missing(columns[c], missing[c], first + static_cast<std::int64_t>(done), part, missing_[c]);
        if (missing_[c].count > before && columns[c].computed)
          scatter(parcels, columns[c], done, part.data(), part.size());
      }
  }

  /// Returns the counts of missing values over all ranks' slices of the parcel file, one per column of
  /// find_missing_values(). Collective: two reductions.
  [[nodiscard]] std::vector<MissingCount> reduce_missing() {
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
  /// Reads one column of parcels `begin` .. begin + count - 1 of this rank's slice of the parcel file, which this process has opened
  /// by itself, in blocks of at most kBlock values. Local. @return NetCDF status of the last failure
  int read_part(const ColumnVariable& variable, const Column& column, std::int64_t begin, std::int64_t count,
                Parcels& parcels) {
    const std::int64_t first = slices_.first[static_cast<std::size_t>(transport_.rank())];
    int worst = NC_NOERR;
    values_.resize(static_cast<std::size_t>(std::min(kBlock, count)));
    for (std::int64_t done = begin; done < begin + count; done += kBlock) {
      const std::int64_t part = std::min(kBlock, begin + count - done);
      const int status = read_values(*file_, column, variable, {first + done, part}, values_.data());
      if (status != NC_NOERR) worst = status;
      scatter(parcels, column, static_cast<std::size_t>(done), values_.data(), static_cast<std::size_t>(part));
    }
    return worst;
  }

  /// Reads one column of all slices of the parcel file on rank 0 and sends every rank its own, in rounds that bound the memory of
  /// rank 0. Collective.
  /// @return on rank 0 the NetCDF status of the last failure
  int send_parts(const std::optional<ColumnVariable>& variable, const Column& column, Parcels& parcels) {
    const int ranks = transport_.size();
    const std::int64_t block = std::max<std::int64_t>(1024, kBlock / ranks);
    const std::int64_t count = slices_.count(transport_.rank());
    int worst = NC_NOERR;
    for (std::int64_t done = 0; done < slices_.largest(); done += block) {
      std::vector<std::vector<double>> parts(static_cast<std::size_t>(ranks));
      for (int r = 0; variable && r < ranks; ++r) {
        const std::int64_t part = std::clamp<std::int64_t>(slices_.count(r) - done, 0, block);
        auto& values = parts[static_cast<std::size_t>(r)];
        values.resize(static_cast<std::size_t>(part));
        const std::int64_t first = slices_.first[static_cast<std::size_t>(r)] + done;
        const int status = part == 0 ? NC_NOERR : read_values(*file_, column, *variable, {first, part}, values.data());
        if (status != NC_NOERR) worst = status;
      }
      const auto came = comm::all_to_all(transport_, std::move(parts));
      scatter(parcels, column, static_cast<std::size_t>(std::min(done, count)), came[0].data(), came[0].size());
    }
    return worst;
  }

  std::string path_;
  comm::Transport& transport_;
  Layout slices_;
  bool by_itself_;
  std::optional<NcFile> file_;
  std::vector<double> values_;
  std::vector<MissingCount> missing_;  // counts of missing values in this rank's slice, one per column
};

/// Counts the missing values of all columns of a parcel file over all ranks and refuses those not allowed. Collective.
/// @return the columns that may lack values and do, the same on every rank
/// @throws InputError on every rank for the first column that must not lack values and does
std::vector<MissingFound> check_missing(SliceReader& reader, const std::string& path, const ParcelFileInfo& info,
                                        std::span<const Column> list, Parcels& parcels, comm::Transport& transport) {
  comm::agree(transport, [&] { reader.find_missing_values(list, parcels); });
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
/// @param first  place of this rank's first parcel
void assign_ids(const std::string& path, const ParcelFileInfo& info, std::int64_t first, Parcels& parcels,
                comm::Transport& transport, std::vector<FilePlace>* places) {
  if (places != nullptr) places->clear();
  if (!info.has_ids) {
    number_by_content(parcels, transport, places);
    return;
  }
  const bool distinct = transport.size() == 1 && are_surely_valid_ids(parcels);
  if (distinct && places == nullptr) return;
  std::vector<std::int64_t> ids(parcels.size());
  std::vector<std::int64_t> place(parcels.size());
  for (std::size_t i = 0; i < parcels.size(); ++i) {
    ids[i] = parcels.id(i);
    place[i] = first + static_cast<std::int64_t>(i);
    if (places != nullptr) places->push_back({ids[i], place[i]});
  }
  if (!distinct) check_ids(path, ids, place, transport);
}

}  // namespace

// Reading of a parcel file on all ranks: each reads its slice column by column, then values, missing values and ids are
// validated.
Parcels read_parcels(const std::string& path, const ParcelFileInfo& info, comm::Transport& transport,
                     std::vector<FilePlace>* places, std::vector<MissingFound>* missing) {
  if (info.metadata.format != FileFormat::epic) return read_particles(path, info, transport, places, missing);
  SliceReader reader(path, info, transport);
  const std::int64_t first = reader.slices().first[static_cast<std::size_t>(transport.rank())];
  const auto count = static_cast<std::size_t>(reader.slices().count(transport.rank()));
  Parcels parcels(info.schema);
  comm::agree(transport, [&] { parcels.resize(count); });
  const std::vector<Column> list = columns(parcels.schema(), info.metadata);
  std::vector<Column> with_ids = list;
  if (info.has_ids) with_ids.push_back(id_column(info.metadata));
  reader.read(with_ids, parcels);
  if (!info.has_ids) {
    for (std::size_t i = 0; i < count; ++i) parcels.set_id(i, first + static_cast<std::int64_t>(i));
  }
  reader.close();
  std::vector<MissingFound> found = check_missing(reader, path, info, with_ids, parcels, transport);
  if (missing != nullptr) *missing = std::move(found);
  comm::agree(transport, [&] {
    wrap_parcels(parcels, info.grid.box);
    check_parcels(parcels, info.grid.box, list, [&](std::size_t i) {
      const std::string place = path + ": parcel " + std::to_string(first + static_cast<std::int64_t>(i));
      return info.has_ids ? place + " (id " + std::to_string(parcels.id(i)) + ")" : place;
    });
  });
  assign_ids(path, info, first, parcels, transport, places);
  return parcels;
}

}  // namespace merganser::io
