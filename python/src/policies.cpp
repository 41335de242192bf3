/// Python bindings of merge policies (merganser.MergePolicy).
#include "python/src/policies.hpp"

#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include "merganser/base/error.hpp"
#include "python/src/themes.hpp"

namespace merganser::python {
namespace {

/// Part of a merge policy as Python passes it: name, and value or an empty text.
using PolicyPart = std::pair<std::string, std::string>;

/// Creates a merge policy from its parts and the number of its next step. @throws UsageError naming the part
/// @param predicate  whether it has one, which is checked with the parts and not kept
PolicyObject make_policy(const std::vector<PolicyPart>& parts, bool predicate, std::uint64_t step) {
  MergePolicy policy = policy_from_parts(parts);
  policy.step = step;
  if (predicate) {
    MergePolicy with = policy;
    with.allowed = [](const Vec3&) { return false; };
    check(with);
  }
  return {policy};
}

}  // namespace

PlaceCallback::~PlaceCallback() {
  const nb::gil_scoped_acquire lock;
  callable_.reset();
  raised_ = nullptr;
}

// Calls the callable and returns the truth value of its result by Python's rules, so that a NumPy bool is accepted too.
bool PlaceCallback::allows(const Vec3& position) {
  const nb::gil_scoped_acquire lock;
  const nb::object callable = callable_;  // drop() may be called meanwhile
  if (raised_ || !callable.is_valid()) return false;
  try {
    const nb::object answer = callable(nb::make_tuple(position[0], position[1], position[2]));
    const int truth = PyObject_IsTrue(answer.ptr());
    if (truth < 0) nb::raise_python_error();
    return truth != 0;
  } catch (const nb::python_error&) {
    raised_ = std::current_exception();
    return false;
  }
}

nb::dict policy_numbers(const PolicyNumbers& numbers) {
  nb::dict out;
  const std::pair<const char*, std::int64_t> counts[] = {{"rounds", numbers.rounds},   {"answers", numbers.answers},
                                                         {"refused", numbers.refused}, {"winding", numbers.winding},
                                                         {"undone", numbers.undone},   {"split", numbers.split}};
  for (const auto& [name, value] : counts) out[name] = value;
  out["settled"] = numbers.unsettled == 0;
  const std::pair<const char*, double> sums[] = {{"weight_before", numbers.weight_before},
                                                 {"weight_after", numbers.weight_after},
                                                 {"energy_before", numbers.energy_before},
                                                 {"energy_after", numbers.energy_after}};
  for (const auto& [name, value] : sums) out[name] = value;
  const std::pair<const char*, const Vec3*> momenta[] = {{"momentum_before", &numbers.momentum_before},
                                                         {"momentum_after", &numbers.momentum_after}};
  for (const auto& [name, p] : momenta) out[name] = nb::cast(move_to_numpy(std::vector<double>(p->begin(), p->end())));
  return out;
}

// Registers the class PolicyFound, which merganser.MergePolicy wraps.
void bind_policies(nb::module_& m) {
  nb::class_<PolicyObject>(m, "PolicyFound", "Merge policy: see merganser.MergePolicy.")
      .def(
          "__init__",
          [](PolicyObject* self, const std::vector<PolicyPart>& parts, bool predicate, std::uint64_t step) {
            new (self) PolicyObject(make_policy(parts, predicate, step));
          },
          nb::arg("parts"), nb::arg("predicate"), nb::arg("step"))
      .def_prop_ro(
          "text", [](const PolicyObject& p) { return policy_text(p.policy); },
          "Text of the policy, without parts that have their default.")
      .def_prop_ro(
          "mask", [](const PolicyObject& p) { return p.policy.mask; },
          "Column of the part `mask`; empty without that part.");
}

}  // namespace merganser::python
