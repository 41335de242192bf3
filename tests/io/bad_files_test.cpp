/// Tests of io: every kind of invalid parcel file gives an InputError on all ranks that names the fault.
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <cmath>
#include <cstring>
#include <fstream>
#include <limits>
#include <span>

#include "merganser/base/error.hpp"
#include "merganser/comm/collectives.hpp"
#include "merganser/io/parcel_file.hpp"
#include "tests/io/epic_file.hpp"
#include "tests/io/folder.hpp"
#include "tests/support/ranks.hpp"

namespace {

using namespace merganser;
using namespace merganser::test;
using comm::Transport;

const double kNan = std::numeric_limits<double>::quiet_NaN();
const double kInf = std::numeric_limits<double>::infinity();

struct BadFile {
  const char* name;
  std::function<void(EpicFile&)> spoil;
  std::vector<const char*> says;  ///< all in the error's text
};

/// One value of one parcel spoiled.
std::function<void(EpicFile&)> value(const char* variable, std::size_t parcel, double x) {
  return [=](EpicFile& f) { f.variables[variable][parcel] = x; };
}

std::function<void(EpicFile&)> ids(std::vector<double> values) {
  return [values = std::move(values)](EpicFile& f) {
    f.variables["merganser_id"] = values;
    f.types["merganser_id"] = NC_INT64;
  };
}

/// A variable with an attribute that says what its values mean.
std::function<void(EpicFile&)> packed(const char* variable, const char* attribute, std::vector<double> by) {
  return [=](EpicFile& f) {
    f.more = [=](int file) {
      int number = 0;
      nc_inq_varid(file, variable, &number);
      EXPECT_EQ(nc_put_att_double(file, number, attribute, NC_DOUBLE, by.size(), by.data()), NC_NOERR);
    };
  };
}

std::vector<BadFile> bad_files() {
  std::vector<BadFile> list{
      {"no_parcel_dimension", [](EpicFile& f) { f.parcel_dimension = "n"; }, {"n_parcels is missing"}},
      {"no_time_level", [](EpicFile& f) { f.time_level = false; }, {"has no time level"}},
      {"short_variable", [](EpicFile& f) { f.variables["B12"].resize(5); }, {"B12 has length 5", "n_parcels is 6"}},
      {"float_variable", [](EpicFile& f) { f.types["volume"] = NC_FLOAT; }, {"volume has type float", "double"}},
      {"text_variable", [](EpicFile& f) { f.types["x_position"] = NC_CHAR; }, {"x_position has type char"}},
      {"half_a_vorticity", [](EpicFile& f) { f.variables.erase("y_vorticity"); }, {"y_vorticity is missing, but"}},
      {"text_attributes", [](EpicFile& f) { f.text_attributes = true; }, {"must hold 3 numbers"}},
      {"two_cell_numbers",
       [](EpicFile& f) {
         f.attributes["ncells"] = {4, 4};
       },
       {"ncells must hold 3", "it has 2"}},
      {"no_cells",
       [](EpicFile& f) {
         f.attributes["ncells"] = {4, 0, 4};
       },
       {"ncells holds 0", "at least 1"}},
      {"half_a_cell",
       [](EpicFile& f) {
         f.attributes["ncells"] = {4, 1.5, 4};
       },
       {"ncells holds 1.5", "whole"}},
      {"nan_cells",
       [](EpicFile& f) {
         f.attributes["ncells"] = {4, kNan, 4};
       },
       {"ncells holds", "whole"}},
      {"too_many_cells",
       [](EpicFile& f) {
         f.attributes["ncells"] = {1e15, 1e15, 4};
       },
       {"axis x: 1000000000000000 cells; allowed: 1 to 16777216"}},
      {"cells_beyond_memory",
       [](EpicFile& f) {
         f.attributes["ncells"] = {16384, 8192, 8192};
       },
       {"16384x8192x8192 cells; allowed: fewer than 2^40 in all"}},
      {"far_origin",
       [](EpicFile& f) {
         f.attributes["origin"] = {1e17, -1, -1};
       },
       {"ncells, origin and extent: axis x from 1e+17", "cannot be told apart"}},
      {"half_periodic",
       [](EpicFile& f) {
         f.attributes["periodic"] = {1, 1, 0.5};
       },
       {"periodic holds 0.5; allowed: 0 or 1"}},
      {"negative_extent",
       [](EpicFile& f) {
         f.attributes["extent"] = {2, -2, 2};
       },
       {"extent holds -2", "positive"}},
      {"infinite_extent",
       [](EpicFile& f) {
         f.attributes["extent"] = {2, kInf, 2};
       },
       {"extent holds inf"}},
      {"nan_origin",
       [](EpicFile& f) {
         f.attributes["origin"] = {kNan, 0, 0};
       },
       {"origin is not finite"}},
      {"nan_position",
       value("y_position", 3, kNan),
       {"variable \"y_position\": 1 of 6 values is missing, of parcel 3 (NaN); allowed"}},
      {"infinite_position", value("x_position", 5, -kInf), {"parcel 5: x_position is -inf"}},
      {"above_the_wall", value("z_position", 0, 1.5), {"parcel 0: z_position is 1.5", "outside the walls", "-1 to 1"}},
      {"below_the_wall", value("z_position", 1, -7), {"parcel 1: z_position is -7, outside the walls"}},
      {"zero_volume", value("volume", 2, 0), {"parcel 2: volume is 0; allowed: 1e-120"}},
      {"negative_volume", value("volume", 4, -3), {"parcel 4: volume is -3; allowed: 1e-120"}},
      {"nan_volume", value("volume", 4, kNan), {"variable \"volume\"", "of parcel 4 (NaN)"}},
      {"infinite_volume", value("volume", 4, kInf), {"parcel 4: volume is inf"}},
      {"nan_buoyancy", value("buoyancy", 0, kNan), {"variable \"buoyancy\"", "of parcel 0 (NaN)"}},
      {"nan_vorticity", value("z_vorticity", 0, kInf), {"parcel 0: z_vorticity is inf"}},
      {"singular_ellipsoid", value("B12", 3, 0.01), {"parcel 3: the ellipsoid is singular", "B12 = 0.01"}},
      {"negative_ellipsoid", value("B11", 5, -0.01), {"parcel 5: the ellipsoid is singular", "B11 = -0.01"}},
      {"nan_ellipsoid", value("B23", 1, kNan), {"variable \"B23\"", "of parcel 1 (NaN)"}},
      {"wild_ellipsoid", value("B23", 1, 1e160), {"parcel 1: B23 is 1e+160; allowed: -1e+80 to 1e+80"}},
      {"tiny_ellipsoid",
       [](EpicFile& f) {
         value("B11", 1, 1e-210)(f);
         value("B12", 1, 0)(f);
       },
       {"parcel 1: B11 is 1e-210; allowed: 1e-200 to 1e+80"}},
      {"long_ellipsoid", value("volume", 2, 1e99), {"parcel 2: B33", "is 5.7", "e+200; allowed: 1e-200 to 1e+80"}},
      {"wild_buoyancy", value("buoyancy", 3, -1e160), {"parcel 3: buoyancy is -1e+160; allowed: -1e+100 to 1e+100"}},
      {"wild_vorticity", value("x_vorticity", 3, 1e160), {"parcel 3: x_vorticity is 1e+160; allowed"}},
      {"wild_volume", value("volume", 3, 1e160), {"parcel 3: volume is 1e+160; allowed: 1e-120 to 1e+120"}},
      {"tiny_volume", value("volume", 3, 1e-160), {"parcel 3: volume is 1e-160; allowed: 1e-120 to 1e+120"}},
      {"wild_extent",
       [](EpicFile& f) {
         f.attributes["extent"] = {2, 2e60, 2};
       },
       {"extent holds 2e+60; allowed: 1e-40 to 1e+40"}},
      {"wild_origin",
       [](EpicFile& f) {
         f.attributes["origin"] = {-1e60, -1, -1};
       },
       {"origin holds -1e+60; allowed: -1e+40 to 1e+40"}},
      {"negative_id", ids({4, 5, -6, 7, 8, 9}), {"parcel 2: its id is -6; allowed: 0 and above"}},
      {"repeated_id", ids({4, 5, 6, 7, 4, 9}), {"parcels 0 and 4 have the same id, 4; ids must be unique"}},
      {"short_ids", ids({4, 5, 6}), {"merganser_id has length 3", "n_parcels is 6"}},
      {"floating_ids",
       [](EpicFile& f) { f.variables["merganser_id"] = {4, 5, 6, 7, 8, 9}; },
       {"merganser_id has type double; it must be int64"}},
      {"packed_volume", packed("volume", "scale_factor", {1e18}), {"volume is packed: scale_factor = 1e+18; allowed"}},
      {"shifted_position",
       packed("x_position", "add_offset", {-2}),
       {"x_position is packed: add_offset = -2; allowed"}},
      {"two_scales", packed("B11", "scale_factor", {1, 1}), {"B11 is packed: scale_factor = 2 values"}},
      {"bad_parcel_with_id",
       [](EpicFile& f) {
         ids({4, 5, 6, 7, 8, 9})(f);
         f.variables["volume"][2] = 0;
       },
       {"parcel 2 (id 6): volume is 0"}},
  };
  for (const char* name : {"x_position", "y_position", "z_position", "volume", "B11", "B12", "B13", "B22", "B23"})
    list.push_back({name, [name](EpicFile& f) { f.variables.erase(name); }, {"the variable", name, "is missing"}});
  for (const char* name : {"ncells", "extent", "origin"})
    list.push_back(
        {name, [name](EpicFile& f) { f.attributes.erase(name); }, {"the global attribute", name, "missing"}});
  return list;
}

class BadFiles : public testing::TestWithParam<Setup> {};
INSTANTIATE_TEST_SUITE_P(Models, BadFiles, testing::ValuesIn(setups()), setup_name<testing::TestParamInfo<Setup>>);

/// The InputError that reading gives, the same on every rank; "" if there is none.
std::string error_message(Transport& t, const std::string& path) {
  std::string what;
  try {
    const io::ParcelFileInfo info = io::read_info(path, t);
    static_cast<void>(io::read_parcels(path, info, t));
  } catch (const InputError& e) {
    what = e.what();
  }
  for (const auto other : comm::all_gather(t, what)) EXPECT_EQ(std::string(other.begin(), other.end()), what);
  return what;
}

/// Lets rank 0 make a file while the others wait: the NetCDF library is used by one thread at a time.
void on_first(Transport& t, const std::function<void()>& body) {
  t.barrier();
  if (t.rank() == 0) body();
  t.barrier();
}

TEST_P(BadFiles, give_every_rank_one_line_that_says_what_is_wrong) {
  on_ranks(GetParam(), [](Transport& t) {
    const Folder folder(t);
    const std::string path = folder.file("bad.nc");
    for (const BadFile& bad : bad_files()) {
      on_first(t, [&] {
        EpicFile file;
        bad.spoil(file);
        file.make(path);
      });
      const std::string what = error_message(t, path);
      EXPECT_EQ(what.find('\n'), std::string::npos);
      EXPECT_EQ(what.find(path), 0U) << bad.name << ": " << what;
      for (const char* part : bad.says) EXPECT_NE(what.find(part), std::string::npos) << bad.name << ": " << what;
    }
    t.barrier();
  });
}

TEST_P(BadFiles, the_unspoiled_file_and_its_harmless_variants_are_read) {
  on_ranks(GetParam(), [](Transport& t) {
    const Folder folder(t);
    const std::string path = folder.file("good.nc");
    const auto read = [&](const std::function<void(EpicFile&)>& change) {
      on_first(t, [&] {
        EpicFile file;
        change(file);
        file.make(path);
      });
      const io::ParcelFileInfo info = io::read_info(path, t);
      EXPECT_EQ(info.parcels, 6);
      return std::pair(info, io::read_parcels(path, info, t));
    };
    read([](EpicFile&) {});
    read([](EpicFile& f) { f.time = false; });
    read(packed("volume", "scale_factor", {1}));
    read(packed("volume", "add_offset", {0}));
    const auto [info, still] = read([](EpicFile& f) {
      for (const char* name : {"x_vorticity", "y_vorticity", "z_vorticity", "buoyancy"}) f.variables.erase(name);
    });
    EXPECT_FALSE(info.schema.has("vorticity") || info.schema.has("buoyancy"));
    EXPECT_EQ(still.schema(), info.schema);
    const auto [_, wrapped] = read([](EpicFile& f) {
      f.variables["x_position"].assign(6, 1.25);
      f.variables["y_position"].assign(6, -5.5);
      f.variables["z_position"].assign(6, 1);  // on the wall
    });
    for (std::size_t i = 0; i < wrapped.size(); ++i) {
      EXPECT_EQ(wrapped.site(i).x, -0.75);
      EXPECT_EQ(wrapped.site(i).y, 0.5);
      EXPECT_EQ(wrapped.site(i).z, 1);
    }
    t.barrier();
  });
}

TEST_P(BadFiles, what_is_no_netcdf_file_is_told_apart) {
  on_ranks(GetParam(), [](Transport& t) {
    const Folder folder(t);
    const auto says = [&](const std::string& path, const char* part) {
      const std::string what = error_message(t, path);
      EXPECT_NE(what.find(part), std::string::npos) << what;
      EXPECT_NE(what.find(path), std::string::npos) << what;
    };
    on_first(t, [&] {
      std::ofstream(folder.file("empty.nc"));
      std::ofstream(folder.file("text.nc")) << "x y z\n1 2 3\n";
      std::ofstream(folder.file("short.nc")) << "CD";
    });
    says(folder.file("missing.nc"), "No such file");
    says(folder.path().string(), "not a plain file");
    says("/dev/zero", "not a plain file");
    says(folder.file("empty.nc"), "the file is empty");
    says(folder.file("text.nc"), "not a NetCDF file");
    says(folder.file("short.nc"), "not a NetCDF file");
    t.barrier();
  });
}

TEST_P(BadFiles, a_truncated_file_is_refused_wherever_it_ends) {
  on_ranks(GetParam(), [](Transport& t) {
    const Folder folder(t);
    const std::string path = folder.file("cut.nc");
    on_first(t, [&] { EpicFile().make(path); });
    const auto whole = std::filesystem::file_size(path);
    t.barrier();
    for (const std::uintmax_t part : {8U, 16U, 100U, 500U, 900U, 999U}) {
      on_first(t, [&] {
        EpicFile().make(path);
        std::filesystem::resize_file(path, whole * part / 1000);
      });
      const std::string what = error_message(t, path);
      EXPECT_NE(what.find("truncated or damaged"), std::string::npos) << part << ": " << what;
    }
    t.barrier();
  });
}

/// B23 in chunks of two parcels with checksums, one bit of the last value flipped.
void write_file_with_bad_tail(const std::string& path) {
  EpicFile file;
  file.variables.erase("B23");
  const std::vector<double> values{1e-4, 2e-4, 3e-4, 4e-4, 5e-4, 0.000612345678};
  file.more = [&](int id) {
    int dimensions[2] = {0, 0};
    int variable = 0;
    const std::size_t chunk[2] = {1, 2};
    const std::size_t start[2] = {0, 0};
    const std::size_t count[2] = {1, values.size()};
    ASSERT_EQ(nc_inq_dimid(id, "t", &dimensions[0]), NC_NOERR);
    ASSERT_EQ(nc_inq_dimid(id, "n_parcels", &dimensions[1]), NC_NOERR);
    ASSERT_EQ(nc_def_var(id, "B23", NC_DOUBLE, 2, dimensions, &variable), NC_NOERR);
    ASSERT_EQ(nc_def_var_chunking(id, variable, NC_CHUNKED, chunk), NC_NOERR);
    ASSERT_EQ(nc_def_var_fletcher32(id, variable, NC_FLETCHER32), NC_NOERR);
    ASSERT_EQ(nc_put_vara_double(id, variable, start, count, values.data()), NC_NOERR);
  };
  file.make(path);
  std::fstream bytes(path, std::ios::in | std::ios::out | std::ios::binary);
  const std::string all((std::istreambuf_iterator<char>(bytes)), {});
  std::string last(sizeof(double), ' ');
  std::memcpy(last.data(), &values.back(), sizeof(double));
  const auto at = all.find(last);
  ASSERT_NE(at, std::string::npos);
  ASSERT_EQ(all.find(last, at + 1), std::string::npos);
  bytes.clear();
  bytes.seekp(static_cast<std::streamoff>(at));
  bytes.put(static_cast<char>(all[at] ^ 1));
}

TEST_P(BadFiles, a_part_that_only_the_last_rank_reads_is_an_error_on_every_rank_if_it_is_damaged) {
  on_ranks(GetParam(), [](Transport& t) {
    const Folder folder(t);
    const std::string path = folder.file("end.nc");
    on_first(t, [&] { write_file_with_bad_tail(path); });
    const std::string what = error_message(t, path);
    EXPECT_NE(what.find("read B23"), std::string::npos) << what;
    t.barrier();
  });
}

TEST_P(BadFiles, a_file_that_changed_since_it_was_looked_at_is_refused) {
  on_ranks(GetParam(), [](Transport& t) {
    const Folder folder(t);
    const std::string path = folder.file("a.nc");
    on_first(t, [&] { EpicFile().make(path); });
    io::ParcelFileInfo info = io::read_info(path, t);
    info.parcels = 7;
    EXPECT_THROW(static_cast<void>(io::read_parcels(path, info, t)), InputError);
    t.barrier();
  });
}

/// Makes a variable over the parcels of a type of its own; B11 is then that.
void write_invalid_file(const std::string& path, const std::string& kind) {
  EpicFile file;
  file.variables.erase("B11");
  file.more = [&](int id) {
    nc_type type = NC_STRING;
    if (kind == "compound") {
      ASSERT_EQ(nc_def_compound(id, 8, "pair", &type), NC_NOERR);
      ASSERT_EQ(nc_insert_compound(id, type, "a", 0, NC_INT), NC_NOERR);
    } else if (kind == "vlen") {
      ASSERT_EQ(nc_def_vlen(id, "list", NC_INT, &type), NC_NOERR);
    } else if (kind == "opaque") {
      ASSERT_EQ(nc_def_opaque(id, 16, "blob", &type), NC_NOERR);
    } else if (kind == "enum") {
      ASSERT_EQ(nc_def_enum(id, NC_INT, "kind", &type), NC_NOERR);
      const int value = 1;
      ASSERT_EQ(nc_insert_enum(id, type, "one", &value), NC_NOERR);
    }
    int dimensions[2] = {0, 0};
    int variable = 0;
    ASSERT_EQ(nc_inq_dimid(id, "t", &dimensions[0]), NC_NOERR);
    ASSERT_EQ(nc_inq_dimid(id, "n_parcels", &dimensions[1]), NC_NOERR);
    ASSERT_EQ(nc_def_var(id, "B11", type, 2, dimensions, &variable), NC_NOERR);
  };
  file.make(path);
}

TEST(StrangeTypes, are_refused_by_name_on_any_number_of_ranks_every_time) {
  if (comm::launched()) GTEST_SKIP() << "on threads";
  const Folder folder;
  const std::string path = folder.file("strange.nc");
  for (const std::string kind : {"string", "compound", "vlen", "opaque", "enum"}) {
    write_invalid_file(path, kind);
    for (int run = 0; run < 42; ++run) {
      comm::run({"threads", 2 + run % 6, ""}, [&](Transport& t) {
        const std::string what = error_message(t, path);
        EXPECT_NE(what.find("the variable B11 has type "), std::string::npos) << kind << ": " << what;
        EXPECT_NE(what.find("; it must be double"), std::string::npos) << kind << ": " << what;
      });
      if (HasFailure()) return;
    }
  }
}

/// A file whose dimension n_parcels is huge but holds no value.
void write_file_without_values(const std::string& path, std::size_t parcels) {
  int file = 0;
  int dimension[2] = {0, 0};
  ASSERT_EQ(nc_create(path.c_str(), NC_NETCDF4 | NC_CLOBBER, &file), NC_NOERR);
  ASSERT_EQ(nc_def_dim(file, "t", 1, &dimension[0]), NC_NOERR);
  ASSERT_EQ(nc_def_dim(file, "n_parcels", parcels, &dimension[1]), NC_NOERR);
  for (const auto& [name, values] : EpicFile().attributes)
    ASSERT_EQ(nc_put_att_double(file, NC_GLOBAL, name.c_str(), NC_DOUBLE, 3, values.data()), NC_NOERR);
  for (const auto& [name, values] : EpicFile().variables) {
    int variable = 0;
    const std::size_t chunk[2] = {1, 1024};
    ASSERT_EQ(nc_def_var(file, name.c_str(), NC_DOUBLE, 2, dimension, &variable), NC_NOERR);
    ASSERT_EQ(nc_def_var_chunking(file, variable, NC_CHUNKED, chunk), NC_NOERR);
  }
  ASSERT_EQ(nc_close(file), NC_NOERR);
}

TEST(HugeFiles, a_claim_that_the_bytes_of_the_file_cannot_hold_is_refused_before_memory_is_taken) {
  const Folder folder;
  const std::string path = folder.file("hollow.nc");
  write_file_without_values(path, 3'000'000'000);
  try {
    static_cast<void>(io::read_info(path));
    FAIL() << "no error";
  } catch (const InputError& e) {
    EXPECT_NE(std::string(e.what()).find("n_parcels is 3000000000, but the file has only"), std::string::npos);
  }
}

TEST(HugeFiles, more_than_2_to_the_31_parcels_are_counted) {
  const Folder folder;
  const std::string path = folder.file("hollow.nc");
  write_file_without_values(path, 3'000'000'000);
  std::filesystem::resize_file(path, 250'000'000);  // sparse: what 3e9 parcels would need at the least
  EXPECT_EQ(io::read_info(path).parcels, 3'000'000'000);
}

}  // namespace
