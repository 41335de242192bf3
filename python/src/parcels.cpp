/// Python bindings of schemas and containers of parcels.
#include "python/src/parcels.hpp"

#include <nanobind/stl/array.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/shared_ptr.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include <algorithm>

#include "merganser/base/text.hpp"
#include "merganser/parcels/generate.hpp"
#include "merganser/parcels/statistics.hpp"
#include "python/src/schema.hpp"
#include "python/src/themes.hpp"

namespace merganser::python {

namespace {

/// Returns the merge rules of parcel attributes that Python can set, by name.
const std::vector<std::pair<std::string, Rule>>& rules_of_python() {
  static const std::vector<std::pair<std::string, Rule>> all = {{"mean", Rule::mean},
                                                                {"sum", Rule::sum},
                                                                {"centre", Rule::centre},
                                                                {"largest", Rule::largest},
                                                                {"mean_present", Rule::mean_present},
                                                                {"sum_present", Rule::sum_present},
                                                                {"ellipsoid", Rule::ellipsoid}};
  return all;
}

}  // namespace

Rule parse_rule(const std::string& name) {
  for (const auto& [word, rule] : rules_of_python())
    if (word == name) return rule;
  throw UsageError("rule: \"" + name +
                   "\"; allowed: " + joined(rules_of_python(), ", ", [](const auto& r) { return r.first; }));
}

std::string rule_name(Rule rule) {
  for (const auto& [word, r] : rules_of_python())
    if (r == rule) return word;
  return "callback";
}

namespace {

/// Attribute of parcels as Python passes it: name, number of components, name of the merge rule, names of the components, unit.
using SchemaAttribute = std::tuple<std::string, int, std::string, std::vector<std::string>, std::string>;

/// Creates a schema of parcels from Python's descriptions of the attributes. @throws UsageError for an unknown merge rule
Schema make_schema(const std::vector<SchemaAttribute>& given) {
  std::vector<Attribute> attributes;
  for (const auto& [name, components, rule, names, unit] : given)
    attributes.push_back({name, components, parse_rule(rule), names, unit});
  return Schema(std::move(attributes));
}

/// Copies one component of an attribute of this process's parcels to a NumPy array, by parcel.
nb::object get_component(ParcelsObject& parcels, const std::string& name, int component) {
  const auto use = parcels.use();
  const Column column = use->column(name, component);
  std::vector<double> out(use->size());
  for (std::size_t i = 0; i < out.size(); ++i) out[i] = column[i];
  return nb::cast(move_to_numpy(std::move(out)));
}

/// Checks that an array of Python has one value per parcel. @throws UsageError naming the column
void check_length(std::size_t given, std::size_t wanted, const std::string& name) {
  if (given != wanted)
    throw UsageError("parcels: " + std::to_string(given) + " values of " + name +
                     "; allowed: " + std::to_string(wanted));
}

/// Sets one component of an attribute of this process's parcels from a NumPy array with one value per parcel.
void set_component(ParcelsObject& parcels, const std::string& name, int component, const Line<double>& values) {
  const auto use = parcels.use();
  check_length(values.size(), use->size(), name);
  const Column column = use->column(name, component);
  for (std::size_t i = 0; i < values.size(); ++i) column[i] = values.data()[i];
}

/// Copies the ids of this process's parcels to a NumPy array of int64.
nb::object copy_ids(ParcelsObject& parcels) {
  const auto use = parcels.use();
  std::vector<std::int64_t> out(use->size());
  for (std::size_t i = 0; i < out.size(); ++i) out[i] = use->id(i);
  return nb::cast(move_to_numpy(std::move(out)));
}

/// Sets the ids of this process's parcels from a NumPy array with one id per parcel; ids are not compared here.
void set_ids(ParcelsObject& parcels, const Line<std::int64_t>& values) {
  const auto use = parcels.use();
  check_length(values.size(), use->size(), "id");
  for (std::size_t i = 0; i < values.size(); ++i) use->set_id(i, values.data()[i]);
}

/// Creates n parcels of a schema for merganser.Parcels, at the origin, with ids 0 to n - 1, volume 1, and 0 in all attributes.
std::shared_ptr<ParcelsObject> make_parcels(const Schema& schema, std::size_t n) {
  Parcels parcels(schema);
  parcels.resize(n);
  std::fill_n(parcels.rows(), n * schema.width(), 0.0);
  for (std::size_t i = 0; i < n; ++i) {
    parcels.site(i) = {0, 0, 0, 1};
    parcels.set_id(i, static_cast<std::int64_t>(i));
  }
  return std::make_shared<ParcelsObject>(std::move(parcels));
}

/// Changes the number of this process's parcels to n: removes the last ones, or appends parcels at the origin with volume 1, ids
/// above those of this process, and 0 in all attributes.
void resize_parcels(ParcelsObject& parcels, std::size_t n) {
  const auto use = parcels.use();
  const std::size_t before = use->size();
  use->resize(n);
  std::int64_t next = 0;
  for (std::size_t i = 0; i < std::min(before, n); ++i) next = std::max(next, use->id(i) + 1);
  for (std::size_t i = before; i < n; ++i) {
    use->site(i) = {0, 0, 0, 1};
    std::fill_n(use->row(i), use->schema().width(), 0.0);
    use->set_id(i, next++);
  }
}

/// Generates the random parcels of one rank's block of the domain for merganser.random_parcels(), `per_cell` in each cell of the
/// grid. Local. @param small_fraction  share of parcels with a volume below that of a cell divided by `min_volume_ratio`
std::shared_ptr<ParcelsObject> random_parcels(const Vec3& lower, const Vec3& extent,
                                              const std::array<std::int64_t, 3>& cells, std::int64_t per_cell,
                                              double small_fraction, double min_volume_ratio, std::uint64_t seed,
                                              int rank, int ranks) {
  RandomParcels options;
  options.per_cell = per_cell;
  options.small_fraction = small_fraction;
  options.min_volume_ratio = min_volume_ratio;
  options.seed = seed;
  const nb::gil_scoped_release free;
  const Grid grid{Box{lower, extent, {false, false, false}}, cells};
  return std::make_shared<ParcelsObject>(generate_random(options, Decomposition(grid, ranks), rank));
}

/// Registers the class SchemaFound, which merganser.Schema wraps: attributes of parcels with their merge rules.
void bind_schema(nb::module_& m) {
  nb::class_<Schema>(m, "SchemaFound", "Attributes of parcels: see merganser.Schema.")
      .def(
          "__init__",
          [](Schema* self, const std::vector<SchemaAttribute>& given) { new (self) Schema(make_schema(given)); },
          nb::arg("attributes"))
      .def_static(
          "epic", [] { return Schema::epic(); }, "Returns the schema of EPIC's parcels: vorticity, buoyancy, B.")
      .def_prop_ro(
          "attributes",
          [](const Schema& s) {
            std::vector<SchemaAttribute> out;
            for (const Attribute& a : s.attributes())
              out.emplace_back(a.name, a.components, rule_name(a.rule), a.component_names, a.unit);
            return out;
          },
          "By attribute: name, number of components, merge rule, names of the components, unit.")
      .def("__eq__", [](const Schema& a, const Schema& b) { return a == b; });
}

}  // namespace

// Registers schemas and containers of parcels, which merganser.Schema and merganser.Parcels wrap.
void bind_parcels(nb::module_& m) {
  bind_schema(m);
  nb::class_<ParcelsObject>(m, "ParcelsFound", "Parcels of this process: see merganser.Parcels.")
      .def("__len__", [](ParcelsObject& p) { return p.use()->size(); })
      .def_prop_ro(
          "schema", [](ParcelsObject& p) { return p.use()->schema(); }, nb::rv_policy::move, "Attributes of parcels.")
      .def("get", &get_component, nb::arg("name"), nb::arg("component") = 0, "Copies a component of an attribute.")
      .def("set", &set_component, nb::arg("name"), nb::arg("component"), nb::arg("values").noconvert(),
           "Sets a component of an attribute of all parcels.")
      .def("ids", &copy_ids, "Returns a copy of the parcels' ids.")
      .def("set_ids", &set_ids, nb::arg("values").noconvert(), "Sets the parcels' ids.")
      .def("resize", &resize_parcels, nb::arg("n"), "Removes the last parcels, or appends new ones.")
      .def(
          "digest", [](ParcelsObject& p) { return digest(*p.use()).to_string(); },
          "32 hexadecimal digits of an order-independent hash of the parcels' ids and all their values, bit by bit.");
  m.def("parcels", &make_parcels, nb::arg("schema"), nb::arg("n"), "Creates parcels: see merganser.Parcels.");
  m.def("random_parcels", &random_parcels, nb::arg("lower"), nb::arg("extent"), nb::arg("cells"), nb::arg("per_cell"),
        nb::arg("small_fraction"), nb::arg("min_volume_ratio"), nb::arg("seed"), nb::arg("rank"), nb::arg("ranks"),
        "Generates random parcels: see merganser.random_parcels().");
}

}  // namespace merganser::python
