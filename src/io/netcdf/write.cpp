/// Writes the parcels of all ranks to a NetCDF file: in parallel where the library allows, threads in turns, else through rank 0.
#include <algorithm>
#include <array>
#include <cmath>
#include <memory>
#include <span>

#include "merganser/base/error.hpp"
#include "merganser/comm/collectives.hpp"
#include "merganser/comm/netcdf_parallel.hpp"
#include "merganser/comm/shared_output.hpp"
#include "merganser/io/parcel_file.hpp"
#include "src/io/columns.hpp"
#include "src/io/layout.hpp"
#include "src/io/missing.hpp"
#include "src/io/netcdf/define_file.hpp"
#include "src/io/numbering.hpp"
#include "src/io/parcel_check.hpp"
#include "src/io/particles/particle_file.hpp"
#include "src/io/tables/tables.hpp"

namespace merganser::io {
namespace {

constexpr std::int64_t kWrittenAtOnce = std::int64_t{1} << 22;  // values written by one call
constexpr std::int64_t kWrittenAlone = std::int64_t{1} << 18;   // by one rank, without filters: they stay in the cache

/// Returns the values that a parcel file states for one rank: its first parcel (1-based) and the inclusive cell ranges of its
/// block in x and y, in the order of kBoxNames.
std::array<long long, 5> rank_box(const Decomposition& decomposition, const Layout& layout, int rank) {
  const std::array<int, 3> c = decomposition.coordinates(rank);
  return {layout.first[static_cast<std::size_t>(rank)] + 1, decomposition.cut(0, c[0]),
          decomposition.cut(0, c[0] + 1) - 1, decomposition.cut(1, c[1]), decomposition.cut(1, c[1] + 1) - 1};
}

/// Returns true if this rank owns the position of each of its parcels, so that the parcel file may state its block. False for
/// blocks that are not made of cells, which the file cannot describe. Local.
bool has_only_owned_parcels(const Parcels& parcels, const Decomposition& decomposition, int rank) {
  if (!decomposition.is_by_cells()) return false;
  if (decomposition.ranks() == 1) return true;
  for (std::size_t i = 0; i < parcels.size(); ++i) {
    const Site& s = parcels.site(i);
    if (decomposition.owner({s.x, s.y, s.z}) != rank) return false;
  }
  return true;
}

/// Returns the layout of all ranks' parcels in a file to be written, in the order of the ranks. Collective.
Layout gather_layout(std::size_t mine, comm::Transport& transport) {
  return layout_from_counts(comm::all_gather_value(transport, static_cast<std::int64_t>(mine)));
}

/// Writer of the values of one parcel file. NetCDF statuses are kept until check(), since a rank that threw in between would
/// leave others in a collective call.
class ColumnWriter {
 public:
  ColumnWriter(NcFile* file, const DefinedVariables& defined, const Layout& layout, comm::Transport& transport)
      : file_(file), defined_(defined), layout_(layout), transport_(transport) {}

  /// Writes time, blocks of the ranks and the values of the metadata to the parcel file from rank 0; other ranks of a collective
  /// file take part with empty parts.
  void write_metadata_values(double time, const Decomposition& decomposition, const FileMetadata& metadata) {
    const bool mine = transport_.rank() == 0;
    if (file_ == nullptr || (!mine && !file_->collective())) return;
    const auto lock = file_->lock();
    const std::array<std::size_t, 1> start{0};
    const std::array<std::size_t, 1> one{mine ? std::size_t{1} : 0};
    record_status(nc_put_vara_double(file_->id(), defined_.time, start.data(), one.data(), &time));
    const std::array<std::size_t, 1> ranks{mine ? static_cast<std::size_t>(transport_.size()) : 0};
    for (std::size_t i = 0; i < defined_.boxes.size(); ++i) {
      std::vector<long long> values;
      for (int r = 0; r < transport_.size(); ++r) values.push_back(rank_box(decomposition, layout_, r)[i]);
      record_status(nc_put_vara_longlong(file_->id(), defined_.boxes[i], start.data(), ranks.data(), values.data()));
    }
    put_values(*file_, metadata.root, defined_.others, mine);
  }

  /// Writes the columns of all ranks' parcels to the file: several at a time, so that the container goes through memory less often,
  /// but each alone where whole chunks are compressed or summed. Collective.
  /// @param variables  NetCDF's numbers of the columns; ignored on ranks that do not write
  void write_columns(std::span<const Column> columns, std::span<const int> variables, const Parcels& parcels) {
    for (std::size_t begin = 0, end = 0; begin < columns.size(); begin = end) {
      for (end = begin + 1; end < std::min(columns.size(), begin + kColumns) && has_no_filter(columns[begin].storage);
           ++end)
        if (!has_no_filter(columns[end].storage) || columns[end].in_site != columns[begin].in_site) break;
      write_group(columns.subspan(begin, end - begin), variables.empty() ? variables : variables.subspan(begin),
                  parcels);
    }
  }

