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

void check_period(const PointSet& points, const Period& period) {
  if (period.axis < 0 || period.axis >= points.dimension)
    throw InputError("a period of axis " + std::to_string(period.axis) + "; allowed: 0 to " +
                     std::to_string(points.dimension - 1));
  if (!(period.length > kZero && period.length <= kMost && std::fabs(period.lower) <= kMost))
    throw InputError("a period of " + number_text(period.length) + " from " + number_text(period.lower) +
                     "; allowed: above 1e-140, up to 1e150");
  for (const Period& other : points.periods)
    if (&other != &period && other.axis == period.axis)
      throw InputError("two periods of axis " + std::to_string(period.axis) + "; allowed: one");
}

void check_shape(const PointSet& points) {
  if (points.dimension != 2 && points.dimension != 3)
    throw InputError("points of dimension " + std::to_string(points.dimension) + "; allowed: 2, 3");
  if (points.metric != Distance::euclidean)
    throw InputError("metric " + distances().name(points.metric) + "; allowed: euclidean");
  const auto dimension = static_cast<std::size_t>(points.dimension);
  if (points.coordinates.size() != dimension * points.size())
    throw InputError(std::to_string(points.coordinates.size()) + " coordinates of " + std::to_string(points.size()) +
                     " points; allowed: " + std::to_string(dimension) + " per point");
  if (points.size() >= (std::size_t{1} << 31))
    throw InputError(std::to_string(points.size()) + " points on one rank; allowed: below 2^31");
  for (const Period& period : points.periods) check_period(points, period);
}

/// A period as a box, which brings coordinates into it on its first axis.
Box box_of(const Period& period) { return {{period.lower, 0, 0}, {period.length, 1, 1}, {true, false, false}}; }

std::string text_of(const std::vector<Period>& periods) {
  std::string text;
  for (const Period& p : periods)
    text += (text.empty() ? "" : ", ") + std::to_string(p.axis) + " from " + number_text(p.lower) + " by " +
            number_text(p.length);
  return text.empty() ? "none" : text;
}

}  // namespace

Given::Given(const PointSet& points, comm::Transport& transport) : points_(points) {
  comm::check_same(transport, "points",
                   {{"the dimension", std::to_string(points.dimension)},
                    {"the metric", distances().name(points.metric)},
                    {"the periods", text_of(points.periods)}});
  comm::agree(transport, [&] { check_shape(points); });
  number(transport);
  comm::agree(transport, [&] { check_values(); });
  check_ids(transport);
}

void Given::number(comm::Transport& transport) {
  const auto [before, all] = comm::share_of(transport, points_.size());
  first_ = before;
  total_ = all;
  // Ranks without points have no ids either way.
  std::int64_t kinds[2] = {points_.size() > 0 && points_.ids.empty(), points_.size() > 0 && !points_.ids.empty()};
  transport.all_reduce(kinds, comm::Op::max);
  if (kinds[0] != 0 && kinds[1] != 0)
    throw InputError("ids of the points of some ranks only; allowed: on all ranks or on none");
}

void Given::check_values() const {
  const auto dimension = static_cast<std::size_t>(points_.dimension);
  for (std::size_t i = 0; i < points_.coordinates.size(); ++i) {
    const double x = points_.coordinates[i];
    if (!(std::fabs(x) <= kMost))
      throw InputError("coordinate " + number_text(x) + " of point " + std::to_string(id(i / dimension)) +
                       "; allowed: finite, within +-1e150");
  }
  for (const auto id : points_.ids)
    if (id >= total_)
      throw InputError("point " + std::to_string(id) + " of " + std::to_string(total_) +
                       "; allowed: every number below that once");
}

void Given::check_ids(comm::Transport& transport) const {
  // Sums of hashes: of the ids given, less those of the numbers there should be, each rank its share.
  const auto ranks = static_cast<std::uint64_t>(transport.size());
  const auto rank = static_cast<std::uint64_t>(transport.rank());
  std::uint64_t sum = 0;
  for (const auto id : points_.ids) sum += mix64(id + 1);
  std::int64_t some = points_.ids.empty() ? 0 : 1;
  if (transport.all_reduce(some, comm::Op::max) == 0) return;
  for (std::uint64_t id = rank; id < total_; id += ranks) sum -= mix64(id + 1);
  if (transport.all_reduce(static_cast<std::int64_t>(sum), comm::Op::sum) != 0)
    throw InputError("a point is there twice; allowed: every number below " + std::to_string(total_) + " once");
}

Vec3 Given::at(std::size_t i) const {
  const auto dimension = static_cast<std::size_t>(points_.dimension);
  Vec3 at{0, 0, 0};
  for (std::size_t a = 0; a < dimension; ++a) at[a] = points_.coordinates[dimension * i + a];
  for (const Period& period : points_.periods) {
    double& x = at[static_cast<std::size_t>(period.axis)];
    x = box_of(period).wrap(0, x) - period.lower;
    if (!(x >= 0 && x < period.length)) x = 0;  // rounded up to the end, which is the beginning
  }
  for (double& x : at) x = std::fabs(x) < kZero ? 0.0 : x;
  return at;
}

Metric Given::metric() const {
  Metric metric;
  for (const Period& period : points_.periods) metric.period[static_cast<std::size_t>(period.axis)] = period.length;
  metric.any_period = !points_.periods.empty();
  return metric;
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
std::vector<Vec3> sample_of(const Given& points, comm::Transport& transport) {
  std::vector<Vec3> mine;
  const std::size_t n = points.size();
  const double share = n > 0 ? static_cast<double>(n) / static_cast<double>(points.total()) : 0;
  const std::size_t wanted = std::min(n, static_cast<std::size_t>(share * kSample) + 1);
  Random random(1, static_cast<std::uint64_t>(transport.rank()), 0);
  for (std::size_t i = 0; i < wanted; ++i) {  // n below 2^31, wanted up to kSample + 1
    const std::size_t begin = n * i / wanted;
    mine.push_back(points.at(begin + static_cast<std::size_t>(random.below(n * (i + 1) / wanted - begin))));
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
void send(const Given& points, const Owners& owners, const SurplusPoints& surplus, comm::Transport& transport,
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
    const Item item{points.at(i), points.id(i)};
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

DistributedPoints distribute_points(const Given& points, std::uint32_t fold, comm::Transport& transport,
                                    SurplusPoints& surplus, bool remember) {
  DistributedPoints distributed;
  distributed.total = points.total();
  const std::size_t n = points.size();
  if (transport.size() > 1) {
    auto sample = sample_of(points, transport);
    distributed.surplus = thin_out(sample);
    const Owners owners(std::move(sample), transport.size());
    if (distributed.surplus) surplus.choose(points, fold, owners);
    send(points, owners, surplus, transport, remember, distributed);
    return distributed;
  }
  distributed.items.resize(n);
  for (std::size_t i = 0; i < n; ++i) distributed.items[i] = {points.at(i), points.id(i)};
  if (remember) {
    distributed.came.resize(1);
    for (std::size_t i = 0; i < n; ++i) distributed.came[0].push_back(points.id(i));
    distributed.went.assign(n, 0);
  }
  return distributed;
}

}  // namespace merganser::msf::euclidean
