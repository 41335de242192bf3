#include "apps/frame/gather.hpp"

#include <span>

#include "merganser/comm/collectives.hpp"
#include "merganser/parcels/packed.hpp"

namespace merganser::app {
namespace {

using Words = std::vector<std::int64_t>;

void put(Words& w, const ExactSum& s) {
  const auto words = s.words();
  w.insert(w.end(), words.begin(), words.end());
}

/// The part of a report that is plain numbers.
struct Plain {
  std::int64_t before, small, merged, after, long_cycles, lonely, links_to_small, cross_links, merged_into_big;
  StageTimes seconds;
  comm::Counters counters;
  links::PruneStatistics pruning;
};

Plain plain(const StepReport& r) {
  return {r.before,         r.small,       r.merged,          r.after,   r.long_cycles, r.lonely,
          r.links_to_small, r.cross_links, r.merged_into_big, r.seconds, r.counters,    r.pruning};
}

StepReport unpack(const Plain& p, std::span<const std::int64_t> clusters) {
  StepReport r;
  r.before = p.before;
  r.small = p.small;
  r.merged = p.merged;
  r.after = p.after;
  r.long_cycles = p.long_cycles;
  r.lonely = p.lonely;
  r.links_to_small = p.links_to_small;
  r.cross_links = p.cross_links;
  r.merged_into_big = p.merged_into_big;
  r.seconds = p.seconds;
  r.counters = p.counters;
  r.pruning = p.pruning;
  for (std::size_t i = 0; i + 1 < clusters.size(); i += 2) r.clusters[static_cast<int>(clusters[i])] += clusters[i + 1];
  return r;
}

}  // namespace

StageSeconds stage_seconds(const StageTimes& t) {
  return {t.search, t.exchange, t.graph, t.prune, t.migrate, t.merge, t.total()};
}

StepReport total_report(comm::Transport& transport, const StepReport& mine) {
  Words clusters;
  for (const auto& [size, count] : mine.clusters) {
    clusters.push_back(size);
    clusters.push_back(count);
  }
  const auto numbers = comm::all_gather_value(transport, plain(mine));
  const auto all_clusters = comm::all_gather(transport, clusters);
  StepReport total;
  for (std::size_t r = 0; r < numbers.size(); ++r) total += unpack(numbers[r], all_clusters[r]);
  return total;
}

std::vector<ExactSum> total_sums(comm::Transport& transport, const std::vector<ExactSum>& mine) {
  Words words;
  for (const auto& s : mine) put(words, s);
  std::vector<ExactSum> total(mine.size());
  for (const auto w : comm::all_gather(transport, words))
    for (std::size_t i = 0; i < total.size(); ++i)
      total[i].add(ExactSum::from_words(w.data() + i * static_cast<std::size_t>(ExactSum::kWords)));
  return total;
}

Moments total_moments(comm::Transport& transport, const Moments& mine) {
  std::vector<ExactSum> sums{mine.volume, mine.volume_position[0], mine.volume_position[1], mine.volume_position[2]};
  sums.insert(sums.end(), mine.volume_attribute.begin(), mine.volume_attribute.end());
  sums = total_sums(transport, sums);
  Moments total;
  total.parcels = transport.all_reduce(mine.parcels, comm::Op::sum);
  total.volume = sums[0];
  for (std::size_t a = 0; a < 3; ++a) total.volume_position[a] = sums[1 + a];
  total.volume_attribute.assign(sums.begin() + 4, sums.end());
  return total;
}

Digest total_digest(comm::Transport& transport, const Digest& mine) {
  Digest total;
  for (const Digest& d : comm::all_gather_value(transport, mine)) total += d;
  return total;
}

Parcels collect(comm::Transport& transport, const Parcels& mine) {
  std::vector<std::byte> packed;
  packed.reserve(mine.size() * mine.parcel_bytes());
  for (std::size_t i = 0; i < mine.size(); ++i) append_parcel(packed, mine, i);
  Parcels all(mine.schema());
  for (const auto block : comm::gather_to_first(transport, packed)) take_parcels(block, all);
  return all;
}

std::vector<Summary> summarise_stages(const std::vector<StageSeconds>& by_rank) {
  std::vector<Summary> out;
  for (std::size_t s = 0; s < kStages.size(); ++s) {
    std::vector<double> samples;
    for (const auto& r : by_rank) samples.push_back(r[s]);
    out.push_back(summarise(std::move(samples)));
  }
  return out;
}

}  // namespace merganser::app
