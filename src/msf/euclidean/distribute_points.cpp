#include "src/msf/euclidean/distribute_points.hpp"

#include <string>

#include "merganser/base/error.hpp"
#include "merganser/base/options.hpp"
#include "merganser/base/random.hpp"
#include "merganser/comm/collectives.hpp"
#include "src/msf/euclidean/surplus_points.hpp"

namespace merganser::msf::euclidean {
namespace {

constexpr double kZero = 1e-140;
constexpr double kMost = 1e150;
constexpr std::size_t kSample = 16384;  // points looked at on all ranks together

void check_shape(const PointSet& points) {
  if (points.dimension != 2 && points.dimension != 3)
    throw InputError("points of dimension " + std::to_string(points.dimension) + "; allowed: 2, 3");
  const auto dimension = static_cast<std::size_t>(points.dimension);
  if (points.coordinates.size() != dimension * points.ids.size())
    throw InputError(std::to_string(points.coordinates.size()) + " coordinates of " +
                     std::to_string(points.ids.size()) + " points; allowed: " + std::to_string(dimension) +
                     " per point");
  if (points.size() >= (std::size_t{1} << 31))
    throw InputError(std::to_string(points.size()) + " points on one rank; allowed: below 2^31");
  for (std::size_t a = 0; a < dimension; ++a) {
    if (!points.box.periodic[a]) continue;
    const double extent = points.box.extent[a];
    if (!(extent > kZero && extent <= kMost && std::fabs(points.box.lower[a]) <= kMost))
      throw InputError("a period of " + number_text(extent) + " from " + number_text(points.box.lower[a]) +
                       "; allowed: above 1e-140, up to 1e150");
  }
}

void check_values(const PointSet& points, std::uint64_t total) {
  const auto dimension = static_cast<std::size_t>(points.dimension);
  for (std::size_t i = 0; i < points.coordinates.size(); ++i) {
    const double x = points.coordinates[i];
    if (!(std::fabs(x) <= kMost))
      throw InputError("coordinate " + number_text(x) + " of point " + std::to_string(points.ids[i / dimension]) +
                       "; allowed: finite, within +-1e150");
  }
  for (const auto id : points.ids)
    if (id >= total)
      throw InputError("point " + std::to_string(id) + " of " + std::to_string(total) +
                       "; allowed: every number below that once");
}

}  // namespace

Vec3 canonical(const PointSet& points, std::size_t i) {
  const auto dimension = static_cast<std::size_t>(points.dimension);
  Vec3 at{0, 0, 0};
  for (std::size_t a = 0; a < dimension; ++a) {
    double x = points.coordinates[dimension * i + a];
    if (points.box.periodic[a]) {
      const double extent = points.box.extent[a];
      x = points.box.wrap(static_cast<int>(a), x) - points.box.lower[a];
      if (!(x >= 0 && x < extent)) x = 0;  // rounded up to the end, which is the beginning
    }
    at[a] = std::fabs(x) < kZero ? 0.0 : x;
  }
  return at;
}

Metric metric_of(const PointSet& points) {
  Metric metric;
  for (std::size_t a = 0; a < static_cast<std::size_t>(points.dimension); ++a) {
    if (!points.box.periodic[a]) continue;
    metric.period[a] = points.box.extent[a];
    metric.any_period = true;
  }
  return metric;
}

std::uint64_t check(const PointSet& points, comm::Transport& transport) {
  comm::agree(transport, [&] { check_shape(points); });
  const auto total =
      static_cast<std::uint64_t>(transport.all_reduce(static_cast<std::int64_t>(points.size()), comm::Op::sum));
  comm::agree(transport, [&] { check_values(points, total); });
  // Sums of hashes: of the ids given, less those of the numbers there should be, each rank its share.
  const auto ranks = static_cast<std::uint64_t>(transport.size());
  const auto rank = static_cast<std::uint64_t>(transport.rank());
  std::uint64_t sum = 0;
  for (const auto id : points.ids) sum += mix64(id + 1);
  for (std::uint64_t id = rank; id < total; id += ranks) sum -= mix64(id + 1);
  std::int64_t same[3] = {static_cast<std::int64_t>(sum), points.dimension, -points.dimension};
  same[0] = transport.all_reduce(same[0], comm::Op::sum);
  transport.all_reduce(std::span(same).subspan(1), comm::Op::max);
  if (same[0] != 0)
    throw InputError("a point is there twice; allowed: every number below " + std::to_string(total) + " once");
  if (same[1] != -same[2]) throw InputError("points of 2 dimensions on one rank, of 3 on another; allowed: the same");
  return total;
}

namespace {

/// Order by one axis, then the next.
struct Along {
  std::size_t axis;
  bool operator()(const Vec3& a, const Vec3& b) const {
    for (std::size_t i = 0; i < 3; ++i) {
      const std::size_t k = (axis + i) % 3;
      if (a[k] != b[k]) return a[k] < b[k];
    }
    return false;
  }
};

}  // namespace

Owners::Owners(std::vector<Vec3> sample, int ranks) {
  only_ = cut(sample.data(), sample.data() + sample.size(), 0, ranks);
}

int Owners::cut(Vec3* first, Vec3* last, int rank, int ranks) {
  if (ranks == 1) return -1 - rank;
  Bounds box;
  for (const Vec3* p = first; p != last; ++p) box.add(*p);
  const int half = ranks / 2;
  const std::size_t axis = first == last ? 0 : box.widest();
  Vec3* const middle = first + (last - first) * half / ranks;
  if (first != last) std::nth_element(first, middle, last, Along{axis});
  const auto here = cuts_.size();
  cuts_.push_back({first == last ? Vec3{0, 0, 0} : *middle, axis, 0, 0});
  const int below = cut(first, middle, rank, half);
  const int above = cut(middle, last, rank + half, ranks - half);
  cuts_[here].below = below;
  cuts_[here].above = above;
  return static_cast<int>(here);
}

int Owners::owner(const Vec3& p) const {
  int next = only_;
  while (next >= 0) {
    const Cut& c = cuts_[static_cast<std::size_t>(next)];
    const bool below = p[c.axis] != c.at[c.axis] ? p[c.axis] < c.at[c.axis] : Along{c.axis}(p, c.at);
    next = below ? c.below : c.above;
  }
  return -1 - next;
}

namespace {

/// Some of all points, spread evenly over the order in which they are given. Collective.
std::vector<Vec3> sample_of(const PointSet& points, std::uint64_t total, comm::Transport& transport) {
  std::vector<Vec3> mine;
  const std::size_t n = points.size();
  const double share = n > 0 ? static_cast<double>(n) / static_cast<double>(total) : 0;
  const std::size_t wanted = std::min(n, static_cast<std::size_t>(share * kSample) + 1);
  Random random(1, static_cast<std::uint64_t>(transport.rank()), 0);
  for (std::size_t i = 0; i < wanted; ++i) {  // n below 2^31, wanted up to kSample + 1
    const std::size_t begin = n * i / wanted;
    mine.push_back(canonical(points, begin + static_cast<std::size_t>(random.below(n * (i + 1) / wanted - begin))));
  }
  return comm::all_gather(transport, mine).flat();
}

/// Removes what is there twice. @return true if that was much
bool thin_out(std::vector<Vec3>& sample) {
  auto thin = sample;
  std::sort(thin.begin(), thin.end());
  thin.erase(std::unique(thin.begin(), thin.end()), thin.end());
  if (thin.size() + sample.size() / 4 >= sample.size()) return false;
  sample = std::move(thin);
  return true;
}

/// What goes is written into messages at once; what stays is not sent.
void send(const PointSet& points, const Owners& owners, const SurplusPoints& surplus, comm::Transport& transport,
          bool remember, DistributedPoints& distributed) {
  const std::size_t n = points.size();
  const auto here = static_cast<std::size_t>(transport.rank());
  std::vector<std::vector<Item>> to(static_cast<std::size_t>(transport.size()));
  if (remember) distributed.came.resize(to.size());
  if (!distributed.surplus) {
    distributed.items.reserve(n + n / 16);
    for (auto& box : to) box.reserve(n / to.size());
    to[here] = std::vector<Item>();  // {} would keep the memory
  }
  for (std::size_t i = 0; i < n; ++i) {
    if (surplus.has(i)) {
      if (remember) distributed.went.push_back(-1);
      continue;
    }
    const Item item{canonical(points, i), points.ids[i]};
    const auto owner = static_cast<std::size_t>(owners.owner(item.at));
    if (remember) distributed.went.push_back(static_cast<int>(owner));
    if (owner == here) {
      distributed.items.push_back(item);
      if (remember) distributed.came[here].push_back(item.id);
      continue;
    }
    to[owner].push_back(item);
  }
  auto came = comm::all_to_all(transport, std::move(to));
  for (std::size_t r = 0; r < came.size(); ++r) {
    const std::size_t at = distributed.items.size();
    distributed.items.insert(distributed.items.end(), came[r].begin(), came[r].end());
    came.drop(r);
    for (std::size_t i = at; remember && i < distributed.items.size(); ++i)
      distributed.came[r].push_back(distributed.items[i].id);
  }
}

}  // namespace

DistributedPoints distribute_points(const PointSet& points, std::uint32_t fold, comm::Transport& transport,
                                    SurplusPoints& surplus, bool remember) {
  DistributedPoints distributed;
  distributed.total = check(points, transport);
  const std::size_t n = points.size();
  if (transport.size() > 1) {
    auto sample = sample_of(points, distributed.total, transport);
    distributed.surplus = thin_out(sample);
    const Owners owners(std::move(sample), transport.size());
    if (distributed.surplus) surplus.choose(points, fold, owners);
    send(points, owners, surplus, transport, remember, distributed);
    return distributed;
  }
  distributed.items.resize(n);
  for (std::size_t i = 0; i < n; ++i) distributed.items[i] = {canonical(points, i), points.ids[i]};
  if (remember) {
    distributed.came = {points.ids};
    distributed.went.assign(n, 0);
  }
  return distributed;
}

}  // namespace merganser::msf::euclidean
