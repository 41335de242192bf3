#pragma once
/// Merge policy of Clusterer: who looks for a partner, with whom, how many merge, where the result goes, what is conserved, and
/// which parcels split. The default policy is EPIC's.
///
/// A policy has independent parts. In text, as in `merganser cluster --policy`, parts are separated by commas, blanks
/// around them do not count, and a part that is not named has its default:
///
///     small, small:V         volume below that of ClusterOptions::min_volume_ratio (default), or below V
///     none                   no parcel: nothing merges, for a step that only splits
///     mask:COLUMN            parcels whose column is not 0
///     crowded:32->16         in cells with more than 32 parcels; until none is above, never below 16 by their own
///     crowded:32->16@2cell   the same in cells of another size: @LENGTH
///     phase:ux*0.1+uy*0.1    nearest in position and up to 3 columns times a factor
///     same:species+group     only partners with equal integer columns
///     within:1cell           only partners at most that far: LENGTH; in `spacing` a step makes two collectives
///     stars, pairs, greedy:K form of what merges: stars (default), mutual pairs, greedy pairs with K fall-backs
///     members:8, weight:1e6  a merged parcel holds at most 8 parcels of the step; has at most that weight
///     rounds:100             at most that many rounds in a step (default 100)
///     friends:0.2spacing     friends of friends: everything connected by distances up to LENGTH is one group
///     place:member           where the result goes: centroid (default), member, heaviest, centre
///     conserve:momentum      or momentum+energy: two parcels for N; else the rules of the attributes alone (default)
///     momentum:ux+uy+uz      columns of the momentum per unit of weight (default: those of `momentum`, or ux+uy+uz)
///     mass:COLUMN            column of the rest mass; relativistic:C  speed of light in units of momentum / mass
///     level:1.5, level:1.5/8 levelling thinning to 1.5 times the mean weight, in cells of at least 8 parcels
///     split:8                in cells with fewer than 8 parcels the heaviest split, until a cell has 8
///     along:random           how: random (default), velocity, axis (the longest of the ellipsoid)
///     ids:N                  ids of new parcels start at N (default 2^62)
///     seed:7                 seed of random numbers
///
/// A LENGTH is a number in units of the box, or with the unit `cell` (shortest edge of a cell of the grid) or `spacing`
/// (cube root of the volume of the box over the number of parcels before the step).
///
/// With every policy the result has the same bits for any number of ranks, model, decomposition and order of parcels.
#include <cstdint>
#include <functional>
#include <limits>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "merganser/geometry/box.hpp"
#include "merganser/parcels/parcels.hpp"

