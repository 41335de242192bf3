#pragma once
/// The last stage of a step: stars become parcels, the rest moves up, everything in the order of cells.
#include <cstddef>
#include <cstdint>
#include <vector>

#include "merganser/cluster/report.hpp"
#include "merganser/links/links.hpp"
#include "merganser/parcels/merge.hpp"

namespace merganser::cluster {

/// Leaves that came from other ranks to be merged into a vertex of this one.
struct ReceivedParcels {
  std::vector<std::uint32_t> target;
  std::vector<Site> site;
  std::vector<double> rows;  ///< schema width doubles each
  void clear() { target.clear(), site.clear(), rows.clear(); }
};

/// What the stage reads and writes. Vertices are positions in the sorted order.
struct PackInput {
  Parcels* parcels;            ///< in: rows by container position, sites free to overwrite; out: the merged parcels
  RawBuffer* spare_rows;       ///< room for the new payload table; exchanged for the old one
  const Site* sorted;          ///< sites by vertex
  const std::uint32_t* order;  ///< container position by vertex
  std::uint32_t* target;       ///< kept links by vertex (links::kNone elsewhere); overwritten
  const ReceivedParcels* received_parcels;
  const std::vector<std::uint8_t>* departed;  ///< per away link: 1 if its vertex has left
  const MergeRules* rules;
  double small_volume;
  bool lineage;
};

/// Merges and packs; adds merged, after, clusters, merged_into_big and lineage to the report.
void pack(const PackInput& in, StepReport& report);

}  // namespace merganser::cluster
