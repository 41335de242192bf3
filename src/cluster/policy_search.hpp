#pragma once
/// Links of a round under a merge policy: every looker's nearest admissible partners over all ranks.
#include <cmath>
#include <cstdint>
#include <span>
#include <vector>

#include "merganser/cluster/report.hpp"
#include "merganser/comm/transport.hpp"
#include "merganser/geometry/decomposition.hpp"
#include "src/cluster/unit_cells.hpp"
#include "src/cluster/unit_tree.hpp"

namespace merganser::cluster {

/// End of a link on another rank: what the rank of a centre needs to decide on it as a leaf.
struct RemoteLeaf {
  Site site;             ///< position and volume
  std::int64_t members;  ///< parcels that it holds
};

/// Partner of a looker on another rank, as its rank tells where lookers have several.
struct RemotePartner {
  RemoteLeaf leaf;      ///< what is needed if it is the leaf of the pair
  std::uint32_t looks;  ///< 1 if it looks
  std::uint32_t unused = 0;
};

/// Search of a round over the arcs of a symmetric process graph: three waves (queries, replies, announcements). Vertices are indices
/// of units.
class PolicySearch {
 public:
  /// Makes the search of a rank. Refers to its arguments. Local.
  /// @param fan  partners of each looker: 1, or more for MergeForm::greedy_pairs
  /// @param several  whether links go to all partners of a looker, rather than to the nearest
  /// @param lengths  whether distance2() is needed
  PolicySearch(comm::Mailbox& mailbox, const Decomposition& decomposition, int rank, const PairFilter& filter,
               std::size_t fan, bool several, bool lengths = true)
      : mailbox_(mailbox),
        decomposition_(decomposition),
        rank_(rank),
        filter_(filter),
        fan_(fan),
        several_(several),
        lengths_(lengths),
        cells_(decomposition, rank) {}

  /// Finds the links of the lookers of a round; afterwards links(), distance2() and leaves() hold them. Called by every rank;
  /// neighbours only. Takes Units::changed, which is empty afterwards: what reads it too, as CrowdedCells::choose, comes before. In the
  /// first round of a step PolicyColumns::check_row() has accepted the rows of all units.
  /// @param looks  per unit: 1 if it looks
  /// @throws InputError on this rank alone for rows of merged units, as PolicyColumns::check_row()
  void find(Units& units, const std::vector<std::uint8_t>& looks, StageTimes& seconds);
  /// Begins a step: the units of the next round are others. Later rounds tell what has changed by Units::changed.
  void begin() {
    built_ = begun_ = false;
    queries_ = 0;
    few_rounds_ = 0;
    if (steps_of_trees_ > 0) --steps_of_trees_;
  }
  /// Removes the units that are gone between two rounds, if they are many and nothing but Units::changed refers to units. Local.
  /// @return whether it did
  bool compact(Units& units);
  /// Returns whether the partners of the lookers of the round were found in cell lists, not in trees.
  [[nodiscard]] bool is_by_cells() const { return by_cells_; }

  /// Returns the lookers of the round.
  [[nodiscard]] const std::vector<std::uint32_t>& lookers() const { return lookers_; }
  /// Returns the links of this rank's units and those from other ranks.
  [[nodiscard]] links::Links& links() { return links_; }
  /// Returns the squared length of the link of each unit, in the policy's metric; infinite without one. With several partners of a looker,
  /// those of the pairs that GreedyPairs makes. Only if they are needed.
  [[nodiscard]] std::vector<double>& distance2() { return distance2_; }
  /// Returns the sources of links from other ranks, by Links::in.
  [[nodiscard]] std::vector<RemoteLeaf>& leaves() { return leaves_; }
  [[nodiscard]] const std::vector<RemoteLeaf>& leaves() const { return leaves_; }
  /// Returns the partners of a looker, by its place in lookers(), ascending; Partner() for those it lacks. Where lookers have several,
  /// Links::out and Links::in hold all links that cross ranks, and Links::target only tells which units have one. A looker for
  /// which is_certain() holds has its nearest alone.
  [[nodiscard]] std::span<const Partner> partners_of(std::size_t k) const {
    return {found_.data() + (list_.empty() ? k * fan_ : list_[k]), is_certain(k) ? 1 : fan_};
  }
  /// Returns the most partners of a looker.
  [[nodiscard]] std::size_t fan() const { return fan_; }
  /// Returns whether a looker, by its place in lookers(), and its nearest partner are a pair under MergeForm::greedy_pairs: no link of
  /// lesser key that may become a pair touches either. The partner is on this rank.
  [[nodiscard]] bool is_certain(std::size_t k) const { return !list_.empty() && list_[k] < lookers_.size(); }
  /// Returns what is known of partners on other ranks, by Partner::entry.
  [[nodiscard]] const std::vector<RemotePartner>& partners() const { return partners_; }

