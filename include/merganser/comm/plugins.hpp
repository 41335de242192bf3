#pragma once
/// Plug-ins for an MPI that the library was not built with. A library without MPI opens, at run time, a plug-in of this
/// module (models p2p, neighborhood and rma, and their kernels) that was compiled for the binary interface (ABI) of the MPI
/// that the process has loaded already: by mpi4py, or because the program is linked with it.
#include <string>
#include <vector>

#include "merganser/base/language.hpp"

namespace merganser::comm {

/// Description of an MPI library that this process has loaded; filled by loaded_mpi().
struct LoadedMpi {
  std::string path;     ///< path of the MPI library's file, as the dynamic linker gives it
  std::string version;  ///< first line of the text from MPI_Get_library_version
  /// Binary interface (ABI) of the MPI library: "openmpi", "mpich" (Intel's, Cray's and MVAPICH's too), "mpi_abi" (that of the
  /// MPI 5 standard); empty if it is none of these.
  std::string abi;
};

/// Returns the MPI libraries in this process: every loaded object that defines MPI_Get_library_version, in the order of
/// loading, whatever its name. Local; does not initialise MPI. Cost: a walk over the loaded objects.
[[nodiscard]] std::vector<LoadedMpi> loaded_mpi();

/// MPI library that open() and run() use, and the plug-in through which they call it; filled by use_mpi().
struct MpiInUse {
  LoadedMpi library;   ///< the one MPI library that this process has loaded
  std::string plugin;  ///< path of the opened plug-in with the models over MPI; empty if merganser was built with MPI
  /// MPI of the mpi.h that the plug-in was compiled with, "Open MPI 4.1.4"; empty without a plug-in.
  std::string compiled;
};

/// Adds the models over MPI to this library: afterwards backends() lists them, and open() takes communicators of the MPI
/// that the process has loaded. Call it on every rank before the first open(). The first call that succeeds decides; later
/// ones return the same. Local, thread-safe. MPI need not be initialised, and is not initialised here. Names and lists that
/// backends() and kernels() have returned before stay valid.
///
/// The MPI library is made visible to all (RTLD_GLOBAL), then the plug-in libmerganser_ABI.so is opened, which links no MPI
/// and resolves its calls there. In a library built with MPI nothing is opened; only the number of MPIs is checked.
/// @param where  folder of the plug-ins, or path of one; empty: `plugins`, then `merganser/plugins`, beside the library
/// @throws UsageError if not exactly one MPI is loaded; if there is no plug-in for it; for a plug-in for another MPI or of
///         another version of merganser, and one that cannot be opened. Every message names the files.
/// Cost: some milliseconds, once.
const MpiInUse& use_mpi(const std::string& where = {});

}  // namespace merganser::comm
