#include <algorithm>
#include <array>
#include <cstring>
#include <ctime>
#include <optional>
#include <span>
#include <string_view>

#include "../columns.hpp"
#include "../layout.hpp"
#include "merganser/base/error.hpp"
#include "merganser/comm/netcdf_parallel.hpp"
#include "merganser/comm/shared_output.hpp"
#include "merganser/io/parcel_file.hpp"
#include "nc_file.hpp"

namespace merganser::io {
namespace {

constexpr std::int64_t kWrittenAtOnce = std::int64_t{1} << 22;  // values written by one call

std::string utc(const char* format) {
  const std::time_t now = std::time(nullptr);
  std::tm parts{};
  gmtime_r(&now, &parts);
  std::array<char, 32> text{};
  std::strftime(text.data(), text.size(), format, &parts);
  return text.data();
}

/// The header: everything that every rank defines alike.
class Header {
 public:
  explicit Header(NcFile& file) : file_(file) {}

  void text(int variable, const char* name, std::string_view value) {
    file_.check(nc_put_att_text(file_.id(), variable, name, value.size(), value.data()),
                std::string("write the attribute ") + name);
  }
  void global(const Grid& grid) {
    text(NC_GLOBAL, "merganser_version", MERGANSER_VERSION);
    text(NC_GLOBAL, "file_type", "parcels");
    text(NC_GLOBAL, "Conventions", "CF-1.8");
    text(NC_GLOBAL, "creation_date", utc("%Y/%m/%d"));
    text(NC_GLOBAL, "creation_time", utc("%H:%M:%S"));
    text(NC_GLOBAL, "creation_zone", "UTC");
    const bool small = std::all_of(grid.cells.begin(), grid.cells.end(), [](auto n) { return n <= 0x7fffffff; });
    std::array<long long, 3> cells{};
    std::array<int, 3> periodic{};
    for (std::size_t a = 0; a < 3; ++a) {
      cells[a] = grid.cells[a];
      periodic[a] = grid.box.periodic[a] ? 1 : 0;
    }
    const int id = file_.id();
    const char* what = "write the grid attributes";
    file_.check(nc_put_att_longlong(id, NC_GLOBAL, "ncells", small ? NC_INT : NC_INT64, 3, cells.data()), what);
    file_.check(nc_put_att_double(id, NC_GLOBAL, "extent", NC_DOUBLE, 3, grid.box.extent.data()), what);
    file_.check(nc_put_att_double(id, NC_GLOBAL, "origin", NC_DOUBLE, 3, grid.box.lower.data()), what);
    file_.check(nc_put_att_int(id, NC_GLOBAL, "periodic", NC_INT, 3, periodic.data()), what);
  }
  int dimension(const char* name, std::int64_t length) {
    int id = -1;
    file_.check(nc_def_dim(file_.id(), name, static_cast<std::size_t>(length), &id), std::string("define ") + name);
    return id;
  }
  int variable(const std::string& name, nc_type type, std::span<const int> dimensions) {
    int id = -1;
    const std::string what = "define the variable " + name;
    file_.check(nc_def_var(file_.id(), name.c_str(), type, static_cast<int>(dimensions.size()), dimensions.data(), &id),
                what);
    file_.check(nc_def_var_fill(file_.id(), id, NC_NOFILL, nullptr), what);
    return id;
  }
  void describe(int variable, std::string_view unit, std::string_view long_name) {
    text(variable, "units", unit);
    text(variable, "long_name", long_name);
    text(variable, "standard_name", "");
  }

