#pragma once
/// Contents of a NetCDF parcel file except the values of its parcels (attributes, dimensions, other variables, groups):
/// read with the file and carried into files made from it.
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "merganser/base/language.hpp"

namespace merganser::io {

/// Array of values of a NetCDF attribute or variable, of one atomic type, in its representation in memory.
struct FileValues {
  int type = 0;                      ///< NetCDF's number of the type: 6 is double, 12 string
  std::int64_t count = 0;            ///< number of values
  std::vector<std::byte> bytes;      ///< the values, of every type but string
  std::vector<std::string> strings;  ///< the values of type string
};

/// Named attribute of a NetCDF file, group or variable.
struct FileAttribute {
  std::string name;
  FileValues values;
};

/// Storage of a NetCDF variable in its file: chunking and filters.
struct FileStorage {
  std::int64_t chunk = 0;  ///< length of a chunk in parcels; 0: unspecified
  int deflate = 0;         ///< compression level, 0 to 9; 0: not compressed
  bool shuffle = false;    ///< true if the shuffle filter precedes compression
  bool checksum = false;   ///< true if chunks carry a Fletcher32 checksum
};

/// Variable of a NetCDF file: name, shape, attributes, storage and values.
struct FileVariable {
  std::string name;
  std::vector<std::string> dimensions;  ///< names of its dimensions, slowest first
  std::vector<FileAttribute> attributes;
  FileStorage storage;
  FileValues values;  ///< the values; for variables over the parcels the type alone
  /// A `_FillValue` that is not one value of the variable's type: it defines missing values, but is not carried.
  std::vector<FileAttribute> unwritten;
  bool skip_missing = false;  ///< true if a parcel may lack a value: rule missing=skip
};

/// Dimension of a NetCDF file or group.
struct FileDimension {
  std::string name;
  std::int64_t length = 0;  ///< number of entries, at least 0
  bool unlimited = false;   ///< true if variables may grow along it
};

/// Group of a NetCDF file: attributes, dimensions, variables and subgroups that do not hold values of single parcels.
struct FileGroup {
  std::string name;  ///< name of the group; empty for the root group
  std::vector<FileAttribute> attributes;
  std::vector<FileDimension> dimensions;
  std::vector<FileVariable> variables;
  std::vector<FileGroup> groups;
};

/// Part of a parcel file (variable, attribute, group, time levels) that cannot be carried into files made from it.
struct FileLoss {
  std::string name;  ///< path of the variable with its groups, or name of the attribute
  std::string what;  ///< description for the user, as "variable label, of type string"
};

/// Formats of parcel files.
enum class FileFormat : int {
  epic,     ///< EPIC's, NetCDF-4
  openpmd,  ///< openPMD particles in HDF5
  vtkhdf,   ///< VTKHDF, points of PolyData
  vtu,      ///< VTK's XML, points of an UnstructuredGrid
  npz,      ///< NumPy's archive of arrays
  npy,      ///< one array of NumPy's, with a field for each column
  csv,      ///< text, a line for each parcel, below a line of names
};

/// Name of a column of parcels in a file that has another name for it: in CSV, by its first line.
struct ColumnName {
  std::string column;  ///< name here, as "x_position"
  std::string name;    ///< name in the file, as "x"
};

/// Place of a row in a CSV file.
struct CsvPlace {
  std::int64_t row = 0;     ///< number of the row, from 0
  std::int64_t line = 0;    ///< number of its line in the file, from 1
  std::int64_t offset = 0;  ///< bytes of the file before it
};

/// Description of a CSV file, by which each rank finds and reads its rows.
struct CsvSource {
  std::int64_t bytes = 0;          ///< size of the file; 0: the parcels come from no CSV file
  std::int64_t rows = 0;           ///< lines below the first that are not empty
  std::vector<std::string> names;  ///< names of the columns, by the first line
  std::vector<int>
      types;  ///< NetCDF's numbers of their types: int64 or uint64 where every field is a whole number, else double
  std::vector<std::string> texts;  ///< where the first field of a column is that is no number; empty: all are numbers
  std::vector<CsvPlace> places;    ///< of some of the rows, ascending
};

/// Place of the particles of an openPMD file, from which a writer carries what is not the particles' (meshes, attributes).
struct OpenpmdSource {
  std::string file;                    ///< name of the file; empty: the parcels come from none
  std::string iteration;               ///< path of the iteration that was read, as "/data/100"
  std::string meshes, particles;       ///< paths of its meshes and its particles; the former empty: it has none
  std::vector<std::string> species;    ///< names of the species that are read, ascending
  std::vector<std::string> constants;  ///< records that are constants of each species, and stay so
  bool marked_ids = false;             ///< true if all ids have the highest bit, which is taken off while they are here
};

/// Description of a parcel file that the reader fills and the writer applies. An empty one describes a new file.
struct FileMetadata {
  FileFormat format = FileFormat::epic;  ///< of the file that was read
  OpenpmdSource openpmd;
  FileGroup root;                     ///< root group, without the parts that the writer creates in every parcel file
  std::vector<FileVariable> columns;  ///< variables over the parcels, and `t`: types, attributes, storage
  std::vector<FileLoss> lost;         ///< parts that files made from this one will lack
  std::vector<ColumnName> csv_names;  ///< names of columns in a CSV file that is written; others have their own
  CsvSource csv;                      ///< of the CSV file that was read

  /// Returns the parcel file's variable of this name over the parcels, or null if the file has none. Local.
  [[nodiscard]] const FileVariable* column(std::string_view name) const;
};

}  // namespace merganser::io