namespace merganser {

/// Length in a merge policy: a number and its unit (units of the box, cell widths or mean spacings of parcels).
struct Length {
  /// Unit of a length: that of the box, the shortest edge of a grid cell, or the mean spacing of parcels.
  enum class Unit : std::uint8_t { box, cell, spacing };
  double value = 0;       ///< number of units, >= 0; 0: no length is given
  Unit unit = Unit::box;  ///< unit of `value`
  /// Returns the length in units of the box. @param parcels  number of parcels of all ranks, used for Unit::spacing only
  [[nodiscard]] double in_box_units(const Grid& grid, std::int64_t parcels) const;
  friend bool operator==(const Length&, const Length&) = default;
};

/// Column of a merge policy's metric in phase space, and the factor that makes its values lengths.
struct ScaledColumn {
  std::string column;  ///< name of an attribute of one component, or of a component
  double factor = 1;   ///< positive: distances along this axis are |a * factor - b * factor|
  friend bool operator==(const ScaledColumn&, const ScaledColumn&) = default;
};

/// Column of parcels that holds the 64 bits of integers in place of doubles, as parcels read from files hold integers of 64 bits that
/// merging does not compute with (rules centre and largest).
struct IntegerColumn {
  std::string column;     ///< name of an attribute, or of a component (then `component` is 0)
  int component = 0;      ///< component of the attribute
  bool is_signed = true;  ///< int64; else uint64
  friend bool operator==(const IntegerColumn&, const IntegerColumn&) = default;
};

/// Choice of the parcels that look for a partner in a merge policy.
enum class Looker : std::uint8_t {
  small,    ///< parcels below a volume. EPIC, chombo-discharge with a least weight
  mask,     ///< parcels whose mask is not 0: a column, or the argument of StarFinder::find()
  crowded,  ///< the lightest of cells with too many parcels. chombo-discharge, WarpX, PIConGPU, super-droplet models
  none,     ///< no parcel: nothing merges, for steps that only split
};
/// Form of the groups of parcels that a merge policy lets merge in one round.
enum class MergeForm : std::uint8_t {
  stars,         ///< every looker joins its nearest, links cut to stars (links::prune_single_pass). EPIC
  mutual_pairs,  ///< a link merges if it is the least, by links::Key, of all links that touch its ends
  greedy_pairs,  ///< of each looker's nearest 1 + fall_backs partners, pairs by ascending links::Key. chombo-discharge
};
/// Place of a merged parcel in a merge policy.
enum class Placement : std::uint8_t {
  centroid,  ///< mean of the members by weight. EPIC, WarpX
  member,    ///< that of one member, drawn with probability proportional to weight. chombo-discharge (pull request 720)
  heaviest,  ///< that of the member of greatest weight, of the lowest id among equals
  centre,    ///< that of the centre
};
/// Quantities that a merge policy conserves beside those that the rules of the attributes conserve.
enum class Conserve : std::uint8_t {
  rules,            ///< nothing more
  momentum,         ///< momentum; the kinetic energy lost is reported
  momentum_energy,  ///< momentum and kinetic energy: two parcels remain of N. WarpX (VelocityCoincidenceThinning)
};

/// Direction in which a merge policy splits a parcel. With `random` and `velocity` the children have half its weight and of its sums
/// each and else its attributes, and are at x + d and x - d, on each axis at most half the mean distance of the least number of parcels in
/// a cell from it, and less at a wall: weight, its first moments and momentum are those of the parcel. A child that lies in another cell
/// counts there in the next step.
enum class SplitAlong : std::uint8_t {
  random,  ///< d uniform on each axis, by random numbers keyed by seed, step and id of the child. Super-particle codes
  velocity,  ///< d along the momentum, as long as it may be; at rest, or with a component that is not finite, as with `random`
  axis,  ///< along the longest axis of the ellipsoid, as split() does: second moments are conserved too. EPIC
};

/// Predicate of a merge policy on the place of a merged parcel: false where no parcel may be, as in an embedded
/// boundary. It must be the same function on every rank, depend on its argument alone, and not call the library.
using PlacePredicate = std::function<bool(const Vec3& position)>;

/// Merge policy of Clusterer and StarFinder; the same on every rank. The default is EPIC's: parcels below
/// V_cell / min_volume_ratio join their nearest, stars become one parcel at the centroid. check() tells which parts
/// exclude each other.
struct MergePolicy {
  // ---- who looks for a partner ----
  Looker looker = Looker::small;    ///< who looks
  double small_below = 0;           ///< Looker::small: volume below which a parcel looks; 0: by min_volume_ratio
  std::string mask;                 ///< Looker::mask: column of Parcels; StarFinder has its mask as an argument
  std::int64_t crowded_above = 0;   ///< Looker::crowded: cells with more parcels are thinned; 1 to kMaxCount
  std::int64_t crowded_target = 0;  ///< Looker::crowded: number at which thinning stops; 1 to crowded_above
  Length crowded_cell;              ///< Looker::crowded: edge of its cells, at most; no length: cells of the grid

  // ---- with whom ----
  std::vector<ScaledColumn>
      phase;  ///< columns of the metric beside the position, at most kMaxPhaseColumns; none: position
  std::vector<std::string> same;  ///< columns of integers in which partners are equal. WarpX: one species a call
  /// Greatest distance of partners in position, even with `phase`; inclusive; no length: any. chombo-discharge, in cells
  Length within;
  MergeForm form = MergeForm::stars;  ///< form of what merges in a round
  int fall_backs = 0;                 ///< MergeForm::greedy_pairs: partners tried after the nearest, 0 to kMaxFallBacks

  // ---- how many ----
  /// Most parcels, of those before the step, that one parcel after it holds, 2 to kMaxCount; 0: any number
  std::int64_t max_members = 0;
  double max_weight = 0;  ///< greatest volume of a merged parcel; 0: any. WarpX (target weight)
  PlacePredicate
      allowed;  ///< where merged parcels may be; null: everywhere. chombo-discharge. Not in the text of a policy
  int max_rounds = 100;  ///< rounds of one step, at most, 1 to kMaxRounds; StepReport tells if they did not suffice

  // ---- friends of friends ----
  Length linking;  ///< linking length, inclusive; no length: no friends of friends. enzo-e; scikit-learn's DBSCAN

