// Prim's algorithm over ranks: the newest point of the tree is compared with all that are not in it.
#include <cstring>

#include "merganser/comm/collectives.hpp"
#include "src/msf/euclidean/pairs.hpp"

namespace merganser::msf::euclidean {
namespace {

using nearest::kPairGroup;

/// The point that comes next, as one rank offers it. Its coordinates stand behind.
struct Next {
  Key key;
  std::uint64_t id = 0;
  double core = 0;
};
constexpr std::size_t kHead = sizeof(Next) / sizeof(double);
static_assert(sizeof(Next) % sizeof(double) == 0);

class PairTree {
 public:
  PairTree(const Given& given, Slab slab, std::vector<double> core, comm::Transport& transport)
      : slab_(std::move(slab)),
        core_(std::move(core)),
        transport_(transport),
        best_(slab_.room(), kInfinity),
        partner_(slab_.size(), ~std::uint64_t{0}),
        newest_(kHead + slab_.axes(), 0) {
    std::fill(best_.begin() + static_cast<std::ptrdiff_t>(slab_.size()), best_.end(), -1.0);
    for (std::size_t i = 0; i < slab_.size(); ++i)
      if (slab_.id(i) == 0) begin_ = i;
    norm_ = given.norm();
    sphere_ = given.sphere();
  }

  [[nodiscard]] std::vector<graphs::Edge24> all(std::uint64_t total, const std::function<void(double)>& progress) {
    constexpr std::uint64_t kOften = 256;
    std::vector<graphs::Edge24> edges;
    edges.reserve(slab_.size());
    least_ = begin_;
    for (std::uint64_t step = 0; step < total; ++step) {
      if (progress && step % kOften == 0) {
        const double open = 1 - static_cast<double>(step) / static_cast<double>(total);
        progress(1 - open * open);
      }
      offer(step == 0);
      const bool mine = agree();
      const Next next = head();
      if (mine) {
        if (step > 0)
          edges.push_back({next.key.low, next.key.high, graphs::bits_of(weight_of(next.key.d2, norm_, sphere_))});
        take_out(least_);
      }
      compare(next);
    }
    return edges;
  }

 private:
  [[nodiscard]] Key key_of_point(std::size_t i) const { return key_of(best_[i], slab_.id(i), partner_[i]); }
  [[nodiscard]] Next head() const {
    Next next;
    std::memcpy(static_cast<void*>(&next), newest_.data(), sizeof next);
    return next;
  }

  /// Writes this rank's least point into `newest_`.
  void offer(bool first) {
    Next next;
    if (least_ < slab_.size()) {
      next = {first ? Key{-1, 0, 0} : key_of_point(least_), slab_.id(least_), core_.empty() ? 0 : core_[least_]};
      slab_.place(least_, newest_.data() + kHead);
    }
    std::memcpy(newest_.data(), static_cast<const void*>(&next), sizeof next);
  }

  /// All ranks learn the least of all. True: it is of this rank.
  bool agree() {
    if (transport_.size() == 1) return true;
    const auto offers = comm::all_gather(transport_, newest_);
    std::size_t best = 0;
    Key least;
    for (std::size_t r = 0; r < offers.size(); ++r) {
      Next next;
      std::memcpy(static_cast<void*>(&next), offers[r].data(), sizeof next);
      if (!(next.key < least)) continue;
      least = next.key;
      best = r;
    }
    std::copy(offers[best].begin(), offers[best].end(), newest_.begin());
    return best == static_cast<std::size_t>(transport_.rank());
  }

  void take_out(std::size_t i) {
    const std::size_t last = slab_.size() - 1;
    best_[i] = best_[last];
    best_[last] = -1;  // what is no point is never near
    partner_[i] = partner_[last];
    if (!core_.empty()) core_[i] = core_[last];
    slab_.remove(i);
  }

  void compare(const Next& newest) {
    constexpr std::size_t kChunk = 512;
    std::array<double, kChunk> to;
    const std::size_t open = slab_.size();
    least_ = open;
    Key least;
    for (std::size_t begin = 0; begin < open; begin += kChunk) {
      const std::size_t end = std::min((open + kPairGroup - 1) / kPairGroup * kPairGroup, begin + kChunk);
      nearest::pair_distances(slab_.points(), newest_.data() + kHead, best_.data() + begin, begin, end, to.data());
      for (std::size_t i = begin; i < std::min(end, open); ++i) {
        if (to[i - begin] <= best_[i]) improve(i, to[i - begin], newest);
        if (best_[i] > least.d2) continue;
        const Key key = key_of_point(i);
        if (!(key < least)) continue;
        least = key;
        least_ = i;
      }
    }
  }
  void improve(std::size_t i, double d2, const Next& newest) {
    if (!core_.empty()) d2 = std::max({d2, core_[i], newest.core});
    if (!(key_of(d2, slab_.id(i), newest.id) < key_of_point(i))) return;
    best_[i] = d2;
    partner_[i] = newest.id;
  }

  Slab slab_;                 ///< of the points that are not in the tree
  std::vector<double> core_;  ///< of them, as compared; empty: plain distances
  comm::Transport& transport_;
  std::vector<double> best_;            ///< by point: what its least edge into the tree has
  std::vector<std::uint64_t> partner_;  ///< the id at its other end
  std::vector<double> newest_;          ///< a Next and its coordinates
  std::size_t begin_ = ~std::size_t{0};
  std::size_t least_ = 0;
  Norm norm_ = Norm::squares;
  bool sphere_ = false;
};

}  // namespace

Forest forest_by_pairs(const Given& given, comm::Transport& transport, const EuclideanOptions& options,
                       Report& report) {
  const auto n = static_cast<double>(given.total());
  const bool reach = options.min_samples > 1;
  forecast_pairs(given, transport, options, n * (n - 1) / 2 + (reach ? n * n : 0), report);
  Slab slab(given);
  std::vector<double> core;
  if (reach) core = cores_by_pairs(given, slab, options.min_samples, options.threads, transport, report);
  const Report::Scope scope(report, "pairs", transport);
  std::function<void(double)> progress;
  if (report.progress && transport.rank() == 0) progress = [&](double share) { report.progress("pairs", share); };
  PairTree tree(given, std::move(slab), std::move(core), transport);
  return {given.total(), graphs::WeightKind::float64, tree.all(given.total(), progress)};
}

}  // namespace merganser::msf::euclidean
