/// Tests of io: reading variables over unlimited dimensions takes time linear in their number, and gives the values that NetCDF
/// returns for single entries.
#include <dlfcn.h>
#include <gtest/gtest.h>

#include <array>
#include <cstring>

#include "merganser/comm/transport.hpp"
#include "merganser/io/data_file.hpp"
#include "merganser/io/parcel_file.hpp"
#include "tests/io/carried.hpp"
#include "tests/io/folder.hpp"

namespace {
std::int64_t lengths_asked = 0;  // how often NetCDF has asked HDF5 how long a variable is
}

/// Stands before HDF5's own, which NetCDF calls for every variable of a file when it looks how far a dimension has grown.
extern "C" __attribute__((visibility("default"))) int H5Sget_simple_extent_dims(std::int64_t space,
                                                                                unsigned long long* now,
                                                                                unsigned long long* most) {
  using Function = int(std::int64_t, unsigned long long*, unsigned long long*);
  static auto* const next = reinterpret_cast<Function*>(::dlsym(RTLD_NEXT, "H5Sget_simple_extent_dims"));
  ++lengths_asked;
  return next == nullptr ? -1 : next(space, now, most);
}

namespace {

using namespace merganser;
using namespace merganser::test;

int define_variable(int file, const std::string& name, nc_type type, const std::vector<int>& shape) {
  int variable = -1;
  expect_no_error(nc_def_var(file, name.c_str(), type, static_cast<int>(shape.size()), shape.data(), &variable));
  return variable;
}

/// A file with so many variables over t, and as many over t and the parcels.
void make_many(const std::string& path, int count) {
  EpicFile file;
  file.more = [&](int id) {
    for (int i = 0; i < count; ++i) {
      const int mean = define_variable(id, "mean" + std::to_string(i), NC_DOUBLE, {dimension(id, "t")});
      const std::size_t at = 0;
      const double value = i;
      if (i % 3 > 0) expect_no_error(nc_put_var1_double(id, mean, &at, &value));  // the others were never written
      over_parcels<float>(id, ("tracer" + std::to_string(i)).c_str(), NC_FLOAT, {1, 2, 3, 4, 5, 6});
    }
  };
  file.make(path);
}

std::int64_t asked_by(const std::function<void()>& f) {
  const std::int64_t before = lengths_asked;
  f();
  return lengths_asked - before;
}

void read_all(const std::string& path, int count) {
  io::ParcelFileInfo info = io::read_info(path);
  EXPECT_EQ(info.metadata.root.variables.size(), static_cast<std::size_t>(count));
  std::vector<io::VariableRule> rules;
  for (int i = 0; i < count; ++i) rules.push_back({"tracer" + std::to_string(i), Rule::mean, false});
  io::add_variables(path, info, rules);
  comm::run({"threads", 1}, [&](comm::Transport& t) {
    const Parcels parcels = io::read_parcels(path, info, t);
    EXPECT_EQ(parcels.size(), EpicFile::kParcels);
  });
}

TEST(Growing, variables_are_read_by_calls_that_grow_with_their_number_not_with_its_square) {
  if (comm::launched()) GTEST_SKIP() << "one process only";
  const Folder folder;
  for (const bool parcels : {true, false}) {
    std::array<std::int64_t, 3> asked{};
    for (const int i : {0, 1, 2}) {
      const int count = 20 * (i + 1);
      const std::string path = folder.file(std::to_string(count) + ".nc");
      make_many(path, count);
      asked[static_cast<std::size_t>(i)] = asked_by([&] {
        if (parcels) {
          read_all(path, count);
        } else {
          EXPECT_GT(io::read_data(path).variables.size(), static_cast<std::size_t>(count));
        }
      });
    }
    if (asked[0] == 0) GTEST_SKIP() << "NetCDF's calls of HDF5 cannot be counted here";
    EXPECT_EQ(asked[2] - asked[1], asked[1] - asked[0]) << asked[0] << ' ' << asked[1] << ' ' << asked[2];
  }
}

/// Numbers of each type, with what is never written between; written up to the second of three levels of t.
void add_every_type(int id) {
  const std::vector<int> over_t{dimension(id, "t")};
  for (const nc_type type :
       {NC_BYTE, NC_UBYTE, NC_SHORT, NC_USHORT, NC_INT, NC_UINT, NC_INT64, NC_UINT64, NC_FLOAT, NC_DOUBLE, NC_CHAR}) {
    const std::string name = "type" + std::to_string(type);
    const std::array<std::size_t, 1> last{2};
    const std::array<std::size_t, 1> first{0};
    const std::array<unsigned char, 8> bits{0x11, 0x22, 0x33, 0x44, 0x55, 0x66, 0x37, 0x38};
    expect_no_error(nc_put_var1(id, define_variable(id, name, type, over_t), last.data(), bits.data()));
    expect_no_error(nc_put_var1(id, define_variable(id, name + "_short", type, over_t), first.data(), bits.data()));
    const int filled = define_variable(id, name + "_filled", type, over_t);
    expect_no_error(nc_def_var_fill(id, filled, NC_FILL, bits.data()));
    expect_no_error(nc_put_var1(id, filled, first.data(), bits.data()));
    const int never = define_variable(id, name + "_never", type, over_t);
    expect_no_error(nc_def_var_fill(id, never, NC_FILL, bits.data()));
    const int without = define_variable(id, name + "_without_fill", type, over_t);
    expect_no_error(nc_def_var_fill(id, without, NC_NOFILL, nullptr));
    expect_no_error(nc_put_var1(id, without, first.data(), bits.data()));
  }
  const char* text = "a text";
  const std::array<std::size_t, 1> at{2};
  const std::array<std::size_t, 1> first{0};
  expect_no_error(nc_put_var1_string(id, define_variable(id, "words", NC_STRING, over_t), at.data(), &text));
  expect_no_error(nc_put_var1_string(id, define_variable(id, "words_short", NC_STRING, over_t), first.data(), &text));
}

/// Shapes, chunks, packing, byte order, names.
void add_every_shape(int id) {
  int n = -1;
  int m = -1;
  int u = -1;
  expect_no_error(nc_def_dim(id, "n", 5, &n));
  expect_no_error(nc_def_dim(id, "m", 3, &m));
  expect_no_error(nc_def_dim(id, "u", NC_UNLIMITED, &u));
  const int t = dimension(id, "t");
  std::vector<double> values;
  for (int i = 0; i < 100; ++i) values.push_back(std::sin(i));
  const auto put = [&](int group, int variable, const std::vector<std::size_t>& length) {
    const std::vector<std::size_t> start(length.size(), 0);
    expect_no_error(nc_put_vara_double(group, variable, start.data(), length.data(), values.data()));
  };
  const int packed = define_variable(id, "packed", NC_DOUBLE, {t, n, m});
  const std::array<std::size_t, 3> chunk{2, 2, 3};
  expect_no_error(nc_def_var_chunking(id, packed, NC_CHUNKED, chunk.data()));
  expect_no_error(nc_def_var_deflate(id, packed, 1, 1, 5));
  expect_no_error(nc_def_var_fletcher32(id, packed, NC_FLETCHER32));
  put(id, packed, {3, 5, 3});
  const int big = define_variable(id, "big_endian", NC_INT, {t, n});
  expect_no_error(nc_def_var_endian(id, big, NC_ENDIAN_BIG));
  put(id, big, {3, 5});
  put(id, define_variable(id, "t_behind", NC_FLOAT, {n, t}), {5, 3});
  put(id, define_variable(id, "both_grow", NC_DOUBLE, {t, u}), {3, 4});
  put(id, define_variable(id, "both_grow_short", NC_DOUBLE, {u, t}), {2, 2});
  put(id, define_variable(id, "long_u", NC_DOUBLE, {u}), {7});
  put(id, define_variable(id, "n", NC_DOUBLE, {t}), {3});  // bears the name of a dimension that it is not over
  put(id, define_variable(id, "u", NC_DOUBLE, {u}), {7});  // holds the coordinates of a dimension
  int group = -1;
  expect_no_error(nc_def_grp(id, "inner", &group));
  put(group, define_variable(group, "in_group", NC_DOUBLE, {t, n}), {2, 5});
  put(group, define_variable(group, "m", NC_DOUBLE, {t}), {3});
}

/// Compares each value with what NetCDF reads alone; of t the last level.
void expect_single_values(int file, const io::FileGroup& group, int& compared) {
  for (const io::FileVariable& v : group.variables) {
    SCOPED_TRACE(group.name + "/" + v.name);
    int variable = -1;
    expect_no_error(nc_inq_varid(file, v.name.c_str(), &variable));
    int rank = 0;
    expect_no_error(nc_inq_varndims(file, variable, &rank));
    std::vector<int> dimensions(static_cast<std::size_t>(rank));
    expect_no_error(nc_inq_vardimid(file, variable, dimensions.data()));
    std::vector<std::size_t> lengths(dimensions.size()), at(dimensions.size());
    for (std::size_t d = 0; d < lengths.size(); ++d) expect_no_error(nc_inq_dimlen(file, dimensions[d], &lengths[d]));
    for (std::int64_t i = 0; i < v.values.count; ++i) {
      auto rest = static_cast<std::size_t>(i);
      for (std::size_t d = lengths.size(); d-- > 0;) {
        const bool time = v.dimensions[d] == "t";
        at[d] = time ? lengths[d] - 1 : rest % lengths[d];
        if (!time) rest /= lengths[d];
      }
      ++compared;
      if (v.values.type == NC_STRING) {
        char* text = nullptr;
        expect_no_error(nc_get_var1_string(file, variable, at.data(), &text));
        EXPECT_EQ(v.values.strings[static_cast<std::size_t>(i)], text == nullptr ? "" : text);
        expect_no_error(nc_free_string(1, &text));
        continue;
      }
      std::array<std::byte, 8> value{};
      expect_no_error(nc_get_var1(file, variable, at.data(), value.data()));
      const std::size_t bytes = v.values.bytes.size() / static_cast<std::size_t>(v.values.count);
      EXPECT_EQ(std::memcmp(value.data(), v.values.bytes.data() + static_cast<std::size_t>(i) * bytes, bytes), 0) << i;
    }
  }
  for (const io::FileGroup& inner : group.groups) {
    int id = -1;
    expect_no_error(nc_inq_grp_ncid(file, inner.name.c_str(), &id));
    expect_single_values(id, inner, compared);
  }
}

TEST(Growing, variables_of_every_type_and_shape_have_the_values_that_netcdf_gives_one_by_one) {
  const Folder folder;
  const std::string path = folder.file("in.nc");
  EpicFile file;
  file.more = [](int id) {
    add_every_type(id);
    add_every_shape(id);
    for (const char* name : {"x_position", "y_position", "z_position"}) {  // these have all levels
      int variable = -1;
      expect_no_error(nc_inq_varid(id, name, &variable));
      const std::array<std::size_t, 2> start{2, 0};
      const std::array<std::size_t, 2> count{1, EpicFile::kParcels};
      const std::array<double, EpicFile::kParcels> values{.1, .2, .3, .4, .5, .6};
      expect_no_error(nc_put_vara_double(id, variable, start.data(), count.data(), values.data()));
    }
  };
  file.make(path);
  const io::ParcelFileInfo info = io::read_info(path);
  int id = -1;
  expect_no_error(nc_open(path.c_str(), NC_NOWRITE, &id));
  int compared = 0;
  expect_single_values(id, info.metadata.root, compared);
  EXPECT_GT(compared, 110);
  expect_no_error(nc_close(id));
}

}  // namespace
