/// Tests of io: files that refer to other files are refused, with the reference named, before another file is opened.
#include <gtest/gtest.h>

#include <fstream>

#include "merganser/base/error.hpp"
#include "merganser/io/data_file.hpp"
#include "merganser/io/parcel_file.hpp"
#include "tests/io/epic_file.hpp"
#include "tests/io/folder.hpp"
#include "tests/support/folders.hpp"
#include "tests/support/refusal.hpp"

namespace {

using namespace merganser;
using namespace merganser::test;

/// A file that h5py has written: all are seeds of the fuzzer too.
std::string sample(const std::string& name) {
  return source_folder().string() + "/tests/fuzz/seeds/hdf5_references/" + name;
}

struct Reference {
  const char* file;
  std::vector<const char*> says;
};

const std::vector<Reference> kReferences{
    {"refused-external_link_new",
     {"link \"humidity\" leads to another file, \"other.h5\" (HDF5 external link); allowed"}},
    {"refused-external_link_old", {"link \"humidity\"", "\"other.h5\""}},
    {"refused-external_link_in_group_new", {"link \"physics/inner/away\"", "\"other.h5\""}},
    {"refused-external_link_in_group_old", {"link \"physics/inner/away\"", "\"other.h5\""}},
    {"refused-dense", {"link \"z\" leads to another file, \"other.h5\""}},
    {"refused-external_storage_new",
     {"variable \"humidity\": its values are in another file, \"raw.bin\" (HDF5 external storage)"}},
    {"refused-external_storage_old", {"variable \"humidity\"", "\"raw.bin\""}},
    {"refused-filter_new",
     {"variable \"humidity\": packed by filter 32004, for which HDF5 would load a plug-in; allowed: deflate"}},
    {"refused-filter_old", {"packed by filter 32004"}},
};

TEST(References, to_other_files_and_plug_ins_are_refused_by_name_by_every_reader) {
  for (const Reference& reference : kReferences) {
    const std::string path = sample(reference.file);
    for (const std::string& what : {test::refusal<InputError>([&] { io::check_self_contained(path); }),
                                    test::refusal<InputError>([&] { static_cast<void>(io::read_info(path)); }),
                                    test::refusal<InputError>([&] { static_cast<void>(io::read_data(path)); })}) {
      EXPECT_EQ(what.find(path + ": "), 0U) << what;
      for (const char* part : reference.says) EXPECT_NE(what.find(part), std::string::npos) << what;
    }
  }
}

TEST(References, within_a_file_and_filters_of_the_library_are_none) {
  for (const char* name : {"soft_new", "dense_good"}) EXPECT_NO_THROW(io::check_self_contained(sample(name))) << name;
  const Folder folder;
  const std::string path = folder.file("in.nc");
  for (const int format : {NC_NETCDF4, NC_NETCDF4 | NC_CLASSIC_MODEL, 0, NC_64BIT_OFFSET, NC_64BIT_DATA}) {
    EpicFile file;
    file.format = format;
    if (format == NC_NETCDF4) {
      file.deflate = 4;
      file.more = [](int id) {  // more links than one node of their index holds
        int group = 0;
        for (int i = 0; i < 200; ++i)
          ASSERT_EQ(nc_def_grp(id, ("group" + std::to_string(i)).c_str(), &group), NC_NOERR);
      };
    }
    if ((format & NC_NETCDF4) == 0) file.time = false;
    file.make(path);
    EXPECT_EQ(io::check_self_contained(path), static_cast<std::int64_t>(std::filesystem::file_size(path))) << format;
  }
}

TEST(References, of_a_name_that_looks_like_an_address_of_a_server_are_to_a_plain_file) {
  const Folder folder;
  const auto here = std::filesystem::current_path();
  std::filesystem::current_path(folder.path());
  std::filesystem::create_directories("http:/localhost");
  for (const char* name : {"http://localhost/in.nc", "in.nc#mode=zarr,file", "[mode=bytes]in.nc"}) {
    const std::string absent = test::refusal<InputError>([&] { static_cast<void>(io::read_info(name)); });
    EXPECT_NE(absent.find("No such file"), std::string::npos) << absent;
    EpicFile().make(folder.file("made"));
    std::filesystem::rename("made", name);
    EXPECT_EQ(io::read_info(name).parcels, 6) << name;
  }
  std::filesystem::current_path(here);
}

}  // namespace
