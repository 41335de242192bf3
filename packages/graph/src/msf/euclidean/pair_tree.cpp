// Distributed Prim's algorithm for points of many dimensions: in each step the newest point of the tree is compared with all
// points outside it, and one collective call selects the next.
#include <cstring>

#include "merganser/comm/collectives.hpp"
#include "src/msf/euclidean/pairs.hpp"

namespace merganser::msf::euclidean {
namespace {

using nearest::kPairGroup;

/// Header of a message of distributed Prim's algorithm: a rank's candidate for the next point of the tree. The coordinates of the
/// point follow.
struct PrimCandidate {
  Key key;               ///< least edge of the point into the tree
  std::uint64_t id = 0;  ///< id of the point
  double core = 0;       ///< its core distance as compared; 0 with plain distances
};
constexpr std::size_t kHead = sizeof(PrimCandidate) / sizeof(double);  // numbers before the coordinates
static_assert(sizeof(PrimCandidate) % sizeof(double) == 0);

/// Distributed Prim's algorithm for points of many dimensions, as one rank runs it: the rank's points that are not in the tree yet,
/// with their least edges into the tree.
class PairTree {
 public:
  PairTree(const CheckedPoints& given, Slab slab, std::vector<double> core, comm::Transport& transport)
      : given_(given),
        slab_(std::move(slab)),
        core_(std::move(core)),
        transport_(transport),
        best_(slab_.capacity(), kInfinity),
        partner_(slab_.size(), ~std::uint64_t{0}),
        newest_(kHead + slab_.axes(), 0) {
    std::fill(best_.begin() + static_cast<std::ptrdiff_t>(slab_.size()), best_.end(), -1.0);
    for (std::size_t i = 0; i < slab_.size(); ++i)
      if (slab_.id(i) == 0) begin_ = i;
  }

  /// Computes the minimum spanning tree of all ranks' points by Prim's algorithm from point 0. Collective. @param total  points on
  /// all ranks @return this rank's edges: those by which its points were added to the tree
  [[nodiscard]] std::vector<graphs::Edge24> run(std::uint64_t total, const std::function<void(double)>& progress) {
    constexpr std::uint64_t kOften = 256;
    std::vector<graphs::Edge24> edges;
    edges.reserve(slab_.size());
    least_ = begin_;
    for (std::uint64_t step = 0; step < total; ++step) {
      if (progress && step % kOften == 0) {
        // The remaining work is quadratic in the points that are left.
        const double open = 1 - static_cast<double>(step) / static_cast<double>(total);
        progress(1 - open * open);
      }
      write_candidate(step == 0);
      const bool mine = select_least();
      const PrimCandidate next = read_next();
      if (mine) {
        if (step > 0)
          edges.push_back({next.key.low, next.key.high, graphs::ordered_bits(given_.distance(next.key.d2))});
        remove(least_);
      }
      update_best(next);
    }
    return edges;
  }

 private:
  /// Returns the key of the least edge of this rank's point at position i into the tree.
  [[nodiscard]] Key point_key(std::size_t i) const { return make_key(best_[i], slab_.id(i), partner_[i]); }
  /// Returns the header of the message in `newest_`: the point that has become part of the tree.
  [[nodiscard]] PrimCandidate read_next() const {
    PrimCandidate next;
    std::memcpy(static_cast<void*>(&next), newest_.data(), sizeof next);
    return next;
  }

  /// Writes this rank's candidate for the next point of the tree, with its coordinates, into `newest_`; point 0 in the first step.
  void write_candidate(bool first) {
    PrimCandidate next;
    if (least_ < slab_.size()) {
      next = {first ? Key{-1, 0, 0} : point_key(least_), slab_.id(least_), core_.empty() ? 0 : core_[least_]};
      slab_.write_coordinates(least_, newest_.data() + kHead);
    }
    std::memcpy(newest_.data(), static_cast<const void*>(&next), sizeof next);
  }

