#pragma once
/// Ranks around large holes: how they tell each other what they look for, and the ways between them.
#include <cstdint>
#include <functional>
#include <span>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "merganser/comm/transport.hpp"
#include "merganser/geometry/box.hpp"
#include "src/cluster/distributed_search.hpp"

namespace merganser::cluster {

/// The ranks that are joined with this one by OPEN ARCS: arcs of the process graph with an end that is not full (Cover).
/// Both ends of an arc know whether it is open. Every rank of a component makes the same calls in the same order.
///
/// Flood: in each wave a rank passes on what came in the wave before. It knows all after as many waves as the farthest
/// rank of its component is arcs away, sees that by itself (no rank is named that it has not heard of), and can then tell
/// the same number for each neighbour. So both ends of an arc know that it takes part in as many waves as either needs.
class FarComponent {
 public:
  /// @param neighbours  arcs of any rank in the process graph
  FarComponent(comm::Mailbox& mailbox, std::function<std::vector<int>(int)> neighbours, int rank);

  /// Floods who is there and what each looks for. No wave where this rank has no open arc.
  /// @param open_neighbour  per arc: the rank there is not full
  void gather(bool full, const Arcs& open_neighbour, const std::vector<FarQuestion>& mine);
  /// Forgets the component.
  void clear();

  /// Whether this rank has an open arc.
  [[nodiscard]] bool joined() const { return members_.size() > 1; }
  /// The questions of all members, by (rank, vertex): the same on each.
  [[nodiscard]] const std::vector<FarQuestion>& questions() const { return questions_; }

  /// Waves in which something that every member knows at their start reaches every other member.
  [[nodiscard]] int waves() const { return waves_; }
  /// Whether an arc takes part in wave `wave`, 1 to waves().
  [[nodiscard]] bool active(std::size_t arc, int wave) const { return !reach_.empty() && reach_[arc] >= wave; }
  /// Makes wave `wave`; messages on active arcs have been posted.
  void step(int wave);

  /// A shortest way over open arcs, both ends included: the same on every member, and backwards the way back.
  [[nodiscard]] std::vector<int> route(int from, int to);
  /// The member to which a message for `to` goes next, along some shortest way; `to` is another member.
  [[nodiscard]] int next(int to);
  /// Of the members that are `owner` or of which it is a candidate, the nearest to this rank; -1 if there is none.
  [[nodiscard]] int reaching(int owner);
  /// Arc of this rank to a neighbour.
  [[nodiscard]] std::size_t arc_to(int rank) const;

 private:
  struct Member {
    int rank;
    bool full;
    std::vector<int> joined;  // ranks over open arcs, ascending
  };
  using Distances = std::vector<std::uint32_t>;

  void learn(std::span<const std::byte> item);
  void take(std::size_t arc, std::vector<std::byte>& fresh);
  void index();
  [[nodiscard]] std::size_t position(int rank) const;
  [[nodiscard]] bool is_member(int rank) const { return known_.contains(rank); }
  [[nodiscard]] const std::vector<int>& neighbours_of(int rank);
  [[nodiscard]] const Distances& distances(int root);
  [[nodiscard]] int nearer(int rank, const Distances& to) const;

  comm::Mailbox& mailbox_;
  std::function<std::vector<int>(int)> neighbours_;
  std::unordered_map<int, std::vector<int>> neighbour_cache_;
  int rank_;
  std::vector<Member> members_;                     // by rank once all are known
  std::unordered_set<int> known_;                   // ranks of members_
  std::unordered_set<int> named_;                   // named by a member, not heard of yet
  std::vector<std::vector<std::uint32_t>> joined_;  // per member: positions of the ranks over open arcs
  std::unordered_map<int, Distances> distances_;
  std::vector<FarQuestion> questions_;
  std::vector<int> reach_;  // per arc: waves it takes part in
  int waves_ = 0;
  Arcs active_;
};

}  // namespace merganser::cluster
