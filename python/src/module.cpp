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

void raise(const char* name, const char* what) {
  const nb::object type = nb::module_::import_("merganser._errors").attr(name);
  PyErr_SetString(type.ptr(), what);
}

void translate(const std::exception_ptr& error, void*) {
  try {
    std::rethrow_exception(error);
  } catch (const UsageError& e) {
    raise("UsageError", e.what());
  } catch (const InputError& e) {
    raise("InputError", e.what());
  } catch (const CommError& e) {
    raise("CommError", e.what());
  } catch (const VerificationError& e) {
    raise("VerificationError", e.what());
  } catch (const Error& e) {
    raise("Error", e.what());
  } catch (const Interrupted&) {
    PyErr_SetNone(PyExc_KeyboardInterrupt);
  }
}

}  // namespace

void bind_errors() { nb::register_exception_translator(translate); }

void bind_files(nb::module_& m) {
  nb::class_<OutputFile>(m, "OutputFile",
                         "A file that appears whole or not at all; a library writes it under its name.")
      .def(
          "__init__",
          [](OutputFile* self, const std::string& path) {
            new (self) OutputFile(path, 0, OutputFile::Opened::by_name);
          },
          nb::arg("path"))
      .def_prop_ro("name", &OutputFile::name, "Where the file lies until commit().")
      .def("commit", &OutputFile::commit, "Flushes it to the disk and gives it its name.");
}

void bind_team(nb::module_& m) {
  nb::class_<Team>(m, "Team", "Who computes: this process, threads of it, or the ranks of a communicator.")
      .def(nb::init<int>(), nb::arg("ranks") = 1)
      .def_prop_ro("ranks", &Team::ranks, "Number of ranks.")
      .def_prop_ro("rank", &Team::rank, "Number of this process among those of a communicator; else 0.")
      .def_prop_ro("here", &Team::here, "Whether all ranks are in this process.")
      .def_prop_ro("model", &Team::model, "The model that carries messages.")
      .def("close", &Team::close, "Gives the communicator back. Collective.");
  m.def(
      "team_over",
      [](int handle, const std::string& model) {
        comm::OpenOptions options;
        options.backend = model;
        return std::make_shared<Team>(comm::open(handle, options));
      },
      nb::arg("handle"), nb::arg("model"),
      "The ranks of a communicator, by its Fortran handle. Collective: models are measured. After use_mpi().");
  m.def(
      "use_mpi",
      [](const std::string& where) {
        const comm::MpiInUse& used = comm::use_mpi(where);
        return nb::make_tuple(used.library.path, used.library.version, used.library.abi, used.plugin, used.compiled);
      },
      nb::arg("where") = "",
      "Opens the plug-in for the MPI that the process has loaded: (its path, its version, whose interface it has, the "
      "plug-in, the MPI it was compiled with).");
  m.def("wait_for_interrupted", &wait_for_interrupted, "Waits for interrupted calls that have not ended.");
}

}  // namespace merganser::python

NB_MODULE(_core, m) {
  using namespace merganser::python;
  m.doc() = "What merganser does, as the Python side of the package calls it.";
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
  bind_stars(m);
  bind_parcels(m);
  bind_clusterer(m);
  bind_graphs(m);
  bind_topology(m);
  bind_announcements(m);
}
