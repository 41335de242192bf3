#include "merganser/capi/clusterer.h"

#include "merganser/cluster/cluster.hpp"
#include "merganser/comm/collectives.hpp"
#include "merganser/parcels/statistics.hpp"
#include "src/capi/columns.hpp"
#include "src/capi/objects.hpp"

namespace merganser::capi {
namespace {

ClusterOptions options_of(const mg_clusterer_options* given, const SchemaObject& schema) {
  const auto record = read_options(given, "options");
  ClusterOptions options;
  if (record.min_volume_ratio != 0) options.min_volume_ratio = record.min_volume_ratio;
  options.search = flag(record.search, "options: search") ? Search::cells8 : Search::exact;
  options.prune = flag(record.prune, "options: prune") ? Prune::iterative : Prune::single_pass;
  options.callbacks = schema.callbacks;
  return options;
}

/// The parcels and what merges them.
class ClustererObject final : public OverTransport {
 public:
  static constexpr const char* kKind = "clusterer";
  ClustererObject(std::shared_ptr<TransportObject> transport_object, const Decomposition& decomposition,
                  const SchemaObject& schema, const ClusterOptions& options)
      : OverTransport(std::move(transport_object)),
        parcels(schema.schema),
        clusterer(transport(), decomposition, parcels.schema(), options) {}

  /// Errors of one rank's columns alone leave what was there.
  void put(const mg_columns& columns) {
    Parcels taken(parcels.schema());
    copy_in(columns, clusterer.decomposition().grid().box.lower[2], taken);
    parcels = std::move(taken);
  }

  Parcels parcels;
  Clusterer clusterer;
};

mg_step_numbers numbers_of(const StepReport& report) {
  mg_step_numbers n{};
  n.before = report.before;
  n.small = report.small;
  n.merged = report.merged;
  n.after = report.after;
  n.lonely = report.lonely;
  n.cross_links = report.cross_links;
  n.seconds = report.seconds.total();
  return n;
}

std::string digest_of(const Parcels& parcels, comm::Transport& transport) {
  Digest all;
  for (const Digest& part : comm::all_gather_value(transport, digest(parcels))) all += part;
  return all.text();
}

}  // namespace
}  // namespace merganser::capi

using namespace merganser;
using namespace merganser::capi;

extern "C" {

int mg_clusterer_new(mg_transport* transport, mg_decomposition* decomposition, mg_schema* schema,
                     const mg_clusterer_options* options, mg_clusterer** clusterer) {
  return guard([&] {
    auto over = object_of<TransportObject>(transport);
    std::shared_ptr<DecompositionObject> blocks;
    std::shared_ptr<SchemaObject> attributes;
    ClusterOptions how;
    comm::agree(over->get(), [&] {
      need(clusterer, "clusterer");
      blocks = object_of<DecompositionObject>(decomposition);
      attributes = object_of<SchemaObject>(schema);
      how = options_of(options, *attributes);
    });
    make<ClustererObject>(clusterer, std::move(over), blocks->value, *attributes, how);
  });
}

int mg_clusterer_put(mg_clusterer* clusterer, const mg_columns* columns) {
  return guard<ClustererObject>(
      clusterer, [&](ClustererObject& object) { object.put(checked_columns(columns, object.parcels.schema())); });
}

int mg_clusterer_distribute(mg_clusterer* clusterer) {
  return guard<ClustererObject>(clusterer, [&](ClustererObject& object) {
    distribute(object.parcels, object.clusterer.decomposition(), object.transport());
  });
}

int mg_clusterer_step(mg_clusterer* clusterer, mg_step_numbers* numbers) {
  return guard<ClustererObject>(clusterer, [&](ClustererObject& object) {
    if (numbers != nullptr) check_record(numbers, "numbers");
    static_cast<void>(object.transport());
    const StepReport report = object.clusterer.step(object.parcels);
    if (numbers != nullptr) write_record(numbers_of(report), numbers, "numbers");
  });
}

int mg_clusterer_rehome(mg_clusterer* clusterer, int64_t* sent) {
  return guard<ClustererObject>(clusterer, [&](ClustererObject& object) {
    static_cast<void>(object.transport());
    give_if(sent, object.clusterer.rehome(object.parcels));
  });
}

int mg_clusterer_count(mg_clusterer* clusterer, size_t* count) {
  return guard<ClustererObject>(clusterer,
                                [&](ClustererObject& object) { give_to(count, object.parcels.size(), "count"); });
}

int mg_clusterer_get(mg_clusterer* clusterer, const mg_columns* columns, size_t* count) {
  return guard<ClustererObject>(clusterer, [&](ClustererObject& object) {
    const mg_columns to = checked_columns(columns, object.parcels.schema());
    check_room(to.count, object.parcels.size(), "columns: count");
    copy_out(object.parcels, to);
    give_if(count, object.parcels.size());
  });
}

int mg_clusterer_digest(mg_clusterer* clusterer, char digest[33]) {
  return guard<ClustererObject>(clusterer, [&](ClustererObject& object) {
    need(digest, "digest");
    const std::string text = digest_of(object.parcels, object.transport());
    std::copy_n(text.c_str(), 33, digest);
  });
}

int mg_clusterer_free(mg_clusterer* clusterer) { return guard_free<ClustererObject>(clusterer); }

}  // extern "C"
