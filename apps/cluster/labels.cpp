#include "apps/cluster/labels.hpp"

#include <algorithm>
#include <utility>

#include "merganser/comm/collectives.hpp"

namespace merganser::app {
namespace {

/// The rank that knows what became of an id.
std::size_t home(std::int64_t id, std::size_t ranks) {
  return static_cast<std::size_t>((static_cast<std::uint64_t>(id) * 0x9e3779b97f4a7c15ULL >> 32) % ranks);
}

/// A line of the result.
struct Label {
  std::int64_t place;
  std::int64_t id;

  friend auto operator<=>(const Label&, const Label&) = default;
};

bool before(const StepReport::Merge& a, std::int64_t id) { return a.source < id; }

}  // namespace

void Labels::add(std::span<const StepReport::Merge> merged) {
  merged_.insert(merged_.end(), merged.begin(), merged.end());
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
  const auto asked = comm::all_to_all(transport_, std::move(to));
  std::vector<Ids> replies(ranks);
  for (std::size_t r = 0; r < ranks; ++r)
    for (const std::int64_t id : asked[r]) replies[r].push_back(holder(id));
  const auto answers = comm::all_to_all(transport_, std::move(replies));
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
  std::vector<std::vector<StepReport::Merge>> to(ranks);
  for (const auto& merge : merged_) to[home(merge.source, ranks)].push_back(merge);
  merged_ = comm::all_to_all(transport_, std::move(to)).flat();
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
  std::vector<std::vector<Label>> to(static_cast<std::size_t>(ranks));
  for (std::size_t i = 0; i < places.size(); ++i)
    to[static_cast<std::size_t>(places[i].place / share)].push_back({places[i].place, holders[i]});
  auto mine = comm::all_to_all(transport_, std::move(to)).flat();
  std::sort(mine.begin(), mine.end());
  std::string lines;
  for (const auto& [place, id] : mine) lines += std::to_string(place) + ' ' + std::to_string(id) + '\n';
  std::string all;
  for (const auto page : comm::gather_to_first(transport_, lines)) all.append(page.begin(), page.end());
  return all;
}

}  // namespace merganser::app
