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

/// Returns a table from the names of ghosts to their numbers, less those of own components.
IdTable ghost_table(const Part& part) {
  IdTable table(part.ghost_owner.size());
  for (std::size_t g = part.own; g < part.names.size(); ++g) table.insert(part.names[g]);
  return table;
}

/// Returns the number of a ghost that rank `from` named. @throws CommError if it is no ghost of that rank here
std::uint32_t find_ghost(const Part& part, const IdTable& table, std::uint64_t name, int from) {
  const std::uint32_t ghost = table.find(name);
  if (ghost == IdTable::kNone || part.ghost_owner[ghost] != from) {
    throw CommError("rank " + std::to_string(from) + " speaks of a component " + std::to_string(name) + " that rank " +
                    std::to_string(part.rank) + " does not know as one of its");
  }
  return ghost;
}

/// Adds the owners of all ghosts as partners: adjacency is symmetric, so both ends add each other.
void add_partners(const Part& part, Letters& letters) {
  for (const int rank : part.ghost_owner) letters.add_partner(rank);
}

/// Renames the ghosts; ghosts of one new name are merged, and edges renumbered.
void rename_ghosts(Part& part, const std::vector<std::uint64_t>& new_names) {
  IdTable table(new_names.size());
  std::vector<std::uint32_t> number(new_names.size());
  std::vector<int> owner;
  for (std::size_t g = 0; g < new_names.size(); ++g) {
    number[g] = table.insert(new_names[g]);
    if (number[g] == owner.size()) owner.push_back(part.ghost_owner[g]);
  }
  for (Live& e : part.edges)
    if (!part.is_own(e.b)) e.b = part.own + number[e.b - part.own];
  part.ghost_owner = std::move(owner);
  part.names.resize(part.own);
  part.names.insert(part.names.end(), table.keys().begin(), table.keys().end());
}

}  // namespace

