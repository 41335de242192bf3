#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <limits>
#include <span>

#include "../columns.hpp"
#include "../layout.hpp"
#include "../parcel_check.hpp"
#include "merganser/base/error.hpp"
#include "merganser/comm/netcdf_parallel.hpp"
#include "merganser/io/parcel_file.hpp"
#include "nc_file.hpp"

namespace merganser::io {
namespace {

constexpr std::int64_t kBlock = std::int64_t{1} << 22;  // values read by one call, or dealt out in one round

/// A variable of doubles over the parcels, perhaps with a time dimension before.
struct Variable {
  int id;
  bool has_time;
  std::size_t level;  ///< the last one
};

std::string type_name(int file, nc_type type) {
  std::array<char, NC_MAX_NAME + 1> name{};
  std::size_t size = 0;
  return nc_inq_type(file, type, name.data(), &size) == NC_NOERR ? name.data() : std::to_string(type);
}

/// Bytes of one chunk of a variable; 0 if it is stored in one piece.
std::size_t chunk_bytes(const NcFile& file, int variable, int dimensions) {
  int storage = 0;
  std::array<std::size_t, 2> chunk{1, 1};
  if (nc_inq_var_chunking(file.id(), variable, &storage, chunk.data()) != NC_NOERR || storage != NC_CHUNKED) return 0;
  return chunk[0] * (dimensions == 2 ? chunk[1] : 1) * sizeof(double);
}

/// Finds a variable and checks type and shape. @throws InputError
Variable find(const NcFile& file, const std::string& name, std::int64_t parcels) {
  const auto variable = file.variable(name);
  if (!variable) throw InputError(file.path() + ": the variable " + name + " is missing");
  const auto lock = netcdf_lock();
  nc_type type = NC_NAT;
  int dimensions = 0;
  std::array<int, NC_MAX_VAR_DIMS> dimension{};
  file.check(nc_inq_var(file.id(), *variable, nullptr, &type, &dimensions, nullptr, nullptr), "look at " + name);
  if (type != NC_DOUBLE)
    throw InputError(file.path() + ": the variable " + name + " has type " + type_name(file.id(), type) +
                     "; it must be double");
  if (dimensions != 1 && dimensions != 2)
    throw InputError(file.path() + ": the variable " + name + " has " + std::to_string(dimensions) +
                     " dimensions; allowed: (t, n_parcels) or (n_parcels)");
  file.check(nc_inq_vardimid(file.id(), *variable, dimension.data()), "look at " + name);
  std::size_t times = 1;
  std::size_t length = 0;
  if (dimensions == 2) file.check(nc_inq_dimlen(file.id(), dimension[0], &times), "look at " + name);
  file.check(nc_inq_dimlen(file.id(), dimension[static_cast<std::size_t>(dimensions - 1)], &length), "look at " + name);
  if (static_cast<std::int64_t>(length) != parcels)
    throw InputError(file.path() + ": the variable " + name + " has length " + std::to_string(length) +
                     "; n_parcels is " + std::to_string(parcels));
  if (times == 0 && parcels > 0) throw InputError(file.path() + ": the variable " + name + " has no time level");
  return {*variable, dimensions == 2, times == 0 ? 0 : times - 1};
}

/// True if all of an attribute's variables are there, false if none. @throws InputError if some are
bool has_all(const NcFile& file, std::span<const std::string> names) {
  const std::string* found = nullptr;
  const std::string* missing = nullptr;
  for (const std::string& name : names) (file.variable(name) ? found : missing) = &name;
  if (found != nullptr && missing != nullptr)
    throw InputError(file.path() + ": the variable " + *missing + " is missing, but " + *found + " is there");
  return missing == nullptr;
}

std::int64_t whole_number(const NcFile& file, const std::string& name, double value) {
  if (!(value >= 1) || value > 0x1p53 || value != std::floor(value))
    throw InputError(file.path() + ": the global attribute " + name + " holds " + std::to_string(value) +
                     "; numbers of cells must be whole and at least 1");
  return static_cast<std::int64_t>(value);
}

Grid read_grid(const NcFile& file) {
  const std::vector<double> cells = file.attribute("ncells", 3);
  const std::vector<double> extent = file.attribute("extent", 3);
  const std::vector<double> origin = file.attribute("origin", 3);
  Grid grid;
  grid.box.periodic = {true, true, false};
  double all_cells = 1;
  for (std::size_t a = 0; a < 3; ++a) {
    grid.cells[a] = whole_number(file, "ncells", cells[a]);
    all_cells *= cells[a];
    if (!(extent[a] > 0) || !std::isfinite(extent[a]))
      throw InputError(file.path() + ": the global attribute extent holds " + std::to_string(extent[a]) +
                       "; it must be positive and finite");
    if (!std::isfinite(origin[a])) throw InputError(file.path() + ": the global attribute origin is not finite");
    grid.box.lower[a] = origin[a];
    grid.box.extent[a] = extent[a];
  }
  if (all_cells > 0x1p62) throw InputError(file.path() + ": ncells has more than 2^62 cells in all");
  if (file.has_attribute("periodic")) {
    const std::vector<double> periodic = file.attribute("periodic", 3);
    for (std::size_t a = 0; a < 3; ++a) grid.box.periodic[a] = periodic[a] != 0;
  }
  return grid;
}

double read_time(const NcFile& file) {
  const auto variable = file.variable("t");
  const auto levels = file.dimension("t");
  if (!variable || !levels || *levels == 0) return 0;
  const auto lock = netcdf_lock();
  int dimensions = 0;
  if (nc_inq_varndims(file.id(), *variable, &dimensions) != NC_NOERR || dimensions != 1) return 0;
  const auto last = static_cast<std::size_t>(*levels - 1);
  double time = 0;
  file.check(nc_get_var1_double(file.id(), *variable, &last, &time), "read the time");
  return time;
}

ParcelFileInfo info_of(const NcFile& file, std::int64_t bytes) {
  const auto parcels = file.dimension("n_parcels");
  if (!parcels) throw InputError(file.path() + ": the dimension n_parcels is missing; not a parcel file");
  ParcelFileInfo info;
  info.parcels = *parcels;
  const std::vector<Column> list = columns(Schema::epic());
  // The nine required variables cannot be packed closer than deflate packs zeros.
  const auto packed = static_cast<double>(info.parcels) * 72 / 1032;
  if (packed > static_cast<double>(bytes))
    throw InputError(file.path() + ": n_parcels is " + std::to_string(info.parcels) + ", but the file has only " +
                     std::to_string(bytes) + " bytes; truncated or damaged");
  info.grid = read_grid(file);
  info.time = read_time(file);
  for (const Attribute& a : Schema::epic().attributes()) {
    if (a.name == "vorticity") info.has_vorticity = has_all(file, a.component_names);
    if (a.name == "buoyancy") info.has_buoyancy = has_all(file, a.component_names);
  }
  for (const Column& column : list)
    if (column.required || file.variable(column.name)) static_cast<void>(find(file, column.name, info.parcels));
  return info;
}

/// Reads count values from first on into `to`. @return NetCDF status
int read_values(const NcFile& file, const Variable& v, std::int64_t first, std::int64_t count, double* to) {
  const std::array<std::size_t, 2> start{v.level, count == 0 ? 0 : static_cast<std::size_t>(first)};
  const std::array<std::size_t, 2> length{1, static_cast<std::size_t>(count)};
  const std::size_t skip = v.has_time ? 0 : 1;
  const auto lock = netcdf_lock();
  return nc_get_vara_double(file.id(), v.id, start.data() + skip, length.data() + skip, to);
}

/// One chunk must fit into the cache, or each read of a part of it unpacks it again.
void fit_cache(const NcFile& file, const Variable& v) {
  const auto lock = netcdf_lock();
  const std::size_t bytes = chunk_bytes(file, v.id, v.has_time ? 2 : 1);
  std::size_t size = 0;
  std::size_t slots = 0;
  float preemption = 0;
  if (nc_get_var_chunk_cache(file.id(), v.id, &size, &slots, &preemption) != NC_NOERR || size >= bytes) return;
  nc_set_var_chunk_cache(file.id(), v.id, bytes, slots, preemption);
}

/// Fills columns of this rank's slice; all must be called by all ranks, errors are kept until all have read.
class Reader {
 public:
  Reader(std::string path, const ParcelFileInfo& info, comm::Transport& transport)
      : path_(std::move(path)),
        transport_(transport),
        slices_(equal_slices(info.parcels, transport.size())),
        alone_(transport.size() == 1),
        together_(!alone_ && comm::netcdf_is_parallel(transport)) {
    if (together_) {
      file_.emplace(NcFile::open(path_, transport));
    } else {
      comm::agree(transport, [&] {
        if (transport_.rank() == 0) file_.emplace(NcFile::open(path_));
      });
    }
    comm::agree(transport, [&] {
      if (!file_) return;
      const auto parcels = file_->dimension("n_parcels");
      if (!parcels || *parcels != info.parcels)
        throw InputError(path_ + ": n_parcels is no longer " + std::to_string(info.parcels));
    });
  }

