#pragma once
/// Parts of the serial oracle of merge policies beside its rounds: place of a merged parcel, friends of friends,
/// levelling thinning.
#include <span>
#include <vector>

#include "merganser/cluster/policy_reference.hpp"
#include "src/cluster/policy_arithmetic.hpp"

namespace merganser {
namespace reference {

/// Parcel that remains after a step of the oracle.
struct Remaining {
  Site site;                ///< position and volume
  std::vector<double> row;  ///< payload row
};
/// Makes a container of the parcels that remain, by ascending id.
Parcels to_parcels(const Schema& schema, std::vector<Remaining> remaining);

/// Member of a group in the oracle, for the place of the merged parcel.
struct PlaceMember {
  Site site;        ///< position and volume
  std::int64_t id;  ///< global id
};
/// Sets the position of a merged parcel, which is the centroid, by the policy. @param members  the centre first
void set_place(const MergePolicy& policy, const cluster::DrawKey& key, std::span<const PlaceMember> members,
               Site& site);

/// Multiplies the attributes of rule sum in a payload row by a factor.
void scale_sums(const Schema& schema, double factor, double* row);

/// Returns the parcels after merging friends of friends; fills groups, winding, clusters and lineage of the outcome.
Parcels merge_friends(const Parcels& before, const Grid& grid, const MergePolicy& policy, PolicyOutcome& out);

/// Returns the parcels after levelling thinning.
Parcels level(const Parcels& before, const Grid& grid, const MergePolicy& policy);

/// Splits parcels of cells with too few, one after the other; adds to PolicyNumbers::split and the splits of the outcome.
void split(Parcels& parcels, const Grid& grid, const MergePolicy& policy, PolicyOutcome& out);

}  // namespace reference
}  // namespace merganser
