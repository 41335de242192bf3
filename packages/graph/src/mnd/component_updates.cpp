// Multi-node Boruvka: exchange of component names and owners between ranks that share edges, and migration of components.
#include "src/mnd/component_updates.hpp"

#include <algorithm>
#include <bit>
#include <string>
#include <utility>

#include "merganser/base/error.hpp"
#include "merganser/base/id_table.hpp"

namespace merganser::mnd::detail {
namespace {

/// Returns a hash table from the names of this rank's ghosts (components of other ranks that share an edge with its own) to ghost
/// numbers, counted from 0, not from Part::own. Local.
IdTable ghost_table(const Part& part) {
  IdTable table(part.ghost_owner.size());
  for (std::size_t g = part.own; g < part.names.size(); ++g) table.insert(part.names[g]);
  return table;
}

/// Returns the ghost number of the component `name`, which a message of rank `from` named. @throws CommError unless that is a ghost
/// on this rank whose owner is `from`
std::uint32_t find_ghost(const Part& part, const IdTable& table, std::uint64_t name, int from) {
  const std::uint32_t ghost = table.find(name);
  if (ghost == IdTable::kNone || part.ghost_owner[ghost] != from) {
    throw CommError("rank " + std::to_string(from) + " speaks of a component " + std::to_string(name) + " that rank " +
                    std::to_string(part.rank) + " does not know as one of its");
  }
  return ghost;
}

/// Marks the owners of this rank's ghosts as communication partners in the send buffers. Adjacency of components is symmetric, so
/// both ranks of a pair mark each other, as RecordExchange requires.
void add_partners(const Part& part, Letters& letters) {
  for (const int rank : part.ghost_owner) letters.add_partner(rank);
}

/// Gives this rank's ghosts the names that their owners have sent after a contraction: ghosts of one new name become one ghost, and
/// the ends of edges are renumbered. Local. @param new_names  by old ghost number
void rename_ghosts(Part& part, const std::vector<std::uint64_t>& new_names) {
  // Ghosts of one new name have one owner, since a contraction joins components of one rank only.
  IdTable table(new_names.size());
  std::vector<std::uint32_t> number(new_names.size());
  std::vector<int> owner;
  for (std::size_t g = 0; g < new_names.size(); ++g) {
    number[g] = table.insert(new_names[g]);
    if (number[g] == owner.size()) owner.push_back(part.ghost_owner[g]);
  }
  for (ComponentEdge& e : part.edges)
    if (!part.is_own(e.b)) e.b = part.own + number[e.b - part.own];
  part.ghost_owner = std::move(owner);
  part.names.resize(part.own);
  part.names.insert(part.names.end(), table.keys().begin(), table.keys().end());
}

}  // namespace

// Bit masks of 64 ranks at a time: a component is listed once for a rank, however many edges join them.
std::vector<SharedComponent> find_shared_components(const Part& part) {
  constexpr int kBits = 64;
  std::vector<SharedComponent> known;
  const int last = part.ghost_owner.empty() ? -1 : *std::max_element(part.ghost_owner.begin(), part.ghost_owner.end());
  for (int first = 0; first <= last; first += kBits) {
    std::vector<std::uint64_t> ranks(part.own);  // by own component: a bit for each of 64 ranks that share it
    for (const ComponentEdge& e : part.edges) {
      if (part.is_own(e.b)) continue;
      const int at = part.owner(e.b) - first;
      if (at >= 0 && at < kBits) ranks[e.a] |= std::uint64_t{1} << static_cast<unsigned>(at);
    }
    for (std::uint32_t c = 0; c < part.own; ++c)
      for (std::uint64_t left = ranks[c]; left != 0; left &= left - 1)
        known.push_back({first + std::countr_zero(left), c});
  }
  return known;
}

// Only components whose name has changed are sent, as (old name, new name), to each rank that has them as ghosts.
void exchange_names(Part& part, const NamesBefore& before, const Contraction& contraction, RecordExchange& exchange,
                    int ranks) {
  Letters letters(ranks, 2);
  add_partners(part, letters);
  for (const auto& [rank, component] : before.known) {
    const std::uint64_t name = part.names[contraction.image[component]];
    if (name == before.names[component]) continue;
    letters[rank].push_back(before.names[component]);
    letters[rank].push_back(name);
  }
  const IdTable table = ghost_table(part);
  std::vector<std::uint64_t> new_names = table.keys();
  exchange.run(letters, [&](int from, std::span<const std::uint64_t> words) {
    for (std::size_t i = 0; i < words.size(); i += 2) new_names[find_ghost(part, table, words[i], from)] = words[i + 1];
  });
  rename_ghosts(part, new_names);
}

// Only components that will move are sent: (name, future owner). Ghosts without a message keep their owner.
FutureOwners exchange_owners(const Part& part, std::vector<int> own, RecordExchange& exchange, int ranks) {
  Letters letters(ranks, 2);
  add_partners(part, letters);
  for (const auto& [rank, component] : find_shared_components(part)) {
    if (own[component] == part.rank) continue;
    letters[rank].push_back(part.names[component]);
    letters[rank].push_back(static_cast<std::uint64_t>(own[component]));
  }
  FutureOwners owners{std::move(own), part.ghost_owner};
  const IdTable table = ghost_table(part);
  exchange.run(letters, [&](int from, std::span<const std::uint64_t> words) {
    for (std::size_t i = 0; i < words.size(); i += 2)
      owners.ghosts[find_ghost(part, table, words[i], from)] = static_cast<int>(words[i + 1]);
  });
  return owners;
}

namespace {

constexpr std::size_t kEdgeWords = 6;  // 64-bit words of an edge in a migration message

/// Edge of the graph in a migration message: it names the components at its ends, with the ranks that will own them.
struct EdgeRecord {
  std::uint64_t a;      ///< name of the component at one end
  std::uint64_t b;      ///< name of the component at the other end
  int owner_a;          ///< rank that will own component a
  int owner_b;          ///< rank that will own component b
  graphs::Edge24 edge;  ///< edge of the input graph, with oriented weight
};

/// Appends an edge of a migrating component to a message as kEdgeWords words, both future owners in one.
void append_edge(Words& words, const EdgeRecord& e) {
  constexpr unsigned kHalf = 32;
  const std::uint64_t owners = static_cast<std::uint64_t>(e.owner_a) << kHalf | static_cast<std::uint32_t>(e.owner_b);
  words.insert(words.end(), {e.a, e.b, owners, e.edge.low, e.edge.high, e.edge.weight});
}

/// Decodes an edge of a migrating component from the kEdgeWords words that append_edge() has written.
EdgeRecord parse_edge(std::span<const std::uint64_t> words) {
  constexpr unsigned kHalf = 32;
  return {words[0],
          words[1],
          static_cast<int>(words[2] >> kHalf),
          static_cast<int>(words[2] & 0xffffffffU),
          {words[3], words[4], words[5]}};
}

/// Renumbering of a rank's components in the migration of multi-node Boruvka, while edges that stay and edges that arrive are
/// joined. Ghosts are marked by their highest bit until the number of own components, which they follow, is known.
class Renumbering {
 public:
  Renumbering(const Part& part, const FutureOwners& owners)
      : part_(part), owners_(owners), fresh_(part.names.size(), kUnset) {}

