#pragma once
/// A small valid EPIC parcel file, created with the NetCDF library alone, and fields by which tests make it invalid.
#include <gtest/gtest.h>
#include <netcdf.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <map>
#include <string>
#include <vector>

namespace merganser::test {

/// What the file is to hold; spoil it before make().
struct EpicFile {
  static constexpr std::size_t kParcels = 6;

  std::size_t parcels = kParcels;                        ///< n_parcels
  std::map<std::string, std::vector<double>> variables;  ///< a length other than `parcels` gets its own dimension
  std::map<std::string, std::vector<double>> attributes{
      {"ncells", {4, 4, 4}}, {"extent", {2, 2, 2}}, {"origin", {-1, -1, -1}}};
  std::map<std::string, int> types;  ///< of variables that are not double
  std::string parcel_dimension = "n_parcels";
  bool time = true;  ///< variables are (t, n_parcels), else (n_parcels)
  bool time_level = true;
  bool text_attributes = false;
  int format = NC_NETCDF4;             ///< or 0: classic
  int deflate = 0;                     ///< level of compression, with shuffle and checksums
  std::function<void(int file)> more;  ///< called with the open file when all else is in it

  EpicFile() {
    for (const char* name : {"x_position", "y_position", "z_position", "x_vorticity", "y_vorticity", "z_vorticity",
                             "buoyancy", "B12", "B13", "B23"}) {
      std::vector<double>& values = variables[name];
      for (std::size_t i = 0; i < kParcels; ++i)
        values.push_back((name[0] == 'B' ? 1e-3 : 0.5) * std::sin(static_cast<double>(i + variables.size())));
    }
    variables["volume"].assign(kParcels, 4.0 / 3 * 3.14159 * 0.001);
    variables["B11"].assign(kParcels, 0.01);
    variables["B22"].assign(kParcels, 0.01);
  }

  void make(const std::string& path) const {
    int file = 0;
    expect_no_error(nc_create(path.c_str(), format | NC_CLOBBER, &file));
    std::map<std::size_t, int> dimension;
    expect_no_error(nc_def_dim(file, parcel_dimension.c_str(), parcels, &dimension[parcels]));
    int t = 0;
    expect_no_error(nc_def_dim(file, "t", NC_UNLIMITED, &t));
    for (const auto& [name, values] : attributes) {
      if (text_attributes)
        expect_no_error(nc_put_att_text(file, NC_GLOBAL, name.c_str(), 3, "abc"));
      else
        expect_no_error(nc_put_att_double(file, NC_GLOBAL, name.c_str(), NC_DOUBLE, values.size(), values.data()));
    }
    for (const auto& [name, values] : variables) {
      const std::size_t n = values.size();
      if (dimension.count(n) == 0)
        expect_no_error(nc_def_dim(file, ("n" + std::to_string(n)).c_str(), n, &dimension[n]));
      const std::vector<int> shape = time ? std::vector<int>{t, dimension[n]} : std::vector<int>{dimension[n]};
      const nc_type type = types.count(name) != 0 ? types.at(name) : NC_DOUBLE;
      int variable = 0;
      expect_no_error(nc_def_var(file, name.c_str(), type, static_cast<int>(shape.size()), shape.data(), &variable));
      if (deflate > 0) {
        expect_no_error(nc_def_var_deflate(file, variable, 1, 1, deflate));
        expect_no_error(nc_def_var_fletcher32(file, variable, NC_FLETCHER32));
      }
      const std::size_t start[2] = {0, 0};
      const std::vector<std::size_t> count = time ? std::vector<std::size_t>{1, n} : std::vector<std::size_t>{n};
      if (format != NC_NETCDF4) expect_no_error(nc_enddef(file));
      if (time_level && type != NC_CHAR)
        expect_no_error(nc_put_vara_double(file, variable, start, count.data(), values.data()));
      if (format != NC_NETCDF4) expect_no_error(nc_redef(file));
    }
    if (more) more(file);
    expect_no_error(nc_close(file));
  }

 private:
  static void expect_no_error(int status) { ASSERT_EQ(status, NC_NOERR) << nc_strerror(status); }
};

}  // namespace merganser::test
