/// Tests of missing values in parcel files: an error with the variable, their number and the first, or skipped by a rule.
#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <limits>

#include "merganser/base/error.hpp"
#include "merganser/comm/collectives.hpp"
#include "merganser/io/data_file.hpp"
#include "merganser/io/parcel_file.hpp"
#include "tests/io/carried.hpp"
#include "tests/io/folder.hpp"
#include "tests/support/ranks.hpp"
#include "tests/support/refusal.hpp"
#include "tests/support/total_digest.hpp"

namespace {

using namespace merganser;
using namespace merganser::test;
using comm::Transport;

const double kMissingNan = std::numeric_limits<double>::quiet_NaN();

class Missing : public testing::TestWithParam<Setup> {};
INSTANTIATE_TEST_SUITE_P(Models, Missing, testing::ValuesIn(setups()), setup_name<testing::TestParamInfo<Setup>>);

void attribute(int file, const char* variable, const char* name, nc_type type, const std::vector<double>& values) {
  int number = -1;
  expect_no_error(nc_inq_varid(file, variable, &number));
  expect_no_error(nc_put_att_double(file, number, name, type, values.size(), values.data()));
}

/// A file with a further variable `humidity`, whose attributes come before its values, as NetCDF wants.
template <class T>
std::function<void(EpicFile&)> humidity(nc_type type, const std::vector<T>& values,
                                        const std::function<void(int)>& attributes = {}) {
  return [=](EpicFile& f) {
    f.more = [=](int file) {
      const std::array<int, 2> shape{dimension(file, "t"), dimension(file, "n_parcels")};
      int variable = -1;
      expect_no_error(nc_def_var(file, "humidity", type, 2, shape.data(), &variable));
      if (attributes) attributes(file);
      const std::array<std::size_t, 2> start{0, 0}, count{1, values.size()};
      expect_no_error(nc_put_vara(file, variable, start.data(), count.data(), values.data()));
    };
  };
}

std::function<void(int)> with(const char* name, nc_type type, std::vector<double> values) {
  return [=](int file) { attribute(file, "humidity", name, type, values); };
}

struct Found {
  std::string error;
  Parcels parcels;
  io::ParcelFileInfo info;
  std::vector<io::MissingFound> missing;
};

/// Reads with a rule for humidity; the error is the same on every rank.
Found read(Transport& t, const std::string& path, const std::vector<io::VariableRule>& rules) {
  Found out;
  try {
    out.info = io::read_info(path, t);
    io::add_variables(path, out.info, rules);
    out.parcels = io::read_parcels(path, out.info, t, nullptr, &out.missing);
  } catch (const InputError& e) {
    out.error = e.what();
  }
  for (const auto other : comm::all_gather(t, out.error)) EXPECT_EQ(std::string(other.begin(), other.end()), out.error);
  return out;
}

struct Case {
  std::function<void(EpicFile&)> make;
  Rule rule;
  std::string says;
};

const std::vector<Case> kCases{
    {[](EpicFile& f) {
       f.variables["x_position"][2] = NC_FILL_DOUBLE;
       f.variables["x_position"][5] = NC_FILL_DOUBLE;
     },
     Rule::mean,
     "variable \"x_position\": 2 of 6 values are missing, the first of parcel 2 (never written: NetCDF's fill value "
     "9.969209968386869e+36); allowed: a value for every parcel"},
    {[](EpicFile& f) { f.variables["B12"][4] = kMissingNan; }, Rule::mean,
     "variable \"B12\": 1 of 6 values is missing, of parcel 4 (NaN)"},
    {[](EpicFile& f) { f.more = [](int file) {
                         attribute(file, "buoyancy", "valid_range", NC_DOUBLE, {-0.1, 1});
                       }; },
     Rule::mean, "variable \"buoyancy\": 3 of 6 values are missing, the first of parcel"},
    {[](EpicFile& f) {
       f.variables["volume"][1] = -1;
       f.more = [](int file) { attribute(file, "volume", "missing_value", NC_INT, {-2, -1}); };
     },
     Rule::mean, "variable \"volume\": 1 of 6 values is missing, of parcel 1 (missing_value -2 -1)"},
    {[](EpicFile& f) {
       f.variables["merganser_id"] = {1, 2, 3, 4, 5, -9};
       f.types["merganser_id"] = NC_INT64;
       f.more = [](int file) { attribute(file, "merganser_id", "missing_value", NC_INT64, {-9}); };
     },
     Rule::mean,
     "variable \"merganser_id\": 1 of 6 values is missing, of parcel 5 (missing_value -9); allowed: a value for every "
     "parcel"},
    {humidity<double>(NC_DOUBLE, {1, -999, 3, -999, -999, 6}, with("_FillValue", NC_DOUBLE, {-999})), Rule::mean,
     "variable \"humidity\": 3 of 6 values are missing, the first of parcel 1 (_FillValue -999); allowed: a value for "
     "every "
     "parcel, or a rule with missing=skip"},
    {humidity<float>(NC_FLOAT, {1, 2, 3, 4, NC_FILL_FLOAT, 6}), Rule::centre, "of parcel 4 (never written"},
    {humidity<float>(NC_FLOAT, {1, 2, 0.1F, 4, 5, 6}, with("missing_value", NC_DOUBLE, {0.1})), Rule::mean,
     "of parcel 2 (missing"},
    {humidity<std::int16_t>(NC_SHORT, {1, 2, 3, 4, 5, 60}, with("valid_max", NC_SHORT, {50})), Rule::sum,
     "of parcel 5 (above valid_max 50)"},
    {humidity<std::int64_t>(NC_INT64, {1, 2, NC_FILL_INT64, NC_FILL_INT64 + 1, 5, 6}), Rule::largest,
     "1 of 6 values is missing, of parcel 2 (never written: NetCDF's fill value -9223372036854775806)"},
    {humidity<signed char>(NC_BYTE, {1, 2, 3, 4, 5, 6}, with("valid_range", NC_BYTE, {1, 2, 3})), Rule::sum,
     "variable \"humidity\": the attribute valid_range has 3 values of type byte; allowed: 2 numbers"},
    {humidity<float>(NC_FLOAT, {1, 2, 3, 4, 5, 6},
                     [](int file) {
                       with("scale_factor", NC_DOUBLE, {0.5})(file);
                       with("valid_max", NC_DOUBLE, {50})(file);
                     }),
     Rule::mean, "valid_max may be meant for packed or for unpacked values"},
};

TEST_P(Missing, values_are_refused_with_the_variable_how_many_and_the_first_on_every_rank) {
  on_ranks(GetParam(), [](Transport& t) {
    const Folder folder(t);
    const std::string path = folder.file("in.nc");
    for (const Case& c : kCases) {
      make(t, path, c.make);
      std::vector<io::VariableRule> rules;
      for (const std::string& name : io::unread_variables(io::read_info(path, t))) rules.push_back({name, c.rule});
      const std::string error = read(t, path, rules).error;
      EXPECT_EQ(error.find(path + ": variable \""), 0U) << error;
      EXPECT_NE(error.find(c.says), std::string::npos) << error << "\nexpected: " << c.says;
    }
    t.barrier();
  });
}

TEST_P(Missing, bytes_and_values_that_only_look_like_it_are_values) {
  on_ranks(GetParam(), [](Transport& t) {
    const Folder folder(t);
    const std::string path = folder.file("in.nc");
    make(t, path, humidity<signed char>(NC_BYTE, {NC_FILL_BYTE, 2, 3, 4, 5, 6}));
    EXPECT_EQ(read(t, path, {{"humidity", Rule::sum}}).error, "");
    make(t, path, humidity<std::int32_t>(NC_INT, {NC_FILL_INT, 2, 3, 4, 5, 6}, with("_FillValue", NC_INT, {-1})));
    EXPECT_EQ(read(t, path, {{"humidity", Rule::centre}}).error, "");
    t.barrier();
  });
}

/// Writes what was read, and reads it again by the same rules.
Found again(Transport& t, const Found& found, const std::string& path, const std::vector<io::VariableRule>& rules) {
  io::write_parcels(path, found.parcels, Decomposition(found.info.grid, t.size()), found.info.time, t,
                    found.info.metadata);
  return read(t, path, rules);
}

TEST_P(Missing, values_that_a_rule_skips_are_written_as_the_files_own_fill_value_and_read_the_same_again) {
  on_ranks(GetParam(), [](Transport& t) {
    const Folder folder(t);
    const std::string path = folder.file("in.nc"), out = folder.file("out.nc");
    const auto check = [&](const std::function<void(EpicFile&)>& change, Rule rule, std::int64_t count) {
      make(t, path, change);
      const std::vector<io::VariableRule> skip{{"humidity", rule, true}}, refuse{{"humidity", rule}};
      const Found found = read(t, path, skip);
      ASSERT_EQ(found.error, "");
      ASSERT_EQ(found.missing.size(), 1U);
      EXPECT_EQ(found.missing[0].name, "humidity");
      EXPECT_EQ(found.missing[0].count, count);
      const Found back = again(t, found, out, skip);
      ASSERT_EQ(back.error, "");
      EXPECT_EQ(back.missing.at(0).count, count);
      EXPECT_EQ(total_digest(t, back.parcels).to_string(), total_digest(t, found.parcels).to_string());
      EXPECT_NE(read(t, out, refuse).error.find("variable \"humidity\": " + std::to_string(count)), std::string::npos);
    };
    const double fill = -999;
    check(humidity<double>(NC_DOUBLE, {1, fill, 3, kMissingNan, fill, 6}, with("_FillValue", NC_DOUBLE, {fill})),
          Rule::mean, 3);
    check(humidity<double>(NC_DOUBLE, {1, kMissingNan, 3, 4, 5, 6}), Rule::mean, 1);
    check(humidity<float>(NC_FLOAT, {1, 2, 3, 4, NC_FILL_FLOAT, 6}), Rule::mean, 1);
    check(humidity<std::int64_t>(NC_INT64, {1, NC_FILL_INT64, 3, 4, 5, 6}), Rule::sum, 1);
    check(humidity<std::int16_t>(NC_SHORT, {1, 9, 3, 4, 7, 6}, with("missing_value", NC_SHORT, {9, 7})), Rule::sum, 2);
    check(humidity<std::int64_t>(NC_INT64, {1, NC_FILL_INT64, 3, 4, 5, 6}), Rule::largest, 1);
    check(humidity<double>(NC_DOUBLE, {1, fill, 3, kMissingNan, fill, 6}, with("_FillValue", NC_DOUBLE, {fill})),
          Rule::centre, 3);
    t.barrier();
  });
}

TEST_P(Missing, values_are_never_made_by_what_is_written) {
  on_ranks(GetParam(), [](Transport& t) {
    const Folder folder(t);
    const std::string path = folder.file("in.nc"), out = folder.file("out.nc");
    make(t, path, humidity<double>(NC_DOUBLE, {1, 2, 3, 4, 5, 6}, with("_FillValue", NC_DOUBLE, {-999})));
    Found found = read(t, path, {{"humidity", Rule::mean, true}});
    ASSERT_EQ(found.error, "");
    const auto refusal = [&](std::size_t column, double value) {
      Parcels changed = found.parcels;
      if (changed.size() > 0) changed.row(0)[column] = value;
      return test::refusal<InputError>(
          [&] { io::fit_to_file(out, changed, found.info.grid.box, found.info.metadata, t); });
    };
    const std::string fill = refusal(found.info.schema.offset("humidity"), -999);
    EXPECT_NE(fill.find("humidity is -999, which in this variable means missing (_FillValue -999)"), std::string::npos)
        << fill;
    const std::string own = refusal(found.info.schema.offset("buoyancy"), NC_FILL_DOUBLE);
    EXPECT_NE(own.find("buoyancy is 9.969209968386869e+36, which in this variable means missing"), std::string::npos)
        << own;
    t.barrier();
  });
}

TEST(MissingRule, that_could_not_write_a_missing_value_is_refused) {
  const Folder folder;
  const std::string path = folder.file("in.nc");
  EpicFile file;
  humidity<signed char>(NC_BYTE, {1, 2, 3, 4, 5, 6}, with("valid_max", NC_BYTE, {5}))(file);
  file.make(path);
  io::ParcelFileInfo info = io::read_info(path);
  const std::vector<io::VariableRule> rules{{"humidity", Rule::sum, true}};
  const std::string what = test::refusal<UsageError>([&] { io::add_variables(path, info, rules); });
  EXPECT_NE(what.find("humidity, of type byte, has no value that means missing"), std::string::npos) << what;
}

TEST(MissingTime, is_refused) {
  const Folder folder;
  const std::string path = folder.file("in.nc");
  for (const double value : {kMissingNan, NC_FILL_DOUBLE}) {
    EpicFile file;
    file.more = [&](int id) {
      const int t = dimension(id, "t");
      int variable = -1;
      expect_no_error(nc_def_var(id, "t", NC_DOUBLE, 1, &t, &variable));
      const std::size_t at = 0;
      expect_no_error(nc_put_var1_double(id, variable, &at, &value));
    };
    file.make(path);
    const std::string what = test::refusal<InputError>([&] { static_cast<void>(io::read_info(path)); });
    EXPECT_NE(what.find("variable \"t\": level 0 is "), std::string::npos) << what;
  }
}

TEST(MissingStatistics, are_found_in_files_of_arrays) {
  const Folder folder;
  const std::string path = folder.file("in.nc");
  EpicFile file;
  file.variables["buoyancy"][3] = NC_FILL_DOUBLE;
  file.make(path);
  const io::FileGroup group = io::read_data(path);
  EXPECT_NO_THROW(io::require_values(path, group, "volume"));
  EXPECT_EQ(
      test::refusal<InputError>([&] { io::require_values(path, group, "buoyancy"); }),
      path +
          ": variable \"buoyancy\": 1 of 6 values are missing, the first at place 3 (never written: NetCDF's fill "
          "value 9.969209968386869e+36); allowed: numbers");
}

}  // namespace
