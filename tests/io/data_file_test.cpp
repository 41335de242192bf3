/// Tests of io/data_file.hpp: arrays written to a NetCDF file are read again, and a file appears whole or not at all.
#include "merganser/io/data_file.hpp"

#include <gtest/gtest.h>

#include <fstream>
#include <memory>

#include "merganser/base/error.hpp"
#include "src/io/netcdf/nc_file.hpp"
#include "tests/io/folder.hpp"
#include "tests/support/ranks.hpp"

namespace {

using namespace merganser;
using namespace merganser::io;
using namespace merganser::test;

FileGroup sample_group() {
  FileGroup root;
  const std::vector<double> numbers{1.5, -0.0, 1e300, 4, 5, 6};
  const std::vector<std::int64_t> counts{1, std::int64_t{1} << 60};
  const std::vector<std::int32_t> small{3, 4, 5};
  root.attributes = {{"file_type", file_values(std::string_view("sample"))},
                     {"ncells", file_values(std::span<const std::int32_t>(small))}};
  root.dimensions = {{"t", 2, true}, {"x", 3, false}};
  root.variables.resize(2);
  root.variables[0].name = "field";
  root.variables[0].dimensions = {"t", "x"};
  root.variables[0].values = file_values(std::span<const double>(numbers));
  root.variables[1].name = "count";
  root.variables[1].dimensions = {"t"};
  root.variables[1].values = file_values(std::span<const std::int64_t>(counts));
  return root;
}

class DataFile : public testing::TestWithParam<Setup> {};
INSTANTIATE_TEST_SUITE_P(Models, DataFile, testing::ValuesIn(setups()), setup_name<testing::TestParamInfo<Setup>>);

TEST_P(DataFile, gives_back_every_bit_that_rank_0_wrote) {
  on_ranks(GetParam(), [](comm::Transport& t) {
    const Folder folder(t);
    const std::string path = folder.file("data.nc");
    write_data(path, t.rank() == 0 ? sample_group() : FileGroup(), t);
    t.barrier();
    if (t.rank() == 0) {
      const FileGroup file = read_data(path);
      const FileGroup expected = sample_group();
      for (const FileVariable& v : expected.variables) {
        const FileValues* const found = find_variable(file, v.name);
        ASSERT_NE(found, nullptr) << v.name;
        EXPECT_EQ(found->bytes, v.values.bytes);
        EXPECT_EQ(found->type, v.values.type);
      }
      EXPECT_EQ(to_text(*find_attribute(file, "file_type")), "sample");
      EXPECT_EQ(to_integers(*find_attribute(file, "ncells")), (std::vector<std::int64_t>{3, 4, 5}));
      EXPECT_EQ(to_doubles(*find_attribute(file, "ncells")), (std::vector<double>{3, 4, 5}));
      EXPECT_EQ(to_integers(*find_variable(file, "count"))[1], std::int64_t{1} << 60);
      EXPECT_NE(find_attribute(file, "merganser_version"), nullptr);
      EXPECT_EQ(find_variable(file, "none"), nullptr);
    }
    t.barrier();
  });
}

TEST_P(DataFile, that_does_not_fit_its_dimensions_is_refused_and_the_old_one_stays) {
  on_ranks(GetParam(), [](comm::Transport& t) {
    const Folder folder(t);
    const std::string path = folder.file("data.nc");
    write_data(path, sample_group(), t);
    t.barrier();
    const std::string before = read_bytes(path);
    FileGroup wrong = sample_group();
    wrong.dimensions[1].length = 4;
    EXPECT_THROW(write_data(path, wrong, t), InputError);
    wrong = sample_group();
    wrong.variables[1].dimensions = {"z"};
    EXPECT_THROW(write_data(path, wrong, t), InputError);
    t.barrier();
    EXPECT_EQ(read_bytes(path), before);
    EXPECT_THROW(write_data(folder.file("none/data.nc"), sample_group(), t), InputError);
    t.barrier();
  });
}

TEST_P(DataFile, that_threads_share_is_closed_when_rank_0_gives_it_up) {
  if (GetParam().backend != "threads") return;
  on_ranks(GetParam(), [](comm::Transport& t) {
    const Folder folder(t);
    const std::string path = folder.file("data.nc");
    write_data(path, t.rank() == 0 ? sample_group() : FileGroup(), t);
    std::shared_ptr<NcFile> file;
    if (t.rank() == 0) file = std::make_shared<NcFile>(NcFile::open(path));
    file = share_file(file, t);
    EXPECT_EQ(file->dimension("x"), 3);
    t.barrier();
    if (t.rank() == 0) {
      // HDF5 refuses to create a file over one that this process has open.
      EXPECT_THROW((void)NcFile::create(path, path), InputError);
      file.reset();
      EXPECT_NO_THROW((void)NcFile::create(path, path));
    }
    t.barrier();  // until here the other ranks have their pointers
    file.reset();
  });
}

TEST(DataFiles, that_are_none_are_refused) {
  const Folder folder;
  EXPECT_THROW((void)read_data(folder.file("none.nc")), InputError);
  std::ofstream(folder.file("text.nc")) << "not NetCDF";
  EXPECT_THROW((void)read_data(folder.file("text.nc")), InputError);
}

}  // namespace
