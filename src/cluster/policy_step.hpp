#pragma once
/// Merge step under a policy that is not the default: rounds of choosing lookers, search, pruning, answers, migration and merging.
#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "merganser/announce/announcement_network.hpp"
#include "merganser/cluster/options.hpp"
#include "merganser/cluster/report.hpp"
#include "src/cluster/crowded_cells.hpp"
#include "src/cluster/greedy_pairs.hpp"
#include "src/cluster/policy_search.hpp"
#include "src/cluster/star_core.hpp"

namespace merganser::cluster {

/// Validates that merge steps support a policy with the other options, for parcels of a schema. Local. @throws UsageError saying
/// what is allowed
void check_policy(const ClusterOptions& options, const Schema& schema);

/// Member of a star, for the place of the merged parcel.
struct PlaceMember {
  Site site;        ///< position and volume
  std::int64_t id;  ///< id of the member
};

/// Merge step of one rank under a merge policy. Made by a Clusterer; the rules are those of policy_reference.hpp.
class PolicyStep {
 public:
  /// Makes the step of a policy over the candidate ranks of a star search. Collective. Refers to its arguments, which must outlive
  /// it. @throws UsageError on every rank if lengths of the policy do not suit the candidate ranks
  PolicyStep(comm::Transport& transport, const Decomposition& decomposition, const Schema& schema,
             const ClusterOptions& options, StarCore& core);

  /// Makes one step. Called by every rank; no collective unless MergePolicy::has_collectives(). @throws InputError on this rank alone
  /// for invalid parcels, which stay as they are, with collectives on every rank; and what a predicate or callback throws, after which
  /// the parcels are merged in part
  StepReport step(Parcels& parcels);
  /// Returns the number of the next step in the key of random numbers.
  [[nodiscard]] std::uint64_t next_step() const { return policy_.step; }

 private:
  /// Leaf of a centre of this rank while that decides about it.
  struct Leaf {
    std::uint32_t vertex;  // leaf on this rank; links::kNone: entry `in` of Links::in
    std::uint32_t in;
    double distance2;
    std::int64_t id;
  };
  /// Link of a star of this rank.
  struct KeptLink {
    std::uint32_t centre, leaf;
  };
  /// Facts about a round on which all ranks agree after it.
  struct Agreed {
    bool looked = false;  // some unit looked in this round
    bool linked = false;  // some looker had a partner
    bool more = false;    // some unit looks in the next round
  };
  void check_within(double within) const;
  void check_cells() const;
  void count_spacing(const Parcels& parcels);
  void check_parcels_of_rank(const Parcels& parcels);
  void merge_in_rounds(Parcels& parcels, StepReport& report);
  void run_rounds(StepReport& report);
  void choose_lookers(int round);
  [[nodiscard]] Agreed agree(bool looked, bool linked, bool more);
  bool make_round(int round, StepReport& report);
  void mark_lookers(StepReport& report);
  void form(StepReport& report);
  void keep_mutual_pairs();
  void decide(int round, StepReport& report);
  void decide_star(std::uint32_t centre, int round, StepReport& report);
  [[nodiscard]] bool is_allowed(std::uint32_t centre, const std::vector<Leaf>& accepted, const Leaf& next,
                                int round) const;
  void refuse(std::int64_t one, std::int64_t other);
  void answer();
  void migrate();
  void merge(int round, StepReport& report);
  void list_stars();
  /// Returns the leaves of a star, by its place in centres_.
  [[nodiscard]] std::span<std::uint32_t> leaves_of(std::size_t star) {
    return std::span(star_leaves_).subspan(first_leaf_[star], first_leaf_[star + 1] - first_leaf_[star]);
  }
  void prefetch(std::uint32_t unit) const;
  void merge_star(std::uint32_t centre, std::span<const std::uint32_t> leaves, int round);
  void join_state(std::uint32_t centre, std::span<const std::uint32_t> leaves, const Site& place);
  void send_to_owners();
  void level(Parcels& parcels, StepReport& report);
  void check_new_ids(const Parcels& parcels) const;
  void split(Parcels& parcels, StepReport& report);
  void expand(StepReport& report);
  void expand_unit(std::size_t i);
  void add_lineage(StepReport& report);
  void measure(const Parcels& parcels, double& weight, double& energy, Vec3& momentum) const;

  comm::Transport& transport_;
  const Decomposition& decomposition_;
  const Schema& schema_;
  StarCore& core_;
  MergePolicy policy_;
  PolicyColumns columns_;
  PairFilter filter_;
  MergeRules rules_;
  MergeRules place_rules_;  // of parcels without attributes: the centroid alone
  bool two_products_;
  bool lineage_;
  double small_below_;
  PolicySearch search_;
  CrowdedCells cells_;
  std::optional<CrowdedCells> split_cells_;  // null if nothing splits
  std::optional<announce::AnnouncementNetwork> network_;
  links::SinglePass single_pass_;
  GreedyPairs greedy_pairs_;
  IdSet ids_;

  Units units_;
  std::vector<std::uint8_t> looks_;
  std::vector<std::uint8_t> in_kept_;
  std::vector<std::uint8_t> out_kept_;
  std::vector<Leaf> leaves_;                // memory of decide()
  std::vector<KeptLink> kept_;              // memory of list_stars()
  std::vector<std::uint32_t> place_;        // memory of list_stars(), by unit
  std::vector<std::uint32_t> centres_;      // of the stars of a round
  std::vector<std::uint32_t> star_leaves_;  // leaves of the stars of a round, star after star
  std::vector<std::uint32_t> first_leaf_;   // by star, and behind the last: the first of its leaves there
  std::vector<std::uint32_t> arrivals_;     // entries of Links::in whose leaves merge here
  std::vector<Member> star_;                // memory of merge_star()
  std::vector<PlaceMember> places_;         // memory of merge_star()
  std::vector<double> row_;                 // memory of merge_star()
};

}  // namespace merganser::cluster
