#include <nanobind/nanobind.h>
#include <nanobind/stl/shared_ptr.h>
#include <nanobind/stl/string.h>

#include "merganser/base/error.hpp"
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

void bind_team(nb::module_& m) {
  nb::class_<Team>(m, "Team", "Who computes: this process, threads of it, or the ranks of a communicator.")
      .def(nb::init<int>(), nb::arg("ranks") = 1)
      .def_prop_ro("ranks", &Team::ranks, "Number of ranks.")
      .def_prop_ro("rank", &Team::rank, "Number of this process among those of a communicator; else 0.")
      .def_prop_ro("here", &Team::here, "Whether all ranks are in this process.")
      .def_prop_ro("model", &Team::model, "The model that carries messages.")
      .def("close", &Team::close, "Gives the communicator back. Collective.");
  m.def("wait_for_interrupted", &wait_for_interrupted, "Waits for interrupted calls that have not ended.");
}

}  // namespace merganser::python

NB_MODULE(_core, m) {
  using namespace merganser::python;
  m.doc() = "What merganser does, as the Python side of the package calls it.";
  m.attr("__version__") = MERGANSER_VERSION;
  bind_errors();
  bind_team(m);
  bind_forest(m);
  bind_trees(m);
  bind_linkage(m);
  bind_hdbscan(m);
}
