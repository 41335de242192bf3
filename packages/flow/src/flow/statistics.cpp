// Statistics of the flow: exact sums over a rank's parcels, their messages, and the announcement of contributions over a network.
#include "merganser/flow/statistics.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <deque>
#include <optional>
#include <utility>

#include "merganser/announce/announcement_network.hpp"
#include "merganser/base/error.hpp"
#include "src/flow/sum_bins.hpp"

namespace merganser::flow {
namespace {

// Topic and degree of the network over which statistics are announced.
constexpr announce::Topic kTopic = 1;
constexpr int kDegree = 4;

constexpr std::size_t kAhead = 24;  // parcels ahead of the current one whose rows are prefetched

/// Header of a rank's serialised contribution to the flow statistics, before the words of its exact sums.
struct StatisticsHeader {
  std::int64_t parcels;
  std::int64_t small;
  double least_buoyancy;
  double greatest_buoyancy;
  StepCounts counts;
};

}  // namespace

StepCounts& StepCounts::operator+=(const StepCounts& o) {
  splits += o.splits;
  merges += o.merges;
  merged_into_big += o.merged_into_big;
  for (std::size_t i = 0; i < clusters.size(); ++i) clusters[i] += o.clusters[i];
  return *this;
}

// Sums over this rank's parcels for one line of statistics, exact, so that the ranks do not matter.
void PartialStatistics::add_parcels(const Parcels& parcels, double small_volume) {
  if (parcels.size() == 0) return;
  const std::size_t w = parcels.schema().offset("vorticity");
  const std::size_t b = parcels.schema().offset("buoyancy");
  SumBins v1, v2, xi, eta, zeta;
  double least = parcels.row(0)[b];
  double greatest = least;
  std::int64_t small = 0;
  const std::size_t last = parcels.size() - 1;
  for (std::size_t i = 0; i <= last; ++i) {
    const double v = parcels.site(i).volume;
    const double* const row = parcels.row(i);
    __builtin_prefetch(parcels.row(std::min(i + kAhead, last)) + w);
    v1.add(v);
    v2.add(v * v);
    xi.add(v * (row[w] * row[w]));
    eta.add(v * (row[w + 1] * row[w + 1]));
    zeta.add(v * (row[w + 2] * row[w + 2]));
    small += v <= small_volume ? 1 : 0;
    least = std::min(least, row[b]);
    greatest = std::max(greatest, row[b]);
  }
  v1.move_to(sums_[volume], "the volume");
  v2.move_to(sums_[volume2], "the square of the volume");
  xi.move_to(sums_[xi2], "the enstrophy");
  eta.move_to(sums_[eta2], "the enstrophy");
  zeta.move_to(sums_[zeta2], "the enstrophy");
  least_buoyancy_ = parcels_ == 0 ? least : std::min(least_buoyancy_, least);
  greatest_buoyancy_ = parcels_ == 0 ? greatest : std::max(greatest_buoyancy_, greatest);
  small_ += small;
  parcels_ += static_cast<std::int64_t>(parcels.size());
}

// Kinetic energy of a rank's parcels, for the flow statistics.
void PartialStatistics::add_velocities(const Parcels& parcels) {
  const std::size_t r = parcels.schema().offset("registers");
  SumBins all;
  for (std::size_t i = 0; i < parcels.size(); ++i) {
    const double* const u = parcels.row(i) + r;
    __builtin_prefetch(parcels.row(std::min(i + kAhead, parcels.size() - 1)) + r);
    all.add(parcels.site(i).volume * ((u[0] * u[0] + u[1] * u[1]) + u[2] * u[2]));
  }
  all.move_to(sums_[energy], "the kinetic energy");
}

// Sum of the contributions of two ranks to the flow statistics.
void PartialStatistics::add(const PartialStatistics& o) {
  if (o.parcels_ > 0) {
    least_buoyancy_ = parcels_ == 0 ? o.least_buoyancy_ : std::min(least_buoyancy_, o.least_buoyancy_);
    greatest_buoyancy_ = parcels_ == 0 ? o.greatest_buoyancy_ : std::max(greatest_buoyancy_, o.greatest_buoyancy_);
  }
  parcels_ += o.parcels_;
  small_ += o.small_;
  counts += o.counts;
  for (std::size_t i = 0; i < sums; ++i) sums_[i].add(o.sums_[i]);
}

// Line of statistics from the sums over all ranks.
void PartialStatistics::finish(double box_volume, Statistics& out) const {
  out.parcels = parcels_;
  out.small = small_;
  out.volume = sums_[volume].value();
  if (parcels_ > 0) {
    const double n = static_cast<double>(parcels_);
    const double mean = out.volume / n;
    out.volume_deviation = std::sqrt(std::max(0.0, sums_[volume2].value() / n - mean * mean));
  }
  out.kinetic_energy = 0.5 * sums_[energy].value() / box_volume;
  double squares = 0;
  for (std::size_t c = 0; c < 3; ++c) {
    const double mean = sums_[xi2 + c].value() / box_volume;
    out.rms_vorticity[c] = std::sqrt(mean);
    squares += mean;
  }
  out.enstrophy = 0.5 * squares;
  out.least_buoyancy = least_buoyancy_;
  out.greatest_buoyancy = greatest_buoyancy_;
  out.counts = counts;
}

// Contribution of a rank as a message.
std::vector<std::byte> PartialStatistics::bytes() const {
  const StatisticsHeader head{parcels_, small_, least_buoyancy_, greatest_buoyancy_, counts};
  constexpr std::size_t kSum = ExactSum::kWords * sizeof(std::int64_t);
  std::vector<std::byte> out(sizeof head + sums * kSum);
  std::memcpy(out.data(), &head, sizeof head);
  for (std::size_t i = 0; i < sums; ++i)
    std::memcpy(out.data() + sizeof head + i * kSum, sums_[i].words().data(), kSum);
  return out;
}

PartialStatistics PartialStatistics::from_bytes(std::span<const std::byte> bytes) {
  constexpr std::size_t kSum = ExactSum::kWords * sizeof(std::int64_t);
  StatisticsHeader head;
  if (bytes.size() != sizeof head + sums * kSum)
    throw CommError("statistics of a rank came as " + std::to_string(bytes.size()) +
                    " bytes; expected: " + std::to_string(sizeof head + sums * kSum));
  std::memcpy(&head, bytes.data(), sizeof head);
  PartialStatistics out;
  out.parcels_ = head.parcels;
  out.small_ = head.small;
  out.least_buoyancy_ = head.least_buoyancy;
  out.greatest_buoyancy_ = head.greatest_buoyancy;
  out.counts = head.counts;
  std::vector<std::int64_t> words(ExactSum::kWords);
  for (std::size_t i = 0; i < sums; ++i) {
    std::memcpy(words.data(), bytes.data() + sizeof head + i * kSum, kSum);
    out.sums_[i] = ExactSum::from_words(words.data());
  }
  return out;
}

Choices<StatisticsWay> statistics_ways() {
  return {{{"network", StatisticsWay::network}, {"collective", StatisticsWay::collective}}};
}

/// State of the gathering of flow statistics on one rank: states whose contributions have not all arrived, and the network that
/// brings them.
struct StatisticsGatherer::Impl {
  Impl(comm::Transport& t, StatisticsWay way, double volume) : transport(t), box_volume(volume) {
    if (way == StatisticsWay::collective) return;
    network.emplace(t, announce::DeBruijnNetwork(t.size(), kDegree));
  }