 private:
  static constexpr std::size_t kFew = 16;    // lookers are few if they are less than 1 of so many units
  static constexpr unsigned kFewRounds = 2;  // with few lookers by cell lists, for a tree costs as much as two or three
  static constexpr unsigned kStepsBetweenTries = 64;  // after cell lists did not suit the units
  /// Least of the links to a unit from lookers whose nearest it is.
  struct FirstLink {
    double distance2 = std::numeric_limits<double>::infinity();
    std::uint32_t nearest =
        links::kNone;  // of a unit that looks: its nearest partner, or itself; kNone: it does not look
    /// Place in lookers_ of the first one at this distance, the others of which are uncertain and contest it; kNone: none, contested, or
    /// beside a face of the rank.
    std::uint32_t looker = links::kNone;
  };
  /// Returns the least partners found so far of looker k.
  [[nodiscard]] std::span<Partner> found(std::size_t k) {
    const std::span<const Partner> list = partners_of(k);
    return {found_.data() + (list.data() - found_.data()), list.size()};
  }
  void check_merged(const Units& units) const;
  [[nodiscard]] bool build_cells(const Units& units, const std::vector<std::uint8_t>& looks);
  /// Returns whether nothing but the partners of lookers is needed of a search in cell lists.
  [[nodiscard]] bool finds_targets() const {
    return !several_ && !lengths_ && filter_.packed.phase.empty() && std::isinf(filter_.within2);
  }
  void build_tree(const Units& units);
  void search_local(const Units& units, const std::vector<std::uint8_t>& looks);
  void search_cells(const Units& units);
  void search_given_up(const Units& units, const std::vector<std::uint32_t>& given_up);
  void search_cells_lazily(const Units& units, const std::vector<std::uint8_t>& looks);
  [[nodiscard]] std::vector<std::uint32_t> list_uncertain(const Units& units);
  [[nodiscard]] std::vector<std::uint32_t> list_contested(std::span<const std::uint32_t> lookers);
  [[nodiscard]] double distance_to_faces(const Site& site) const;
  void find_for(const Units& units, const LookingUnit& looking, std::span<Partner> best);
  void post_queries(const Units& units);
  void answer_queries(const Units& units, const std::vector<std::uint8_t>& looks);
  void take_replies();
  void announce(const Units& units);
  void send_link(const Units& units, std::uint32_t vertex, const Partner& partner, std::uint32_t slot);
  void receive_announcements(const Units& units);

  comm::Mailbox& mailbox_;
  const Decomposition& decomposition_;
  int rank_;
  const PairFilter& filter_;
  std::size_t fan_;
  bool several_;
  bool lengths_;
  UnitTree tree_;
  UnitCells cells_;
  std::size_t known_ = 0;               // units of the last search of the step
  bool begun_ = false;                  // this is not the first round of the step
  bool built_ = false;                  // the tree has the units of this step
  bool by_cells_ = false;               // the cell lists have the units of this round
  bool single_ = false;                 // all units of all ranks are parcels of before the step
  std::size_t queries_ = 0;             // of other ranks in the last round of the step
  std::size_t given_up_ = 0;            // of these, those that cell lists gave up
  unsigned few_rounds_ = 0;             // rounds of the step after the first in which few looked
  unsigned steps_of_trees_ = 0;         // steps, this one included, in which cell lists are not tried
  std::vector<std::uint32_t> lookers_;  // units, those near each other together
  std::vector<Partner> found_;          // fan_ of each looker, ascending, unless list_ says otherwise
  std::vector<std::size_t> list_;       // per looker: begin of its partners in found_; one alone before lookers_.size()
  std::vector<FirstLink> first_;        // per unit
  std::vector<std::vector<std::uint32_t>> asked_;  // per arc: indices into lookers_
  links::Links links_;
  std::vector<double> distance2_;
  std::vector<RemoteLeaf> leaves_;
  std::vector<RemotePartner> partners_;
};

}  // namespace merganser::cluster
