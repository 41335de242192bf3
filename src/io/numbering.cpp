// Numbering of the parcels of a file without ids by a distributed sample sort of their contents, and check for duplicate ids.
#include "src/io/numbering.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <utility>

#include "merganser/base/error.hpp"
#include "merganser/base/random.hpp"
#include "merganser/comm/distinct_numbers.hpp"
#include "merganser/comm/questions.hpp"
#include "merganser/parcels/packed.hpp"

namespace merganser::io {
namespace {

/// Item of a radix sort of parcels: the sort key (a coordinate's bits, or an id), and the parcel's index or place in the file.
struct SortItem {
  std::uint64_t key;
  std::uint64_t index;
};

/// Sorts items of parcels by key, stably: a least-significant-digit radix sort with digits of 11 bits, whose 2048 counters fit
/// the first cache. A digit that all keys share would permute nothing and is skipped.
void sort_items(std::vector<SortItem>& items, std::vector<SortItem>& spare) {
  constexpr int kBits = 11;
  constexpr int kDigits = 6;
  constexpr std::size_t kValues = std::size_t{1} << kBits;
  const auto digit = [](std::uint64_t key, int d) {
    return static_cast<std::size_t>(key >> d * kBits) & (kValues - 1);
  };
  std::vector<std::array<std::size_t, kValues>> count(kDigits);
  for (auto& c : count) c.fill(0);
  for (const SortItem& item : items)
    for (int d = 0; d < kDigits; ++d) ++count[static_cast<std::size_t>(d)][digit(item.key, d)];
  spare.resize(items.size());
  for (int d = 0; d < kDigits; ++d) {
    auto& c = count[static_cast<std::size_t>(d)];
    if (std::find(c.begin(), c.end(), items.size()) != c.end()) continue;
    std::size_t at = 0;
    for (std::size_t& n : c) at += std::exchange(n, at);
    for (const SortItem& item : items) spare[c[digit(item.key, d)]++] = item;
    items.swap(spare);
  }
}

/// Maps a double to an unsigned radix-sort key in the same order: sets the sign bit of positive ones, inverts negative ones,
/// whose magnitudes ascend the other way.
std::uint64_t ordered_bits(double x) {
  const auto bits = std::bit_cast<std::uint64_t>(x);
  return bits >> 63 != 0 ? ~bits : bits | std::uint64_t{1} << 63;
}

/// Lexicographic order of parcels by (x, y, z, volume, attributes), then by id, in which parcels of a file without ids are
/// numbered.
class ContentOrder {
 public:
  explicit ContentOrder(const Schema& schema) : components_(kSite) {
    for (const Attribute& a : schema.attributes()) components_ += static_cast<std::size_t>(a.components);
  }

  /// Returns true if parcel i of a precedes parcel j of b in the order by content. @param from  first component that may differ
  [[nodiscard]] bool less(const Parcels& a, std::size_t i, const Parcels& b, std::size_t j,
                          std::size_t from = 0) const {
    for (std::size_t c = from; c < components_; ++c) {
      const std::uint64_t x = key(a, i, c);
      const std::uint64_t y = key(b, j, c);
      if (x != y) return x < y;
    }
    return a.id(i) < b.id(j);
  }

  /// Returns the indices of this rank's parcels in the order by content: a radix sort by x, then by each next component within
  /// runs of parcels that agree so far (most-significant-digit first).
  [[nodiscard]] std::vector<SortItem> sorted(const Parcels& parcels) const {
    std::vector<SortItem> items(parcels.size());
    for (std::size_t i = 0; i < items.size(); ++i) items[i] = {key(parcels, i, 0), i};
    std::vector<SortItem> spare;
    sort_items(items, spare);
    spare = std::vector<SortItem>();  // releases the memory; assigning {} would keep it
    sort_runs(parcels, items, 0);
    return items;
  }

 private:
  static constexpr std::size_t kSite = 4;
  static constexpr std::size_t kFew = 16;  // shorter runs are compared whole: fetching keys does not pay

  /// Returns component c (x, y, z, volume, attributes) of parcel i as a sort key.
  [[nodiscard]] static std::uint64_t key(const Parcels& p, std::size_t i, std::size_t c) {
    if (c >= kSite) return ordered_bits(p.row(i)[1 + c - kSite]);
    const Site& s = p.site(i);
    return ordered_bits(c == 0 ? s.x : c == 1 ? s.y : c == 2 ? s.z : s.volume);
  }

