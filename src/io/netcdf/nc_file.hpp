#pragma once
/// Open NetCDF file. The NetCDF library is not thread-safe: every call of it in this process holds one lock.
#include <netcdf.h>

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "merganser/base/library_call.hpp"
#include "merganser/comm/transport.hpp"

namespace merganser::io {

/// Scoped lock of the NetCDF library, which is not thread-safe: one mutex per process, not recursive.
class NetcdfLock {
 public:
  /// Takes the NetCDF lock. @param path  file that the calls are for, named if the library crashes on it; must outlive the
  /// object
  explicit NetcdfLock(const std::string& path);

 private:
  std::unique_lock<std::mutex> lock_;
  LibraryCall call_;  // HDF5 crashes on some damaged files
};

/// Owner of a NetCDF file's identifier, open for reading or for writing.
class NcFile {
 public:
  /// Opens a NetCDF file for reading, by this rank alone. Local. @throws InputError naming the file and what is wrong
  static NcFile open(const std::string& path);
  /// Creates a NetCDF-4 file by this rank alone, replacing one of this name. Local.
  /// @param shown  name of the file in messages
  /// @throws InputError if it cannot be created
  static NcFile create(const std::string& path, const std::string& shown);
  /// Creates a NetCDF-4 file by all processes of `transport` (comm/netcdf_parallel.hpp), replacing one of this name.
  /// Collective. @param shown  name of the file in messages
  /// @throws InputError on every rank if one fails
  static NcFile create(const std::string& path, const std::string& shown, comm::Transport& transport);

  NcFile(NcFile&& o) noexcept;
  NcFile& operator=(NcFile&&) = delete;
  NcFile(const NcFile&) = delete;
  ~NcFile();
  /// Closes the NetCDF file, which flushes buffered values. Collective if all processes created it. @throws InputError if it
  /// fails
  void close();
  /// Closes the NetCDF file if it is open, as the destructor does, without reporting a failure. Collective if all processes created
  /// it.
  void close_quietly() noexcept;

  /// Returns NetCDF's identifier of the file, which is also that of its root group.
  [[nodiscard]] int id() const noexcept { return id_; }
  /// Returns true if all processes created the NetCDF file together, so that all must make the same calls.
  [[nodiscard]] bool collective() const noexcept { return collective_; }
  /// Returns the name by which error messages refer to the NetCDF file.
  [[nodiscard]] const std::string& path() const noexcept { return shown_; }
  /// Returns HDF5's identifier of this NetCDF file; -1 if it is unknown, or the file is open for writing.
  [[nodiscard]] std::int64_t hdf5_id() const noexcept { return hdf5_id_; }

  /// Takes the lock of the NetCDF library, one per process, for calls about this file.
  [[nodiscard]] NetcdfLock lock() const { return NetcdfLock(shown_); }
  /// Checks a status of the NetCDF library. @throws InputError "PATH: cannot WHAT: reason" unless it is NC_NOERR
  void check(int status, const std::string& what) const;

  /// Calls `f`, which calls the NetCDF library, under the lock and returns its status. `f` must not lock again.
  template <class F>
  [[nodiscard]] int call_locked(F&& f) const {
    const NetcdfLock lock(shown_);
    return f();
  }
  /// Calls `f`, which calls the NetCDF library, under the lock. @throws InputError "PATH: cannot WHAT: reason" if it fails
  template <class F>
  void call(const char* what, F&& f) const {
    check(call_locked(std::forward<F>(f)), what);
  }

  /// Determines the length of a dimension that `group` sees, in a NetCDF file that is open for reading. Cached: for an unlimited
  /// dimension NetCDF inspects every variable of the file. Call under the NetCDF lock. @return NetCDF status
  [[nodiscard]] int dimension_length(int group, int dimension, std::size_t& length) const;
  /// Returns the length of a dimension of the NetCDF file's root group, or nothing if there is none of this name.
  [[nodiscard]] std::optional<std::int64_t> dimension(const std::string& name) const;
  /// Returns NetCDF's number of a variable of the file's root group, or nothing if there is none of this name.
  [[nodiscard]] std::optional<int> variable(const std::string& name) const;
  /// Reads a numeric global attribute of `count` values from the NetCDF file. @throws InputError if it is missing, of another
  /// length or type
  [[nodiscard]] std::vector<double> attribute(const std::string& name, std::size_t count) const;
  /// Returns true if the NetCDF file has a global attribute of this name.
  [[nodiscard]] bool has_attribute(const std::string& name) const;

 private:
  NcFile(int id, std::string shown, bool collective, std::int64_t hdf5_id = -1)
      : id_(id), shown_(std::move(shown)), collective_(collective), hdf5_id_(hdf5_id) {}
  int id_ = -1;
  std::string shown_;
  bool collective_ = false;
  std::int64_t hdf5_id_ = -1;
  mutable std::map<int, std::size_t> lengths_;  // by dimension, of a file open for reading, where they cannot change
};

/// Returns, on every rank, the NetCDF file of rank 0, which the ranks use as threads of one process: HDF5 shares the state of
/// files of one name within a process. Collective. The file is closed, for all ranks, when rank 0 has given up what it got here:
/// an error that leaves rank 0 then leaves no open file behind. So rank 0 keeps it until an agreement of all ranks that follows
/// their last use of it. @pre the ranks are threads: Capabilities::processes is false
[[nodiscard]] std::shared_ptr<NcFile> share_file(const std::shared_ptr<NcFile>& of_first, comm::Transport& transport);

/// Hyperslab of a NetCDF variable: start and length along each of its dimensions. Both vectors have one unused entry at their
/// end, so that a scalar has a valid address.
struct VariablePart {
  std::vector<std::size_t> start;
  std::vector<std::size_t> length;
  /// True to read row by row, for a variable with an unlimited dimension behind the first, which may be longer than the
  /// variable: NetCDF 4.9 stores the values of such a part at wrong places and leaves some out, except within a single row.
  bool by_rows = false;
};

/// HDF5's chunk cache of a NetCDF variable.
struct ChunkCache {
  std::size_t bytes = 0;
  std::size_t slots = 0;
  float preemption = 0;
};

/// Sets HDF5's chunk cache of a NetCDF variable. Files in older formats have no chunks: ignored. Ignored too for a variable with the
/// name of a dimension: HDF5 knows such a variable that is no coordinate by another name, by which NetCDF 4.9 does not open it again,
/// and no variable of the file could be read any more. Local; call under the NetCDF lock.
void set_chunk_cache(int group, int variable, const ChunkCache& cache);

/// Turns HDF5's chunk cache of a NetCDF variable off: parts of its chunks are then transferred between file and caller directly, not
/// by way of a copy of the whole chunk. For variables without filters; ignored where set_chunk_cache() is. Local; call under the
/// NetCDF lock.
void turn_off_chunk_cache(int group, int variable);

/// Reads a hyperslab of a NetCDF variable into memory, nothing if it is empty. Local; call under the NetCDF lock.
/// @param value_bytes  size of one value in memory
/// @return NetCDF status
[[nodiscard]] int get_part(const NcFile& file, int group, int variable, const VariablePart& part,
                           std::size_t value_bytes, void* to);

}  // namespace merganser::io
