// Data files (NetCDF-4 files whose arrays one rank holds whole): written by rank 0, read by any one rank.
#include "merganser/io/data_file.hpp"

#include <algorithm>
#include <array>
#include <optional>

#include "merganser/base/error.hpp"
#include "merganser/comm/shared_output.hpp"
#include "src/io/columns.hpp"
#include "src/io/netcdf/define_file.hpp"
#include "src/io/netcdf/metadata.hpp"
#include "src/io/netcdf/nc_file.hpp"

namespace merganser::io {
namespace {

constexpr double kMaxDataBytes = 0x1p30;

/// Returns the lengths of the dimensions of a variable that is to be written to a data file. @throws InputError if a dimension
/// does not exist, or if the number of values is not their product
std::vector<std::size_t> checked_shape(const std::string& path, const FileGroup& group, const FileVariable& v) {
  std::vector<std::size_t> lengths;
  std::int64_t all = 1;
  for (const std::string& name : v.dimensions) {
    const auto d = std::find_if(group.dimensions.begin(), group.dimensions.end(),
                                [&](const FileDimension& x) { return x.name == name; });
    if (d == group.dimensions.end())
      throw InputError("cannot write " + path + ": the variable " + v.name + " is over " + name +
                       ", which is no dimension");
    lengths.push_back(static_cast<std::size_t>(d->length));
    all *= d->length;
  }
  if (all != v.values.count)
    throw InputError("cannot write " + path + ": the variable " + v.name + " has " + std::to_string(v.values.count) +
                     " values; its dimensions make " + std::to_string(all));
  return lengths;
}

/// Validates the shapes of all variables of a group and its subgroups before a data file of them is created. @throws InputError
/// if the values of one do not fit its dimensions
void check_shapes(const std::string& path, const FileGroup& group) {
  for (const FileVariable& v : group.variables) (void)checked_shape(path, group, v);
  for (const FileGroup& g : group.groups) check_shapes(path, g);
}

/// Writes the values of all variables of a data file's group and its subgroups, in the order of define_group(), and advances
/// `at` along the numbers that it returned.
void write_values(const NcFile& file, const FileGroup& group, const VariableNumber*& at) {
  for (const FileVariable& v : group.variables) {
    const VariableNumber to = *at++;
    if (v.values.count == 0) continue;
    const std::vector<std::size_t> length = checked_shape(file.path(), group, v);
    const std::vector<std::size_t> start(length.size() + 1, 0);
    file.check(nc_put_vara(to.group, to.variable, start.data(), length.data(), v.values.bytes.data()),
               "write the variable " + v.name);
  }
  for (const FileGroup& g : group.groups) write_values(file, g, at);
}

/// Writes a whole data file (NetCDF-4, arrays that one rank holds whole) and closes it: header, then values.
void write_group(NcFile& file, const FileGroup& root) {
  {
    const auto lock = file.lock();
    put_provenance(file);
    define_dimensions(file, file.id(), root);
    const std::vector<VariableNumber> defined = define_group(file, file.id(), root);
    file.check(nc_enddef(file.id()), "finish the header");
    const VariableNumber* at = defined.data();
    write_values(file, root, at);
  }
  file.close();
}

/// Reader of a data file for read_data(): attributes and numeric variables of its root group, up to 1 GiB. Holds the lock of
/// the NetCDF library.
class DataReader {
 public:
  explicit DataReader(const NcFile& file) : file_(file), lock_(file.lock()) {}

  /// Returns the root group of the data file: its attributes, and its numeric variables with attributes and values.
  FileGroup read() {
    FileGroup out;
    int attributes = 0;
    int variables = 0;
    int dimensions = 0;
    check(nc_inq(file_.id(), &dimensions, &variables, &attributes, nullptr), "the header");
    int unlimited = 0;
    unlimited_.resize(static_cast<std::size_t>(dimensions));
    check(nc_inq_unlimdims(file_.id(), &unlimited, unlimited_.data()), "the dimensions");
    unlimited_.resize(static_cast<std::size_t>(unlimited));
    for (int i = 0; i < attributes; ++i) read_attribute(NC_GLOBAL, i, out.attributes);
    for (int i = 0; i < variables; ++i) read_variable(i, out);
    return out;
  }

 private:
  using Name = std::array<char, NC_MAX_NAME + 1>;
  void check(int status, const std::string& what) const { file_.check(status, "read " + what); }

