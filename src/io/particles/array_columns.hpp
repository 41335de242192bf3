#pragma once
/// Columns and attributes of parcels that a file tells as arrays over its points: VTKHDF, VTU, NPZ, CSV.
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "src/io/particles/particle_file.hpp"

namespace merganser::io {

/// Array over the points of a file, as the file describes it.
struct ArrayAbout {
  std::string name;  ///< name of the array
  std::string at;    ///< name by which its numbers are read
  FileType type = FileType::f64;
  std::int64_t rows = 0;
  std::int64_t first_row = 0;  ///< row of the first point; in a series of time steps not 0
  std::int64_t width = 0;      ///< numbers of a row; 0: the array has one dimension
  FileStorage storage;
  std::string rule;             ///< name of the rule by which it merges; empty: the file tells none
  std::optional<double> place;  ///< place of the attribute in the schema
};

/// Maker of the columns and attributes of parcels from arrays over the points of one file.
class ArrayColumns {
 public:
  /// Adds the points of a file, without columns, to its description. @param path  of the file, for messages
  ArrayColumns(std::string path, std::int64_t points, ParticleFile& out);
  /// Adds the array of positions, three numbers in each row.
  void add_positions(const ArrayAbout& array);
  /// Adds an array. @throws InputError for one of another length, a column that is there already, or an unknown rule
  void add(const ArrayAbout& array);
  /// Makes the schema, from EPIC's attributes and those with a rule, and checks ids and volumes.
  /// @param where  words for the place of arrays, in messages @throws InputError without volumes, or for ids that are no integers
  void finish(const std::string& where);

 private:
  /// Attribute of the schema that the file tells of, and its place there.
  struct DeclaredAttribute {
    double place;
    Attribute attribute;
  };
  std::string path_;
  ParticleFile& out_;
  std::vector<DeclaredAttribute> declared_;
};

}  // namespace merganser::io
