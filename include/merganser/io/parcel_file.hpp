#pragma once
/// EPIC parcel files (NetCDF-4).
#include <string>

#include "merganser/comm/transport.hpp"
#include "merganser/geometry/box.hpp"
#include "merganser/geometry/decomposition.hpp"
#include "merganser/parcels/parcels.hpp"

namespace merganser::io {

struct ParcelFileInfo {
  Grid grid;  ///< axes x and y periodic, z walls, as EPIC's
  std::int64_t parcels = 0;
  double time = 0;
  bool has_vorticity = true;
  bool has_buoyancy = true;
};

/// True if this build has NetCDF; without it the functions below throw InputError, whatever the file.
[[nodiscard]] bool netcdf_available() noexcept;

/// Header only. Serial. @throws InputError naming the file and what is wrong
[[nodiscard]] ParcelFileInfo read_info(const std::string& path);

/// Each rank reads an equal slice of the parcels (ids = position in the file, from 0). Collective; parallel where the
/// library allows. Every parcel is checked: finite, inside the walls, positive volume, recoverable B33; positions on
/// periodic axes are wrapped. Errors are agreed on: every rank throws the same InputError, naming the parcel's id.
[[nodiscard]] Parcels read_parcels(const std::string& path, const ParcelFileInfo& info, comm::Transport& transport);

/// Writes all ranks' parcels, rank after rank, as an EPIC file. Collective. The file appears whole or not at all
/// (temporary file beside it, flushed, renamed). @throws InputError on every rank if it cannot be written
void write_parcels(const std::string& path, const Parcels& parcels, const Decomposition& decomposition, double time,
                   comm::Transport& transport);

}  // namespace merganser::io
