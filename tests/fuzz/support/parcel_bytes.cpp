// requires: NetCDF
/// Construction of parcel files from fuzz inputs (parcels.hpp): a description of an EPIC file, changed by the input, then written
/// by NetCDF or into the in-memory model.
#include <netcdf.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <vector>

#include "tests/fuzz/support/files.hpp"
#include "tests/fuzz/support/netcdf_model.hpp"
#include "tests/fuzz/support/parcels.hpp"
#include "tests/fuzz/support/target.hpp"

namespace merganser::fuzz {
namespace {

constexpr std::array kNames{"x_position",  "y_position",  "z_position", "volume",       "B11",
                            "B12",         "B13",         "B22",        "B23",          "x_vorticity",
                            "y_vorticity", "z_vorticity", "buoyancy",   "merganser_id", "t"};
constexpr std::array kAttributes{"ncells",       "extent",     "origin",     "periodic",
                                 "scale_factor", "add_offset", "_FillValue", "units"};
constexpr std::array kDimensions{"n_parcels", "t", "world%size", "more"};
constexpr std::array kNumbers{0.0,  1.0,   -1.0, 2.0,   0.5,    3.0,     4.0,    -0.0,   1e-300, 1e300,
                              1e18, -2e18, 1e9,  127.0, -129.0, 65536.0, 0x1p53, 0x1p62, 1e-9,   0.004};

/// Decoder of the input into numbers and choices; beyond its end it returns 0.
class Bytes {
 public:
  explicit Bytes(std::string_view text) : text_(text) {}
  [[nodiscard]] bool done() const { return text_.empty(); }
  std::size_t below(std::size_t n) {
    if (text_.empty()) return 0;
    const auto byte = static_cast<unsigned char>(text_[0]);
    text_.remove_prefix(1);
    return byte % n;
  }
  double number() {
    const std::size_t which = below(kNumbers.size() + 4);
    if (which < kNumbers.size()) return kNumbers[which];
    double value = 0;
    const std::size_t length = std::min(text_.size(), sizeof value);
    std::memcpy(&value, text_.data(), length);
    text_.remove_prefix(length);
    return value;
  }
  std::vector<double> numbers(std::size_t most) {
    std::vector<double> out(below(most + 1));
    for (double& x : out) x = number();
    return out;
  }
  std::string name(std::span<const char* const> known) {
    const std::size_t which = below(known.size() + 1);
    if (which < known.size()) return known[which];
    const std::size_t asked = below(12), length = std::min(asked, text_.size());
    std::string out(text_.substr(0, length));
    text_.remove_prefix(length);
    return out;
  }

 private:
  std::string_view text_;
};

struct Variable {
  std::string name;
  nc_type type = NC_DOUBLE;
  std::vector<std::string> dimensions{"t", "n_parcels"};
  std::vector<double> values;
  bool more = false;  ///< defined in the second group
  int storage = 0;    ///< bits that select shuffle, compression, checksums and chunk size
};

struct Attribute {
  std::string owner;  ///< empty: the file
  std::string name;
  nc_type type = NC_DOUBLE;
  std::vector<double> values;
};

struct Description {
  std::array<std::size_t, 4> lengths{3, 0, 2, 5};  ///< lengths of kDimensions; 0: unlimited
  std::vector<Variable> variables;
  std::vector<Attribute> attributes{
      {"", "ncells", NC_INT, {4, 4, 4}}, {"", "extent", NC_DOUBLE, {2, 2, 2}}, {"", "origin", NC_DOUBLE, {-1, -1, -1}}};

  Description() {
    for (const std::string name : kNames) {
      if (name == "merganser_id" || name == "t") continue;
      const bool shape = name == "B11" || name == "B22", volume = name == "volume";
      const double size = shape ? 0.01 : volume ? 0.004 : name[0] == 'B' ? 0.001 : 0.25;
      variables.push_back(
          {name, NC_DOUBLE, {"t", "n_parcels"}, {size, shape || volume ? size : -size, size}, false, 0});
    }
  }

