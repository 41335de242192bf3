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
/// Copies the values of some of this rank's parcels in columns, parcel after parcel, a double for each column.
void put_array_rows(const ParticlesToWrite& in, std::span<const Column> columns, std::span<const std::size_t> parcels,
                    double* to);

}  // namespace merganser::io
