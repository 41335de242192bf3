/// Tests of io: attributes, groups and variables besides EPIC's are carried from the file read to the file written.
#include <gtest/gtest.h>

#include <array>
#include <cstring>
#include <limits>

#include "merganser/io/data_file.hpp"
#include "merganser/io/parcel_file.hpp"
#include "tests/io/carried.hpp"
#include "tests/io/folder.hpp"
#include "tests/support/ranks.hpp"
#include "tests/support/total_digest.hpp"

namespace {

using namespace merganser;
using namespace merganser::test;
using comm::Transport;

void add_attributes(int file) {
  const char* texts[2] = {"first", "second"};
  expect_no_error(nc_put_att_string(file, NC_GLOBAL, "texts", 2, texts));
  expect_no_error(nc_put_att_text(file, NC_GLOBAL, "file_type", 7, "parcels"));
  expect_no_error(nc_put_att_text(file, NC_GLOBAL, "history", 7, "a\nb and"));
  expect_no_error(nc_put_att_text(file, NC_GLOBAL, "empty", 0, ""));
  const std::array<unsigned long long, 1> big{std::numeric_limits<unsigned long long>::max()};
  expect_no_error(nc_put_att_ulonglong(file, NC_GLOBAL, "big", NC_UINT64, 1, big.data()));
  const std::array<float, 2> floats{0.1F, -2.5F};
  expect_no_error(nc_put_att_float(file, NC_GLOBAL, "floats", NC_FLOAT, 2, floats.data()));
  const std::array<signed char, 1> byte{-3};
  expect_no_error(nc_put_att_schar(file, NC_GLOBAL, "byte", NC_BYTE, 1, byte.data()));
  expect_no_error(nc_put_att_text(file, NC_GLOBAL, "Conventions", 6, "CF-1.7"));
  int volume = -1;
  expect_no_error(nc_inq_varid(file, "volume", &volume));
  expect_no_error(nc_put_att_text(file, volume, "units", 4, "km^3"));
}

void add_groups(int file) {
  int group = -1;
  int inner = -1;
  int dimensions = -1;
  int variable = -1;
  expect_no_error(nc_def_grp(file, "physics", &group));
  expect_no_error(nc_put_att_text(group, NC_GLOBAL, "scheme", 3, "rk4"));
  expect_no_error(nc_def_grp(group, "constants", &inner));
  expect_no_error(nc_def_dim(inner, "three", 3, &dimensions));
  expect_no_error(nc_def_var(inner, "values", NC_FLOAT, 1, &dimensions, &variable));
  const std::array<float, 3> values{1.5F, 2.5F, -0.1F};
  expect_no_error(nc_put_var_float(inner, variable, values.data()));
  expect_no_error(nc_def_var(file, "scalar", NC_INT, 0, nullptr, &variable));
  const int seven = 7;
  expect_no_error(nc_put_var_int(file, variable, &seven));
}

void add_all_parts(int file) {
  add_attributes(file);
  add_groups(file);
  add_other_variables(file);
}

const std::vector<io::VariableRule> kRules{
    {"theta", Rule::mean}, {"label", Rule::largest}, {"humidity", Rule::mean}, {"age", Rule::sum}};

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
      f.more = add_all_parts;
    });
    io::ParcelFileInfo info = io::read_info(in, t);
    EXPECT_TRUE(info.metadata.lost.empty());
    EXPECT_EQ(io::unread_variables(info), (std::vector<std::string>{"age", "humidity", "label", "theta"}));
    io::add_variables(in, info, kRules);
    EXPECT_TRUE(io::unread_variables(info).empty());
    const Parcels parcels = io::read_parcels(in, info, t);
    const Decomposition blocks(info.grid, t.size());
    io::write_parcels(out, parcels, blocks, info.time, t, info.metadata);

    io::ParcelFileInfo again = io::read_info(out, t);
    EXPECT_EQ(text(again.metadata.root), text(info.metadata.root));
    for (const io::FileVariable& v : info.metadata.columns) {
      const io::FileVariable* const w = again.metadata.column(v.name);
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
        expect_no_error(nc_def_dim(file, "two", 2, &two));
        expect_no_error(nc_def_var(file, "names", NC_STRING, 1, &two, &names));
        const char* values[2] = {"one", "two and more"};
        expect_no_error(nc_put_var_string(file, names, values));
      };
    });
    const io::ParcelFileInfo info = io::read_info(in, t);
    const Parcels parcels = io::read_parcels(in, info, t);
    io::write_parcels(out, parcels, Decomposition(info.grid, t.size()), info.time, t, info.metadata);
    const io::ParcelFileInfo again = io::read_info(out, t);
    ASSERT_EQ(again.metadata.root.variables.size(), 1U);
    EXPECT_EQ(text(again.metadata.root.variables[0]), text(info.metadata.root.variables[0]));
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
    io::write_parcels(out, parcels, Decomposition(info.grid, t.size()), info.time, t, info.metadata);
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
    io::write_parcels(out, parcels, Decomposition(info.grid, t.size()), info.time, t, info.metadata);
    EXPECT_FALSE(io::read_info(out, t).classic);
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
        expect_no_error(nc_def_dim(id, "row", NC_UNLIMITED, &shape[0]));
        expect_no_error(nc_def_dim(id, "column", NC_UNLIMITED, &shape[1]));
        const std::array<std::size_t, 2> start{0, 0}, count{2, 3};
        const std::array<int, 6> values{1, 2, 3, 4, 5, 6};
        std::array<const char*, 2> texts{"first", "second"};
        expect_no_error(nc_def_var(id, "table", NC_INT, 2, shape.data(), &table));
        expect_no_error(nc_def_var(id, "names", NC_STRING, 1, shape.data(), &names));
        const std::array<std::size_t, 2> few{4, 4};
        expect_no_error(nc_def_var_chunking(id, table, NC_CHUNKED, few.data()));
        expect_no_error(nc_put_vara_int(id, table, start.data(), count.data(), values.data()));
        expect_no_error(nc_put_vara_string(id, names, start.data(), count.data(), texts.data()));
      };
    });
    const io::ParcelFileInfo info = io::read_info(in, t);
    const Parcels parcels = io::read_parcels(in, info, t);
    io::write_parcels(out, parcels, Decomposition(info.grid, t.size()), info.time, t, info.metadata);
    const io::FileGroup root = io::read_info(out, t).metadata.root;
    ASSERT_EQ(root.variables.size(), 2U);
    for (std::size_t i = 0; i < 2; ++i) EXPECT_EQ(text(root.variables[i]), text(info.metadata.root.variables[i]));
    t.barrier();
  });
}

