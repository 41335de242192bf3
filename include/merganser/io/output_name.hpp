#pragma once
/// Names of parcel files that are to be written: the format follows from the suffix, or from ":FORMAT" behind the name.
#include <string>
#include <string_view>
#include <vector>

#include "merganser/io/file_metadata.hpp"

#include "merganser/base/language.hpp"

namespace merganser::io {

/// Name and format of a parcel file that is to be written.
struct OutputName {
  std::string path;                      ///< name of the file
  FileFormat format = FileFormat::epic;  ///< format that it will have
  bool appends = false;  ///< VTKHDF: the parcels become the next step of the series in the file, if there is one
};

/// Returns true if a file name ends with a suffix, given in lower case, regardless of the case of the name. Local.
[[nodiscard]] bool has_suffix(std::string_view name, std::string_view suffix);

/// Splits the name of a parcel file that is to be written. "out.h5:openpmd", "out.x:vtkhdf", ":epic", ":vtu", ":npz", ":npy" and
/// ":csv" say the format, ":series" that of VTKHDF whose file grows by a time step with each write; else ".vtkhdf", ".vtu", ".pvd" (a series of VTU), ".npz", ".npy" and ".csv" do, and ".h5" or ".hdf5" is
/// openPMD if the parcels come from a file of openPMD; all else is EPIC's. Local.
/// @param metadata  of the file that the parcels come from
/// @throws UsageError for parcels of a file neither of EPIC nor of openPMD and a suffix ".h5" alone, which several formats may have
[[nodiscard]] OutputName parse_output_name(const std::string& name, const FileMetadata& metadata);

/// Returns the name of an output without ":FORMAT" behind it: the file that it leads to. Local.
[[nodiscard]] std::string strip_format(const std::string& name);

/// Lists what a file of this name will lack of the file that the parcels come from: what no file can be given
/// (FileMetadata::lost), and what another format has no place for. Local.
[[nodiscard]] std::vector<FileLoss> list_losses(const FileMetadata& metadata, const std::string& output);

}  // namespace merganser::io
