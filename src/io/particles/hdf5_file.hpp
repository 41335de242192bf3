#pragma once
/// Files of HDF5 that are not NetCDF's: groups, attributes and datasets, read and written through the HDF5 library that the NetCDF
/// library of this process is linked with, so that a process never has two. Call everything here under the lock of NetCDF
/// (netcdf/nc_file.hpp), which is HDF5's too.
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "src/io/columns.hpp"
#include "src/io/netcdf/hdf5_calls.hpp"

namespace merganser::io::hdf5 {

/// Kinds of objects in an HDF5 file.
enum class ObjectKind { none, group, dataset };

/// Owner of an identifier of an HDF5 object (file, group, dataset), which its destructor closes.
class Object {
 public:
  Object() = default;
  Object(Id id, int (*close)(Id)) : id_(id), close_(close) {}
  Object(Object&& o) noexcept : id_(o.id_), close_(o.close_) { o.id_ = kNoId; }
  Object& operator=(Object&& o) noexcept;
  Object(const Object&) = delete;
  ~Object();
  /// Returns the HDF5 identifier of the object; negative if there is none.
  [[nodiscard]] Id id() const noexcept { return id_; }
  /// Closes the HDF5 object. @return false if HDF5 reports an error, as a write that failed
  bool close();

 private:
  Id id_ = kNoId;
  int (*close_)(Id) = nullptr;
};

/// Type, length and storage of a dataset of an HDF5 file.
struct DatasetInfo {
  std::optional<FileType> type;  ///< type of its numbers; empty: text, or numbers that a double cannot hold
  std::vector<std::int64_t> shape;
  FileStorage storage;  ///< chunk along the first dimension and filters
};

/// HDF5 file, open for reading, or new.
class File {
 public:
  /// Opens an HDF5 file for reading. @throws InputError if this build has no HDF5, or the file is damaged
  static File open(const std::string& path);
  /// Creates an HDF5 file, in place of one of this name. @param shown  its name in messages
  /// @throws InputError if that fails
  static File create(const std::string& path, std::string shown);

  /// Returns the name of the HDF5 file in messages.
  [[nodiscard]] const std::string& path() const noexcept { return path_; }
  /// Returns the HDF5 identifier of the file, that of its root group too.
  [[nodiscard]] Id id() const noexcept { return file_.id(); }
  /// Flushes and closes the HDF5 file. @throws InputError if that fails
  void close();

  /// Returns what stands at a path in the HDF5 file: "/" is the root group.
  [[nodiscard]] ObjectKind kind(const std::string& at) const;
  /// Lists the names of the members of an HDF5 group, ascending. @throws InputError unless it is a readable group
  [[nodiscard]] std::vector<std::string> members(const std::string& group) const;
  /// Lists the names of the attributes of an HDF5 object, ascending.
  [[nodiscard]] std::vector<std::string> attributes(const std::string& at) const;
  /// Returns true if an HDF5 object has an attribute of this name, of whatever type.
  [[nodiscard]] bool has_attribute(const std::string& at, const std::string& name) const;
  /// Reads a numeric attribute of an HDF5 object as doubles; empty if there is none of this name, or it is no number.
  [[nodiscard]] std::vector<double> numbers(const std::string& at, const std::string& name) const;
  /// Reads a text attribute of an HDF5 object: one text or an array of texts, without the zeros or blanks
  /// that fill those of one length; empty if there is none of this name, or no text.
  [[nodiscard]] std::vector<std::string> texts(const std::string& at, const std::string& name) const;

  /// Returns type, shape and storage of a dataset of the HDF5 file. @throws InputError if it cannot be read
  [[nodiscard]] DatasetInfo dataset(const std::string& at) const;
  /// Value of Rows::column with which whole rows are read.
  static constexpr std::int64_t kAllColumns = -1;
  /// Rows of a dataset of the HDF5 file that are read or written.
  struct Rows {
    std::int64_t first;       ///< first row
    std::int64_t count;       ///< number of rows
    std::int64_t width = 0;   ///< numbers of a row; 0: the dataset has one dimension
    std::int64_t column = 0;  ///< of a row the number that is read; kAllColumns: all `width`
  };
  /// Reads rows of a dataset of the HDF5 file, converted to a type in memory. @throws InputError if HDF5 reports an error
  void read(const std::string& at, FileType type, const Rows& rows, void* to) const;

  // Of a new file; each throws InputError if HDF5 reports an error.

  /// Creates a group in the new HDF5 file, with those above it.
  void make_group(const std::string& at) const;
  /// Creates a dataset of numbers in the new HDF5 file, with the groups above it. Its numbers are undefined until they are written.
  void make_dataset(const std::string& at, FileType type, std::span<const std::int64_t> shape,
                    const FileStorage& storage) const;
  /// Returns where the numbers of a dataset that make_dataset() created are in the new HDF5 file, one row after the other as in
  /// memory, so that other processes can write them there; none if they are in chunks, or of another byte order than here.
  [[nodiscard]] std::optional<std::uint64_t> place_of_numbers(const std::string& at) const;
  /// Writes rows of a dataset of the new HDF5 file; `width` values each, all columns.
  void write(const std::string& at, FileType type, const Rows& rows, const void* from) const;
  /// Writes an attribute of numbers: one number, or with `array` a list, in place of one of this name.
  void put(const std::string& at, const std::string& name, std::span<const double> values, bool array) const;
  void put(const std::string& at, const std::string& name, FileType type, std::span<const std::int64_t> values,
           bool array) const;
  /// Writes an attribute of one text of fixed length, in place of one of this name.
  void put(const std::string& at, const std::string& name, std::string_view text) const;
  /// Writes an attribute of several texts of one fixed length, in place of one of this name.
  void put(const std::string& at, const std::string& name, const std::vector<std::string>& texts) const;
  /// Copies the attributes of an object of another HDF5 file, but those that this one has, and those named.
  void copy_attributes(const File& from, const std::string& source, const std::string& to,
                       const std::vector<std::string>& without = {}) const;
  /// Copies a group or dataset of another HDF5 file with all that it holds.
  void copy(const File& from, const std::string& source, const std::string& to) const;

 private:
  File(Object file, std::string path) : file_(std::move(file)), path_(std::move(path)) {}
  /// Opens an object of the file. @throws InputError if that fails
  [[nodiscard]] Object open_object(const std::string& at) const;
  /// Opens an attribute of an object, if there is one of this name.
  [[nodiscard]] Object open_attribute(Id object, const std::string& name) const;
  /// Writes an attribute of a type in memory and of a type in the file.
  struct Values {
    Id memory_type;
    Id file_type;
    std::size_t count;
    bool array;
    const void* from;
  };
  void put_values(const std::string& at, const std::string& name, const Values& values) const;
  /// Throws InputError "PATH: cannot WHAT AT" unless the result of an HDF5 call is at least 0.
  void check(Id result, const char* what, const std::string& at) const;

  Object file_;
  std::string path_;
};

/// Returns true if this process has an HDF5 library with all that is needed here.
[[nodiscard]] bool available() noexcept;

}  // namespace merganser::io::hdf5
