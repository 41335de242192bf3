#pragma once
/// Arrays over the points as which files of VTKHDF, VTU and NPZ hold the columns of parcels.
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "src/io/particles/write_particles.hpp"

namespace merganser::io {

/// Array over the points: its columns, and what it tells of its attribute.
struct PointArray {
  std::string name;
  std::span<const Column> columns;
  const Attribute* attribute = nullptr;  ///< null: of no attribute beside EPIC's
  std::int64_t place = 0;
};

/// Lists the arrays over the points, positions left out: vectors of three numbers of one type, else one array for each column.
[[nodiscard]] std::vector<PointArray> point_arrays(const ParticlesToWrite& in);
/// Returns the name by which files tell a merge rule; empty for one that no file tells.
[[nodiscard]] std::string rule_name(Rule rule);
/// Copies the values of one parcel in an array over the points, a double for each of its columns.
void put_array_row(const ParticlesToWrite& in, const PointArray& array, std::size_t parcel, double* to);

}  // namespace merganser::io
