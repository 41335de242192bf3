// Owner of an open NetCDF file, the lock of the NetCDF library, and reads of hyperslabs.
#include "src/io/netcdf/nc_file.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <iterator>
#include <utility>

#include "merganser/base/error.hpp"
#include "merganser/comm/collectives.hpp"
#include "merganser/comm/netcdf_parallel.hpp"
#include "merganser/io/data_file.hpp"
#include "src/io/netcdf/hdf5_calls.hpp"
#include "src/io/netcdf/stored.hpp"

namespace merganser::io {
namespace {

/// Returns true, with errno set, if this process has no file descriptor left: NetCDF-4 gives EACCES for every failure of HDF5
/// to open a file, this one included.
bool has_no_descriptor() {
  const int probe = ::open("/dev/null", O_RDONLY | O_CLOEXEC);
  if (probe >= 0) ::close(probe);
  return probe < 0 && (errno == EMFILE || errno == ENFILE);
}

/// Returns the error text for a status that the NetCDF library returned: its own (negative) or errno of the system.
std::string status_text(int status) {
  if (status == EACCES && has_no_descriptor()) return std::strerror(errno);
  if (status > 0) return std::strerror(status);
  return nc_strerror(status);
}

/// Returns a path that NetCDF takes for a file. It takes other names for addresses of servers ("http://...") or for
/// instructions ("[mode=bytes]...", "...#mode=zarr"), none of which begins with a slash and has no "//".
std::string local_path(const std::string& path) {
  if (path.starts_with('/') && path.find("//") == std::string::npos) return path;
  return std::filesystem::canonical(path).string();
}

/// Checks the status of nc_open(): errors of the HDF5 format are reported as a damaged file. @throws InputError "PATH: ..."
/// unless it is NC_NOERR
int check_opened(int status, const std::string& path) {
  if (status == NC_NOERR) return status;
  if (status == NC_EHDFERR || status == NC_ENOTNC || status == NC_ETRUNC)
    throw InputError(path + ": truncated or damaged NetCDF file (" + status_text(status) + ")");
  throw InputError(path + ": cannot open: " + status_text(status));
}

/// Returns the identifier of the file that HDF5 has opened since `before` was listed; -1 if it has opened none, or several:
/// threads that call HDF5 outside of our lock may have opened one too.
std::int64_t find_opened_file(const std::vector<hdf5::Id>& before) {
  const std::vector<hdf5::Id> after = hdf5::open_files();
  std::vector<hdf5::Id> added;
  std::set_difference(after.begin(), after.end(), before.begin(), before.end(), std::back_inserter(added));
  return added.size() == 1 ? added[0] : hdf5::kNoId;
}

}  // namespace

// Lock of the NetCDF library: one mutex of the process, made at first use.
NetcdfLock::NetcdfLock(const std::string& path)
    : lock_([]() -> std::mutex& {
        static std::mutex mutex;
        return mutex;
      }()),
      call_(path.c_str()) {}

NcFile NcFile::open(const std::string& path) {
  check_self_contained(path);
  const NetcdfLock lock(path);
  int id = -1;
  const std::vector<hdf5::Id> before = hdf5::open_files();
  check_opened(nc_open(local_path(path).c_str(), NC_NOWRITE, &id), path);
  return {id, path, false, find_opened_file(before)};
}

NcFile NcFile::create(const std::string& path, const std::string& shown) {
  const NetcdfLock lock(path);
  int id = -1;
  const int status = nc_create(path.c_str(), NC_NETCDF4 | NC_CLOBBER, &id);
  NcFile file(status == NC_NOERR ? id : -1, shown, false);
  file.check(status, "create it");
  return file;
}

// Parallel NetCDF-4 file of all processes: an error of one becomes the error of all.
NcFile NcFile::create(const std::string& path, const std::string& shown, comm::Transport& transport) {
  int id = -1;
  const int status = comm::netcdf_create(path, id);
  NcFile file(status == NC_NOERR ? id : -1, shown, true);
  comm::agree(transport, [&] { file.check(status, "create it"); });
  return file;
}

NcFile::NcFile(NcFile&& o) noexcept
    : id_(std::exchange(o.id_, -1)),
      shown_(std::move(o.shown_)),
      collective_(o.collective_),
      hdf5_id_(o.hdf5_id_),
      lengths_(std::move(o.lengths_)) {}

NcFile::~NcFile() { close_quietly(); }

void NcFile::close_quietly() noexcept {
  if (id_ < 0) return;
  const NetcdfLock lock(shown_);
  nc_close(std::exchange(id_, -1));
}

void NcFile::close() {
  const NetcdfLock lock(shown_);
  check(nc_close(std::exchange(id_, -1)), "finish it");
}

void NcFile::check(int status, const std::string& what) const {
  if (status != NC_NOERR) throw InputError(shown_ + ": cannot " + what + ": " + status_text(status));
}

// Cached length of a NetCDF dimension; numbers of dimensions are unique in a file, so the group is no part of the key.
int NcFile::dimension_length(int group, int dimension, std::size_t& length) const {
  const auto known = lengths_.find(dimension);
  if (known != lengths_.end()) {
    length = known->second;
    return NC_NOERR;
  }
  const int status = nc_inq_dimlen(group, dimension, &length);
  if (status == NC_NOERR) lengths_.emplace(dimension, length);
  return status;
}

std::optional<std::int64_t> NcFile::dimension(const std::string& name) const {
  const NetcdfLock lock(shown_);
  int dimension = 0;
  std::size_t length = 0;
  if (nc_inq_dimid(id_, name.c_str(), &dimension) != NC_NOERR) return std::nullopt;
  check(dimension_length(id_, dimension, length), "read the length of dimension " + name);
  return static_cast<std::int64_t>(length);
}

std::optional<int> NcFile::variable(const std::string& name) const {
  const NetcdfLock lock(shown_);
  int variable = 0;
  if (nc_inq_varid(id_, name.c_str(), &variable) != NC_NOERR) return std::nullopt;
  return variable;
}

bool NcFile::has_attribute(const std::string& name) const {
  const NetcdfLock lock(shown_);
  return nc_inq_attid(id_, NC_GLOBAL, name.c_str(), nullptr) == NC_NOERR;
}

// Numeric global attribute of a NetCDF file, of any type of numbers, as doubles.
std::vector<double> NcFile::attribute(const std::string& name, std::size_t count) const {
  const NetcdfLock lock(shown_);
  nc_type type = NC_NAT;
  std::size_t length = 0;
  if (nc_inq_att(id_, NC_GLOBAL, name.c_str(), &type, &length) != NC_NOERR)
    throw InputError(shown_ + ": the global attribute " + name + " is missing");
  static constexpr std::array<nc_type, 10> numeric{NC_BYTE, NC_UBYTE, NC_SHORT,  NC_USHORT, NC_INT,
                                                   NC_UINT, NC_INT64, NC_UINT64, NC_FLOAT,  NC_DOUBLE};
  if (length != count || std::find(numeric.begin(), numeric.end(), type) == numeric.end())
    throw InputError(shown_ + ": the global attribute " + name + " must hold " + std::to_string(count) +
                     " numbers; it has " + std::to_string(length) + " values");
  std::vector<double> values(count);
  check(nc_get_att_double(id_, NC_GLOBAL, name.c_str(), values.data()), "read the global attribute " + name);
  return values;
}

// Read of a hyperslab of a NetCDF variable, by HDF5 directly where NetCDF would be slow, row by row where it would be wrong.
int get_part(const NcFile& file, int group, int variable, const VariablePart& part, std::size_t value_bytes, void* to) {
  if (std::find(part.length.begin(), part.length.end(), 0) != part.length.end()) return NC_NOERR;
  if (read_stored(file, group, variable, part, value_bytes, to)) return NC_NOERR;
  if (!part.by_rows) return nc_get_vara(group, variable, part.start.data(), part.length.data(), to);
  const std::size_t last = part.length.size() - 2;
  std::vector<std::size_t> at = part.start;
  std::vector<std::size_t> row(part.length.size(), 1);
  row[last] = part.length[last];
  std::size_t rows = 1;
  for (std::size_t d = 0; d < last; ++d) rows *= part.length[d];
  auto* bytes = static_cast<std::byte*>(to);
  for (std::size_t i = 0; i < rows; ++i, bytes += row[last] * value_bytes) {
    std::size_t rest = i;
    for (std::size_t d = last; d-- > 0; rest /= part.length[d]) at[d] = part.start[d] + rest % part.length[d];
    const int status = nc_get_vara(group, variable, at.data(), row.data(), bytes);
    if (status != NC_NOERR) return status;
  }
  return NC_NOERR;
}

// Broadcast of a pointer, which threads of one process may follow. Rank 0 gets another one of its own, whose last copy closes the
// file.
std::shared_ptr<NcFile> share_file(const std::shared_ptr<NcFile>& of_first, comm::Transport& transport) {
  const std::array mine{reinterpret_cast<std::uintptr_t>(&of_first)};
  const auto told = comm::broadcast_from_first(transport, mine);
  std::shared_ptr<NcFile> file = *reinterpret_cast<const std::shared_ptr<NcFile>*>(told[0]);
  transport.barrier();  // rank 0 keeps its pointer until all have copied it
  if (transport.rank() > 0) return file;
  return {file.get(), [file](NcFile* open) { open->close_quietly(); }};
}

void set_chunk_cache(int group, int variable, const ChunkCache& cache) {
  std::array<char, NC_MAX_NAME + 1> name{};
  int dimension = 0;
  if (nc_inq_varname(group, variable, name.data()) != NC_NOERR) return;
  if (nc_inq_dimid(group, name.data(), &dimension) == NC_NOERR) return;
  static_cast<void>(nc_set_var_chunk_cache(group, variable, cache.bytes, cache.slots, cache.preemption));
}

// A cache smaller than any chunk: HDF5 then holds none.
void turn_off_chunk_cache(int group, int variable) { set_chunk_cache(group, variable, {1, 1, 0}); }

}  // namespace merganser::io
