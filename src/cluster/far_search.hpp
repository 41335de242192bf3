#pragma once
/// Links between ranks that are no candidates of each other: found, numbered for the pruning, and used to migrate parcels.
#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "src/cluster/candidate_ranks.hpp"
#include "src/cluster/far_component.hpp"

namespace merganser::cluster {

/// A link whose ends are on ranks that are no candidates of each other.
struct FarLink {
  std::int32_t source_rank;
  std::int32_t target_rank;
  std::uint32_t source;  ///< vertex
  std::uint32_t target;
  std::uint32_t source_position;
  std::uint32_t target_position;
  std::int64_t source_id;
  std::int64_t target_id;
  double distance2;
};

/// The far links of one step. A rank asks only its neighbours in the process graph. Where parcels leave a hole so large that
/// a nearest parcel may lie beyond them, the ranks around it (FarComponent) tell each other their questions, then their
/// answers; so each knows every far link between them, and the way it takes. Labels and parcels go along these ways.
///
/// Ranks without an open arc do nothing here. The others make, where no parcel has a far question, as many waves as the
/// farthest of their component is arcs away; else twice as many, and to migrate one for each arc of the longest way.
class FarSearch {
 public:
  /// Local. Collective is only the making of the process graph.
  FarSearch(comm::Mailbox& mailbox, const Decomposition& decomposition, const CandidateRanks& candidates, int rank,
            bool exact);

  /// Whether there can be far links at all: the same on every rank.
  [[nodiscard]] bool possible() const { return possible_; }
  /// Finds the far links around this rank and sets those of its parcels. Called by every rank after the answers.
  /// `sorted` and `scratch`: see CellList::sort; used if this rank has not sorted its parcels yet.
  void find(DistributedSearch& search, Site* sorted, std::byte* scratch);

  /// Forgets the far links of the step before.
  void clear();
  /// Whether far links start or end here.
  [[nodiscard]] bool ends_here() const;
  /// Whether far links start or end here or pass by.
  [[nodiscard]] bool passes_here() const { return !out_.empty() || !in_.empty(); }
  /// Puts the far links into the list of links, and says which labels are to be passed on. After the announcement.
  void number(links::Links& links);
  /// Whether a link of Links::out is far.
  [[nodiscard]] bool out_is_far(std::size_t k) const { return k < far_out_.size() && far_out_[k] != kNone; }
  /// Whether a link of Links::in is far.
  [[nodiscard]] bool in_is_far(std::size_t i) const { return i < far_in_.size() && far_in_[i] != kNone; }

  /// What is migrated for a vertex: how it is packed and unpacked.
  struct Payload {
    std::size_t bytes;                                                           ///< of one parcel
    std::function<void(std::uint32_t vertex, std::vector<std::byte>& to)> pack;  ///< appends a parcel
    std::function<void(std::size_t in, std::span<const std::byte>)> unpack;      ///< that of a link of Links::in
  };
  /// Migrates the sources of kept far links to their targets, hop by hop. Called where passes_here().
  void migrate(const links::Stars& stars, const Payload& payload);

  /// The ranks around, as long as merged parcels may have to go far; forgotten by the next find(), or when taken.
  [[nodiscard]] FarComponent* component();
  void forget() { away_ = false; }

 private:
  static constexpr std::uint32_t kNone = links::kNone;
  struct Answer {
    double distance2;
    std::int64_t id;
    std::uint32_t question;
    std::uint32_t vertex;
    std::int32_t rank;
    std::uint32_t position;
  };
  /// A far link on an arc of this rank.
  struct Pass {
    std::uint32_t arc;
    bool on;  // it goes on from the rank to which the arc leads
    std::uint32_t link;
    std::uint32_t slot;
  };
  void answer(DistributedSearch& search, Site* sorted, std::byte* scratch);
  bool improve(const Answer& answer);
  void flood_answers();
  void take_links(DistributedSearch& search);
  void find_ways();
  void migrate_hop(std::size_t hop, std::size_t bytes, std::vector<std::vector<std::byte>>& load);
  void number_slots(std::vector<Pass>& passes, const std::vector<links::CrossLink>& ordinary);

  comm::Mailbox& mailbox_;
  const Decomposition& decomposition_;
  int rank_;
  bool possible_;
  FarComponent component_;
  bool away_ = false;
  std::vector<Answer> best_;   // per question; rank -1: none
  std::vector<Answer> fresh_;  // to be passed on in the next wave
  std::vector<FarLink> links_;
  std::vector<std::vector<int>> ways_;  // per link
  std::vector<Pass> out_;
  std::vector<Pass> in_;
  std::vector<std::uint32_t> far_out_;  // per Links::out: far link, or kNone
  std::vector<std::uint32_t> far_in_;
};

}  // namespace merganser::cluster
