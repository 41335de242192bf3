/// Tests of io: parts of a file that cannot be carried from reading to writing are listed as lost.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <limits>
#include <string>
#include <vector>

#include "merganser/base/error.hpp"
#include "merganser/io/parcel_file.hpp"
#include "tests/io/carried.hpp"
#include "tests/io/folder.hpp"
#include "tests/support/ranks.hpp"

#ifdef __GLIBC__
#include <malloc.h>
#if __GLIBC_PREREQ(2, 33)
#define HAS_MALLINFO2
#endif
#endif

namespace {

using namespace merganser;
using namespace merganser::test;
using comm::Transport;

class NotCarried : public testing::TestWithParam<Setup> {};
INSTANTIATE_TEST_SUITE_P(Models, NotCarried, testing::ValuesIn(setups()), setup_name<testing::TestParamInfo<Setup>>);

TEST(NotCarriedNames, of_what_cannot_be_carried_are_listed) {
  const Folder folder;
  const std::string in = folder.file("in.nc");
  EpicFile file;
  file.more = [](int id) {
    int type = 0;
    int variable = -1;
    int wide = -1;
    expect_no_error(nc_def_opaque(id, 4, "blob", &type));
    const int blob = 3;
    expect_no_error(nc_put_att(id, NC_GLOBAL, "odd", type, 1, &blob));
    const std::array<int, 2> shape{dimension(id, "t"), dimension(id, "n_parcels")};
    expect_no_error(nc_def_var(id, "blobs", type, 2, shape.data(), &variable));
    expect_no_error(nc_def_var(id, "letters", NC_CHAR, 2, shape.data(), &variable));
    expect_no_error(nc_def_dim(id, "wide", 3, &wide));
    const std::array<int, 2> tensor{shape[1], wide};
    expect_no_error(nc_def_var(id, "tensor", NC_DOUBLE, 2, tensor.data(), &variable));
  };
  file.make(in);
  const io::ParcelFileInfo info = io::read_info(in);
  std::vector<std::string> names;
  for (const auto& loss : info.metadata.lost) names.push_back(loss.name);
  std::sort(names.begin(), names.end());
  EXPECT_EQ(names, (std::vector<std::string>{"blobs", "letters", "odd", "tensor"}));
}

TEST_P(NotCarried, fill_values_that_the_library_would_not_write_are_left_out_and_listed) {
  on_ranks(GetParam(), [](Transport& t) {
    const Folder folder(t);
    const std::string in = folder.file("in.nc"), out = folder.file("out.nc");
    make(t, in, [](EpicFile& f) {
      f.more = [](int id) {
        int odd = -1;
        expect_no_error(nc_def_var(id, "odd", NC_DOUBLE, 0, nullptr, &odd));
        const std::array<double, 2> values{7, 8};
        EXPECT_NE(nc_put_att_double(id, odd, "_FillValue", NC_FLOAT, 2, values.data()), NC_NOERR);  // there nonetheless
        expect_no_error(
            nc_put_att_double(id, NC_GLOBAL, "_FillValue", NC_FLOAT, 2, values.data()));  // means nothing there
      };
    });
    const io::ParcelFileInfo info = io::read_info(in, t);
    ASSERT_EQ(info.metadata.lost.size(), 1U);
    EXPECT_EQ(info.metadata.lost[0].name, "_FillValue");
    EXPECT_EQ(info.metadata.lost[0].what, "attribute _FillValue of odd, which is not one value of its type");
    const Parcels parcels = io::read_parcels(in, info, t);
    io::write_parcels(out, parcels, Decomposition(info.grid, t.size()), info.time, t, info.metadata);
    EXPECT_TRUE(io::read_info(out, t).metadata.lost.empty());
    t.barrier();
  });
}

TEST(NotCarriedNames, of_what_is_called_as_variables_of_every_written_file_are_listed) {
  const Folder folder;
  const std::string in = folder.file("in.nc");
  EpicFile file;
  file.more = [](int id) {
    int number = -1;
    const int time = dimension(id, "t");
    const float fill = -1;
    expect_no_error(nc_def_var(id, "xlo", NC_DOUBLE, 0, nullptr, &number));
    expect_no_error(nc_def_grp(id, "yhi", &number));
    expect_no_error(nc_def_grp(id, "world%size", &number));
    expect_no_error(nc_def_var(id, "t", NC_FLOAT, 1, &time, &number));
    expect_no_error(nc_put_att_float(id, number, "_FillValue", NC_FLOAT, 1, &fill));  // t is written as doubles
    const std::size_t first = 0;
    const double zero = 0;
    expect_no_error(nc_put_var1_double(id, number, &first, &zero));
  };
  file.make(in);
  const io::ParcelFileInfo info = io::read_info(in);
  std::vector<std::string> names;
  for (const auto& loss : info.metadata.lost) names.push_back(loss.name);
  std::sort(names.begin(), names.end());
  EXPECT_EQ(names, (std::vector<std::string>{"_FillValue", "world%size", "xlo", "yhi"}));
}

TEST(NotCarriedNames, of_time_levels_before_the_last_are_listed) {
  const Folder folder;
  const std::string in = folder.file("in.nc");
  EpicFile file;
  file.more = [](int id) {
    int variable = -1;
    const int time = dimension(id, "t");
    expect_no_error(nc_def_var(id, "t", NC_DOUBLE, 1, &time, &variable));
    const std::array<double, 3> times{1, 2, 3};
    const std::array<std::size_t, 1> start{0};
    const std::array<std::size_t, 1> count{3};
    expect_no_error(nc_put_vara_double(id, variable, start.data(), count.data(), times.data()));
  };
  file.make(in);
  const io::ParcelFileInfo info = io::read_info(in);
  EXPECT_EQ(info.time, 3);
  ASSERT_EQ(info.metadata.lost.size(), 1U);
  EXPECT_EQ(info.metadata.lost[0].name, "t");
  EXPECT_EQ(info.metadata.lost[0].what, "time levels 0 to 1 of t, all but the last");
}

/// The error of adding one rule to a file with all of add_other_variables().
std::string rule_error(const std::string& name, Rule rule) {
  const Folder folder;
  const std::string in = folder.file("in.nc");
  EpicFile file;
  file.more = add_other_variables;
  file.make(in);
  io::ParcelFileInfo info = io::read_info(in);
  try {
    io::add_variables(in, info, std::vector<io::VariableRule>{{name, rule}});
  } catch (const UsageError& e) {
    return e.what();
  }
  return "none";
}

TEST(NotCarriedRules, that_do_not_fit_the_variable_are_refused) {
  EXPECT_EQ(rule_error("label", Rule::centre), "none");
  EXPECT_NE(rule_error("label", Rule::mean).find("of type int64, cannot hold a mean; allowed: sum, centre"),
            std::string::npos);
  EXPECT_NE(rule_error("nothing", Rule::sum).find("beside EPIC's age, humidity, label, theta"), std::string::npos);
  EXPECT_NE(rule_error("B11", Rule::sum).find("one of EPIC's"), std::string::npos);
}

/// The error of reading and then changing the one attribute of parcel 3 to `value`.
std::string fit_error(const io::VariableRule& rule, double value) {
  const Folder folder;
  const std::string in = folder.file("in.nc"), out = folder.file("out.nc");
  EpicFile file;
  file.more = add_other_variables;
  file.make(in);
  std::string what = "none";
  comm::run({"threads", 1, ""}, [&](Transport& t) {
    io::ParcelFileInfo info = io::read_info(in, t);
    io::add_variables(in, info, std::vector<io::VariableRule>{rule});
    try {
      Parcels parcels = io::read_parcels(in, info, t);
      parcels.row(3)[info.schema.offset(rule.name)] = value;
      parcels.set_id(3, 33);
      const auto fit = [&](Parcels& p) { io::fit_to_file(out, p, info.grid.box, info.metadata, t); };
      Parcels copy = parcels;
      EXPECT_THROW(fit(copy), InputError);
      io::write_parcels(out, parcels, Decomposition(info.grid, 1), 0, t, info.metadata);
    } catch (const InputError& e) {
      what = e.what();
    }
  });
  EXPECT_EQ(folder.list(), std::vector<std::string>{"in.nc"});
  return what;
}

#ifdef HAS_MALLINFO2
TEST(NotCarriedValues, that_cannot_be_read_leave_no_memory_behind) {
  const Folder folder;
  const std::string in = folder.file("in.nc");
  const std::string long_text(std::size_t{1} << 20, 'a');
  EpicFile file;
  file.more = [&](int id) {  // HDF5 1.10 does not read the second chunk, which is never written, after the first
    int number = -1, two = -1;
    expect_no_error(nc_def_dim(id, "two", 2, &two));
    expect_no_error(nc_def_var(id, "texts", NC_STRING, 1, &two, &number));
    const std::array<std::size_t, 1> start{0}, one{1};
    expect_no_error(nc_def_var_chunking(id, number, NC_CHUNKED, one.data()));
    const char* text = long_text.c_str();
    expect_no_error(nc_put_vara_string(id, number, start.data(), one.data(), &text));
  };
  file.make(in);
  const auto read = [&] {
    try {
      static_cast<void>(io::read_info(in));
    } catch (const InputError& e) {
      EXPECT_NE(std::string(e.what()).find("cannot read texts"), std::string::npos) << e.what();
    }
  };
  const auto in_use = [] {
    const struct mallinfo2 m = mallinfo2();
    return m.uordblks + m.hblkhd;
  };
  read();
  const std::size_t before = in_use();
  for (int i = 0; i < 16; ++i) read();
  EXPECT_LT(in_use(), before + (std::size_t{8} << 20));
}
#endif

TEST(NotCarriedValues, that_their_type_does_not_hold_are_refused_naming_the_parcel) {
  if (comm::launched()) GTEST_SKIP() << "on threads";
  const auto has = [](const std::string& what, const std::string& part) {
    EXPECT_NE(what.find(part), std::string::npos) << what;
  };
  has(fit_error({"age", Rule::sum}, 40000),
      "parcel with id 33: age is 40000; as short it may be a whole number from -32768");
  has(fit_error({"age", Rule::sum}, 1.5), "age is 1.5; as short");
  has(fit_error({"theta", Rule::mean}, 1e39), "theta is 1e+39; as float");
  has(fit_error({"humidity", Rule::mean}, std::numeric_limits<double>::quiet_NaN()),
      "humidity is nan; it must be finite");
  has(fit_error({"age", Rule::sum}, std::numeric_limits<double>::infinity()), "age is inf; it must be finite");
  has(fit_error({"label", Rule::sum}, 0), "parcel 1: label is 9223372036854775808; as int64 it may be");
}

}  // namespace
