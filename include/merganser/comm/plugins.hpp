#pragma once
/// Ranks over an MPI that the library was not built with. A library without MPI opens, while the program runs, a plug-in
/// of this module (models p2p, neighborhood and rma, and their kernels) that was compiled for the binary interface of the MPI
/// that the process has loaded already: by mpi4py, or because the program is linked with it.
#include <string>
#include <vector>

#include "merganser/base/language.hpp"

namespace merganser::comm {

/// An MPI library that this process has loaded.
struct LoadedMpi {
  std::string path;     ///< of its file, as the dynamic linker knows it
  std::string version;  ///< first line of what MPI_Get_library_version says
  /// Whose binary interface it has: "openmpi", "mpich" (Intel's, Cray's and MVAPICH's too), "mpi_abi" (the standard's, of
  /// MPI 5); empty if it is none of these.
  std::string abi;
};

/// The MPI libraries in this process: every loaded object that defines MPI_Get_library_version, in the order of loading,
/// whatever its name is. Local; starts nothing. Cost: a walk over the loaded objects.
[[nodiscard]] std::vector<LoadedMpi> loaded_mpi();

/// The MPI that open() and run() use, and the plug-in between.
struct MpiInUse {
  LoadedMpi library;
  std::string plugin;    ///< path of the plug-in; empty if the library was built with MPI
  std::string compiled;  ///< whose mpi.h the plug-in was compiled with, "Open MPI 4.1.4"; empty without one
};

/// Makes the models over MPI those of this library: afterwards backends() lists them, and open() takes communicators of
/// the MPI that the process has loaded. Call it before the first open(); the same on every rank. The first call that
/// succeeds decides, later ones say what is in use. Local; any thread may call it. MPI need not be started, and is not.
/// Names and lists that backends() and kernels() have given before stay valid.
///
/// The library of MPI is opened to all (RTLD_GLOBAL), then the plug-in libmerganser_ABI.so, which links no MPI and finds
/// its calls there. In a library built with MPI nothing is opened; that there is one MPI in the process is checked.
/// @param where  folder of the plug-ins, or one of them; empty: `plugins`, then `merganser/plugins`, beside the library
/// @throws UsageError if no MPI is loaded, or two are; if there is no plug-in for the one that is, with those that are
///         there; for a plug-in of another MPI or of another version of merganser, and one that cannot be opened. Every
///         text names the files.
/// Cost: some milliseconds, once.
const MpiInUse& use_mpi(const std::string& where = {});

}  // namespace merganser::comm