 private:
  NcFile& file_;
};

/// Numbers of the variables of one file.
struct Defined {
  int time = -1;
  std::vector<int> columns;
  std::vector<int> boxes;  ///< start_index, xlo, xhi, ylo, yhi; empty if left out
};

constexpr std::array<const char*, 5> kBoxNames{"start_index", "xlo", "xhi", "ylo", "yhi"};
constexpr std::array<const char*, 5> kBoxLongNames{"MPI rank start index", "lower box boundary in x",
                                                   "upper box boundary in x", "lower box boundary in y",
                                                   "upper box boundary in y"};

Defined define(NcFile& file, const Grid& grid, const std::vector<Column>& list, const Layout& layout, bool with_boxes) {
  const auto lock = netcdf_lock();
  Header header(file);
  header.global(grid);
  // A fixed dimension cannot be empty: its length 0 means unlimited, which is then what it is.
  const int parcels = header.dimension("n_parcels", layout.total());
  const int world = header.dimension("world%size", static_cast<std::int64_t>(layout.first.size()) - 1);
  const int time = header.dimension("t", NC_UNLIMITED);
  Defined defined;
  defined.time = header.variable("t", NC_DOUBLE, std::array{time});
  header.describe(defined.time, "seconds since 1970-01-01", "time");
  header.text(defined.time, "axis", "T");
  header.text(defined.time, "calendar", "proleptic_gregorian");
  const nc_type index_type = layout.fits_int() ? NC_INT : NC_INT64;
  for (std::size_t i = 0; with_boxes && i < kBoxNames.size(); ++i) {
    defined.boxes.push_back(header.variable(kBoxNames[i], i == 0 ? index_type : NC_INT, std::array{world}));
    header.describe(defined.boxes.back(), "1", kBoxLongNames[i]);
  }
  const std::array<std::size_t, 2> chunk{1, static_cast<std::size_t>(chunk_length(layout.total()))};
  for (const Column& column : list) {
    const int id = header.variable(column.name, NC_DOUBLE, std::array{time, parcels});
    file.check(nc_def_var_chunking(file.id(), id, NC_CHUNKED, chunk.data()), "define the variable " + column.name);
    header.describe(id, column.unit, column.long_name);
    defined.columns.push_back(id);
  }
  file.check(nc_enddef(file.id()), "finish the header");
  return defined;
}

/// Rank's first parcel (1-based) and inclusive cell ranges, in the order of kBoxNames.
std::array<long long, 5> box_of(const Decomposition& decomposition, const Layout& layout, int rank) {
  const std::array<int, 3> c = decomposition.coordinates(rank);
  return {layout.first[static_cast<std::size_t>(rank)] + 1, decomposition.cut(0, c[0]),
          decomposition.cut(0, c[0] + 1) - 1, decomposition.cut(1, c[1]), decomposition.cut(1, c[1] + 1) - 1};
}

bool all_at_home(const Parcels& parcels, const Decomposition& decomposition, int rank) {
  for (std::size_t i = 0; i < parcels.size(); ++i) {
    const Site& s = parcels.site(i);
    if (decomposition.owner({s.x, s.y, s.z}) != rank) return false;
  }
  return true;
}

Layout gather_layout(std::size_t mine, comm::Transport& transport) {
  const auto count = static_cast<std::int64_t>(mine);
  std::vector<std::int64_t> counts;
  for (const auto& bytes : transport.all_gather(std::as_bytes(std::span(&count, 1)))) {
    counts.push_back(0);
    std::memcpy(&counts.back(), bytes.data(), sizeof(std::int64_t));
  }
  return stacked(counts);
}

class Writer {
 public:
  Writer(NcFile* file, const Defined& defined, const Layout& layout, comm::Transport& transport)
      : file_(file), defined_(defined), layout_(layout), transport_(transport) {}

  /// Time and boxes: rank 0 has all values; where the file is open together the others take part with none.
  void header_values(double time, const Decomposition& decomposition) {
    if (file_ == nullptr) return;
    const bool mine = transport_.rank() == 0;
    const auto lock = netcdf_lock();
    const std::array<std::size_t, 1> start{0};
    const std::array<std::size_t, 1> one{mine ? std::size_t{1} : 0};
    note(nc_put_vara_double(file_->id(), defined_.time, start.data(), one.data(), &time));
    const std::array<std::size_t, 1> ranks{mine ? static_cast<std::size_t>(transport_.size()) : 0};
    for (std::size_t i = 0; i < defined_.boxes.size(); ++i) {
      std::vector<long long> values;
      for (int r = 0; r < transport_.size(); ++r) values.push_back(box_of(decomposition, layout_, r)[i]);
      note(nc_put_vara_longlong(file_->id(), defined_.boxes[i], start.data(), ranks.data(), values.data()));
    }
  }

  void column(const Column& column, int variable, const Parcels& parcels) {
    const bool direct = transport_.size() == 1 || (file_ != nullptr && file_->together());
    const std::int64_t block =
        direct ? kWrittenAtOnce : std::max<std::int64_t>(1024, kWrittenAtOnce / transport_.size());
    const auto count = static_cast<std::int64_t>(parcels.size());
    for (std::int64_t done = 0; done < layout_.largest(); done += block) {
      const std::int64_t part = std::clamp<std::int64_t>(count - done, 0, block);
      values_.resize(static_cast<std::size_t>(part));
      gather(parcels, column, static_cast<std::size_t>(std::min(done, count)), values_.data(), values_.size());
      if (direct) {
        put(variable, transport_.rank(), done, values_);
      } else {
        collect(variable, done);
      }
    }
  }

