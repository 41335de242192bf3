#pragma once
/// Conversion between parcels and columns of arrays, for tests of the C interface.
#include <cstdint>
#include <vector>

#include "merganser/geometry/box.hpp"
#include "merganser/merganser.h"
#include "merganser/parcels/parcels.hpp"

namespace merganser::test {

inline Grid the_grid() { return {{{-0.5, 0.25, 0}, {8, 8.8, 7.2}, {true, true, false}}, {8, 8, 8}}; }
/// The box of the_grid().
inline mg_box the_box() { return {sizeof(mg_box), {-0.5, 0.25, 0}, {8, 8.8, 7.2}, {1, 1, 0}, 0}; }

/// A structure of arrays with EPIC's attributes, or as many as a schema has.
struct ColumnArrays {
  std::vector<double> xyz;  // x y z beside each other
  std::vector<double> volume;
  std::vector<std::vector<double>> attributes;
  std::vector<std::int64_t> ids;
  std::vector<double*> pointers;

  ColumnArrays(std::size_t n, std::size_t columns)
      : xyz(3 * n), volume(n), attributes(columns, std::vector<double>(n)), ids(n) {}

  explicit ColumnArrays(const Parcels& p, std::size_t columns = 9) : ColumnArrays(p.size(), columns) {
    for (std::size_t i = 0; i < p.size(); ++i) {
      const Site& site = p.site(i);
      xyz[3 * i] = site.x;
      xyz[3 * i + 1] = site.y;
      xyz[3 * i + 2] = site.z;
      volume[i] = site.volume;
      ids[i] = p.id(i);
      for (std::size_t a = 0; a < columns; ++a) attributes[a][i] = p.row(i)[1 + a];
    }
  }

  /// As the C interface takes them. Valid until a column grows.
  mg_columns record(std::size_t count) {
    pointers.clear();
    for (auto& column : attributes) pointers.push_back(column.data());
    mg_columns c{};
    c.struct_size = sizeof c;
    c.count = count;
    c.x = xyz.data();
    c.y = xyz.data() + 1;
    c.z = xyz.data() + 2;
    c.position_stride = 3;
    c.volume = volume.data();
    c.attributes = pointers.size();
    c.columns = pointers.data();
    c.ids = ids.data();
    return c;
  }
  mg_columns record() { return record(ids.size()); }

  /// The same as a container with EPIC's attributes.
  Parcels parcels(std::size_t n) const {
    Parcels p;
    p.resize(n);
    for (std::size_t i = 0; i < n; ++i) {
      p.site(i) = {xyz[3 * i], xyz[3 * i + 1], xyz[3 * i + 2], volume[i]};
      p.set_id(i, ids[i]);
      for (std::size_t a = 0; a < p.schema().width() - 1; ++a)
        p.row(i)[1 + a] = a < attributes.size() ? attributes[a][i] : 0;
    }
    return p;
  }
};

}  // namespace merganser::test