  /// Returns the bytes of an array of the data file and adds them to the total read so far. @throws InputError if the total
  /// exceeds 1 GiB, before memory is allocated: a damaged header may promise any number of values
  std::size_t budgeted_bytes(double count, nc_type type, const std::string& name) {
    const double bytes = count * static_cast<double>(type_bytes(static_cast<FileType>(type)));
    read_ += bytes;
    if (read_ > kMaxDataBytes)
      throw InputError(file_.path() + ": up to " + name + " it has more than 1 GiB of values; allowed: at most that");
    return static_cast<std::size_t>(bytes);
  }

  /// Reads an attribute of numbers or characters from the data file and appends it to `out`; skips other types. @param of
  /// number of the variable that has it, or NC_GLOBAL for the root group
  void read_attribute(int of, int number, std::vector<FileAttribute>& out) {
    Name name{};
    nc_type type = NC_NAT;
    std::size_t length = 0;
    check(nc_inq_attname(file_.id(), of, number, name.data()), "an attribute");
    check(nc_inq_att(file_.id(), of, name.data(), &type, &length), name.data());
    if (type_bytes(static_cast<FileType>(type)) == 0) return;
    FileAttribute a{name.data(), {type, static_cast<std::int64_t>(length), {}, {}}};
    a.values.bytes.resize(budgeted_bytes(static_cast<double>(length), type, a.name));
    if (length > 0) check(nc_get_att(file_.id(), of, name.data(), a.values.bytes.data()), a.name);
    out.push_back(std::move(a));
  }

  /// Reads a numeric variable of the data file, with its attributes and all of its values, and appends it to `out`; skips other
  /// types.
  void read_variable(int number, FileGroup& out) {
    Name name{};
    nc_type type = NC_NAT;
    int rank = 0;
    int attributes = 0;
    std::array<int, NC_MAX_VAR_DIMS> dims{};
    check(nc_inq_var(file_.id(), number, name.data(), &type, &rank, dims.data(), &attributes), "a variable");
    if (!is_number(static_cast<FileType>(type))) return;
    FileVariable v;
    v.name = name.data();
    v.values.type = type;
    for (int i = 0; i < attributes; ++i) read_attribute(number, i, v.attributes);
    double all = 1;
    VariablePart part{std::vector<std::size_t>(static_cast<std::size_t>(rank) + 1, 0),
                      std::vector<std::size_t>(static_cast<std::size_t>(rank) + 1, 1)};
    for (int d = 0; d < rank; ++d) {
      Name dimension{};
      auto& n = part.length[static_cast<std::size_t>(d)];
      const int id = dims[static_cast<std::size_t>(d)];
      check(nc_inq_dimname(file_.id(), id, dimension.data()), "the shape of " + v.name);
      check(file_.dimension_length(file_.id(), id, n), "the shape of " + v.name);
      v.dimensions.emplace_back(dimension.data());
      all *= static_cast<double>(n);
      // NetCDF misplaces values of such a variable unless it is read by rows: see VariablePart::by_rows.
      if (d > 0 && std::find(unlimited_.begin(), unlimited_.end(), id) != unlimited_.end()) part.by_rows = true;
    }
    v.values.bytes.resize(budgeted_bytes(all, type, v.name));
    v.values.count = static_cast<std::int64_t>(all);
    check(get_part(file_, file_.id(), number, part, type_bytes(static_cast<FileType>(type)), v.values.bytes.data()),
          v.name);
    out.variables.push_back(std::move(v));
  }

  const NcFile& file_;
  NetcdfLock lock_;
  std::vector<int> unlimited_;
  double read_ = 0;
};

}  // namespace

// Data file of small fields, written by rank 0 alone under a temporary name that commit() replaces. Collective: an error of
// rank 0 is thrown on every rank.
void write_data(const std::string& path, const FileGroup& root, comm::Transport& transport) {
  const bool mine = transport.rank() == 0;
  comm::agree(transport, [&] {
    if (mine) check_shapes(path, root);
  });
  comm::SharedOutput output(path, transport, mine ? metadata_bytes(root) : 0, OutputFile::Opened::by_name);
  std::optional<NcFile> file;
  comm::agree(transport, [&] {
    if (mine) file.emplace(NcFile::create(output.name(), path));
  });
  output.hold_room();
  comm::agree(transport, [&] {
    if (!file) return;
    try {
      write_group(*file, root);
    } catch (const InputError& e) {
      throw InputError(e.what() + free_space_note(path));
    }
  });
  output.commit();
}

FileGroup read_data(const std::string& path) {
  const NcFile file = NcFile::open(path);
  return DataReader(file).read();
}

}  // namespace merganser::io
