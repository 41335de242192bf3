#pragma once
/// What a parcel file holds besides the values of its parcels: read with the file, carried into files made from it.
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "merganser/base/language.hpp"

namespace merganser::io {

/// Values of one of NetCDF's own types, as they lie in memory.
struct FileValues {
  int type = 0;  ///< NetCDF's number of it: 6 is double, 12 string
  std::int64_t count = 0;
  std::vector<std::byte> bytes;      ///< all but strings
  std::vector<std::string> strings;  ///< of type string
};

/// Of a file, a group or a variable.
struct FileAttribute {
  std::string name;
  FileValues values;
};

/// How a variable over the parcels lies in the file.
struct FileStorage {
  std::int64_t chunk = 0;  ///< parcels; 0: not said
  int deflate = 0;         ///< level; 0: not compressed
  bool shuffle = false;
  bool checksum = false;
};

/// A variable of a file.
struct FileVariable {
  std::string name;
  std::vector<std::string> dimensions;
  std::vector<FileAttribute> attributes;
  FileStorage storage;
  FileValues values;  ///< of those over the parcels the type alone
  std::vector<FileAttribute>
      unwritten;              ///< a `_FillValue` that is not one value of the type: it is obeyed, not carried
  bool skip_missing = false;  ///< a parcel may lack a value: rule missing=skip
};

/// A dimension of a file.
struct FileDimension {
  std::string name;
  std::int64_t length = 0;
  bool unlimited = false;
};

/// Attributes, dimensions, variables and groups that say nothing about single parcels, level by level.
struct FileGroup {
  std::string name;  ///< empty: the file itself
  std::vector<FileAttribute> attributes;
  std::vector<FileDimension> dimensions;
  std::vector<FileVariable> variables;
  std::vector<FileGroup> groups;
};

/// Something that cannot be carried.
struct FileLoss {
  std::string name;  ///< of the variable, with its groups, or of the attribute
  std::string what;  ///< "variable label, of type string"
};

/// The reader fills it, the writer takes it. An empty one is that of a new file.
struct FileHeading {
  FileGroup root;                     ///< without what every parcel file has, and the writer makes anew
  std::vector<FileVariable> columns;  ///< variables over the parcels, and `t`: types, attributes, storage
  std::vector<FileLoss> lost;

  /// Null if the file has no such variable over the parcels.
  [[nodiscard]] const FileVariable* column(std::string_view name) const;
};

}  // namespace merganser::io