  /// Throws InputError for the first failure of all of this rank's calls so far. Local.
  void check() const {
    if (file_ != nullptr) file_->check(worst_, "write it");
  }
  /// Closes the parcel file on the ranks that made it, after every rank has checked its calls. @throws InputError if it fails
  void close() {
    if (file_ != nullptr && (file_->collective() || transport_.rank() == 0)) file_->close();
  }

 private:
  static constexpr std::size_t kColumns = 5;  ///< columns written together, of the same table of the container

  /// Writes a group of columns of all ranks' parcels to the file, in rounds. Collective: of equal number on every
  /// rank, but that a rank that is a thread, or alone, skips those for which it has no parcels left.
  void write_group(std::span<const Column> columns, std::span<const int> variables, const Parcels& parcels) {
    const bool threads = !transport_.capabilities().processes;  // each writes its own, one at a time
    const bool collective = file_ != nullptr && file_->collective();
    const bool direct = transport_.size() == 1 || threads || collective;
    const bool alone = direct && !collective && has_no_filter(columns.front().storage);
    const std::int64_t at_once = (alone ? kWrittenAlone : kWrittenAtOnce) / static_cast<std::int64_t>(columns.size());
    const std::int64_t block = direct ? at_once : std::max<std::int64_t>(1024, at_once / transport_.size());
    const auto count = static_cast<std::int64_t>(parcels.size());
    for (std::int64_t done = 0; done < layout_.largest(); done += block) {
      const auto part = static_cast<std::size_t>(std::clamp<std::int64_t>(count - done, 0, block));
      gather_group(columns, static_cast<std::size_t>(std::min(done, count)), part, parcels);
      for (std::size_t c = 0; c < columns.size(); ++c) {
        const int variable = variables.empty() ? -1 : variables[c];
        if (direct) {
          if (part == 0 && !collective) continue;
          write_block(columns[c], variable, {transport_.rank(), done}, values_[c]);
        } else {
          gather_and_write(columns[c], variable, done, values_[c]);
        }
      }
    }
  }
  /// Copies a group of columns of this rank's parcels first .. first + count - 1 to values_.
  void gather_group(std::span<const Column> columns, std::size_t first, std::size_t count, const Parcels& parcels) {
    constexpr std::size_t kPart = 1024;  // parcels that stay in the first cache
    for (std::size_t c = 0; c < columns.size(); ++c) values_[c].resize(count);
    for (std::size_t done = 0; done < count; done += kPart)
      for (std::size_t c = 0; c < columns.size(); ++c)
        gather(parcels, columns[c], first + done, values_[c].data() + done, std::min(kPart, count - done));
  }

  /// Block of one rank's parcels that a round writes to one column of the file.
  struct WrittenBlock {
    int rank;           ///< rank that holds the parcels
    std::int64_t done;  ///< parcels of that rank written in earlier rounds
  };
  /// Writes one rank's block of a column to the parcel file; ranks of a collective file without parcels left take part with an
  /// empty one.
  void write_block(const Column& column, int variable, WrittenBlock part, std::span<const double> values) {
    const std::int64_t first = layout_.first[static_cast<std::size_t>(part.rank)] + part.done;
    const std::array<std::size_t, 2> start{0, values.empty() ? 0 : static_cast<std::size_t>(first)};
    const std::array<std::size_t, 2> length{1, values.size()};
    const void* from = values.data();
    if (!is_stored_as_it_is(column)) {
      to_file_type(column, values.data(), values.size(), typed_);
      from = typed_.data();
    }
    record_status(
        file_->call_locked([&] { return nc_put_vara(file_->id(), variable, start.data(), length.data(), from); }));
  }

  /// Makes one round of writing a column: gathers every rank's block of values on rank 0, which writes them. Collective.
  void gather_and_write(const Column& column, int variable, std::int64_t done, const std::vector<double>& values) {
    const auto blocks = comm::gather_to_first(transport_, values);
    if (file_ == nullptr) return;
    for (int r = 0; r < transport_.size(); ++r) {
      const auto block = blocks[static_cast<std::size_t>(r)];
      if (!block.empty() && worst_ == NC_NOERR) write_block(column, variable, {r, done}, block);
    }
  }

  /// Records the NetCDF status of a write if it is the first failure, to be thrown by check().
  void record_status(int status) {
    if (status != NC_NOERR && worst_ == NC_NOERR) worst_ = status;
  }

