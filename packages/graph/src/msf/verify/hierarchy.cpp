// Contraction of a spanning forest by Boruvka's algorithm for its verification; shares no code with the algorithms it verifies.
#include "src/msf/verify/hierarchy.hpp"

#include <utility>

#include "src/msf/verify/routing.hpp"

namespace merganser::msf::detail {
namespace {

/// Edge of the verified forest between two different components of the current level of its contraction.
struct LiveEdge {
  std::uint64_t a;  ///< component at one end
  std::uint64_t b;  ///< component at the other end
  Edge24 edge;      ///< the edge of the forest
};

/// Message to the owner of a component in the contraction of the verified forest: a candidate for the least edge out of it.
struct Offer {
  std::uint64_t to;     ///< component, which the receiver owns
  std::uint64_t other;  ///< component that the edge leads to
  Edge24 edge;          ///< the edge of the forest
};

/// Contraction of the verified forest by rounds of Boruvka's algorithm, as one rank runs it: the rank's live edges (those between
/// different components), and the level of components under construction.
class ForestContraction {
 public:
  /// Begins the contraction of the verified forest with every vertex as a component and no edges. Local.
  ForestContraction(std::uint64_t vertices, comm::Transport& transport)
      : transport_(transport), size_(vertices), base_(std::max<std::uint64_t>(16, vertices / ranks())) {}

  std::vector<LiveEdge> live;  ///< edges of the forest on this rank between different components

  /// Performs one round of Boruvka's algorithm on the verified forest: contracts every component along its least edge. Collective.
  /// @param closes_cycle  result: least live edge of this rank that closes a cycle, if any
  /// @return the level of the components before this round
  [[nodiscard]] Level next(std::optional<Edge24>& closes_cycle) {
    ranges_ = graphs::Ranges::even(size_, transport_.size());
    const auto me = static_cast<std::size_t>(transport_.rank());
    first_ = ranges_.first[me];
    nodes_.assign(ranges_.size(transport_.rank()), Node{});
    pointer_.assign(nodes_.size(), kNone);
    choose();
    cut_duals();
    double_pointers();
    number_parents();
    relabel(closes_cycle);
    Level level{ranges_, transport_.size() == 1 || size_ <= base_, std::move(nodes_)};
    if (level.everywhere && transport_.size() > 1) level.nodes = comm::all_gather(transport_, level.nodes).flat();
    size_ = next_size_;
    return level;
  }

 private:
  /// Returns the number of ranks among which the components of the contracted forest are distributed.
  [[nodiscard]] std::uint64_t ranks() const { return static_cast<std::uint64_t>(transport_.size()); }

  /// First step of a contraction round: determines the least edge of the forest out of every component that this rank owns.
  /// Collective. Each rank sends only the least of its edges out of a component.
  void choose() {
    // Candidates are reduced before they are sent: at most one edge per component from a rank.
    const auto take = [this](const Offer& offer) {
      const auto at = offer.to - first_;
      if (pointer_[at] != kNone && !(offer.edge < nodes_[at].least)) return;
      pointer_[at] = offer.other;
      nodes_[at].least = offer.edge;
    };
    if (transport_.size() == 1) {
      for (const auto& e : live) {
        take({e.a, e.b, e.edge});
        take({e.b, e.a, e.edge});
      }
      return;
    }
    std::vector<Offer> offers;
    offers.reserve(2 * live.size());
    for (const auto& e : live) {
      offers.push_back({e.a, e.b, e.edge});
      offers.push_back({e.b, e.a, e.edge});
    }
    std::sort(offers.begin(), offers.end(),
              [](const Offer& x, const Offer& y) { return x.to != y.to ? x.to < y.to : x.edge < y.edge; });
    const auto same = [](const Offer& x, const Offer& y) { return x.to == y.to; };
    offers.erase(std::unique(offers.begin(), offers.end(), same), offers.end());
    const auto owner = [this](const Offer& offer) { return ranges_.owner(offer.to); };
    const auto take_all = [&take](std::span<const Offer> theirs) { std::for_each(theirs.begin(), theirs.end(), take); };
    comm::send_to_owners_in_rounds(transport_, std::span<const Offer>(offers), owner, take_all, kRound);
  }

  /// Second step of a contraction round: makes the lower of two components that chose each other a root. Collective. Edges compare
  /// in a strict order, so there are no other cycles of choices.
  void cut_duals() {
    std::vector<std::uint64_t> chosen;
    std::vector<std::size_t> who;
    for (std::size_t i = 0; i < pointer_.size(); ++i) {
      if (pointer_[i] == kNone) continue;
      chosen.push_back(pointer_[i]);
      who.push_back(i);
    }
    std::vector<std::uint64_t> theirs(chosen.size());
    DistributedLookup(transport_, ranges_).query<std::uint64_t>(chosen, pointer_, theirs);
    for (std::size_t i = 0; i < who.size(); ++i) {
      const std::uint64_t id = first_ + who[i];
      if (theirs[i] == id && id < chosen[i]) pointer_[who[i]] = id;
    }
  }