  void read(const Column& column, Parcels& parcels) {
    std::optional<Variable> variable;
    comm::agree(transport_, [&] {
      if (!file_) return;
      variable = find(*file_, column.name, slices_.total());
      if (together_) file_->check(comm::netcdf_make_collective(file_->id(), variable->id), "read " + column.name);
      if (!alone_ && !together_) fit_cache(*file_, *variable);
    });
    const int status =
        alone_ || together_ ? read_slice(*variable, column, parcels) : deal_out(variable, column, parcels);
    comm::agree(transport_, [&] {
      if (file_) file_->check(status, "read " + column.name);
    });
  }

  [[nodiscard]] const Layout& slices() const { return slices_; }

 private:
  /// Every rank takes part in every round: reads may be collective.
  int read_slice(const Variable& variable, const Column& column, Parcels& parcels) {
    const std::int64_t first = slices_.first[static_cast<std::size_t>(transport_.rank())];
    const std::int64_t count = slices_.count(transport_.rank());
    int worst = NC_NOERR;
    values_.resize(static_cast<std::size_t>(std::min(kBlock, slices_.largest())));
    for (std::int64_t done = 0; done < slices_.largest(); done += kBlock) {
      const std::int64_t part = std::clamp<std::int64_t>(count - done, 0, kBlock);
      const int status = read_values(*file_, variable, first + done, part, values_.data());
      if (status != NC_NOERR) worst = status;
      scatter(parcels, column, static_cast<std::size_t>(std::min(done, count)), values_.data(),
              static_cast<std::size_t>(part));
    }
    return worst;
  }