  void change(Bytes& in) {
    Variable& v = variables[in.below(variables.size())];
    switch (in.below(12)) {
      case 0:
        v.values = in.numbers(6);
        break;
      case 1:
        v.type = static_cast<nc_type>(in.below(13));
        break;
      case 2:
        v.dimensions = shape(in);
        break;
      case 3:
        v.name = in.name(kNames);
        break;
      case 4:
        lengths[in.below(lengths.size())] = in.below(8);
        break;
      case 5:
        attributes.push_back({"", in.name(kAttributes), static_cast<nc_type>(in.below(13)), in.numbers(4)});
        break;
      case 6:
        attributes.push_back({v.name, in.name(kAttributes), static_cast<nc_type>(in.below(13)), in.numbers(2)});
        break;
      case 7:
        variables.push_back({in.name(kNames), static_cast<nc_type>(in.below(13)), shape(in), in.numbers(6), false, 0});
        break;
      case 8:
        attributes[in.below(attributes.size())].values = in.numbers(4);
        break;
      case 9:
        v.more = !v.more;
        break;
      case 10:
        v.storage = static_cast<int>(in.below(16));
        break;
      default: {
        const std::size_t count = 1 + in.below(6);
        v.values.resize(count, v.values.empty() ? in.number() : v.values[0]);
      }
    }
  }

 private:
  static std::vector<std::string> shape(Bytes& in) {
    std::vector<std::string> out(in.below(4));
    for (auto& d : out) d = kDimensions[in.below(kDimensions.size())];
    return out;
  }
};

/// Writer of a described file by calls of the library; a call that fails leaves its object out of the file.
class Maker {
 public:
  explicit Maker(int file) : file_(file) {}
  /// Closes the file. @return false if the library could not; the file is still open then
  bool make(const Description& d) {
    for (std::size_t i = 0; i < kDimensions.size(); ++i) {
      int dimension = 0;
      nc_def_dim(file_, kDimensions[i], d.lengths[i], &dimension);
    }
    if (nc_def_grp(file_, "group", &group_) != NC_NOERR) group_ = file_;
    for (const Variable& v : d.variables) define(v);
    for (const Attribute& a : d.attributes) put(a);
    int format = NC_FORMAT_CLASSIC;
    if (nc_enddef(file_) != NC_NOERR && nc_inq_format(file_, &format) == NC_NOERR && format != NC_FORMAT_NETCDF4)
      return nc_abort(file_) == NC_NOERR;  // there is no file then
    for (const Variable& v : d.variables) fill(v);
    return nc_close(file_) == NC_NOERR;
  }