  /// Combines the contributions to the flow statistics that all ranks announced after the same step, one of each rank, into the
  /// statistics of the oldest state.
  void combine(std::span<const announce::Announcement> announcements) {
    if (announcements.empty()) return;
    PartialStatistics all;
    for (const announce::Announcement& a : announcements) all.add(PartialStatistics::from_bytes(a.bytes));
    complete(all);
  }
  /// Completes the statistics of the oldest state that waits for them, from the sums over all ranks: states complete in the order
  /// in which they were added.
  void complete(const PartialStatistics& all) {
    all.finish(box_volume, waiting.front());
    ready.push_back(waiting.front());
    waiting.pop_front();
  }

  comm::Transport& transport;
  double box_volume;
  std::optional<announce::AnnouncementNetwork> network;
  std::deque<Statistics> waiting;  // states whose contributions have not all arrived, oldest first
  std::vector<Statistics> ready;   // complete, not yet returned
};

StatisticsGatherer::StatisticsGatherer(comm::Transport& transport, StatisticsWay way, double box_volume)
    : impl_(std::make_unique<Impl>(transport, way, box_volume)) {}
StatisticsGatherer::~StatisticsGatherer() = default;
StatisticsGatherer::StatisticsGatherer(StatisticsGatherer&&) noexcept = default;

// Contribution to the statistics of a state, announced over the network or reduced at once.
void StatisticsGatherer::add(const Statistics& row, const PartialStatistics& mine) {
  impl_->waiting.push_back(row);
  const std::vector<std::byte> bytes = mine.bytes();
  if (impl_->network) {
    impl_->network->announce(kTopic, bytes);
    return impl_->combine(impl_->network->step());
  }
  PartialStatistics all;
  for (const auto& part : impl_->transport.all_gather(bytes)) all.add(PartialStatistics::from_bytes(part));
  impl_->complete(all);
}

// End of a run: steps of the network until all contributions have arrived.
void StatisticsGatherer::drain() {
  if (!impl_->network) return;
  for (int i = 0; i < impl_->network->time_to_live() && !impl_->waiting.empty(); ++i)
    impl_->combine(impl_->network->step());
}

std::vector<Statistics> StatisticsGatherer::pop_complete() { return std::exchange(impl_->ready, {}); }

}  // namespace merganser::flow