  /// Sorts every run of parcels that agree in components 0 .. c by the components after c. @pre sorted by components 0 .. c,
  /// with that of c as the items' key
  void sort_runs(const Parcels& parcels, std::span<SortItem> items, std::size_t c) const {
    for (std::size_t begin = 0, end = 0; begin < items.size(); begin = end) {
      while (end < items.size() && items[end].key == items[begin].key) ++end;
      if (end - begin > 1) sort_run(parcels, items.subspan(begin, end - begin), c + 1);
    }
  }
  /// Sorts a run of parcels that agree in the components before c by component c and those after it.
  void sort_run(const Parcels& parcels, std::span<SortItem> run, std::size_t c) const {
    if (run.size() <= kFew || c == components_) {
      std::sort(run.begin(), run.end(),
                [&](const SortItem& a, const SortItem& b) { return less(parcels, a.index, parcels, b.index, c); });
      return;
    }
    for (SortItem& item : run) item.key = key(parcels, item.index, c);
    std::sort(run.begin(), run.end(), [](const SortItem& a, const SortItem& b) { return a.key < b.key; });
    sort_runs(parcels, run, c);
  }

  std::size_t components_;
};

/// Draws a random sample of this rank's parcels, packed, for the splitters of the sample sort. Deterministic: the seed depends
/// on the rank alone.
std::vector<std::byte> draw_sample(const Parcels& parcels, int rank) {
  constexpr std::size_t kSamples = 128;  // per rank: parts then differ by some tenths
  std::vector<std::byte> out;
  // Not at equal distances in the file: those of a regular lattice could all have one coordinate.
  Random random(0x73616d706c65ULL, static_cast<std::uint64_t>(rank), 0);
  for (std::size_t k = 0; k < std::min(kSamples, parcels.size()); ++k)
    append_parcel(out, parcels, static_cast<std::size_t>(random.below(parcels.size())));
  return out;
}

/// Returns the splitters of the sample sort, the same on every rank: the first parcels of ranks 1, 2, ..., at equal
/// distances in a sorted sample of all ranks. Collective. Rank 0 alone receives the sample, since one of each rank on each
/// rank would take memory that grows with the square of their number.
Parcels splitters(const Parcels& parcels, const ContentOrder& order, comm::Transport& transport) {
  const auto ranks = static_cast<std::size_t>(transport.size());
  std::vector<std::vector<std::byte>> to(ranks);
  to[0] = draw_sample(parcels, transport.rank());
  const auto from = comm::all_to_all(transport, std::move(to));
  std::vector<std::byte> packed;
  if (transport.rank() == 0) {
    Parcels sample(parcels.schema());
    for (const auto part : from) append_parcels(part, sample);
    const std::vector<SortItem> all = order.sorted(sample);
    for (std::size_t r = 1; r < ranks && !all.empty(); ++r)
      append_parcel(packed, sample, all[r * all.size() / ranks].index);
  }
  Parcels chosen(parcels.schema());
  append_parcels(comm::broadcast_from_first(transport, packed), chosen);
  return chosen;
}

/// Exchange of the sample sort by content: sends every parcel to the rank whose part of the order it belongs to, by binary
/// search among the splitters. Collective.
void send_to_slices(Parcels& parcels, const ContentOrder& order, comm::Transport& transport) {
  std::vector<std::vector<std::byte>> to(static_cast<std::size_t>(transport.size()));
  const Parcels first = splitters(parcels, order, transport);
  // Parts of a sample sort differ in size: a quarter more than the mean avoids most reallocations.
  for (auto& message : to) message.reserve(parcels.size() * parcels.parcel_bytes() * 5 / 4 / to.size());
  for (std::size_t i = 0; i < parcels.size(); ++i) {
    std::size_t low = 0;  // number of splitters that do not come after parcel i: its destination
    for (std::size_t high = first.size(); low < high;) {
      const std::size_t middle = (low + high) / 2;
      if (order.less(parcels, i, first, middle)) {
        high = middle;
      } else {
        low = middle + 1;
      }
    }
    append_parcel(to[low], parcels, i);
  }
  parcels = Parcels(parcels.schema());
  auto from = comm::all_to_all(transport, std::move(to));
  for (std::size_t r = 0; r < from.size(); ++r) {
    append_parcels(from[r], parcels);
    from.drop(r);
  }
}

/// Sends every parcel's (id, place in the file) to the rank that the id hashes to and returns those received, so that duplicates
/// are found on one rank. Collective.
std::vector<SortItem> send_to_directory(std::span<const std::int64_t> ids, std::span<const std::int64_t> places,
                                        comm::Transport& transport) {
  const auto ranks = static_cast<std::size_t>(transport.size());
  std::vector<SortItem> items(ids.size());
  for (std::size_t i = 0; i < ids.size(); ++i)
    items[i] = {static_cast<std::uint64_t>(ids[i]), static_cast<std::uint64_t>(places[i])};
  if (ranks == 1) return items;
  return comm::send_to_owners<SortItem>(transport, items,
                                        [&](const SortItem& i) { return comm::hash_to_rank(i.key, ranks); })
      .flat();
}

}  // namespace

// Distributed sample sort of parcels without ids: splitters from a sample, one exchange, a local sort, then ids by
// position.
void number_by_content(Parcels& parcels, comm::Transport& transport, std::vector<FilePlace>* before) {
  const ContentOrder order(parcels.schema());
  if (transport.size() > 1) send_to_slices(parcels, order, transport);
  auto id = static_cast<std::int64_t>(comm::compute_share(transport, parcels.size()).before);
  for (const SortItem& item : order.sorted(parcels)) {
    if (before != nullptr) before->push_back({id, parcels.id(item.index)});
    parcels.set_id(item.index, id++);
  }
}

bool are_surely_valid_ids(const Parcels& parcels, comm::Transport& transport) {
  IdRange range;
  for (std::size_t i = 0; i < parcels.size(); ++i) range.add(parcels.id(i));
  return are_surely_valid_ids(parcels, range, transport);
}

// Check of ids by their order or by sets of bits, 64 for each parcel at most: a sort would move 32 bytes for each several times.
bool are_surely_valid_ids(const Parcels& parcels, const IdRange& mine, comm::Transport& transport) {
  std::vector<IdRange> ranges;
  bool ascending = true;
  for (const IdRange& range : comm::all_gather_value(transport, mine)) {
    if (range.least < 0) return false;
    ascending = ascending && range.ascending != 0;
    if (range.count > 0) ranges.push_back(range);
  }
  std::sort(ranges.begin(), ranges.end(), [](const IdRange& a, const IdRange& b) { return a.least < b.least; });
  const auto overlap = std::adjacent_find(ranges.begin(), ranges.end(),
                                          [](const IdRange& a, const IdRange& b) { return b.least <= a.most; });
  if (ascending && overlap == ranges.end()) return true;
  return comm::are_surely_distinct(transport, parcels.size(), [&](std::size_t i) { return parcels.id(i); });
}

// Distributed check for duplicate parcel ids: equal ones meet on the rank to which they hash, where sorting makes them adjacent.
void check_ids(const std::string& file, std::span<const std::int64_t> ids, std::span<const std::int64_t> places,
               comm::Transport& transport) {
  comm::agree(transport, [&] {
    for (std::size_t i = 0; i < ids.size(); ++i)
      if (ids[i] < 0)
        throw InputError(file + ": parcel " + std::to_string(places[i]) + ": its id is " + std::to_string(ids[i]) +
                         "; allowed: 0 and above");
  });
  std::vector<SortItem> items = send_to_directory(ids, places, transport);
  std::vector<SortItem> spare;
  sort_items(items, spare);
  const auto same = std::adjacent_find(items.begin(), items.end(),
                                       [](const SortItem& a, const SortItem& b) { return a.key == b.key; });
  comm::agree(transport, [&] {
    if (same == items.end()) return;
    const auto [first, second] = std::minmax(same->index, same[1].index);
    throw InputError(file + ": parcels " + std::to_string(first) + " and " + std::to_string(second) +
                     " have the same id, " + std::to_string(same->key) + "; ids must be unique");
  });
}

}  // namespace merganser::io
