#include "apps/cluster/labels.hpp"

#include <algorithm>
#include <cstring>
#include <utility>

namespace merganser::app {
namespace {

/// The rank that knows what became of an id.
std::size_t home(std::int64_t id, std::size_t ranks) {
  return static_cast<std::size_t>((static_cast<std::uint64_t>(id) * 0x9e3779b97f4a7c15ULL >> 32) % ranks);
}

bool before(const StepReport::Merge& a, std::int64_t id) { return a.source < id; }

}  // namespace

void Labels::add(std::span<const StepReport::Merge> merged) {
  merged_.insert(merged_.end(), merged.begin(), merged.end());
}

std::vector<Labels::Ids> Labels::exchange(const std::vector<Ids>& to) {
  std::vector<std::vector<std::byte>> out(to.size());
  for (std::size_t r = 0; r < to.size(); ++r) {
    const auto bytes = std::as_bytes(std::span(to[r]));
    out[r].assign(bytes.begin(), bytes.end());
  }
  std::vector<Ids> from;
  for (const auto& bytes : transport_.all_to_all(out)) {
    Ids& ids = from.emplace_back(bytes.size() / sizeof(std::int64_t));
    if (!bytes.empty()) std::memcpy(ids.data(), bytes.data(), bytes.size());
  }
  return from;
}

std::int64_t Labels::holder(std::int64_t id) const {
  const auto at = std::lower_bound(merged_.begin(), merged_.end(), id, before);
  return at != merged_.end() && at->source == id ? at->centre : id;
}

/// What each id's home knows of it. Collective.
Labels::Ids Labels::holders_of(const Ids& ids) {
  const auto ranks = static_cast<std::size_t>(transport_.size());
  std::vector<Ids> to(ranks);
  for (const std::int64_t id : ids) to[home(id, ranks)].push_back(id);
  std::vector<Ids> asked = exchange(to);
  for (Ids& list : asked)
    for (std::int64_t& id : list) id = holder(id);
  const std::vector<Ids> answers = exchange(asked);
  std::vector<std::size_t> next(ranks, 0);
  Ids out;
  out.reserve(ids.size());
  for (const std::int64_t id : ids) {
    const std::size_t r = home(id, ranks);
    out.push_back(answers[r][next[r]++]);
  }
  return out;
}

/// Brings merges to the homes of their sources and follows centres that were merged themselves later, twice as far in
/// each round. A parcel is merged away once at most, so the merges of all steps are a forest.
void Labels::settle() {
  const auto ranks = static_cast<std::size_t>(transport_.size());
  std::vector<Ids> to(ranks);
  for (const auto& [source, centre] : merged_) {
    Ids& list = to[home(source, ranks)];
    list.push_back(source);
    list.push_back(centre);
  }
  merged_.clear();
  for (const Ids& list : exchange(to))
    for (std::size_t i = 0; i + 1 < list.size(); i += 2) merged_.push_back({list[i], list[i + 1]});
  std::sort(merged_.begin(), merged_.end(), [](const auto& a, const auto& b) { return a.source < b.source; });
  for (bool again = true; again;) {
    Ids centres;
    for (const auto& merge : merged_) centres.push_back(merge.centre);
    const Ids further = holders_of(centres);
    std::int64_t moved = 0;
    for (std::size_t i = 0; i < further.size(); ++i)
      if (std::exchange(merged_[i].centre, further[i]) != further[i]) moved = 1;
    again = transport_.all_reduce(moved, comm::Op::max) != 0;
  }
}

std::string Labels::text(std::span<const io::FilePlace> places) {
  settle();
  Ids ids;
  std::int64_t most = -1;
  for (const auto& p : places) {
    ids.push_back(p.id);
    most = std::max(most, p.place);
  }
  const Ids holders = holders_of(ids);
  const auto ranks = static_cast<std::int64_t>(transport_.size());
  const std::int64_t share = transport_.all_reduce(most, comm::Op::max) / ranks + 1;
  std::vector<Ids> to(static_cast<std::size_t>(ranks));
  for (std::size_t i = 0; i < places.size(); ++i) {
    Ids& list = to[static_cast<std::size_t>(places[i].place / share)];
    list.push_back(places[i].place);
    list.push_back(holders[i]);
  }
  std::vector<std::pair<std::int64_t, std::int64_t>> mine;
  for (const Ids& list : exchange(to))
    for (std::size_t i = 0; i + 1 < list.size(); i += 2) mine.emplace_back(list[i], list[i + 1]);
  std::sort(mine.begin(), mine.end());
  std::string lines;
  for (const auto& [place, id] : mine) lines += std::to_string(place) + ' ' + std::to_string(id) + '\n';
  std::vector<std::vector<std::byte>> pages(static_cast<std::size_t>(ranks));
  const auto bytes = std::as_bytes(std::span(lines));
  pages[0].assign(bytes.begin(), bytes.end());
  std::string all;
  for (const auto& page : transport_.all_to_all(pages))
    all.append(reinterpret_cast<const char*>(page.data()), page.size());
  return all;
}

}  // namespace merganser::app