  void close() {
    if (file_ == nullptr) return;
    file_->check(worst_, "write it");
    file_->close();
  }

 private:
  void put(int variable, int rank, std::int64_t done, std::span<const double> values) {
    const std::int64_t first = layout_.first[static_cast<std::size_t>(rank)] + done;
    const std::array<std::size_t, 2> start{0, values.empty() ? 0 : static_cast<std::size_t>(first)};
    const std::array<std::size_t, 2> length{1, values.size()};
    const auto lock = netcdf_lock();
    note(nc_put_vara_double(file_->id(), variable, start.data(), length.data(), values.data()));
  }

  /// One round of a column: every rank's block to rank 0, which writes them.
  void collect(int variable, std::int64_t done) {
    std::vector<std::vector<std::byte>> to(static_cast<std::size_t>(transport_.size()));
    const auto bytes = std::as_bytes(std::span(values_));
    to[0].assign(bytes.begin(), bytes.end());
    const auto blocks = transport_.all_to_all(to);
    if (file_ == nullptr) return;
    for (int r = 0; r < transport_.size(); ++r) {
      const auto& block = blocks[static_cast<std::size_t>(r)];
      if (block.empty() || worst_ != NC_NOERR) continue;
      values_.resize(block.size() / sizeof(double));
      std::memcpy(values_.data(), block.data(), block.size());
      put(variable, r, done, values_);
    }
  }

  void note(int status) {
    if (status != NC_NOERR && worst_ == NC_NOERR) worst_ = status;
  }

  NcFile* file_;
  const Defined& defined_;
  const Layout& layout_;
  comm::Transport& transport_;
  std::vector<double> values_;
  int worst_ = NC_NOERR;
};

/// Creates the temporary file on the ranks that write: all together, or rank 0 alone.
std::optional<NcFile> create(const std::string& temporary, const std::string& shown, comm::Transport& transport) {
  std::optional<NcFile> file;
  if (transport.size() > 1 && comm::netcdf_is_parallel(transport)) {
    file.emplace(NcFile::create(temporary, shown, transport));
  } else {
    comm::agree(transport, [&] {
      if (transport.rank() == 0) file.emplace(NcFile::create(temporary, shown));
    });
  }
  return file;
}

}  // namespace

void write_parcels(const std::string& path, const Parcels& parcels, const Decomposition& decomposition, double time,
                   comm::Transport& transport) {
  if (decomposition.ranks() != transport.size())
    throw UsageError("write_parcels: the decomposition has " + std::to_string(decomposition.ranks()) +
                     " ranks, the transport " + std::to_string(transport.size()));
  const Layout layout = gather_layout(parcels.size(), transport);
  const std::vector<Column> list = columns(parcels.schema());
  const bool at_home = all_at_home(parcels, decomposition, transport.rank());
  const bool with_boxes = transport.all_reduce(std::int64_t{at_home}, comm::Op::min) != 0;

  comm::SharedOutput output(path, transport, file_bytes(layout, list.size()), OutputFile::Opened::by_name);
  std::optional<NcFile> file = create(output.name(), path, transport);
  output.hold_room();
  Defined defined;
  comm::agree(transport, [&] {
    if (!file) return;
    defined = define(*file, decomposition.grid(), list, layout, with_boxes);
    if (!file->together()) return;
    for (const auto* ids : {&defined.columns, &defined.boxes})
      for (const int id : *ids) file->check(comm::netcdf_make_collective(file->id(), id), "write it");
    file->check(comm::netcdf_make_collective(file->id(), defined.time), "write it");
  });

  Writer writer(file ? &*file : nullptr, defined, layout, transport);
  writer.header_values(time, decomposition);
  for (std::size_t i = 0; i < list.size(); ++i) writer.column(list[i], file ? defined.columns[i] : -1, parcels);
  comm::agree(transport, [&] {
    try {
      writer.close();
    } catch (const InputError& e) {
      throw InputError(e.what() + room_left(path));
    }
  });
  output.commit();
}

}  // namespace merganser::io