  /// Returns the rank that will own a component of this rank or a ghost, given by its old number.
  [[nodiscard]] int owner(std::uint32_t component) const {
    return part_.is_own(component) ? owners_.own[component] : owners_.ghosts[component - part_.own];
  }
  /// Returns an edge that stays on this rank with the new numbers of the components at its ends.
  [[nodiscard]] ComponentEdge renumbered(const ComponentEdge& e) { return {renumber(e.a), renumber(e.b), e.edge}; }
  /// Returns an edge that has arrived in a migration message with the new numbers of the components at its ends.
  [[nodiscard]] ComponentEdge numbered(const EdgeRecord& e) {
    return {number(e.a, e.owner_a), number(e.b, e.owner_b), e.edge};
  }

  /// Replaces the components, ghosts and owners of the part by the new ones, and turns marked ghosts into numbers behind those of
  /// own components. @throws InputError for more components or edges than 31 bits can number
  void finish(Part& part) && {
    // `a` of an edge is an own component: ends are swapped where only the other one is.
    check_sizes(std::max(own_.keys().size(), ghosts_.keys().size()), part.edges.size());
    part.own = static_cast<std::uint32_t>(own_.keys().size());
    for (ComponentEdge& e : part.edges) {
      if ((e.a & kGhost) != 0) std::swap(e.a, e.b);
      if ((e.b & kGhost) != 0) e.b = part.own + (e.b ^ kGhost);
    }
    part.names = own_.keys();
    part.names.insert(part.names.end(), ghosts_.keys().begin(), ghosts_.keys().end());
    part.ghost_owner = std::move(ghost_owner_);
  }