TEST(CarriedValues, of_variables_shorter_than_dimensions_that_grew_stay_in_place) {
  const Folder folder;
  const std::string in = folder.file("in.nc");
  EpicFile file;
  file.more = [](int id) {
    std::array<int, 2> shape{};
    expect_no_error(nc_def_dim(id, "row", NC_UNLIMITED, &shape[0]));
    expect_no_error(nc_def_dim(id, "column", NC_UNLIMITED, &shape[1]));
    const std::array<std::size_t, 2> start{0, 0};
    const std::array<int, 6> values{1, 2, 3, 4, 5, 6};
    for (const auto& [name, columns] : {std::pair{"whole", 3}, {"part", 2}}) {
      int variable = -1;
      const std::array<std::size_t, 2> count{2, static_cast<std::size_t>(columns)};
      expect_no_error(nc_def_var(id, name, NC_INT, 2, shape.data(), &variable));
      expect_no_error(nc_put_vara_int(id, variable, start.data(), count.data(), values.data()));
    }
  };
  file.make(in);
  const std::vector<std::int64_t> whole{1, 2, 3, 4, 5, 6}, part{1, 2, NC_FILL_INT, 3, 4, NC_FILL_INT};
  for (const io::FileGroup& group : {io::read_info(in).metadata.root, io::read_data(in)}) {
    EXPECT_EQ(io::to_integers(*io::find_variable(group, "whole")), whole);
    EXPECT_EQ(io::to_integers(*io::find_variable(group, "part")), part);
  }
}

TEST_P(Carried, variables_that_are_called_as_dimensions_are_written) {
  on_ranks(GetParam(), [](Transport& t) {
    const Folder folder(t);
    const std::string in = folder.file("in.nc"), out = folder.file("out.nc");
    make(t, in, [](EpicFile& f) {
      f.more = [](int id) {
        int number = -1;
        const int parcels = dimension(id, "n_parcels");
        expect_no_error(nc_def_dim(id, "row", 3, &number));
        for (const char* name : {"row", "world%size"}) {  // none over the dimension of its name
          expect_no_error(nc_def_var(id, name, NC_INT, 1, &parcels, &number));
          // In chunks: HDF5 has a cache for them, but does not open these variables again to set it.
          const std::array<std::size_t, 1> chunk{2};
          expect_no_error(nc_def_var_chunking(id, number, NC_CHUNKED, chunk.data()));
          const std::array<std::size_t, 2> start{0}, count{2};
          const std::array<int, 2> values{7, 8};
          expect_no_error(nc_put_vara_int(id, number, start.data(), count.data(), values.data()));
        }
      };
    });
    const std::vector<io::VariableRule> rules{{"row", Rule::centre, true}, {"world%size", Rule::centre, true}};
    io::ParcelFileInfo info = io::read_info(in, t);
    io::add_variables(in, info, rules);
    const Parcels parcels = io::read_parcels(in, info, t);
    io::write_parcels(out, parcels, Decomposition(info.grid, t.size()), info.time, t, info.metadata);
    io::ParcelFileInfo again = io::read_info(out, t);
    io::add_variables(out, again, rules);
    EXPECT_EQ(total_digest(t, io::read_parcels(out, again, t)).to_string(), total_digest(t, parcels).to_string());
    ASSERT_EQ(again.metadata.root.dimensions.size(), 1U);
    EXPECT_EQ(again.metadata.root.dimensions[0].length, 3);
    t.barrier();
  });
}

}  // namespace
