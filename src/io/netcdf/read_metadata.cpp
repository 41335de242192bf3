/// Reads the metadata of a NetCDF file and decides what can be carried into files made from it.
#include <algorithm>
#include <array>
#include <span>

#include "merganser/base/error.hpp"
#include "src/io/columns.hpp"
#include "src/io/netcdf/metadata.hpp"

namespace merganser::io {
namespace {

constexpr std::size_t kMaxValueBytes = std::size_t{16} << 20;  // bytes of variables that are carried
constexpr const char* kTaken = "whose name a variable has in every file that is written";
constexpr std::array<const char*, 3> kOwnDimensions{"n_parcels", "t", "world%size"};

/// Returns true if a list of names or of NetCDF's numbers contains a value.
template <class List, class Value>
bool is_in(const List& list, const Value& value) {
  return std::find(list.begin(), list.end(), value) != list.end();
}

using Name = std::array<char, NC_MAX_NAME + 1>;

/// Reader of a parcel file's metadata: attributes, dimensions, groups and variables that files made from it carry, and the list
/// of those that they lose. Holds the lock of the NetCDF library as long as it lives.
class MetadataReader {
 public:
  explicit MetadataReader(const NcFile& file) : file_(file), lock_(file.lock()) {
    if (nc_inq_dimid(file.id(), "t", &time_) != NC_NOERR) time_ = -1;
  }

  /// Returns the metadata of all groups of the parcel file, without the attributes and dimensions that the writer creates itself.
  FileMetadata read() {
    metadata_.root = read_group(file_.id(), "");
    std::size_t levels = 0;
    if (time_ >= 0) check(file_.dimension_length(file_.id(), time_, levels), "the length of dimension t");
    if (levels > 1)
      metadata_.lost.push_back({"t", "time levels 0 to " + std::to_string(levels - 2) + " of t, all but the last"});
    const auto carried = [](const FileAttribute& a) { return !is_own_attribute(a.name); };
    std::erase_if(metadata_.root.attributes, [&](const FileAttribute& a) { return !carried(a); });
    std::erase_if(metadata_.root.dimensions, [](const FileDimension& d) { return is_in(kOwnDimensions, d.name); });
    return std::move(metadata_);
  }

 private:
  void check(int status, const std::string& what) const { file_.check(status, "read " + what); }
  /// Lists a variable as one that files made from this parcel file will lack. @param what  reason in words, behind its name
  void record_loss(const std::string& name, const std::string& what) {
    metadata_.lost.push_back({name, "variable " + name + ", " + what});
  }

  /// Returns NetCDF's numbers of a group's members (variables, dimensions or subgroups), by an nc_inq_... function that gives
  /// their count and, if the pointer is not null, the numbers.
  std::vector<int> list_ids(int group, int (*inquire)(int, int*, int*), const char* what) const {
    int count = 0;
    check(inquire(group, &count, nullptr), what);
    std::vector<int> ids(static_cast<std::size_t>(count));
    if (count > 0) check(inquire(group, &count, ids.data()), what);
    return ids;
  }

  /// Reads the metadata of a NetCDF group and its subgroups. @param path  of the group with a slash at its end; empty for the
  /// root
  FileGroup read_group(int id, const std::string& path) {
    FileGroup out;
    int count = 0;
    check(nc_inq_natts(id, &count), "the attributes");
    out.attributes = read_attributes({id, NC_GLOBAL}, NC_NAT, count, path.empty() ? "global" : path);
    read_dimensions(id, out);
    for (const int v : list_ids(id, nc_inq_varids, "the variables")) read_variable(id, v, path, out);
    for (const int g : list_ids(id, nc_inq_grps, "the groups")) {
      Name name{};
      check(nc_inq_grpname(g, name.data()), "a group");
      const std::string own = name.data();
      if (path.empty() && (is_in(kBoxNames, own) || is_in(kOwnDimensions, own) || own == kIdName)) {
        metadata_.lost.push_back({own, "group " + own + ", " + kTaken});
        continue;
      }
      out.groups.push_back(read_group(g, path + name.data() + '/'));
      out.groups.back().name = name.data();
    }
    return out;
  }

  /// Reads names and lengths of the dimensions that a NetCDF group defines, and appends the unlimited ones to unlimited_.
  void read_dimensions(int id, FileGroup& out) {
    const auto inquire = [](int group, int* count, int* ids) { return nc_inq_dimids(group, count, ids, 0); };
    const std::vector<int> unlimited = list_ids(id, nc_inq_unlimdims, "the dimensions");
    unlimited_.insert(unlimited_.end(), unlimited.begin(), unlimited.end());
    for (const int d : list_ids(id, inquire, "the dimensions")) {
      Name name{};
      std::size_t length = 0;
      check(nc_inq_dimname(id, d, name.data()), "a dimension");
      check(file_.dimension_length(id, d, length), "a dimension");
      out.dimensions.push_back({name.data(), static_cast<std::int64_t>(length), is_in(unlimited, d)});
    }
  }

