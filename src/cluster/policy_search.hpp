#pragma once
/// Links of a round under a merge policy: every looker's nearest admissible partner over all ranks.
#include <cstdint>
#include <vector>

#include "merganser/cluster/report.hpp"
#include "merganser/comm/transport.hpp"
#include "merganser/geometry/decomposition.hpp"
#include "src/cluster/unit_tree.hpp"

namespace merganser::cluster {

/// Source of a link from another rank, as its announcement tells it: what the rank of the target needs to decide on it.
struct RemoteLeaf {
  Site site;             ///< position and volume
  std::int64_t members;  ///< parcels that it holds
};

/// Search of a round over the arcs of a symmetric process graph: three waves (queries, replies, announcements). Vertices are indices
/// of units.
class PolicySearch {
 public:
  /// Makes the search of a rank. Refers to its arguments. Local.
  PolicySearch(comm::Mailbox& mailbox, const Decomposition& decomposition, int rank, const PairFilter& filter)
      : mailbox_(mailbox), decomposition_(decomposition), rank_(rank), filter_(filter) {}

  /// Finds the links of the lookers of a round; afterwards links(), distance2() and leaves() hold them. Called by every rank;
  /// neighbours only.
  /// @param looks  per unit: 1 if it looks
  void find(const Units& units, const std::vector<std::uint8_t>& looks, StageTimes& seconds);

  /// Returns the links of this rank's units and those from other ranks.
  [[nodiscard]] links::Links& links() { return links_; }
  /// Returns the squared length of the link of each unit, in the policy's metric; infinite without one.
  [[nodiscard]] const std::vector<double>& distance2() const { return distance2_; }
  /// Returns the sources of links from other ranks, by Links::in.
  [[nodiscard]] const std::vector<RemoteLeaf>& leaves() const { return leaves_; }

 private:
  /// Looker of this rank with the least partner found so far.
  struct Looker {
    std::uint32_t vertex;
    std::uint32_t arc = links::kNone;  // of the rank of the partner; links::kNone: this one
    Partner best;
  };
  void search_local(const Units& units, const std::vector<std::uint8_t>& looks);
  void post_queries(const Units& units);
  void answer_queries(const Units& units);
  void take_replies();
  void announce(const Units& units);
  void receive_announcements(const Units& units);

  comm::Mailbox& mailbox_;
  const Decomposition& decomposition_;
  int rank_;
  const PairFilter& filter_;
  UnitTree tree_;
  std::vector<Looker> lookers_;
  std::vector<std::vector<std::uint32_t>> asked_;  // per arc: indices into lookers_
  links::Links links_;
  std::vector<double> distance2_;
  std::vector<RemoteLeaf> leaves_;
};

}  // namespace merganser::cluster
