/// Python module _core: registration of exceptions, teams and files, and of all other bindings (themes.hpp).
#include <nanobind/nanobind.h>
#include <nanobind/stl/shared_ptr.h>
#include <nanobind/stl/string.h>

#include "merganser/base/error.hpp"
#include "merganser/base/output_file.hpp"
#include "merganser/comm/open.hpp"
#include "merganser/comm/plugins.hpp"
#include "python/src/long_call.hpp"
#include "python/src/team.hpp"
#include "python/src/themes.hpp"

namespace nb = nanobind;

namespace merganser::python {
namespace {

/// Sets a pending Python exception of a class of merganser._errors. @param name  of the class @param what  the message
void set_python_error(const char* name, const char* what) {
  const nb::object type = nb::module_::import_("merganser._errors").attr(name);
  PyErr_SetString(type.ptr(), what);
}

/// Converts a C++ exception of the library to the Python exception of merganser._errors; nanobind calls it for every exception that
/// leaves a binding. Derived classes are caught before their bases; Interrupted becomes KeyboardInterrupt.
void translate_exception(const std::exception_ptr& error, void*) {
  try {
    std::rethrow_exception(error);
  } catch (const UsageError& e) {
    set_python_error("UsageError", e.what());
  } catch (const InputError& e) {
    set_python_error("InputError", e.what());
  } catch (const CommError& e) {
    set_python_error("CommError", e.what());
  } catch (const VerificationError& e) {
    set_python_error("VerificationError", e.what());
  } catch (const Error& e) {
    set_python_error("Error", e.what());
  } catch (const Interrupted&) {
    PyErr_SetNone(PyExc_KeyboardInterrupt);
  }
}

}  // namespace

// Registers the translation of the library's exceptions to those of Python.
void bind_errors() { nb::register_exception_translator(translate_exception); }

// Registers OutputFile, by which Python libraries such as netCDF4 write files that appear whole or not at all.
void bind_files(nb::module_& m) {
  nb::class_<OutputFile>(m, "OutputFile",
                         "A file that appears whole or not at all; a library writes it under its name.")
      .def(
          "__init__",
          [](OutputFile* self, const std::string& path) {
            new (self) OutputFile(path, 0, OutputFile::Opened::by_name);
          },
          nb::arg("path"))
      .def_prop_ro("name", &OutputFile::name, "Name of the temporary file until commit().")
      .def("commit", &OutputFile::commit, "Flushes the file to the disk and renames it to its final name.");
}

// Registers Team, teams over mpi4py's communicators, the loading of MPI's plug-in, and the wait for interrupted calls.
void bind_team(nb::module_& m) {
  nb::class_<Team>(m, "Team", "Ranks that run a call: this process, threads of it, or the ranks of a communicator.")
      .def(nb::init<int>(), nb::arg("ranks") = 1)
      .def_prop_ro("ranks", &Team::ranks, "Number of ranks of the team.")
      .def_prop_ro("rank", &Team::rank, "Number of this process among those of a communicator; else 0.")
      .def_prop_ro("here", &Team::is_local, "True if all ranks of the team are in this process.")
      .def_prop_ro("model", &Team::model, "Name of the communication model.")
      .def("close", &Team::close, "Closes the transport over the communicator. Collective.");
  m.def(
      "team_over",
      [](int handle, const std::string& model) {
        comm::OpenOptions options;
        options.backend = model;
        return std::make_shared<Team>(comm::open(handle, options));
      },
      nb::arg("handle"), nb::arg("model"),
      "Opens a team over a communicator, given as Fortran's handle, after use_mpi(). Collective: models are measured.");
  m.def(
      "use_mpi",
      [](const std::string& where) {
        const comm::MpiInUse& used = comm::use_mpi(where);
        return nb::make_tuple(used.library.path, used.library.version, used.library.abi, used.plugin, used.compiled);
      },
      nb::arg("where") = "",
      "Loads the plug-in for the MPI that the process has loaded. Returns the library's path, version and ABI, the "
      "plug-in, and the MPI that it was compiled with.");
  m.def("wait_for_interrupted", &wait_for_interrupted, "Waits until all interrupted calls have ended.");
}

}  // namespace merganser::python

NB_MODULE(_core, m) {
  using namespace merganser::python;
  m.doc() = "Extension module with the functions of merganser that the Python side of the package calls.";
  m.attr("__version__") = MERGANSER_VERSION;
  nb::set_leak_warnings(false);  // a communicator may keep its ranks until MPI ends, after the interpreter
  bind_errors();
  bind_files(m);
  bind_parcel_files(m);
  bind_team(m);
  bind_forest(m);
  bind_trees(m);
  bind_linkage(m);
  bind_nearest(m);
  bind_growth(m);
  bind_hdbscan(m);
  bind_scores(m);
  bind_prediction(m);
  bind_stars(m);
  bind_parcels(m);
  bind_policies(m);
  bind_clusterer(m);
  bind_friends(m);
  bind_graphs(m);
  bind_topology(m);
  bind_announcements(m);
}
