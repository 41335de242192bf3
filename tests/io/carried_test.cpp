/// What a file holds besides EPIC's values goes through reading and writing, or is named.
#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <cstring>
#include <limits>

#include "merganser/base/error.hpp"
#include "merganser/io/data_file.hpp"
#include "merganser/io/parcel_file.hpp"
#include "tests/io/epic_file.hpp"
#include "tests/io/folder.hpp"
#include "tests/support/ranks.hpp"
#include "tests/support/total_digest.hpp"

namespace {

using namespace merganser;
using namespace merganser::test;
using comm::Transport;

void ok(int status) { ASSERT_EQ(status, NC_NOERR) << nc_strerror(status); }

int dimension(int file, const char* name) {
  int id = -1;
  EXPECT_EQ(nc_inq_dimid(file, name, &id), NC_NOERR);
  return id;
}

/// A variable over the parcels.
template <class T>
int over_parcels(int file, const char* name, nc_type type, const std::vector<T>& values) {
  const std::array<int, 2> shape{dimension(file, "t"), dimension(file, "n_parcels")};
  int variable = -1;
  ok(nc_def_var(file, name, type, 2, shape.data(), &variable));
  const std::array<std::size_t, 2> start{0, 0};
  const std::array<std::size_t, 2> count{1, values.size()};
  ok(nc_put_vara(file, variable, start.data(), count.data(), values.data()));
  return variable;
}

const std::vector<std::int64_t> kLabels{1, std::numeric_limits<std::int64_t>::max(), -7, 9007199254740993, 5, 6};

void add_attributes(int file) {
  const char* texts[2] = {"first", "second"};
  ok(nc_put_att_string(file, NC_GLOBAL, "texts", 2, texts));
  ok(nc_put_att_text(file, NC_GLOBAL, "file_type", 7, "parcels"));
  ok(nc_put_att_text(file, NC_GLOBAL, "history", 7, "a\nb and"));
  ok(nc_put_att_text(file, NC_GLOBAL, "empty", 0, ""));
  const std::array<unsigned long long, 1> big{std::numeric_limits<unsigned long long>::max()};
  ok(nc_put_att_ulonglong(file, NC_GLOBAL, "big", NC_UINT64, 1, big.data()));
  const std::array<float, 2> floats{0.1F, -2.5F};
  ok(nc_put_att_float(file, NC_GLOBAL, "floats", NC_FLOAT, 2, floats.data()));
  const std::array<signed char, 1> byte{-3};
  ok(nc_put_att_schar(file, NC_GLOBAL, "byte", NC_BYTE, 1, byte.data()));
  ok(nc_put_att_text(file, NC_GLOBAL, "Conventions", 6, "CF-1.7"));
  int volume = -1;
  ok(nc_inq_varid(file, "volume", &volume));
  ok(nc_put_att_text(file, volume, "units", 4, "km^3"));
}

void add_groups(int file) {
  int group = -1;
  int inner = -1;
  int dimensions = -1;
  int variable = -1;
  ok(nc_def_grp(file, "physics", &group));
  ok(nc_put_att_text(group, NC_GLOBAL, "scheme", 3, "rk4"));
  ok(nc_def_grp(group, "constants", &inner));
  ok(nc_def_dim(inner, "three", 3, &dimensions));
  ok(nc_def_var(inner, "values", NC_FLOAT, 1, &dimensions, &variable));
  const std::array<float, 3> values{1.5F, 2.5F, -0.1F};
  ok(nc_put_var_float(inner, variable, values.data()));
  ok(nc_def_var(file, "scalar", NC_INT, 0, nullptr, &variable));
  const int seven = 7;
  ok(nc_put_var_int(file, variable, &seven));
}

/// Variables over the parcels of other types.
void add_variables(int file) {
  const int humidity = over_parcels<double>(file, "humidity", NC_DOUBLE, {.1, .2, .3, .4, .5, .6});
  ok(nc_put_att_text(file, humidity, "units", 5, "kg/kg"));
  over_parcels<float>(file, "theta", NC_FLOAT, {300.1F, 301, 302, 303, 304, 305});
  over_parcels<std::int64_t>(file, "label", NC_INT64, kLabels);
  over_parcels<std::int16_t>(file, "age", NC_SHORT, {1, 2, 3, 4, 5, 6});
}

void everything(int file) {
  add_attributes(file);
  add_groups(file);
  add_variables(file);
}

const std::vector<io::VariableRule> kRules{
    {"theta", Rule::mean}, {"label", Rule::keep_largest}, {"humidity", Rule::mean}, {"age", Rule::sum}};

void make(Transport& t, const std::string& path, const std::function<void(EpicFile&)>& change) {
  t.barrier();
  if (t.rank() == 0) {
    EpicFile file;
    change(file);
    file.make(path);
  }
  t.barrier();
}

/// What can be compared of a variable or a group, as text.
std::string text(const io::FileValues& v) {
  std::string out = "type " + std::to_string(v.type) + " n " + std::to_string(v.count) + " [";
  for (const std::byte b : v.bytes) out += std::to_string(static_cast<int>(b)) + ' ';
  for (const auto& s : v.strings) out += s + '|';
  return out + "]";
}

std::string text(const io::FileVariable& v) {
  std::string out = v.name + " (";
  for (const auto& d : v.dimensions) out += d + ' ';
  for (const auto& a : v.attributes) out += a.name + '=' + text(a.values) + ' ';
  return out + ") deflate " + std::to_string(v.storage.deflate) + " shuffle " + std::to_string(v.storage.shuffle) +
         " checksum " + std::to_string(v.storage.checksum) + ' ' + text(v.values) + '\n';
}

std::string text(const io::FileGroup& g) {
  std::string out = "group " + g.name + '\n';
  for (const auto& a : g.attributes) out += a.name + '=' + text(a.values) + '\n';
  for (const auto& d : g.dimensions) out += d.name + ' ' + std::to_string(d.length) + '\n';
  for (const auto& v : g.variables) out += text(v);
  for (const auto& inner : g.groups) out += text(inner);
  return out;
}

class Carried : public testing::TestWithParam<Setup> {};
INSTANTIATE_TEST_SUITE_P(Models, Carried, testing::ValuesIn(setups()), setup_name<testing::TestParamInfo<Setup>>);

TEST_P(Carried, attributes_groups_variables_types_and_compression_are_in_the_file_that_is_written) {
  on_ranks(GetParam(), [](Transport& t) {
    const Folder folder(t);
    const std::string in = folder.file("in.nc"), out = folder.file("out.nc");
    make(t, in, [](EpicFile& f) {
      f.deflate = 4;
      f.more = everything;
    });
    io::ParcelFileInfo info = io::read_info(in, t);
    EXPECT_TRUE(info.heading.lost.empty());
    EXPECT_EQ(io::passed_over(info), (std::vector<std::string>{"age", "humidity", "label", "theta"}));
    io::add_variables(in, info, kRules);
    EXPECT_TRUE(io::passed_over(info).empty());
    const Parcels parcels = io::read_parcels(in, info, t);
    const Decomposition blocks(info.grid, t.size());
    io::write_parcels(out, parcels, blocks, info.time, t, info.heading);

    io::ParcelFileInfo again = io::read_info(out, t);
    EXPECT_EQ(text(again.heading.root), text(info.heading.root));
    for (const io::FileVariable& v : info.heading.columns) {
      const io::FileVariable* const w = again.heading.column(v.name);
      ASSERT_NE(w, nullptr) << v.name;
      EXPECT_EQ(text(*w), text(v));
      EXPECT_EQ(w->storage.chunk, v.name == "t" ? w->storage.chunk : 6) << v.name;
    }
    EXPECT_TRUE(again.has_ids);
    io::add_variables(out, again, kRules);
    const Parcels back = io::read_parcels(out, again, t);
    EXPECT_EQ(back.size() > 0, parcels.size() > 0);
    const std::size_t label = again.schema.offset("label");
    for (std::size_t i = 0; i < back.size(); ++i) {
      const auto value = std::bit_cast<std::int64_t>(back.row(i)[label]);
      EXPECT_NE(std::find(kLabels.begin(), kLabels.end(), value), kLabels.end()) << value;
      EXPECT_EQ(back.row(i)[again.schema.offset("theta")],
                static_cast<double>(static_cast<float>(back.row(i)[again.schema.offset("theta")])));
    }
    t.barrier();
  });
}

TEST_P(Carried, text_variables_are_written_by_every_model) {
  on_ranks(GetParam(), [](Transport& t) {
    const Folder folder(t);
    const std::string in = folder.file("in.nc"), out = folder.file("out.nc");
    make(t, in, [](EpicFile& f) {
      f.more = [](int file) {
        int two = -1;
        int names = -1;
        ok(nc_def_dim(file, "two", 2, &two));
        ok(nc_def_var(file, "names", NC_STRING, 1, &two, &names));
        const char* values[2] = {"one", "two and more"};
        ok(nc_put_var_string(file, names, values));
      };
    });
    const io::ParcelFileInfo info = io::read_info(in, t);
    const Parcels parcels = io::read_parcels(in, info, t);
    io::write_parcels(out, parcels, Decomposition(info.grid, t.size()), info.time, t, info.heading);
    const io::ParcelFileInfo again = io::read_info(out, t);
    ASSERT_EQ(again.heading.root.variables.size(), 1U);
    EXPECT_EQ(text(again.heading.root.variables[0]), text(info.heading.root.variables[0]));
    t.barrier();
  });
}

TEST_P(Carried, what_the_file_lacks_is_not_made_up) {
  on_ranks(GetParam(), [](Transport& t) {
    const Folder folder(t);
    const std::string in = folder.file("in.nc"), out = folder.file("out.nc");
    make(t, in, [](EpicFile& f) {
      for (const char* name : {"x_vorticity", "y_vorticity", "z_vorticity"}) f.variables.erase(name);
    });
    const io::ParcelFileInfo info = io::read_info(in, t);
    const Parcels parcels = io::read_parcels(in, info, t);
    io::write_parcels(out, parcels, Decomposition(info.grid, t.size()), info.time, t, info.heading);
    const io::ParcelFileInfo again = io::read_info(out, t);
    EXPECT_FALSE(again.schema.has("vorticity"));
    EXPECT_TRUE(again.schema.has("buoyancy"));
    t.barrier();
  });
}

TEST_P(Carried, files_of_the_classic_format_are_read_by_every_model) {
  on_ranks(GetParam(), [](Transport& t) {
    const Folder folder(t);
    const std::string in = folder.file("in.nc"), out = folder.file("out.nc");
    make(t, in, [](EpicFile& f) { f.format = 0; });
    const io::ParcelFileInfo info = io::read_info(in, t);
    EXPECT_TRUE(info.classic);
    const Parcels parcels = io::read_parcels(in, info, t);
    EXPECT_EQ(t.all_reduce(static_cast<std::int64_t>(parcels.size()), comm::Op::sum), 6);
    io::write_parcels(out, parcels, Decomposition(info.grid, t.size()), info.time, t, info.heading);
    EXPECT_FALSE(io::read_info(out, t).classic);
    t.barrier();
  });
}

TEST(CarriedNames, of_what_cannot_be_carried_are_listed) {
  const Folder folder;
  const std::string in = folder.file("in.nc");
  EpicFile file;
  file.more = [](int id) {
    int type = 0;
    int variable = -1;
    int wide = -1;
    ok(nc_def_opaque(id, 4, "blob", &type));
    const int blob = 3;
    ok(nc_put_att(id, NC_GLOBAL, "odd", type, 1, &blob));
    const std::array<int, 2> shape{dimension(id, "t"), dimension(id, "n_parcels")};
    ok(nc_def_var(id, "blobs", type, 2, shape.data(), &variable));
    ok(nc_def_var(id, "letters", NC_CHAR, 2, shape.data(), &variable));
    ok(nc_def_dim(id, "wide", 3, &wide));
    const std::array<int, 2> tensor{shape[1], wide};
    ok(nc_def_var(id, "tensor", NC_DOUBLE, 2, tensor.data(), &variable));
  };
  file.make(in);
  const io::ParcelFileInfo info = io::read_info(in);
  std::vector<std::string> names;
  for (const auto& loss : info.heading.lost) names.push_back(loss.name);
  std::sort(names.begin(), names.end());
  EXPECT_EQ(names, (std::vector<std::string>{"blobs", "letters", "odd", "tensor"}));
}

TEST_P(Carried, fill_values_that_the_library_would_not_write_are_left_out_and_listed) {
  on_ranks(GetParam(), [](Transport& t) {
    const Folder folder(t);
    const std::string in = folder.file("in.nc"), out = folder.file("out.nc");
    make(t, in, [](EpicFile& f) {
      f.more = [](int id) {
        int odd = -1;
        ok(nc_def_var(id, "odd", NC_DOUBLE, 0, nullptr, &odd));
        const std::array<double, 2> values{7, 8};
        EXPECT_NE(nc_put_att_double(id, odd, "_FillValue", NC_FLOAT, 2, values.data()), NC_NOERR);  // there nonetheless
        ok(nc_put_att_double(id, NC_GLOBAL, "_FillValue", NC_FLOAT, 2, values.data()));  // means nothing there
      };
    });
    const io::ParcelFileInfo info = io::read_info(in, t);
    ASSERT_EQ(info.heading.lost.size(), 1U);
    EXPECT_EQ(info.heading.lost[0].name, "_FillValue");
    EXPECT_EQ(info.heading.lost[0].what, "attribute _FillValue of odd, which is not one value of its type");
    const Parcels parcels = io::read_parcels(in, info, t);
    io::write_parcels(out, parcels, Decomposition(info.grid, t.size()), info.time, t, info.heading);
    EXPECT_TRUE(io::read_info(out, t).heading.lost.empty());
    t.barrier();
  });
}

TEST_P(Carried, variables_over_dimensions_that_may_grow_keep_their_shapes) {
  on_ranks(GetParam(), [](Transport& t) {
    const Folder folder(t);
    const std::string in = folder.file("in.nc"), out = folder.file("out.nc");
    make(t, in, [](EpicFile& f) {
      f.more = [](int id) {
        int table = -1, names = -1;
        std::array<int, 2> shape{};
        ok(nc_def_dim(id, "row", NC_UNLIMITED, &shape[0]));
        ok(nc_def_dim(id, "column", NC_UNLIMITED, &shape[1]));
        const std::array<std::size_t, 2> start{0, 0}, count{2, 3};
        const std::array<int, 6> values{1, 2, 3, 4, 5, 6};
        std::array<const char*, 2> texts{"first", "second"};
        ok(nc_def_var(id, "table", NC_INT, 2, shape.data(), &table));
        ok(nc_def_var(id, "names", NC_STRING, 1, shape.data(), &names));
        const std::array<std::size_t, 2> few{4, 4};
        ok(nc_def_var_chunking(id, table, NC_CHUNKED, few.data()));
        ok(nc_put_vara_int(id, table, start.data(), count.data(), values.data()));
        ok(nc_put_vara_string(id, names, start.data(), count.data(), texts.data()));
      };
    });
    const io::ParcelFileInfo info = io::read_info(in, t);
    const Parcels parcels = io::read_parcels(in, info, t);
    io::write_parcels(out, parcels, Decomposition(info.grid, t.size()), info.time, t, info.heading);
    const io::FileGroup root = io::read_info(out, t).heading.root;
    ASSERT_EQ(root.variables.size(), 2U);
    for (std::size_t i = 0; i < 2; ++i) EXPECT_EQ(text(root.variables[i]), text(info.heading.root.variables[i]));
    t.barrier();
  });
}

TEST(CarriedValues, of_variables_shorter_than_dimensions_that_grew_stay_in_place) {
  const Folder folder;
  const std::string in = folder.file("in.nc");
  EpicFile file;
  file.more = [](int id) {
    std::array<int, 2> shape{};
    ok(nc_def_dim(id, "row", NC_UNLIMITED, &shape[0]));
    ok(nc_def_dim(id, "column", NC_UNLIMITED, &shape[1]));
    const std::array<std::size_t, 2> start{0, 0};
    const std::array<int, 6> values{1, 2, 3, 4, 5, 6};
    for (const auto& [name, columns] : {std::pair{"whole", 3}, {"part", 2}}) {
      int variable = -1;
      const std::array<std::size_t, 2> count{2, static_cast<std::size_t>(columns)};
      ok(nc_def_var(id, name, NC_INT, 2, shape.data(), &variable));
      ok(nc_put_vara_int(id, variable, start.data(), count.data(), values.data()));
    }
  };
  file.make(in);
  const std::vector<std::int64_t> whole{1, 2, 3, 4, 5, 6}, part{1, 2, NC_FILL_INT, 3, 4, NC_FILL_INT};
  for (const io::FileGroup& group : {io::read_info(in).heading.root, io::read_data(in)}) {
    EXPECT_EQ(io::integers_of(*io::find_variable(group, "whole")), whole);
    EXPECT_EQ(io::integers_of(*io::find_variable(group, "part")), part);
  }
}

TEST(CarriedNames, of_what_is_called_as_variables_of_every_written_file_are_listed) {
  const Folder folder;
  const std::string in = folder.file("in.nc");
  EpicFile file;
  file.more = [](int id) {
    int number = -1;
    const int time = dimension(id, "t");
    const float fill = -1;
    ok(nc_def_var(id, "xlo", NC_DOUBLE, 0, nullptr, &number));
    ok(nc_def_grp(id, "yhi", &number));
    ok(nc_def_grp(id, "world%size", &number));
    ok(nc_def_var(id, "t", NC_FLOAT, 1, &time, &number));
    ok(nc_put_att_float(id, number, "_FillValue", NC_FLOAT, 1, &fill));  // t is written as doubles
  };
  file.make(in);
  const io::ParcelFileInfo info = io::read_info(in);
  std::vector<std::string> names;
  for (const auto& loss : info.heading.lost) names.push_back(loss.name);
  std::sort(names.begin(), names.end());
  EXPECT_EQ(names, (std::vector<std::string>{"_FillValue", "world%size", "xlo", "yhi"}));
}

TEST_P(Carried, variables_that_are_called_as_dimensions_are_written) {
  on_ranks(GetParam(), [](Transport& t) {
    const Folder folder(t);
    const std::string in = folder.file("in.nc"), out = folder.file("out.nc");
    make(t, in, [](EpicFile& f) {
      f.more = [](int id) {
        int number = -1;
        const int parcels = dimension(id, "n_parcels");
        ok(nc_def_dim(id, "row", 3, &number));
        for (const char* name : {"row", "world%size"}) {  // none over the dimension of its name
          ok(nc_def_var(id, name, NC_INT, 1, &parcels, &number));
          const std::array<std::size_t, 2> start{0}, count{2};
          const std::array<int, 2> values{7, 8};
          ok(nc_put_vara_int(id, number, start.data(), count.data(), values.data()));
        }
      };
    });
    const std::vector<io::VariableRule> rules{{"row", Rule::keep_centre}, {"world%size", Rule::keep_centre}};
    io::ParcelFileInfo info = io::read_info(in, t);
    io::add_variables(in, info, rules);
    const Parcels parcels = io::read_parcels(in, info, t);
    io::write_parcels(out, parcels, Decomposition(info.grid, t.size()), info.time, t, info.heading);
    io::ParcelFileInfo again = io::read_info(out, t);
    io::add_variables(out, again, rules);
    EXPECT_EQ(total_digest(t, io::read_parcels(out, again, t)).text(), total_digest(t, parcels).text());
    ASSERT_EQ(again.heading.root.dimensions.size(), 1U);
    EXPECT_EQ(again.heading.root.dimensions[0].length, 3);
    t.barrier();
  });
}

TEST(CarriedNames, of_time_levels_before_the_last_are_listed) {
  const Folder folder;
  const std::string in = folder.file("in.nc");
  EpicFile file;
  file.more = [](int id) {
    int variable = -1;
    const int time = dimension(id, "t");
    ok(nc_def_var(id, "t", NC_DOUBLE, 1, &time, &variable));
    const std::array<double, 3> times{1, 2, 3};
    const std::array<std::size_t, 1> start{0};
    const std::array<std::size_t, 1> count{3};
    ok(nc_put_vara_double(id, variable, start.data(), count.data(), times.data()));
  };
  file.make(in);
  const io::ParcelFileInfo info = io::read_info(in);
  EXPECT_EQ(info.time, 3);
  ASSERT_EQ(info.heading.lost.size(), 1U);
  EXPECT_EQ(info.heading.lost[0].name, "t");
  EXPECT_EQ(info.heading.lost[0].what, "time levels 0 to 1 of t, all but the last");
}

/// The error of adding one rule to a file with all of add_variables().
std::string refusal(const std::string& name, Rule rule) {
  const Folder folder;
  const std::string in = folder.file("in.nc");
  EpicFile file;
  file.more = add_variables;
  file.make(in);
  io::ParcelFileInfo info = io::read_info(in);
  try {
    io::add_variables(in, info, std::vector<io::VariableRule>{{name, rule}});
  } catch (const UsageError& e) {
    return e.what();
  }
  return "none";
}

TEST(CarriedRules, that_do_not_fit_the_variable_are_refused) {
  EXPECT_EQ(refusal("label", Rule::keep_centre), "none");
  EXPECT_NE(refusal("label", Rule::mean).find("of type int64, cannot hold a mean; allowed: sum, centre"),
            std::string::npos);
  EXPECT_NE(refusal("nothing", Rule::sum).find("beside EPIC's age, humidity, label, theta"), std::string::npos);
  EXPECT_NE(refusal("B11", Rule::sum).find("one of EPIC's"), std::string::npos);
}

/// The error of reading and then changing the one attribute of parcel 3 to `value`.
std::string misfit(const io::VariableRule& rule, double value) {
  const Folder folder;
  const std::string in = folder.file("in.nc"), out = folder.file("out.nc");
  EpicFile file;
  file.more = add_variables;
  file.make(in);
  std::string what = "none";
  comm::run({"threads", 1, ""}, [&](Transport& t) {
    io::ParcelFileInfo info = io::read_info(in, t);
    io::add_variables(in, info, std::vector<io::VariableRule>{rule});
    try {
      Parcels parcels = io::read_parcels(in, info, t);
      parcels.row(3)[info.schema.offset(rule.name)] = value;
      parcels.set_id(3, 33);
      const auto fit = [&](Parcels& p) { io::fit_to_file(out, p, info.grid.box, info.heading, t); };
      Parcels copy = parcels;
      EXPECT_THROW(fit(copy), InputError);
      io::write_parcels(out, parcels, Decomposition(info.grid, 1), 0, t, info.heading);
    } catch (const InputError& e) {
      what = e.what();
    }
  });
  EXPECT_EQ(folder.list(), std::vector<std::string>{"in.nc"});
  return what;
}

TEST(CarriedValues, that_their_type_does_not_hold_are_refused_naming_the_parcel) {
  if (comm::launched()) GTEST_SKIP() << "on threads";
  const auto has = [](const std::string& what, const std::string& part) {
    EXPECT_NE(what.find(part), std::string::npos) << what;
  };
  has(misfit({"age", Rule::sum}, 40000),
      "parcel with id 33: age is 40000; as short it may be a whole number from -32768");
  has(misfit({"age", Rule::sum}, 1.5), "age is 1.5; as short");
  has(misfit({"theta", Rule::mean}, 1e39), "theta is 1e+39; as float");
  has(misfit({"humidity", Rule::mean}, std::numeric_limits<double>::quiet_NaN()), "humidity is nan; it must be finite");
  has(misfit({"age", Rule::sum}, std::numeric_limits<double>::infinity()), "age is inf; it must be finite");
  has(misfit({"label", Rule::sum}, 0), "parcel 1: label is 9223372036854775808; as int64 it may be");
}

}  // namespace
