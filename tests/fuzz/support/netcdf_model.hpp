#pragma once
/// In-memory model of a NetCDF-4 file for fuzzing: written and read by calls of the library, which netcdf_calls.cpp answers from
/// the model some thirty times faster. Calls about other files reach the library. The model behaves as NetCDF 4.9 with HDF5 1.10,
/// which parcels_netcdf4.cpp checks.
#include <netcdf.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "tests/fuzz/support/netcdf_values.hpp"

namespace merganser::fuzz {

/// Creates the model's file, in place of the former one. @return the status of nc_create()
int begin_model();

/// Returns the path by which nc_open() opens the model's file. There is a file on disk that begins with the signature of HDF5.
std::string model_path();

/// Returns whether a call since its creation had an effect in the library that the model does not know.
bool beyond_model();

// Contents of the model

constexpr int kModelFile = 0x7ffe0000;  // the library counts its files from 1, in the upper half
constexpr int kModelGroup = kModelFile + 1;
constexpr std::size_t kMaxRank = 4;
using Place = std::array<std::size_t, kMaxRank>;

struct ModelAttribute {
  std::string name;
  nc_type type = NC_NAT;
  std::vector<RawValue> values;
  std::vector<std::string> texts;
  [[nodiscard]] std::size_t length() const { return std::max(values.size(), texts.size()); }
};

struct Written {
  Place at;
  RawValue value;
  std::string text;
};

struct ModelVariable {
  std::string name;
  nc_type type = NC_NAT;
  std::vector<int> dimensions;
  std::vector<std::size_t> chunk;  ///< empty: in one piece
  int shuffle = 0, deflate = 0, level = 0, checksum = NC_NOCHECKSUM;
  std::vector<ModelAttribute> attributes;
  std::vector<Written> written;
};

struct ModelGroup {
  std::vector<ModelAttribute> attributes;
  std::vector<ModelVariable> variables;
};

struct ModelDimension {
  std::string name;
  std::size_t length = 0;
  bool unlimited = false;
};

struct Model {
  std::vector<ModelDimension> dimensions;
  std::array<ModelGroup, 2> groups;
  std::string group_name;  ///< name of the second group; empty: there is none
  bool beyond = false;
};
Model& model();

// Access by the ids of the library's functions; null if there is no such object.

inline bool is_model_id(int id) { return id == kModelFile || id == kModelGroup; }
ModelGroup& group(int id);
ModelVariable* variable(int id, int number);
ModelDimension* dimension(int number);
/// Returns the attributes of a variable, or with NC_GLOBAL those of the group.
std::vector<ModelAttribute>* attributes(int id, int number);
ModelAttribute* attribute(int id, int number, const char* name);

template <class List>
auto* named(List& list, std::string_view name) {
  const auto at = std::find_if(list.begin(), list.end(), [&](const auto& x) { return x.name == name; });
  return at == list.end() ? nullptr : &*at;
}

/// Returns whether the library accepts a name. Names beyond ASCII, which the library normalizes, are unknown to the model.
bool is_valid_name(std::string_view name);

// Functions that return a status of the library.

int put(int id, int number, const char* name, ModelAttribute a);
int write(ModelVariable& v, const std::size_t* start, const std::size_t* count, const double* numbers,
          const char* const* texts);
/// Reads a hyperslab; elements that were not written have the variable's fill value.
int read(const ModelVariable& v, const std::size_t* start, const std::size_t* count, std::vector<Written>& out);

}  // namespace merganser::fuzz
