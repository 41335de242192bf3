// Reductions and gathers of reports, moments, digests and parcels over ranks, by rank 0, so that memory does not grow with the
// square of the ranks.
#include "apps/frame/gather.hpp"

#include <map>
#include <span>

#include "merganser/comm/collectives.hpp"
#include "merganser/parcels/packed.hpp"

namespace merganser::app {
namespace {

using Numbers = std::vector<std::int64_t>;

/// Appends the words of an exact sum to a message for a reduction over ranks.
void append_sum(Numbers& w, const ExactSum& s) {
  const auto words = s.words();
  w.insert(w.end(), words.begin(), words.end());
}

/// Returns the numbers of merged stars by size, of a rank's report, as a message: size, count, size, count, ...
Numbers to_words(const std::map<int, std::int64_t>& clusters) {
  Numbers words;
  for (const auto& [size, count] : clusters) {
    words.push_back(size);
    words.push_back(count);
  }
  return words;
}

/// Returns the numbers of merged stars by size from a message of to_words().
std::map<int, std::int64_t> to_clusters(std::span<const std::int64_t> words) {
  std::map<int, std::int64_t> clusters;
  for (std::size_t i = 0; i < words.size(); i += 2) clusters[static_cast<int>(words[i])] += words[i + 1];
  return clusters;
}

}  // namespace

StageSeconds stage_seconds(const StageTimes& t) {
  return {t.search, t.exchange, t.graph, t.prune, t.migrate, t.merge, t.total()};
}

// Totals are computed on rank 0 and broadcast: an all-gather would hold every rank's numbers on every rank, memory that grows with
// the square of the number of ranks.

StepReport total_report(comm::Transport& transport, const StepReport& mine) {
  const StepNumbers& numbers = mine;
  const auto all_numbers = comm::gather_to_first(transport, std::span(&numbers, 1));
  const auto all_clusters = comm::gather_to_first(transport, to_words(mine.clusters));
  StepReport total;
  for (std::size_t r = 0; transport.rank() == 0 && r < all_numbers.size(); ++r)
    total += StepReport{all_numbers[r][0], to_clusters(all_clusters[r]), {}};
  const StepNumbers& sum = total;
  const auto told = comm::broadcast_from_first(transport, std::span(&sum, 1));
  const Numbers clusters = comm::broadcast_from_first(transport, to_words(total.clusters));
  return StepReport{told[0], to_clusters(clusters), {}};
}

// Exact sums over ranks: words are gathered on rank 0, added without rounding, and broadcast.
std::vector<ExactSum> total_sums(comm::Transport& transport, const std::vector<ExactSum>& mine) {
  Numbers words;
  for (const auto& s : mine) append_sum(words, s);
  std::vector<ExactSum> total(mine.size());
  const auto all = comm::gather_to_first(transport, words);
  for (std::size_t r = 0; transport.rank() == 0 && r < all.size(); ++r)
    for (std::size_t i = 0; i < total.size(); ++i)
      total[i].add(ExactSum::from_words(all[r].data() + i * static_cast<std::size_t>(ExactSum::kWords)));
  words.clear();
  for (const auto& s : total) append_sum(words, s);
  words = comm::broadcast_from_first(transport, words);
  for (std::size_t i = 0; i < total.size(); ++i)
    total[i] = ExactSum::from_words(words.data() + i * static_cast<std::size_t>(ExactSum::kWords));
  return total;
}

// Exact moments of the parcels of all ranks: sums without rounding, for checks of conservation.
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

// Gather of all parcels on rank 0, for outputs and comparisons of small runs.
Parcels collect(comm::Transport& transport, const Parcels& mine) {
  std::vector<std::byte> packed;
  packed.reserve(mine.size() * mine.parcel_bytes());
  for (std::size_t i = 0; i < mine.size(); ++i) append_parcel(packed, mine, i);
  Parcels all(mine.schema());
  for (const auto block : comm::gather_to_first(transport, packed)) append_parcels(block, all);
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