  /// Rank 0 reads and sends every rank its part, round by round.
  int deal_out(const std::optional<Variable>& variable, const Column& column, Parcels& parcels) {
    const int ranks = transport_.size();
    const std::int64_t block = std::max<std::int64_t>(1024, kBlock / ranks);
    const std::int64_t count = slices_.count(transport_.rank());
    int worst = NC_NOERR;
    for (std::int64_t done = 0; done < slices_.largest(); done += block) {
      std::vector<std::vector<std::byte>> parts(static_cast<std::size_t>(ranks));
      for (int r = 0; variable && r < ranks; ++r) {
        const std::int64_t part = std::clamp<std::int64_t>(slices_.count(r) - done, 0, block);
        values_.resize(static_cast<std::size_t>(part));
        const std::int64_t first = slices_.first[static_cast<std::size_t>(r)] + done;
        const int status = part == 0 ? NC_NOERR : read_values(*file_, *variable, first, part, values_.data());
        if (status != NC_NOERR) worst = status;
        const auto bytes = std::as_bytes(std::span(values_));
        parts[static_cast<std::size_t>(r)].assign(bytes.begin(), bytes.end());
      }
      const std::vector<std::byte> mine = std::move(transport_.all_to_all(parts)[0]);
      values_.resize(mine.size() / sizeof(double));
      if (!mine.empty()) std::memcpy(values_.data(), mine.data(), mine.size());
      scatter(parcels, column, static_cast<std::size_t>(std::min(done, count)), values_.data(), values_.size());
    }
    return worst;
  }

  std::string path_;
  comm::Transport& transport_;
  Layout slices_;
  bool alone_;
  bool together_;
  std::optional<NcFile> file_;
  std::vector<double> values_;
};

}  // namespace

bool netcdf_available() noexcept { return true; }

ParcelFileInfo read_info(const std::string& path) {
  const std::int64_t bytes = check_readable(path);
  return info_of(NcFile::open(path), bytes);
}

Parcels read_parcels(const std::string& path, const ParcelFileInfo& info, comm::Transport& transport) {
  Reader reader(path, info, transport);
  const std::int64_t first = reader.slices().first[static_cast<std::size_t>(transport.rank())];
  const auto count = static_cast<std::size_t>(reader.slices().count(transport.rank()));
  Parcels parcels(Schema::epic());
  comm::agree(transport, [&] { parcels.resize(count); });
  const auto is_missing = [&](const Column& column) {
    return (!info.has_vorticity && column.name.ends_with("vorticity")) ||
           (!info.has_buoyancy && column.name == "buoyancy");
  };
  for (const Column& column : columns(parcels.schema())) {
    if (!is_missing(column)) {
      reader.read(column, parcels);
    } else {
      for (std::size_t i = 0; i < count; ++i) parcels.row(i)[column.offset] = 0;
    }
  }
  for (std::size_t i = 0; i < count; ++i) parcels.set_id(i, first + static_cast<std::int64_t>(i));
  comm::agree(transport, [&] { check_parcels(path, parcels, info.grid.box); });
  return parcels;
}

}  // namespace merganser::io
