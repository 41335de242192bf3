#pragma once
/// An open NetCDF file. The library below is not safe for threads: every call goes through one lock.
#include <netcdf.h>

#include <cstddef>
#include <cstdint>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "merganser/base/library_call.hpp"
#include "merganser/comm/transport.hpp"

namespace merganser::io {

/// Held around every call of the NetCDF library.
class NetcdfLock {
 public:
  /// @param path  the file that the call is for; lives as long as the object
  explicit NetcdfLock(const std::string& path);

 private:
  std::unique_lock<std::mutex> lock_;
  LibraryCall call_;  // HDF5 crashes on some damaged files
};

class NcFile {
 public:
  /// Opens for reading, on this process alone. @throws InputError saying what is wrong with the file
  static NcFile open(const std::string& path);
  /// Creates a NetCDF-4 file, replacing what is there, alone or by all processes of `transport`
  /// (comm/netcdf_parallel.hpp; collective, all throw if one fails); messages name `shown`.
  static NcFile create(const std::string& path, const std::string& shown);
  static NcFile create(const std::string& path, const std::string& shown, comm::Transport& transport);

  NcFile(NcFile&& o) noexcept;
  NcFile& operator=(NcFile&&) = delete;
  NcFile(const NcFile&) = delete;
  ~NcFile();
  /// Closes, and so writes what is still held back. @throws InputError if that fails. Collective if opened by all processes.
  void close();

  [[nodiscard]] int id() const noexcept { return id_; }
  [[nodiscard]] bool collective() const noexcept { return collective_; }
  [[nodiscard]] const std::string& path() const noexcept { return shown_; }
  /// The file that HDF5 has open for this one; -1 where there is none, or it is open for writing.
  [[nodiscard]] std::int64_t stored() const noexcept { return stored_; }

  [[nodiscard]] NetcdfLock lock() const { return NetcdfLock(shown_); }
  /// @throws InputError "PATH: cannot WHAT: reason" unless status is NC_NOERR
  void check(int status, const std::string& what) const;

  /// Calls `f`, which calls the NetCDF library and gives its status, under the lock; nothing in it may lock again.
  template <class F>
  [[nodiscard]] int locked(F&& f) const {
    const NetcdfLock lock(shown_);
    return f();
  }
  /// The same, with check().
  template <class F>
  void call(const char* what, F&& f) const {
    check(locked(std::forward<F>(f)), what);
  }

  /// Gives the length of a dimension that `group` sees, in a file that is open for reading. NetCDF looks at every variable of
  /// the file to tell that of one that may grow: it is asked once. Call under the lock. @return NetCDF status
  [[nodiscard]] int length_of(int group, int dimension, std::size_t& length) const;
  [[nodiscard]] std::optional<std::int64_t> dimension(const std::string& name) const;
  [[nodiscard]] std::optional<int> variable(const std::string& name) const;
  /// A numeric global attribute of `count` values. @throws InputError if it is missing, of another length or type
  [[nodiscard]] std::vector<double> attribute(const std::string& name, std::size_t count) const;
  [[nodiscard]] bool has_attribute(const std::string& name) const;

 private:
  NcFile(int id, std::string shown, bool collective, std::int64_t stored = -1)
      : id_(id), shown_(std::move(shown)), collective_(collective), stored_(stored) {}
  int id_ = -1;
  std::string shown_;
  bool collective_ = false;
  std::int64_t stored_ = -1;
  mutable std::map<int, std::size_t> lengths_;  // of dimensions, of a file that is read
};

/// A part of a variable: where it begins, and how far it goes, in each of its dimensions; one entry more for none of them.
struct VariablePart {
  std::vector<std::size_t> start;
  std::vector<std::size_t> length;
  /// A dimension behind the first may grow, and this variable be shorter than it: NetCDF 4.9 reads such a part to wrong places
  /// and leaves some of them out, but for single rows.
  bool by_rows = false;
};

/// Reads it, if it is not empty, values of so many bytes each. Call under the lock. @return NetCDF status
[[nodiscard]] int get_part(const NcFile& file, int group, int variable, const VariablePart& part,
                           std::size_t value_bytes, void* to);

}  // namespace merganser::io
