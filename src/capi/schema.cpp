#include "merganser/capi/clusterer.h"
#include "src/capi/objects.hpp"

namespace merganser::capi {

std::size_t columns_of(const Schema& schema) {
  std::size_t columns = 0;
  for (const Attribute& a : schema.attributes()) columns += static_cast<std::size_t>(a.components);
  return columns;
}

namespace {

/// Hands the members' components and volumes to a function in C, each beside the other.
MergeCallback callback_in_c(mg_merge merge, void* user, std::size_t offset, std::size_t components) {
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

void add(SchemaObject& object, const char* name, int components, Rule rule) {
  need(name, "name");
  within(components, 1, 4096, "components");
  auto attributes = object.schema.attributes();
  attributes.push_back(
      {name, components, rule, std::vector<std::string>(static_cast<std::size_t>(components), name), ""});
  object.schema = Schema(std::move(attributes));
  object.callbacks.emplace_back();
}

}  // namespace
}  // namespace merganser::capi

using namespace merganser;
using namespace merganser::capi;

extern "C" {

int mg_schema_new(mg_schema** schema) {
  return guard([&] { make<SchemaObject>(schema); });
}

int mg_schema_epic(mg_schema** schema) {
  return guard([&] { make<SchemaObject>(schema, Schema::epic()); });
}

int mg_schema_add(mg_schema* schema, const char* name, int components, int rule) {
  return guard<SchemaObject>(schema, [&](SchemaObject& object) {
    within<int>(rule, MG_MEAN, MG_ELLIPSOID, "rule");
    add(object, name, components, static_cast<Rule>(rule));
  });
}

int mg_schema_add_callback(mg_schema* schema, const char* name, int components, mg_merge merge, void* user) {
  return guard<SchemaObject>(schema, [&](SchemaObject& object) {
    if (merge == nullptr) throw UsageError("merge: a null pointer; allowed: a function");
    add(object, name, components, Rule::callback);
    object.callbacks.back() =
        callback_in_c(merge, user, object.schema.offset(name), static_cast<std::size_t>(components));
  });
}

int mg_schema_columns(mg_schema* schema, size_t* columns) {
  return guard<SchemaObject>(schema,
                             [&](SchemaObject& object) { give_to(columns, columns_of(object.schema), "columns"); });
}

int mg_schema_free(mg_schema* schema) { return guard_free<SchemaObject>(schema); }

}  // extern "C"