 private:
  void define(const Variable& v) {
    std::vector<int> dimensions;
    const int group = v.more ? group_ : file_;
    for (const auto& name : v.dimensions) nc_inq_dimid(file_, name.c_str(), &dimensions.emplace_back());
    int variable = 0;
    if (nc_def_var(group, v.name.c_str(), v.type, static_cast<int>(dimensions.size()), dimensions.data(), &variable) !=
        NC_NOERR)
      return;
    if (dimensions.empty() || (v.storage == 0 && !grows(dimensions))) return;
    // By default, the library gives unlimited variables chunks of a mebibyte, and writes and reads them whole.
    constexpr std::size_t kShort = 8;
    const std::size_t most = (v.storage & 8) != 0 ? static_cast<std::size_t>(1 + v.storage % 3) : kShort;
    std::vector<std::size_t> chunk(dimensions.size(), most);
    for (std::size_t d = 0; d < chunk.size(); ++d) {
      std::size_t length = 0;
      nc_inq_dimlen(file_, dimensions[d], &length);
      if (length > 0) chunk[d] = std::min(most, length);
    }
    nc_def_var_chunking(group, variable, NC_CHUNKED, chunk.data());
    if (v.storage == 0 || v.type == NC_STRING) return;
    nc_def_var_deflate(group, variable, v.storage & 1, (v.storage >> 1) & 1, 1);
    if ((v.storage & 4) != 0) nc_def_var_fletcher32(group, variable, NC_FLETCHER32);
  }
  [[nodiscard]] bool grows(const std::vector<int>& dimensions) const {
    return std::any_of(dimensions.begin(), dimensions.end(), [&](int d) {
      std::size_t length = 0;  // of an unlimited dimension: 0 until something is written
      return nc_inq_dimlen(file_, d, &length) == NC_NOERR && length == 0;
    });
  }
  void put(const Attribute& a) {
    int owner = NC_GLOBAL;
    if (!a.owner.empty() && nc_inq_varid(file_, a.owner.c_str(), &owner) != NC_NOERR) return;
    std::size_t values = 0;  // the library may crash when it refuses another fill value
    if (owner != NC_GLOBAL && a.name == "_FillValue" &&
        nc_inq_attlen(file_, owner, "_FillValue", &values) == NC_NOERR && values > 0)
      return;
    if (a.type == NC_CHAR)
      nc_put_att_text(file_, owner, a.name.c_str(), a.values.size(), "text");
    else if (a.type == NC_STRING)
      nc_put_att_string(file_, owner, a.name.c_str(), a.values.size(), kTexts.data());
    else
      nc_put_att_double(file_, owner, a.name.c_str(), a.type, a.values.size(), within(a.type, a.values).data());
  }
  void fill(const Variable& v) {
    int variable = 0;
    const int group = v.more ? group_ : file_;
    nc_type type = NC_NAT;
    if (v.values.empty() || nc_inq_varid(group, v.name.c_str(), &variable) != NC_NOERR) return;
    if (nc_inq_vartype(group, variable, &type) != NC_NOERR) return;
    // Large enough for any shape, since the variable of this name may be another one.
    const std::array<std::size_t, 8> start{};
    std::array<std::size_t, 8> count{1, 1, 1, 1, 1, 1, 1, 1};
    if (!v.dimensions.empty()) count[v.dimensions.size() - 1] = v.values.size();
    if (type == NC_STRING)
      nc_put_vara_string(group, variable, start.data(), count.data(), std::vector(v.values.size(), kTexts[0]).data());
    else if (type != NC_CHAR)
      nc_put_vara_double(group, variable, start.data(), count.data(), within(type, v.values).data());
  }
  /// Returns values within the range of the type: the library's conversion of others is undefined.
  static std::vector<double> within(nc_type type, std::vector<double> values) {
    for (double& x : values) x = within_type(type, x);
    return values;
  }

  static inline std::array<const char*, 4> kTexts{"a", "", "text", "\xff"};
  int file_ = -1;
  int group_ = -1;
};

/// Keeps one file open in memory: when its last file is closed, the library frees half a mebibyte, which it allocates and clears
/// again for the next file.
void hold_list() {
  static const int held = [] {
    int file = -1;
    require(nc_create("held", NC_DISKLESS | NC_CLOBBER, &file) == NC_NOERR, "no file in memory can be made");
    return file;
  }();
  static_cast<void>(held);
}

Description described(std::string_view bytes) {
  Bytes in(bytes);
  Description description;
  while (!in.done()) description.change(in);
  return description;
}

}  // namespace

std::string make_parcel_file(int format, std::string_view bytes) {
  static int number = 0;
  hold_list();
#ifdef NC_NODIMSCALE_ATTACH
  // Attaching HDF5 dimension scales to variables takes a third of the time, and tests the library only.
  if (format == NC_NETCDF4 && !is_selected(16, bytes)) format |= NC_NODIMSCALE_ATTACH;
#endif
  const std::string path = make_path("parcels-" + std::to_string(number) + ".nc");
  int file = -1;
  const int status = nc_create(path.c_str(), format | NC_CLOBBER, &file);
  if (status != NC_NOERR) finding(std::string("no parcel file can be made: ") + nc_strerror(status));
  if (!Maker(file).make(described(bytes))) ++number;
  return path;
}

std::optional<std::string> make_parcel_model(std::string_view bytes) {
  static const bool known =
      std::string_view(nc_inq_libvers()).starts_with("4.9.0");  // other versions may behave differently
  if (!known) return std::nullopt;
  Maker(begin_model()).make(described(bytes));
  return beyond_model() ? std::nullopt : std::optional(model_path());
}

}  // namespace merganser::fuzz
