#pragma once
/// Helpers that create EPIC parcel files with further variables, attributes and groups, which io must carry through.
#include <array>
#include <cstdint>
#include <functional>
#include <limits>
#include <string>
#include <vector>

#include "merganser/comm/transport.hpp"
#include "tests/io/epic_file.hpp"

namespace merganser::test {

inline void expect_no_error(int status) { ASSERT_EQ(status, NC_NOERR) << nc_strerror(status); }

inline int dimension(int file, const char* name) {
  int id = -1;
  EXPECT_EQ(nc_inq_dimid(file, name, &id), NC_NOERR);
  return id;
}

/// A variable over the parcels.
template <class T>
int over_parcels(int file, const char* name, nc_type type, const std::vector<T>& values) {
  const std::array<int, 2> shape{dimension(file, "t"), dimension(file, "n_parcels")};
  int variable = -1;
  expect_no_error(nc_def_var(file, name, type, 2, shape.data(), &variable));
  const std::array<std::size_t, 2> start{0, 0};
  const std::array<std::size_t, 2> count{1, values.size()};
  expect_no_error(nc_put_vara(file, variable, start.data(), count.data(), values.data()));
  return variable;
}

inline const std::vector<std::int64_t> kLabels{1, std::numeric_limits<std::int64_t>::max(), -7, 9007199254740993, 5, 6};

/// Variables over the parcels of other types.
inline void add_other_variables(int file) {
  const int humidity = over_parcels<double>(file, "humidity", NC_DOUBLE, {.1, .2, .3, .4, .5, .6});
  expect_no_error(nc_put_att_text(file, humidity, "units", 5, "kg/kg"));
  over_parcels<float>(file, "theta", NC_FLOAT, {300.1F, 301, 302, 303, 304, 305});
  over_parcels<std::int64_t>(file, "label", NC_INT64, kLabels);
  over_parcels<std::int16_t>(file, "age", NC_SHORT, {1, 2, 3, 4, 5, 6});
}

/// Makes a file of this description; all ranks call it.
inline void make(comm::Transport& t, const std::string& path, const std::function<void(EpicFile&)>& change) {
  t.barrier();
  if (t.rank() == 0) {
    EpicFile file;
    change(file);
    file.make(path);
  }
  t.barrier();
}

}  // namespace merganser::test