  /// Returns the name of a NetCDF type, atomic or user-defined; its number if NetCDF gives no name.
  std::string type_text(int id, nc_type type) const {
    if (type < NC_FIRSTUSERTYPEID) return type_name(static_cast<FileType>(type));
    Name name{};
    return nc_inq_user_type(id, type, name.data(), nullptr, nullptr, nullptr, nullptr) == NC_NOERR
               ? std::string(name.data())
               : std::to_string(type);
  }

  /// Returns true if a NetCDF attribute is a _FillValue that is not one value of the variable's type, which NetCDF does not
  /// write. @param holds  type of the variable, NC_NAT for a group
  static bool is_odd_fill(const FileAttribute& a, nc_type holds) {
    return holds != NC_NAT && a.name == "_FillValue" && (a.values.type != holds || a.values.count != 1);
  }

  /// Reads the attributes of a NetCDF variable or group; lists as lost those that cannot be carried into another file.
  /// @param holds  type of the variable, NC_NAT for a group: the library reads a _FillValue of another type, but does not
  ///               write it
  std::vector<FileAttribute> read_attributes(VariableNumber of, nc_type holds, int count, const std::string& owner) {
    const auto [id, variable] = of;
    std::vector<FileAttribute> out;
    for (int i = 0; i < count; ++i) {
      Name name{};
      nc_type type = NC_NAT;
      std::size_t length = 0;
      check(nc_inq_attname(id, variable, i, name.data()), "an attribute of " + owner);
      const std::string what = "the attribute " + std::string(name.data()) + " of " + owner;
      check(nc_inq_att(id, variable, name.data(), &type, &length), what);
      FileAttribute a{name.data(), {type, static_cast<std::int64_t>(length), {}, {}}};
      const bool odd = is_odd_fill(a, holds);
      if (odd) metadata_.lost.push_back({a.name, what.substr(4) + ", which is not one value of its type"});
      if (type == NC_STRING) {
        a.values.strings = read_strings(
            length, what, [&](char** to) { return nc_get_att_string(of.group, of.variable, name.data(), to); });
      } else if (type_bytes(static_cast<FileType>(type)) > 0) {
        a.values.bytes.resize(length * type_bytes(static_cast<FileType>(type)));
        if (length > 0) check(nc_get_att(id, variable, name.data(), a.values.bytes.data()), what);
      } else {
        if (!odd) metadata_.lost.push_back({name.data(), what.substr(4) + ", of type " + type_text(id, type)});
        continue;
      }
      out.push_back(std::move(a));
    }
    return out;
  }

  /// Returns copies of `count` strings of a NetCDF attribute or variable that read(char** to) allocates, and frees the originals.
  /// The caller owns them even if the library fails after the first ones, so they are freed before the status is checked.
  template <class Read>
  std::vector<std::string> read_strings(std::size_t count, const std::string& what, const Read& read) const {
    std::vector<char*> given(count, nullptr);
    const int status = read(given.data());
    std::vector<std::string> out;
    for (const char* text : given) out.emplace_back(text == nullptr ? "" : text);
    if (count > 0) nc_free_string(count, given.data());
    check(status, what);
    return out;
  }

  /// Reads the description of a NetCDF variable and adds it to the metadata: as a column (over the parcels), as a variable of its
  /// group with its values, or as lost.
  void read_variable(int id, int number, const std::string& path, FileGroup& out) {
    Name name{};
    std::array<int, NC_MAX_VAR_DIMS> dims{};
    nc_type type = NC_NAT;
    int rank = 0;
    int count = 0;
    check(nc_inq_var(id, number, name.data(), &type, &rank, dims.data(), &count), "a variable");
    FileVariable v;
    v.name = name.data();
    const std::string full = path + v.name;
    v.values.type = type;
    for (int d = 0; d < rank; ++d) {
      Name dimension{};
      check(nc_inq_dimname(id, dims[static_cast<std::size_t>(d)], dimension.data()), "the shape of " + full);
      v.dimensions.emplace_back(dimension.data());
    }
    const bool root = path.empty();
    if (root && is_in(kBoxNames, v.name)) {
      if (v.dimensions != std::vector<std::string>{"world%size"}) record_loss(v.name, kTaken);
      return;
    }
    const bool own = root && (is_own_name(v.name) || v.name == "t");
    const bool over_parcels = is_in(v.dimensions, "n_parcels");
    if (type >= NC_FIRSTUSERTYPEID && !own) return record_loss(full, "of type " + type_text(id, type));
    const nc_type holds = root && v.name == "t" ? NC_DOUBLE : type;  // when it is written
    for (FileAttribute& a : read_attributes({id, number}, holds, count, full))
      (is_odd_fill(a, holds) ? v.unwritten : v.attributes).push_back(std::move(a));
    v.storage = read_storage(id, number, v.dimensions.size());
    if (own || (root && over_parcels)) return add_column(std::move(v), own);
    if (over_parcels) return record_loss(full, "over the parcels but in a group");
    if (is_in(v.dimensions, "world%size")) return record_loss(full, "which has a value for every rank");
    if (read_values_within_budget({id, number}, {dims.data(), v.dimensions.size()}, full, v))
      out.variables.push_back(std::move(v));
  }

