#pragma once
/// The header of a file that is to be written: everything that every rank defines alike.
#include <cstdint>
#include <vector>

#include "merganser/geometry/box.hpp"
#include "src/io/columns.hpp"
#include "src/io/layout.hpp"
#include "src/io/netcdf/heading.hpp"
#include "src/io/netcdf/nc_file.hpp"

namespace merganser::io {

struct NewFile {
  const Grid& grid;
  const std::vector<Column>& columns;  ///< the ids too
  const Layout& layout;
  const FileHeading& heading;
  bool with_boxes;  ///< what each rank's block is
};

/// Numbers of the variables of one file.
struct Defined {
  int time = -1;
  std::vector<int> columns;
  std::vector<int> boxes;              ///< start_index, xlo, xhi, ylo, yhi; empty if left out
  std::vector<VariableNumber> others;  ///< of the heading
};

/// Length of the chunks of every column.
[[nodiscard]] std::vector<std::int64_t> chunks(const std::vector<Column>& columns, std::int64_t total);

/// Attributes that every file gets: version and time of creation. Call under the lock.
void put_provenance(const NcFile& file);

/// @throws InputError if the library does not take it
[[nodiscard]] Defined define(NcFile& file, const NewFile& in);

}  // namespace merganser::io