 private:
  static constexpr std::uint32_t kUnset = 0xffffffffU;              // component without a new number
  static constexpr std::uint32_t kGhost = std::uint32_t{1} << 31U;  // mark of a new number as that of a ghost

  /// Returns the new number of the component `name`, a marked one if another rank will own it; adds it where it is new.
  std::uint32_t number(std::uint64_t name, int owner) {
    if (owner == part_.rank) return own_.insert(name);
    const std::uint32_t ghost = ghosts_.insert(name);
    if (ghost == ghost_owner_.size()) ghost_owner_.push_back(owner);
    return ghost | kGhost;
  }
  /// Returns the number after the migration of a component of this rank or a ghost, given by its number before.
  std::uint32_t renumber(std::uint32_t component) {
    std::uint32_t& fresh = fresh_[component];
    if (fresh == kUnset) fresh = number(part_.names[component], owner(component));
    return fresh;
  }

  const Part& part_;
  const FutureOwners& owners_;
  std::vector<std::uint32_t> fresh_;  ///< by old number: the new number
  IdTable own_;                       ///< names of the components that this rank will own
  IdTable ghosts_;                    ///< names of the future ghosts
  std::vector<int> ghost_owner_;      ///< by future ghost: its owner
};

/// Returns whether this rank sends edge `e` of a migrating component to that component's new owner `to`, which holds no copy yet.
/// Both ranks of an edge between two ranks store it: the owner of the end that moves sends it; the lower rank if both ends move.
bool is_sender(const Part& part, const Renumbering& rebuild, const ComponentEdge& e, int to) {
  const int other = part.owner(e.b);
  if (to == part.rank || to == other) return false;
  const bool here = rebuild.owner(e.a) == to || (other == part.rank && rebuild.owner(e.b) == to);
  const bool there = other != part.rank && rebuild.owner(e.b) == to;
  return here && (!there || part.rank < other);
}

}  // namespace

// Edges with an end that this rank will own stay; those that a new owner lacks are sent; arrived ones are appended.
void migrate_components(Part& part, const FutureOwners& owners, const MigrationRoute& route, RecordExchange& exchange,
                        int ranks) {
  Letters letters(ranks, kEdgeWords);
  if (route.receiver != part.rank) letters.add_partner(route.receiver);
  for (const int sender : route.senders) letters.add_partner(sender);
  Renumbering rebuild(part, owners);
  std::size_t kept = 0;
  for (const ComponentEdge& e : part.edges) {
    const int a = rebuild.owner(e.a);
    const int b = rebuild.owner(e.b);
    if (is_sender(part, rebuild, e, route.receiver))
      append_edge(letters[route.receiver], {part.names[e.a], part.names[e.b], a, b, e.edge});
    if (a == part.rank || b == part.rank) part.edges[kept++] = rebuild.renumbered(e);
  }
  part.edges.resize(kept);
  exchange.run(letters, [&](int, std::span<const std::uint64_t> words) {
    for (std::size_t i = 0; i < words.size(); i += kEdgeWords)
      part.edges.push_back(rebuild.numbered(parse_edge(words.subspan(i, kEdgeWords))));
  });
  std::move(rebuild).finish(part);
}

}  // namespace merganser::mnd::detail
