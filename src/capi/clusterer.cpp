// C interface of schemas and of the clusterer (mg_schema_..., mg_clusterer_...).
#include "merganser/capi/clusterer.h"

#include <algorithm>
#include <cstddef>

#include "merganser/capi/detail/columns.hpp"
#include "merganser/capi/detail/objects.hpp"
#include "merganser/cluster/cluster.hpp"
#include "merganser/comm/collectives.hpp"
#include "merganser/parcels/statistics.hpp"

namespace merganser::capi {

std::size_t num_columns(const Schema& schema) {
  std::size_t columns = 0;
  for (const Attribute& a : schema.attributes()) columns += static_cast<std::size_t>(a.components);
  return columns;
}

namespace {

/// Wraps the C function that merges an attribute as a MergeCallback of C++: the function takes the components and the volumes of
/// all members of a star in two contiguous arrays, which are reused between calls.
MergeCallback wrap_callback(mg_merge merge, void* user, std::size_t offset, std::size_t components) {
  return [=, values = std::vector<double>(), volumes = std::vector<double>()](std::span<const Member> members, double,
                                                                              double* out) mutable {
    values.clear();
    volumes.clear();
    for (const Member& m : members) {
      values.insert(values.end(), m.row + offset, m.row + offset + components);
      volumes.push_back(m.site->volume);
    }
    merge(members.size(), values.data(), volumes.data(), out, user);
  };
}

/// Adds an attribute to the schema behind a handle, with an empty merge callback. @throws UsageError for a null name, or
/// components out of range
void add_attribute(SchemaObject& object, const char* name, int components, Rule rule) {
  check_not_null(name, "name");
  check_range(components, 1, 4096, "components");
  auto attributes = object.schema.attributes();
  attributes.push_back(
      {name, components, rule, std::vector<std::string>(static_cast<std::size_t>(components), name), ""});
  object.schema = Schema(std::move(attributes));
  object.callbacks.emplace_back();
}

constexpr std::size_t kFirstOptions = offsetof(mg_clusterer_options, policy);  // size of the record of interface 1
constexpr std::size_t kFirstNumbers = offsetof(mg_step_numbers, rounds);

/// Converts the merge policy of the C record of options. @throws UsageError naming the part
MergePolicy convert_policy(const mg_clusterer_options& record) {
  MergePolicy policy = parse_policy(string_or(record.policy, ""));
  policy.step = record.policy_step;
  if (record.allowed != nullptr)
    policy.allowed = [allowed = record.allowed, user = record.allowed_user](const Vec3& position) {
      return allowed(position.data(), user) != 0;
    };
  check(policy);
  return policy;
}

/// Converts the options of a clusterer from the C record, with the merge callbacks of the schema; zero fields keep the defaults.
ClusterOptions convert_options(const mg_clusterer_options* given, const SchemaObject& schema) {
  const auto record = read_options(given, "options", kFirstOptions);
  ClusterOptions options;
  if (record.min_volume_ratio != 0) options.min_volume_ratio = record.min_volume_ratio;
  options.search = read_flag(record.search, "options: search") ? Search::cells8 : Search::exact;
  options.prune = read_flag(record.prune, "options: prune") ? Prune::iterative : Prune::single_pass;
  options.callbacks = schema.callbacks;
  options.policy = convert_policy(record);
  return options;
}

/// Clusterer behind a handle of the C interface and the container of this rank's parcels.
class ClustererObject final : public OverTransport {
 public:
  static constexpr const char* kKind = "clusterer";
  ClustererObject(std::shared_ptr<TransportObject> transport_object, const Decomposition& decomposition,
                  const SchemaObject& schema, const ClusterOptions& options)
      : OverTransport(std::move(transport_object)),
        parcels(schema.schema),
        clusterer(transport(), decomposition, parcels.schema(), options) {}

  /// Replaces this rank's parcels by a copy of the C caller's columns. Local. If a value is invalid, the former parcels stay.
  void set_parcels(const mg_columns& columns) {
    Parcels taken(parcels.schema());
    copy_in(columns, clusterer.decomposition().grid().box.lower[2], taken);
    parcels = std::move(taken);
  }

  Parcels parcels;
  Clusterer clusterer;
};

/// Writes what a merge policy adds to the report of a step to the C record.
void add_policy_numbers(const PolicyNumbers& from, mg_step_numbers& n) {
  n.rounds = from.rounds;
  n.unsettled = from.unsettled;
  n.answers = from.answers;
  n.refused = from.refused;
  n.winding = from.winding;
  n.undone = from.undone;
  n.split = from.split;
  n.weight_before = from.weight_before;
  n.weight_after = from.weight_after;
  n.energy_before = from.energy_before;
  n.energy_after = from.energy_after;
  std::copy(from.momentum_before.begin(), from.momentum_before.end(), n.momentum_before);
  std::copy(from.momentum_after.begin(), from.momentum_after.end(), n.momentum_after);
}

/// Converts the report of a merge step to the C record of its counts and time.
mg_step_numbers to_step_numbers(const StepReport& report) {
  mg_step_numbers n{};
  n.before = report.before;
  n.small = report.small;
  n.merged = report.merged;
  n.after = report.after;
  n.unmatched = report.unmatched;
  n.cross_links = report.cross_links;
  n.seconds = report.seconds.total();
  add_policy_numbers(report.policy, n);
  return n;
}

/// Returns the digest of the parcels of all ranks for mg_clusterer_digest(), the sum of the ranks' digests. Collective.
std::string global_digest(const Parcels& parcels, comm::Transport& transport) {
  Digest all;
  for (const Digest& part : comm::all_gather_value(transport, digest(parcels))) all += part;
  return all.to_string();
}

}  // namespace
}  // namespace merganser::capi