  /// Third step of a contraction round: points every component to the root of its tree of chosen edges by pointer doubling.
  /// Collective.
  void double_pointers() {
    DistributedLookup questions(transport_, ranges_);
    std::vector<std::size_t> open;
    for (std::size_t i = 0; i < pointer_.size(); ++i)
      if (pointer_[i] != kNone && pointer_[i] != first_ + i) open.push_back(i);
    std::vector<std::uint64_t> ids;
    std::vector<std::uint64_t> theirs;
    while (transport_.all_reduce(static_cast<std::int64_t>(open.size()), comm::Op::max) > 0) {
      ids.clear();
      for (const auto i : open) ids.push_back(pointer_[i]);
      theirs.resize(ids.size());
      questions.query<std::uint64_t>(ids, pointer_, theirs);
      std::size_t kept = 0;
      for (std::size_t i = 0; i < open.size(); ++i) {
        if (theirs[i] == pointer_[open[i]]) continue;  // it points at a root
        pointer_[open[i]] = theirs[i];
        open[kept++] = open[i];
      }
      open.resize(kept);
    }
  }

  /// Fourth step of a contraction round: numbers the roots, the components of the next level, over all ranks, and sets the parent
  /// of every component that this rank owns to the number of its root. Collective.
  void number_parents() {
    // Numbers are consecutive by rank; components without an edge are whole trees and get no parent.
    std::vector<std::uint64_t> number(pointer_.size(), kNone);
    std::uint64_t roots = 0;
    for (std::size_t i = 0; i < pointer_.size(); ++i)
      if (pointer_[i] == first_ + i) number[i] = roots++;
    const comm::Share share = comm::compute_share(transport_, roots);
    next_size_ = share.all;
    std::vector<std::uint64_t> ids;
    for (std::size_t i = 0; i < pointer_.size(); ++i) {
      if (number[i] != kNone) number[i] += share.before;
      if (pointer_[i] != kNone) ids.push_back(pointer_[i]);
    }
    std::vector<std::uint64_t> parents(ids.size());
    DistributedLookup(transport_, ranges_).query<std::uint64_t>(ids, number, parents);
    std::size_t next = 0;
    for (std::size_t i = 0; i < pointer_.size(); ++i)
      if (pointer_[i] != kNone) nodes_[i].parent = parents[next++];
  }

  /// Last step of a contraction round: replaces the ends of this rank's live edges by components of the next level. Collective. An
  /// edge whose ends are equal now and that was not chosen by either end closes a cycle of the forest.
  void relabel(std::optional<Edge24>& closes_cycle) {
    // In a forest an edge whose ends are contracted into one component was chosen by one of them; else another path joins them.
    std::vector<std::uint64_t> ids;
    ids.reserve(2 * live.size());
    for (const auto& e : live) {
      ids.push_back(e.a);
      ids.push_back(e.b);
    }
    std::vector<Node> ends(ids.size());
    DistributedLookup(transport_, ranges_).query<Node>(ids, nodes_, ends);
    std::size_t kept = 0;
    for (std::size_t i = 0; i < live.size(); ++i) {
      const Node& a = ends[2 * i];
      const Node& b = ends[2 * i + 1];
      const Edge24 edge = live[i].edge;
      if (a.parent != b.parent) {
        live[kept++] = {a.parent, b.parent, edge};
      } else if (a.least != edge && b.least != edge && (!closes_cycle || edge < *closes_cycle)) {
        closes_cycle = edge;
      }
    }
    live.resize(kept);
  }

  comm::Transport& transport_;
  std::uint64_t size_;                  ///< number of components of this level, on all ranks
  std::uint64_t base_;                  ///< levels of at most this many components are replicated on every rank
  std::uint64_t next_size_ = 0;         ///< number of components of the next level, on all ranks
  graphs::Ranges ranges_;               ///< components of this level that the ranks own
  std::uint64_t first_ = 0;             ///< first component that this rank owns
  std::vector<Node> nodes_;             ///< components that this rank owns
  std::vector<std::uint64_t> pointer_;  ///< by own component: the one it chose, then its root; kNone: no edge leads out
};

}  // namespace

// Verification of a forest, first step: rounds of Boruvka's algorithm on the forest alone yield the tree over
// components.
Hierarchy contract(std::uint64_t vertices, std::span<const Edge24> edges, comm::Transport& transport) {
  Hierarchy hierarchy;
  ForestContraction contraction(vertices, transport);
  contraction.live.reserve(edges.size());
  for (const auto& e : edges) contraction.live.push_back({e.low, e.high, e});
  while (transport.all_reduce(static_cast<std::int64_t>(contraction.live.size()), comm::Op::max) > 0) {
    hierarchy.levels.push_back(contraction.next(hierarchy.closes_cycle));
    const std::int64_t cycle = hierarchy.closes_cycle ? 1 : 0;
    if (transport.all_reduce(cycle, comm::Op::max) > 0) break;
  }
  return hierarchy;
}

}  // namespace merganser::msf::detail
