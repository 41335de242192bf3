#include "apps/frame/gather.hpp"

namespace merganser::app {
namespace {

using Words = std::vector<std::int64_t>;

std::vector<Words> gather_words(comm::Transport& transport, const Words& mine) {
  const auto all = transport.all_gather(std::as_bytes(std::span(mine)));
  std::vector<Words> out;
  for (const auto& bytes : all) {
    Words& w = out.emplace_back(bytes.size() / sizeof(std::int64_t));
    if (!w.empty()) std::memcpy(w.data(), bytes.data(), bytes.size());
  }
  return out;
}

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

StepReport unpack(const Plain& p, const Words& clusters) {
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
  const auto numbers = gather(transport, plain(mine));
  const auto all_clusters = gather_words(transport, clusters);
  StepReport total;
  for (std::size_t r = 0; r < numbers.size(); ++r) total += unpack(numbers[r], all_clusters[r]);
  return total;
}

std::vector<ExactSum> total_sums(comm::Transport& transport, const std::vector<ExactSum>& mine) {
  Words words;
  for (const auto& s : mine) put(words, s);
  std::vector<ExactSum> total(mine.size());
  for (const Words& w : gather_words(transport, words))
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
  for (const Digest& d : gather(transport, mine)) total += d;
  return total;
}

Parcels collect(comm::Transport& transport, const Parcels& mine) {
  const std::size_t width = mine.schema().width();
  const std::size_t bytes = mine.parcel_bytes();
  std::vector<std::vector<std::byte>> to(static_cast<std::size_t>(transport.size()));
  to[0].resize(mine.size() * bytes);
  for (std::size_t i = 0; i < mine.size(); ++i) {
    std::memcpy(to[0].data() + i * bytes, &mine.site(i), sizeof(Site));
    std::memcpy(to[0].data() + i * bytes + sizeof(Site), mine.row(i), width * sizeof(double));
  }
  const auto from = transport.all_to_all(to);
  Parcels all(mine.schema());
  for (const auto& block : from) {
    const std::size_t first = all.size();
    all.resize(first + block.size() / bytes);
    for (std::size_t i = first; i < all.size(); ++i) {
      std::memcpy(&all.site(i), block.data() + (i - first) * bytes, sizeof(Site));
      std::memcpy(all.row(i), block.data() + (i - first) * bytes + sizeof(Site), width * sizeof(double));
    }
  }
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