using namespace merganser;
using namespace merganser::capi;

extern "C" {

int mg_schema_new(mg_schema** schema) {
  return guard([&] { make_handle<SchemaObject>(schema); });
}

int mg_schema_epic(mg_schema** schema) {
  return guard([&] { make_handle<SchemaObject>(schema, Schema::epic()); });
}

int mg_schema_add(mg_schema* schema, const char* name, int components, int rule) {
  return guard<SchemaObject>(schema, [&](SchemaObject& object) {
    check_range<int>(rule, MG_MEAN, MG_ELLIPSOID, "rule");
    add_attribute(object, name, components, static_cast<Rule>(rule));
  });
}

int mg_schema_add_callback(mg_schema* schema, const char* name, int components, mg_merge merge, void* user) {
  return guard<SchemaObject>(schema, [&](SchemaObject& object) {
    if (merge == nullptr) throw UsageError("merge: a null pointer; allowed: a function");
    add_attribute(object, name, components, Rule::callback);
    object.callbacks.back() =
        wrap_callback(merge, user, object.schema.offset(name), static_cast<std::size_t>(components));
  });
}

int mg_schema_columns(mg_schema* schema, size_t* columns) {
  return guard_get<SchemaObject>(schema, columns, "columns", [](auto& object) { return num_columns(object.schema); });
}

int mg_schema_free(mg_schema* schema) { return guard_free<SchemaObject>(schema); }

int mg_clusterer_new(mg_transport* transport, mg_decomposition* decomposition, mg_schema* schema,
                     const mg_clusterer_options* options, mg_clusterer** clusterer) {
  return guard([&] {
    auto over = object_from<TransportObject>(transport);
    std::shared_ptr<DecompositionObject> blocks;
    std::shared_ptr<SchemaObject> attributes;
    ClusterOptions how;
    // An invalid argument on one rank must fail on all: the others would wait for it in the collective constructor.
    comm::agree(over->get(), [&] {
      check_not_null(clusterer, "clusterer");
      blocks = object_from<DecompositionObject>(decomposition);
      attributes = object_from<SchemaObject>(schema);
      how = convert_options(options, *attributes);
    });
    make_handle<ClustererObject>(clusterer, std::move(over), blocks->value, *attributes, how);
  });
}

int mg_clusterer_put(mg_clusterer* clusterer, const mg_columns* columns) {
  return guard<ClustererObject>(clusterer, [&](ClustererObject& object) {
    object.set_parcels(checked_columns(columns, object.parcels.schema()));
  });
}

int mg_clusterer_distribute(mg_clusterer* clusterer) {
  return guard<ClustererObject>(clusterer, [&](ClustererObject& object) {
    distribute(object.parcels, object.clusterer.decomposition(), object.transport());
  });
}

int mg_clusterer_step(mg_clusterer* clusterer, mg_step_numbers* numbers) {
  return guard<ClustererObject>(clusterer, [&](ClustererObject& object) {
    if (numbers != nullptr) check_record(numbers, "numbers", kFirstNumbers);
    static_cast<void>(object.transport());
    const StepReport report = object.clusterer.step(object.parcels);
    if (numbers != nullptr) write_record(to_step_numbers(report), numbers, "numbers", kFirstNumbers);
  });
}

int mg_clusterer_policy_step(mg_clusterer* clusterer, uint64_t* step) {
  return guard_get<ClustererObject>(clusterer, step, "step", [](auto& o) { return o.clusterer.policy_step(); });
}

int mg_clusterer_redistribute(mg_clusterer* clusterer, int64_t* sent) {
  return guard<ClustererObject>(clusterer, [&](ClustererObject& object) {
    static_cast<void>(object.transport());
    store_optional(sent, object.clusterer.redistribute(object.parcels));
  });
}

int mg_clusterer_count(mg_clusterer* clusterer, size_t* count) {
  return guard_get<ClustererObject>(clusterer, count, "count", [](auto& object) { return object.parcels.size(); });
}

int mg_clusterer_get(mg_clusterer* clusterer, const mg_columns* columns, size_t* count) {
  return guard<ClustererObject>(clusterer, [&](ClustererObject& object) {
    const mg_columns to = checked_columns(columns, object.parcels.schema());
    check_capacity(to.count, object.parcels.size(), "columns: count");
    copy_out(object.parcels, to);
    store_optional(count, object.parcels.size());
  });
}

int mg_clusterer_digest(mg_clusterer* clusterer, char digest[33]) {
  return guard<ClustererObject>(clusterer, [&](ClustererObject& object) {
    check_not_null(digest, "digest");
    const std::string text = global_digest(object.parcels, object.transport());
    std::copy_n(text.c_str(), 33, digest);
  });
}

int mg_clusterer_free(mg_clusterer* clusterer) { return guard_free<ClustererObject>(clusterer); }

}  // extern "C"
