#pragma once
/// Files of parcels that are written and read by hand: VTU (VTK's XML), NPZ and NPY (NumPy's) and CSV.
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "merganser/comm/transport.hpp"
#include "merganser/io/output_name.hpp"
#include "src/io/particles/array_columns.hpp"
#include "src/io/particles/particle_file.hpp"
#include "src/io/particles/write_particles.hpp"
#include "src/io/tables/byte_sink.hpp"

namespace merganser::io {

/// Name of the array of rules in an NPZ file: texts "ATTRIBUTE:RULE" in the order of the schema.
inline constexpr const char* kRulesArray = "merganser_rules";
/// Name of the positions among the arrays of an NPZ file.
inline constexpr const char* kPositionArray = "position";

/// Writes parcels as VTU, NPZ, NPY or CSV: write_parcels() for these formats, after its checks. Rank 0 writes what describes the
/// arrays, every rank its parcels. Collective.
/// @param name  path, and the format
void write_table(const OutputName& name, const Parcels& parcels, const Grid& grid, double time,
                 comm::Transport& transport, const FileMetadata& metadata);

/// Writes parcels as the next step of a series: a VTU file beside the PVD file `path`, which lists it behind those before.
/// Collective.
/// @throws InputError on every rank unless the time is later than those before
void write_pvd(const std::string& path, const Parcels& parcels, const Grid& grid, double time,
               comm::Transport& transport, const FileMetadata& metadata);

// Writers of one format each, which write_table() calls: rank 0 writes what describes the arrays, every rank its parcels. Collective.
// @param sink  output file on this rank
void write_vtu(ByteSink& sink, const ParticlesToWrite& in, double time, comm::Transport& transport);
void write_npz(ByteSink& sink, const ParticlesToWrite& in, double time, comm::Transport& transport);
void write_npy(ByteSink& sink, const ParticlesToWrite& in, comm::Transport& transport);
/// @param most_kept  bytes of lines that a rank above 0 keeps until it knows where they begin; it makes the others again. None: a share
///                   of the memory that is left
void write_csv(ByteSink& sink, const ParticlesToWrite& in, comm::Transport& transport,
               std::optional<std::size_t> most_kept = std::nullopt);

/// Box, cells, volume ratio and step of parcels, as numbers by the names that files have for them; the time too.
[[nodiscard]] std::map<std::string, std::vector<double>> box_numbers(const ParticlesToWrite& in, double time);

/// Returns true for names of numbers that box_numbers() makes.
[[nodiscard]] bool is_box_number(std::string_view name);

/// Description of a table of binary arrays, and of numbers that hold for all parcels, by name.
struct TableFile {
  ArrayAbout positions;  ///< without rows and name: there are none
  std::vector<ArrayAbout> arrays;
  std::map<std::string, std::vector<double>> numbers;
  std::map<std::string, std::uint64_t>
      offsets;                 ///< by ArrayAbout::at: offset of the first number in the file, in bytes
  std::uint64_t entry = 0;     ///< bytes from one row to the next; 0: arrays are stored one after the other
  std::uint64_t begin = 0;     ///< offset of the first row in the file, in bytes, where there are entries
  std::vector<FileLoss> lost;  ///< parts that are not read
};

/// Reads the description of a VTU file with raw appended arrays. Local. @throws InputError naming what is wrong
[[nodiscard]] TableFile describe_vtu(const std::string& path);
/// Treatment of the checksums of an NPZ file: `verify` reads the whole file and compares them, `pass_over` does neither.
enum class NpzChecksums { verify, pass_over };
/// Reads the description of an NPZ file without compression. Local. @throws InputError naming what is wrong
[[nodiscard]] TableFile describe_npz(const std::string& path, NpzChecksums checksums);

/// Reads the description of an NPY file of one structured array. Local. @throws InputError naming what is wrong
[[nodiscard]] TableFile describe_npy(const std::string& path);

/// Returns true for formats of tables.
[[nodiscard]] inline bool is_table(FileFormat format) {
  return format == FileFormat::vtu || format == FileFormat::npz || format == FileFormat::npy ||
         format == FileFormat::csv;
}
/// Returns the format of an input that is a table, by its first bytes, or its suffix for CSV; nothing for other files. Local.
[[nodiscard]] std::optional<FileFormat> table_format(const std::string& path);
/// Reads the description of a table: read_info() for these formats. Local.
/// @param columns  names of columns in CSV
/// @param csv      result of scan_csv() for this file; null: it is called here
[[nodiscard]] ParcelFileInfo read_table_info(const std::string& path, FileFormat format,
                                             const std::vector<ColumnName>& columns, const CsvSource* csv = nullptr);

/// Open table, of which one rank reads its slice.
struct OpenTable {
  ParticleFile about;
  ReadNumbers numbers;
};
/// Parcels of a file: the first, and their number.
struct TableRows {
  std::int64_t first;
  std::int64_t count;
};
/// Opens a table, of which the parcels `rows` are read. Local. @throws InputError naming what is wrong
[[nodiscard]] OpenTable open_table(const std::string& path, const FileMetadata& metadata, TableRows rows);

/// Returns what a message about the names of a CSV file adds if its first line begins as a comment does; else nothing.
[[nodiscard]] std::string comment_hint(const std::vector<std::string>& names);
/// Reads all of a CSV file, but keeps only its description. Local. @throws InputError naming line and field
[[nodiscard]] CsvSource scan_csv(const std::string& path);
/// Describes a CSV file as the local function does, with the same errors, but every rank reads its share of the bytes: lines that begin in
/// it. Collective. @return the description on rank 0, nothing on the others @throws InputError on every rank
[[nodiscard]] std::optional<CsvSource> scan_csv(const std::string& path, comm::Transport& transport);
/// Reads rows of a CSV file and returns their values by column: doubles, of integers the bits. Local; of the other rows only the
/// few are read between the nearest known place and the first.
/// @throws InputError also if the file is no longer as described
[[nodiscard]] std::vector<std::vector<double>> read_csv(const std::string& path, const CsvSource& source,
                                                        TableRows rows);

}  // namespace merganser::io