  /// Adds a variable over the parcels to the metadata's columns, or lists it as lost if it is not numeric or of another shape.
  /// @param own  true for EPIC's variables, ids and t, whose type and shape find_column_variable() and read_time() check
  void add_column(FileVariable v, bool own) {
    const std::size_t rank = v.dimensions.size();
    const auto type = static_cast<FileType>(v.values.type);
    if (!own && (rank > 2 || v.dimensions.back() != "n_parcels"))
      return record_loss(v.name, "whose shape is neither (t, n_parcels) nor (n_parcels)");
    if (!own && !is_number(type)) return record_loss(v.name, "of type " + type_name(type));
    metadata_.columns.push_back(std::move(v));
  }

  /// Reads chunk length and filters of a NetCDF variable. Properties that the library does not give, as for files in older
  /// formats, keep their defaults.
  static FileStorage read_storage(int id, int number, std::size_t rank) {
    FileStorage s;
    int kind = NC_CONTIGUOUS;
    std::vector<std::size_t> chunk(std::max<std::size_t>(1, rank), 0);
    if (nc_inq_var_chunking(id, number, &kind, chunk.data()) != NC_NOERR || kind != NC_CHUNKED) return s;
    s.chunk = static_cast<std::int64_t>(chunk.back());
    int shuffle = 0;
    int deflate = 0;
    int level = 0;
    int checksum = 0;
    if (nc_inq_var_deflate(id, number, &shuffle, &deflate, &level) == NC_NOERR) {
      s.shuffle = shuffle != 0;
      s.deflate = deflate != 0 ? level : 0;
    }
    if (nc_inq_var_fletcher32(id, number, &checksum) == NC_NOERR) s.checksum = checksum == NC_FLETCHER32;
    return s;
  }

  /// Reads the values of a NetCDF variable that is carried as metadata; along the dimension t the last level. @return false, with
  /// the variable listed as lost, if all values read so far and these exceed kMaxValueBytes
  bool read_values_within_budget(VariableNumber of, std::span<const int> dimensions, const std::string& full,
                                 FileVariable& v) {
    const int id = of.group;
    const int number = of.variable;
    VariablePart part{std::vector<std::size_t>(v.dimensions.size() + 1, 0),
                      std::vector<std::size_t>(v.dimensions.size() + 1, 1)};
    auto& [start, length, by_rows] = part;
    double all = 1;
    for (std::size_t d = 0; d < v.dimensions.size(); ++d) {
      const int dimension = dimensions[d];
      check(file_.dimension_length(id, dimension, length[d]), "the shape of " + full);
      if (d > 0 && is_in(unlimited_, dimension)) by_rows = true;
      if (dimension == time_ && length[d] > 0) {
        start[d] = length[d] - 1;
        length[d] = 1;
      }
      all *= static_cast<double>(length[d]);
    }
    const auto type = static_cast<FileType>(v.values.type);
    const double bytes = all * static_cast<double>(std::max<std::size_t>(8, type_bytes(type)));
    if (bytes > static_cast<double>(kMaxValueBytes - carried_)) {
      record_loss(full, "with those before it more than 16 MiB");
      return false;
    }
    carried_ += static_cast<std::size_t>(bytes);
    const auto count = static_cast<std::size_t>(all);
    v.values.count = static_cast<std::int64_t>(count);
    if (type == FileType::string) {
      v.values.strings =
          read_strings(count, full, [&](char** to) { return get_part(file_, id, number, part, sizeof(char*), to); });
    } else {
      v.values.bytes.resize(count * type_bytes(type));
      check(get_part(file_, id, number, part, type_bytes(type), v.values.bytes.data()), full);
    }
    return true;
  }

  const NcFile& file_;
  NetcdfLock lock_;
  int time_ = -1;               // dimension t, of which the last level is read; -1: none
  std::vector<int> unlimited_;  // unlimited dimensions of the groups read so far
  FileMetadata metadata_;
  std::size_t carried_ = 0;  // bytes of values read so far
};

}  // namespace

FileMetadata read_metadata(const NcFile& file) { return MetadataReader(file).read(); }

bool is_own_attribute(std::string_view name) {
  static constexpr std::array<std::string_view, 8> own{
      "merganser_version", "creation_date", "creation_time", "creation_zone", "ncells", "extent", "origin", "periodic"};
  return is_in(own, name);
}

}  // namespace merganser::io