  NcFile* file_;
  const DefinedVariables& defined_;
  const Layout& layout_;
  comm::Transport& transport_;
  std::array<std::vector<double>, kColumns> values_;  // blocks of the group of columns
  std::vector<std::byte> typed_;
  int worst_ = NC_NOERR;
};

/// Creates the temporary parcel file on the ranks that write: all together if the library is parallel, else rank 0. Collective.
/// @param alone  true if rank 0 must write alone
std::shared_ptr<NcFile> create_temporary(const std::string& temporary, const std::string& shown, bool alone,
                                         comm::Transport& transport) {
  std::shared_ptr<NcFile> file;
  if (transport.size() > 1 && !alone && comm::netcdf_is_parallel(transport)) {
    file = std::make_shared<NcFile>(NcFile::create(temporary, shown, transport));
  } else {
    comm::agree(transport, [&] {
      if (transport.rank() == 0) file = std::make_shared<NcFile>(NcFile::create(temporary, shown));
    });
  }
  return file;
}

/// Sets collective access for all variables of a parallel parcel file: every rank takes part in every write. Called by every
/// rank.
void make_collective(const NcFile& file, const DefinedVariables& defined) {
  std::vector<VariableNumber> all = defined.others;
  for (const auto* ids : {&defined.columns, &defined.boxes})
    for (const int id : *ids) all.push_back({file.id(), id});
  all.push_back({file.id(), defined.time});
  for (const VariableNumber v : all) file.check(comm::netcdf_make_collective(v.group, v.variable), "write it");
}

/// Checks parcels and ids of all ranks before a file is written, so that read_parcels() would accept it. Collective.
/// @throws InputError on every rank
void check_writable(const std::string& path, const Parcels& parcels, const Decomposition& decomposition,
                    std::span<const Column> list, comm::Transport& transport) {
  comm::agree(transport, [&] {
    check_parcels(parcels, decomposition.grid().box, list, [&](std::size_t i) {
      return "cannot write " + path + ": parcel with id " + std::to_string(parcels.id(i));
    });
  });
  if (are_surely_valid_ids(parcels, transport)) return;
  std::vector<std::int64_t> ids(parcels.size());
  for (std::size_t i = 0; i < ids.size(); ++i) ids[i] = parcels.id(i);
  check_ids("cannot write " + path, ids, ids, transport);
}

/// Returns what of the description of a file of one format holds for one of the format `to`: types of attributes, storage.
FileMetadata metadata_for_format(const FileMetadata& from, FileFormat to) {
  FileMetadata out;
  out.format = to;
  out.csv_names = from.csv_names;
  for (FileVariable column : from.columns) {
    if (is_own_name(column.name) || column.name == "t") continue;
    column.attributes.clear();
    out.columns.push_back(std::move(column));
  }
  for (const FileAttribute& a : from.root.attributes)
    if (a.name == "min_vratio" || a.name == "merge_step") out.root.attributes.push_back(a);
  return out;
}

/// Makes integer columns that merging computes with and of which a parcel may lack a value doubles, since files of these formats
/// tell a missing value as NaN. EPIC's have fill values, CSV an empty field.
void widen_lacking(FileFormat format, const Schema& schema, FileMetadata& metadata) {
  if (format == FileFormat::epic || format == FileFormat::csv) return;
  for (const Column& c : columns(schema, metadata)) {
    if (!c.computed || !c.may_lack || !is_integer(c.type)) continue;
    for (FileVariable& v : metadata.columns)
      if (v.name == c.name) v.values.type = static_cast<int>(FileType::f64);
  }
}

/// Checks that every value that merging keeps as it is, and that is missing by the file it comes from, is missing in a file of
/// another format too, and no other: `_FillValue` and valid ranges are not carried there. Local. @throws InputError
void check_kept_missing(const OutputName& to, const Parcels& parcels, const FileMetadata& from,
                        const FileMetadata& metadata) {
  const std::vector<Column> before = columns(parcels.schema(), from);
  const std::vector<Column> after = columns(parcels.schema(), metadata);
  const auto is_missing = [&](FileFormat format, const Column& column, const MissingValues& rule, double value) {
    if (format != FileFormat::epic) return !column.bits() && std::isnan(value);
    return rule.classify(column, value) != MissingValues::Kind::present;
  };
  for (std::size_t c = 0; c < after.size(); ++c) {
    if (!after[c].may_lack || after[c].computed) continue;
    const MissingValues old_rule = missing_values(before[c]);
    const MissingValues new_rule = missing_values(after[c]);
    for (std::size_t i = 0; i < parcels.size(); ++i) {
      const double value = parcels.row(i)[after[c].offset];
      const bool missing = is_missing(from.format, before[c], old_rule, value);
      if (missing == is_missing(to.format, after[c], new_rule, value)) continue;
      throw InputError("cannot write " + to.path + ": " + after[c].name + " of the parcel with id " +
                       std::to_string(parcels.id(i)) +
                       (missing ? " is missing, by " + old_rule.reason(old_rule.classify(before[c], value)) +
                                      ", which files of this format do not tell"
                                : " would be read as missing") +
                       "; allowed: NaN for missing values, a rule mean or sum with missing=skip, or drop");
    }
  }
}

}  // namespace

// Preparation of this rank's parcels for a file: wrapped, checked, then rounded to the types of their columns.
void fit_to_file(const std::string& path, Parcels& parcels, const Box& box, const FileMetadata& metadata,
                 comm::Transport& transport) {
  const std::vector<Column> list = columns(parcels.schema(), metadata);
  comm::agree(transport, [&] {
    wrap_parcels(parcels, box);
    check_parcels(parcels, box, list,
                  [&](std::size_t i) { return path + ": parcel with id " + std::to_string(parcels.id(i)); });
    round_to_types(parcels, list);
    if (metadata.format != FileFormat::epic) fit_particles(parcels, box, metadata);
  });
}

// Writing of a parcel file: all processes together if the library is parallel, threads in turns, else through rank 0; the file
// appears when it is complete. Collective.
void write_parcels(const std::string& name, const Parcels& parcels, const Decomposition& decomposition, double time,
                   comm::Transport& transport, const FileMetadata& from) {
  const OutputName output_name = parse_output_name(name, from);
  const std::string& path = output_name.path;
  FileMetadata metadata = output_name.format == from.format ? from : metadata_for_format(from, output_name.format);
  if (output_name.format != from.format) widen_lacking(output_name.format, parcels.schema(), metadata);
  if (decomposition.ranks() != transport.size())
    throw UsageError("write_parcels: the decomposition has " + std::to_string(decomposition.ranks()) +
                     " ranks, the transport " + std::to_string(transport.size()));
  const Layout layout = gather_layout(parcels.size(), transport);
  std::vector<Column> list = columns(parcels.schema(), metadata);
  check_writable(path, parcels, decomposition, list, transport);
  if (output_name.format != from.format)
    comm::agree(transport, [&] { check_kept_missing(output_name, parcels, from, metadata); });
  if (output_name.format == FileFormat::openpmd || output_name.format == FileFormat::vtkhdf)
    return write_particles(output_name, parcels, decomposition.grid(), time, transport, metadata);
  if (output_name.format == FileFormat::vtu && has_suffix(path, ".pvd"))
    return write_pvd(path, parcels, decomposition.grid(), time, transport, metadata);
  if (output_name.format != FileFormat::epic)
    return write_table(output_name, parcels, decomposition.grid(), time, transport, metadata);
  if (from.format != FileFormat::epic && !parcels.schema().has("B"))
    throw InputError("cannot write " + path + " in EPIC's format: the parcels have no shapes B; allowed: " + path +
                     ":openpmd or " + path + ":vtkhdf");
  for (const Column& column : list)
    if (std::find(kBoxNames.begin(), kBoxNames.end(), column.name) != kBoxNames.end())
      throw InputError(
          "cannot write " + path + " in EPIC's format: the column " + column.name +
          "; allowed: another name than start_index, xlo, xhi, ylo and yhi, which tell the blocks of ranks");
  list.push_back(id_column(metadata));
  const bool at_home = has_only_owned_parcels(parcels, decomposition, transport.rank());
  const bool with_boxes = transport.all_reduce(std::int64_t{at_home}, comm::Op::min) != 0;

  comm::SharedOutput output(path, transport,
                            file_bytes(layout, chunk_lengths(list, layout.total()), metadata_bytes(metadata.root)),
                            OutputFile::Opened::by_name);
  std::shared_ptr<NcFile> file = create_temporary(output.name(), path, has_text_variables(metadata.root), transport);
  output.hold_room();
  DefinedVariables defined;
  comm::agree(transport, [&] {
    if (!file) return;
    defined = define_file(*file, {decomposition.grid(), list, layout, metadata, with_boxes});
    if (file->collective()) make_collective(*file, defined);
  });

  if (transport.size() > 1 &&
      !transport.capabilities().processes) {  // threads write into one file, each its own parcels
    file = share_file(file, transport);
    defined.columns = comm::broadcast_from_first(transport, defined.columns);
  }

  ColumnWriter writer(file.get(), defined, layout, transport);
  comm::agree(transport, [&] { writer.write_metadata_values(time, decomposition, metadata); });
  writer.write_columns(list, defined.columns, parcels);
  const auto with_free_space = [&](const auto& call) {
    try {
      call();
    } catch (const InputError& e) {
      throw InputError(e.what() + free_space_note(path));
    }
  };
  comm::agree(transport, [&] { with_free_space([&] { writer.check(); }); });
  comm::agree(transport, [&] { with_free_space([&] { writer.close(); }); });
  output.commit();
}

}  // namespace merganser::io