  // ---- where the result goes, what is conserved ----
  Placement place = Placement::centroid;  ///< where the result goes
  Conserve conserve = Conserve::rules;    ///< what is conserved beside the rules
  std::vector<std::string>
      momentum;  ///< three columns of momentum per unit of weight; empty: those of an attribute `momentum`, else ux, uy, uz
  std::string mass;              ///< column of rest mass; empty: 1. Partners have equal mass
  double light_speed = 0;        ///< in units of momentum / mass; 0: not relativistic
  double level_ratio = 0;        ///< levelling thinning: level over mean weight of a cell; 0: none. WarpX
  std::int64_t level_least = 1;  ///< levelling thinning: in cells of at least that many parcels, 1 to kMaxCount

  // ---- splitting, after merging ----
  /// Cells (those of Looker::crowded, else of the grid) with fewer parcels get that many: the heaviest, of the lowest id among equals,
  /// splits, and so on; 2 to kMaxSplit; 0: none split. Cells without a parcel stay empty. WarpX, chombo-discharge, super-droplet models
  std::int64_t split_below = 0;
  SplitAlong split_along = SplitAlong::random;  ///< direction of splitting
  /// Ids of new parcels start here: the k-th one of cell c, of C, in step s has new_ids + (s C + c) (split_below - 1) + k, so that no
  /// rank must ask another. Every parcel before step s must have an id below those of that step. 0 to kMaxFirstId
  std::int64_t new_ids = std::int64_t{1} << 62;

  std::uint64_t seed = 0;  ///< seed of all random numbers, up to kMaxSeed
  /// Number of the next step, in the key of its random numbers; a step adds 1, files keep it. It is not in the text.
  std::uint64_t step = 0;
  /// Columns of the parcels that hold bits of integers: a policy reads them as these integers, of magnitude up to 2^53. Not in the text.
  std::vector<IntegerColumn> integers;

  static constexpr std::size_t kMaxPhaseColumns = 3;  ///< most columns of the metric beside the position
  static constexpr int kMaxFallBacks = 15;            ///< most fall-backs of greedy pairs
  static constexpr std::int64_t kMaxSplit = 1 << 20;  ///< most parcels to which a cell splits
  /// Greatest number of parcels in a part of a policy: sums of such numbers over all ranks stay far below 2^63
  static constexpr std::int64_t kMaxCount = std::int64_t{1} << 40;
  static constexpr int kMaxRounds = 1000000;  ///< most rounds of one step
  /// Greatest value of new_ids, the first id of the parcels that splitting makes: 2^63 - 2
  static constexpr std::int64_t kMaxFirstId = std::numeric_limits<std::int64_t>::max() - 1;
  /// Greatest seed: text of policies has integers of 63 bits
  static constexpr std::uint64_t kMaxSeed = std::numeric_limits<std::int64_t>::max();

  /// Returns whether the policy is EPIC's, as before there were policies: a step then costs nothing more. Local.
  [[nodiscard]] bool is_default() const;
  /// Returns whether a step may have more than one round, so that ranks must agree on its end. Local.
  [[nodiscard]] bool has_rounds() const;
  /// Returns whether leaves wait for an answer of their centre, one wave more in a round. Local.
  [[nodiscard]] bool has_answers() const;
  /// Returns whether a step makes collectives: friends of friends, or a greatest distance in spacings, for which the parcels of all
  /// ranks are counted. Local.
  [[nodiscard]] bool has_collectives() const {
    return is_friends() || (within.value > 0 && within.unit == Length::Unit::spacing);
  }
  /// Returns whether groups are friends of friends. Local.
  [[nodiscard]] bool is_friends() const { return linking.value > 0; }
};

/// Parses the text of a merge policy, such as "crowded:32->16, same:species, within:1cell, place:member". An empty text
/// is the default policy.
/// @throws UsageError naming the part, for one that is unknown, given twice, out of range or excluded by another
[[nodiscard]] MergePolicy parse_policy(std::string_view text);
/// Makes a merge policy from parts (name, value), as parse_policy() does from its text; for readers of JSON and TOML.
/// @throws UsageError as parse_policy()
[[nodiscard]] MergePolicy policy_from_parts(std::span<const std::pair<std::string, std::string>> parts);
/// Formats a merge policy as the text that parse_policy() reads, without parts that have their default; the predicate
/// and the number of the step have no text.
[[nodiscard]] std::string policy_text(const MergePolicy& policy);

/// Validates the parts of a merge policy and their combination. Local. @throws UsageError
void check(const MergePolicy& policy);
/// Validates a merge policy for parcels of a schema: columns are there, and merge by rules that suit the policy. Local.
/// @throws UsageError naming the part and the column
void check(const MergePolicy& policy, const Schema& schema);

}  // namespace merganser
