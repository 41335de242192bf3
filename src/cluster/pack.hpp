#pragma once
/// Last stage of a merge step: stars become parcels, sources are removed, and the container is packed in the order of
/// cells.
#include <cstddef>
#include <cstdint>
#include <vector>

#include "merganser/cluster/report.hpp"
#include "merganser/links/links.hpp"
#include "merganser/parcels/merge.hpp"

namespace merganser::cluster {

/// Leaves (parcels that merge into a centre) received from other ranks, to be merged into vertices of this rank; entry
/// i of each array belongs to one leaf.
struct ReceivedParcels {
  std::vector<std::uint32_t> target;  ///< vertex of the centre
  std::vector<Site> site;             ///< position and volume of the leaf
  std::vector<double> rows;           ///< payload rows, schema width doubles each
  /// Removes the leaves received in the step before.
  void clear() { target.clear(), site.clear(), rows.clear(); }
};

/// Arguments of pack(), which merges the stars of one rank into parcels and packs the rank's container. A vertex is a
/// position in the order of cells, as in `sorted`.
struct PackInput {
  Parcels* parcels;            ///< in: rows by container position, sites free to overwrite; out: the merged parcels
  RawBuffer* spare_rows;       ///< memory of the new payload table; exchanged for the old one
  const Site* sorted;          ///< sites by vertex
  const std::uint32_t* order;  ///< container position by vertex
  std::uint32_t* target;       ///< kept links by vertex (links::kNone elsewhere); overwritten
  const ReceivedParcels* received_parcels;    ///< leaves from other ranks
  const std::vector<std::uint8_t>* departed;  ///< per link to another rank: 1 if its source has migrated there
  const MergeRules* rules;                    ///< merge rules of the attributes
  double small_volume;                        ///< volume below which a parcel is small, for the report
  bool lineage;                               ///< true to add the ids of sources and centres to the report
};

/// Merges the stars of this rank and packs the container; adds merged, after, clusters, merged_into_big and lineage to
/// the report. Local. @throws InputError for too many parcels
void pack(const PackInput& in, StepReport& report);

}  // namespace merganser::cluster
