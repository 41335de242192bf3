#include "merganser/msf/linkage.hpp"

#include <cstddef>

#include "merganser/msf/hdbscan.hpp"
#include "src/capi/forest.hpp"

namespace merganser::capi {
namespace {

static_assert(sizeof(mg_merge_step) == sizeof(msf::Merge) && offsetof(mg_merge_step, b) == offsetof(msf::Merge, b) &&
              offsetof(mg_merge_step, height) == offsetof(msf::Merge, height) &&
              offsetof(mg_merge_step, size) == offsetof(msf::Merge, size));

class LinkageObject final : public Object {
 public:
  static constexpr const char* kKind = "linkage";
  explicit LinkageObject(msf::Dendrogram d) : dendrogram(std::move(d)) {
    merges.reserve(dendrogram.merges.size());
    for (const msf::Merge& m : dendrogram.merges) merges.push_back({m.a, m.b, m.height, m.size});
  }

  const msf::Dendrogram dendrogram;
  std::vector<mg_merge_step> merges;
};

/// On rank 0 the dendrogram of all ranks' edges; on the others none.
msf::Dendrogram dendrogram_of(ForestObject& object, msf::Apart apart) {
  const msf::Forest all = msf::gather_forest(object.forest, object.transport());
  return object.transport().rank() == 0 ? msf::dendrogram(all, apart) : msf::Dendrogram{};
}

void give_labels(const msf::Labels& found, std::uint32_t* labels, std::uint32_t* clusters) {
  std::copy(found.of.begin(), found.of.end(), labels);
  give_if(clusters, found.clusters);
}

msf::HdbscanOptions options_of(const mg_hdbscan_options* given) {
  const auto record = read_options(given, "options");
  msf::HdbscanOptions options;
  if (record.min_cluster_size > 0) options.min_cluster_size = record.min_cluster_size;
  options.max_cluster_size = record.max_cluster_size;
  options.epsilon = record.epsilon;
  options.selection = flag(record.leaf, "options: leaf") ? msf::Selection::leaf : msf::Selection::excess_of_mass;
  options.allow_single_cluster = flag(record.allow_single_cluster, "options: allow_single_cluster");
  return options;
}

}  // namespace
}  // namespace merganser::capi

using namespace merganser;
using namespace merganser::capi;

extern "C" {

int mg_linkage_new(mg_forest* forest, int join, mg_linkage** linkage) {
  return guard<ForestObject>(forest, [&](ForestObject& object) {
    auto apart = msf::Apart::stay;
    comm::agree(object.transport(), [&] {
      need(linkage, "linkage");
      if (flag(join, "join")) apart = msf::Apart::join;
    });
    make<LinkageObject>(linkage, dendrogram_of(object, apart));
  });
}

int mg_linkage_merges(mg_linkage* linkage, const mg_merge_step** merges, size_t* count) {
  return guard([&] { give(object_of<LinkageObject>(linkage)->merges, merges, count); });
}

int mg_linkage_vertices(mg_linkage* linkage, uint64_t* vertices) {
  return guard<LinkageObject>(
      linkage, [&](LinkageObject& object) { give_to(vertices, object.dendrogram.vertices, "vertices"); });
}

int mg_linkage_cut_height(mg_linkage* linkage, double height, uint32_t* labels, size_t room, uint32_t* clusters) {
  return guard<LinkageObject>(linkage, [&](LinkageObject& object) {
    check_room(room, object.dendrogram.vertices, "room");
    need(labels, object.dendrogram.vertices, "labels");
    give_labels(msf::cut_by_height(object.dendrogram, height), labels, clusters);
  });
}

int mg_linkage_cut_count(mg_linkage* linkage, uint64_t k, int apart, uint32_t* labels, size_t room,
                         uint32_t* clusters) {
  return guard<LinkageObject>(linkage, [&](LinkageObject& object) {
    const auto ties = flag(apart, "apart") ? msf::Ties::apart : msf::Ties::together;
    check_room(room, object.dendrogram.vertices, "room");
    need(labels, object.dendrogram.vertices, "labels");
    give_labels(msf::cut_by_count(object.dendrogram, k, ties), labels, clusters);
  });
}

int mg_linkage_free(mg_linkage* linkage) { return guard_free<LinkageObject>(linkage); }

int mg_hdbscan(mg_linkage* linkage, const mg_hdbscan_options* options, int32_t* labels, double* probabilities,
               size_t room, uint32_t* clusters) {
  return guard<LinkageObject>(linkage, [&](LinkageObject& object) {
    check_room(room, object.dendrogram.vertices, "room");
    need(labels, object.dendrogram.vertices, "labels");
    const msf::HdbscanOptions choice = options_of(options);
    const msf::Hdbscan found = msf::hdbscan(msf::condense(object.dendrogram, choice.min_cluster_size), choice);
    std::copy(found.labels.begin(), found.labels.end(), labels);
    if (probabilities != nullptr) std::copy(found.probabilities.begin(), found.probabilities.end(), probabilities);
    give_if(clusters, found.clusters);
  });
}

}  // extern "C"