  /// Selects the next point of the tree into `newest_`: the candidate of all ranks with the least edge. Collective. @return true if
  /// it is this rank's
  bool select_least() {
    // Keys are strictly ordered, so that all ranks select the same candidate.
    if (transport_.size() == 1) return true;
    const auto offers = comm::all_gather(transport_, newest_);
    std::size_t best = 0;
    Key least;
    for (std::size_t r = 0; r < offers.size(); ++r) {
      PrimCandidate next;
      std::memcpy(static_cast<void*>(&next), offers[r].data(), sizeof next);
      if (!(next.key < least)) continue;
      least = next.key;
      best = r;
    }
    std::copy(offers[best].begin(), offers[best].end(), newest_.begin());
    return best == static_cast<std::size_t>(transport_.rank());
  }

  /// Removes this rank's point at position i, which has become part of the tree, by moving the last point to its position.
  void remove(std::size_t i) {
    const std::size_t last = slab_.size() - 1;
    best_[i] = best_[last];
    best_[last] = -1;  // padding: no distance is below its limit
    partner_[i] = partner_[last];
    if (!core_.empty()) core_[i] = core_[last];
    slab_.remove(i);
  }

  /// Updates the least edges into the tree of all points of this rank that are outside by those to the newest point, and determines
  /// the least of them, this rank's next candidate. Local.
  void update_best(const PrimCandidate& newest) {
    // Distances are computed in chunks by vector instructions; those above a point's least edge so far need no comparison of keys.
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
        const Key key = point_key(i);
        if (!(key < least)) continue;
        least = key;
        least_ = i;
      }
    }
  }
  /// Replaces the least edge into the tree of this rank's point at position i by that to the newest point, if that is less.
  /// @param d2  their distance as compared
  void improve(std::size_t i, double d2, const PrimCandidate& newest) {
    if (!core_.empty()) d2 = std::max({d2, core_[i], newest.core});
    if (!(make_key(d2, slab_.id(i), newest.id) < point_key(i))) return;
    best_[i] = d2;
    partner_[i] = newest.id;
  }

  const CheckedPoints& given_;
  Slab slab_;                 ///< this rank's points that are not in the tree
  std::vector<double> core_;  ///< core distances of these points, as compared; empty: plain distances
  comm::Transport& transport_;
  std::vector<double> best_;             ///< by point: compared value of its least edge into the tree
  std::vector<std::uint64_t> partner_;   ///< by point: id of the tree's point at the other end of that edge
  std::vector<double> newest_;           ///< message: header and coordinates of a candidate, then of the newest point
  std::size_t begin_ = ~std::size_t{0};  ///< position of the point of id 0; ~0: it is on another rank
  std::size_t least_ = 0;                ///< position of this rank's candidate
};

}  // namespace

// Spanning tree of points of many axes: all pairs are compared, with a forecast of the cost before.
Forest forest_by_pairs(const CheckedPoints& given, comm::Transport& transport, const EuclideanOptions& options,
                       Report& report, std::vector<double>* cores) {
  const auto n = static_cast<double>(given.total());
  const bool reach = options.min_samples > 1;
  forecast_pairs(given, transport, options, n * (n - 1) / 2 + (reach ? n * n : 0), report);
  Slab slab(given);
  std::vector<double> core;
  if (reach) core = cores_by_pairs(given, slab, options.min_samples, options.threads, transport, report);
  if (cores != nullptr) {
    *cores = core;
    cores->resize(given.size(), 0);
    for (double& c : *cores) c = given.distance(c);
  }
  const Stretch stretch = given.stretch(options.alpha);
  stretch.stretch(core, transport);
  const Report::Scope scope(report, "pairs", transport);
  std::function<void(double)> progress;
  if (report.progress && transport.rank() == 0) progress = [&](double share) { report.progress("pairs", share); };
  PairTree tree(given, std::move(slab), std::move(core), transport);
  auto edges = tree.run(given.total(), progress);
  stretch.divide(edges);
  return {given.total(), graphs::WeightKind::float64, std::move(edges)};
}

}  // namespace merganser::msf::euclidean