std::vector<Known> find_shared_components(const Part& part) {
  constexpr int kBits = 64;
  std::vector<Known> known;
  const int last = part.ghost_owner.empty() ? -1 : *std::max_element(part.ghost_owner.begin(), part.ghost_owner.end());
  for (int first = 0; first <= last; first += kBits) {
    std::vector<std::uint64_t> ranks(part.own);  // by own component: a bit for each of 64 ranks that share it
    for (const Live& e : part.edges) {
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

void exchange_names(Part& part, const Before& before, const Contraction& contraction, RecordExchange& exchange,
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

Owners exchange_owners(const Part& part, std::vector<int> own, RecordExchange& exchange, int ranks) {
  Letters letters(ranks, 2);
  add_partners(part, letters);
  for (const auto& [rank, component] : find_shared_components(part)) {
    if (own[component] == part.rank) continue;
    letters[rank].push_back(part.names[component]);
    letters[rank].push_back(static_cast<std::uint64_t>(own[component]));
  }
  Owners owners{std::move(own), part.ghost_owner};
  const IdTable table = ghost_table(part);
  exchange.run(letters, [&](int from, std::span<const std::uint64_t> words) {
    for (std::size_t i = 0; i < words.size(); i += 2)
      owners.ghosts[find_ghost(part, table, words[i], from)] = static_cast<int>(words[i + 1]);
  });
  return owners;
}

namespace {

constexpr std::size_t kEdgeWords = 6;  // words of an edge in a message

/// An edge in a message, with the names and future owners of the components at its ends.
struct Named {
  std::uint64_t a;
  std::uint64_t b;
  int owner_a;
  int owner_b;
  graphs::Edge24 edge;
};

/// Appends an edge to a message.
void append_edge(Words& words, const Named& e) {
  constexpr unsigned kHalf = 32;
  const std::uint64_t owners = static_cast<std::uint64_t>(e.owner_a) << kHalf | static_cast<std::uint32_t>(e.owner_b);
  words.insert(words.end(), {e.a, e.b, owners, e.edge.low, e.edge.high, e.edge.weight});
}

/// Parses an edge of a message.
Named parse_edge(std::span<const std::uint64_t> words) {
  constexpr unsigned kHalf = 32;
  return {words[0],
          words[1],
          static_cast<int>(words[2] >> kHalf),
          static_cast<int>(words[2] & 0xffffffffU),
          {words[3], words[4], words[5]}};
}

/// Renumbering of components while edges that stay and edges that arrive are joined. Ghosts are marked by their highest bit until
/// the number of own components, which they follow, is known.
class Rebuild {
 public:
  Rebuild(const Part& part, const Owners& owners) : part_(part), owners_(owners), fresh_(part.names.size(), kUnset) {}

  /// Returns the future owner of a component.
  [[nodiscard]] int owner(std::uint32_t component) const {
    return part_.is_own(component) ? owners_.own[component] : owners_.ghosts[component - part_.own];
  }
  /// Returns an edge of this rank with the new numbers of its ends.
  [[nodiscard]] Live renumbered(const Live& e) { return {renumber(e.a), renumber(e.b), e.edge}; }
  /// Returns an edge of a message with the numbers of its ends.
  [[nodiscard]] Live numbered(const Named& e) { return {number(e.a, e.owner_a), number(e.b, e.owner_b), e.edge}; }

  /// Writes the new components to the part, and resolves the marks of ghosts. @throws InputError for too many
  void finish(Part& part) && {
    check_sizes(std::max(own_.keys().size(), ghosts_.keys().size()), part.edges.size());
    part.own = static_cast<std::uint32_t>(own_.keys().size());
    for (Live& e : part.edges) {
      if ((e.a & kGhost) != 0) std::swap(e.a, e.b);
      if ((e.b & kGhost) != 0) e.b = part.own + (e.b ^ kGhost);
    }
    part.names = own_.keys();
    part.names.insert(part.names.end(), ghosts_.keys().begin(), ghosts_.keys().end());
    part.ghost_owner = std::move(ghost_owner_);
  }

 private:
  static constexpr std::uint32_t kUnset = 0xffffffffU;
  static constexpr std::uint32_t kGhost = std::uint32_t{1} << 31U;

  std::uint32_t number(std::uint64_t name, int owner) {
    if (owner == part_.rank) return own_.insert(name);
    const std::uint32_t ghost = ghosts_.insert(name);
    if (ghost == ghost_owner_.size()) ghost_owner_.push_back(owner);
    return ghost | kGhost;
  }
  std::uint32_t renumber(std::uint32_t component) {
    std::uint32_t& fresh = fresh_[component];
    if (fresh == kUnset) fresh = number(part_.names[component], owner(component));
    return fresh;
  }

  const Part& part_;
  const Owners& owners_;
  std::vector<std::uint32_t> fresh_;
  IdTable own_;
  IdTable ghosts_;
  std::vector<int> ghost_owner_;
};

/// Returns whether this rank sends an edge to the new owner `to`, which holds no copy yet. An edge between two ranks is stored by
/// both: the owner of the end that moves sends it; the lower rank if both ends move.
bool is_sender(const Part& part, const Rebuild& rebuild, const Live& e, int to) {
  const int other = part.owner(e.b);
  if (to == part.rank || to == other) return false;
  const bool here = rebuild.owner(e.a) == to || (other == part.rank && rebuild.owner(e.b) == to);
  const bool there = other != part.rank && rebuild.owner(e.b) == to;
  return here && (!there || part.rank < other);
}

}  // namespace

void migrate_components(Part& part, const Owners& owners, const Route& route, RecordExchange& exchange, int ranks) {
  Letters letters(ranks, kEdgeWords);
  if (route.receiver != part.rank) letters.add_partner(route.receiver);
  for (const int sender : route.senders) letters.add_partner(sender);
  Rebuild rebuild(part, owners);
  std::size_t kept = 0;
  for (const Live& e : part.edges) {
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
