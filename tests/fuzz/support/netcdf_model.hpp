#pragma once
/// A file of NetCDF-4 that is no file: it is written and read by the calls of the library, which are answered from memory
/// (netcdf_calls.cpp) some thirty times sooner. All other files reach the library. The model answers as NetCDF 4.9 with
/// HDF5 1.10 does, which parcels_netcdf4.cpp holds it to.
#include <netcdf.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "tests/fuzz/support/netcdf_values.hpp"

namespace merganser::fuzz {

/// Begins a file, in place of the one before. @return what nc_create() would give
int begin_model();

/// nc_open() of this path opens it. Its first bytes are those of HDF5.
std::string model_path();

/// True if something was asked of it, since it was begun, of which it does not know what the library would do.
bool beyond_model();

// What it holds

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
  std::string group_name;  ///< of the second one; empty: there is none
  bool beyond = false;
};
Model& model();

// By the ids of the library's calls; null for what is not there.

inline bool ours(int id) { return id == kModelFile || id == kModelGroup; }
ModelGroup& group(int id);
ModelVariable* variable(int id, int number);
ModelDimension* dimension(int number);
/// Of a variable, or with NC_GLOBAL of the group.
std::vector<ModelAttribute>* attributes(int id, int number);
ModelAttribute* attribute(int id, int number, const char* name);

template <class List>
auto* named(List& list, std::string_view name) {
  const auto at = std::find_if(list.begin(), list.end(), [&](const auto& x) { return x.name == name; });
  return at == list.end() ? nullptr : &*at;
}

/// The library's rule for names. Those beyond ASCII it makes its own form of.
bool good_name(std::string_view name);

// They give the library's status.

int put(int id, int number, const char* name, ModelAttribute a);
int write(ModelVariable& v, const std::size_t* start, const std::size_t* count, const double* numbers,
          const char* const* texts);
/// What was not written is the variable's fill value.
int read(const ModelVariable& v, const std::size_t* start, const std::size_t* count, std::vector<Written>& out);

}  // namespace merganser::fuzz
