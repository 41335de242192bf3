// Points of many dimensions, of which all pairs are compared with vector instructions: nearest neighbours, joints, core distances,
// and the prediction of the cost.
#include "src/msf/euclidean/fitted.hpp"

#include <algorithm>

#include "merganser/base/error.hpp"
#include "merganser/base/parallel.hpp"
#include "merganser/base/text.hpp"
#include "merganser/base/timer.hpp"
#include "merganser/comm/collectives.hpp"

namespace merganser::msf::euclidean {

using nearest::kPairGroup;

// Copy of this rank's points in groups of 8, for points of too many axes for a tree of boxes.
Slab::Slab(const CheckedPoints& given, std::size_t most)
    : axes_(given.axes()), norm_(given.norm()), divisor_(given.divisor()) {
  const std::size_t n = std::min(given.size(), most);
  if (given.periodic()) periods_ = given.periods();
  data_.assign((n + kPairGroup - 1) / kPairGroup * kPairGroup * axes_, 0);
  ids_.resize(n);
  std::vector<double> row(axes_);
  for (std::size_t i = 0; i < n; ++i) {
    given.write_coordinates(i, row.data());
    ids_[i] = given.id(i);
    for (std::size_t a = 0; a < axes_; ++a) data_[at(i) + 8 * a] = row[a];
  }
}

void Slab::write_coordinates(std::size_t i, double* to) const {
  for (std::size_t a = 0; a < axes_; ++a) to[a] = data_[at(i) + 8 * a];
}

// Removal of a point that Prim's algorithm has added to the tree.
void Slab::remove(std::size_t i) {
  const std::size_t last = size() - 1;
  for (std::size_t a = 0; a < axes_; ++a) data_[at(i) + 8 * a] = data_[at(last) + 8 * a];
  ids_[i] = ids_[last];
  ids_.pop_back();
}

// View for the vectorised scan of pairs.
nearest::PairPoints Slab::points() const {
  return {data_.data(), axes_, periods_.empty() ? nullptr : periods_.data(), norm_};
}

void insert_near(Near* row, std::size_t k, const Near& near) {
  if (!(near < row[k - 1])) return;
  Near* const at = std::upper_bound(row, row + k, near);
  std::copy_backward(at, row + k - 1, row + k);
  *at = near;
}

namespace {

/// Returns the number of points whose coordinates fit a cache of 256 KiB while many places are compared with them, a multiple of
/// nearest::kPairGroup.
std::size_t chunk_size(std::size_t axes) {
  constexpr std::size_t kBytes = 1 << 18;
  return std::max(kPairGroup, kBytes / (8 * axes) / kPairGroup * kPairGroup);
}

/// Finds the k nearest of this rank's points to each of some places by comparing all pairs, on several threads. Local.
/// @param rows  coordinates of the places @return rows of k, sorted; missing points are infinite
std::vector<Near> nearest_here(const Slab& slab, std::span<const double> rows, std::size_t k, int threads) {
  const std::size_t count = rows.size() / slab.axes();
  std::vector<Near> out(count * k);
  const std::size_t chunk = chunk_size(slab.axes());
  share_loop(threads, count, [&](std::size_t first, std::size_t last) {
    // A chunk of points stays in the cache while all places of this thread are compared with it.
    std::vector<double> most(chunk);
    std::vector<double> to(chunk);
    for (std::size_t begin = 0; begin < slab.size(); begin += chunk) {
      const std::size_t end = std::min(begin + chunk, slab.capacity());
      const std::size_t points = std::min(end, slab.size()) - begin;
      for (std::size_t q = first; q < last; ++q) {
        Near* const row = out.data() + q * k;
        std::fill(most.begin(), most.end(), row[k - 1].d2);
        nearest::pair_distances(slab.points(), rows.data() + q * slab.axes(), most.data(), begin, end, to.data());
        for (std::size_t i = 0; i < points; ++i)
          if (to[i] <= row[k - 1].d2) insert_near(row, k, {to[i], slab.id(begin + i)});
      }
    }
  });
  return out;
}

/// Replaces `best` by the best joint (edge of least mutual reachability) from the place of a new point to this rank's points, if
/// that comes before it; compares all of them. @param cores  core distances of this rank's points, in the order of the slab
void join_here(const Slab& slab, std::span<const double> cores, const double* place, Joint& best) {
  const std::size_t chunk = chunk_size(slab.axes());
  std::vector<double> most(chunk);
  std::vector<double> to(chunk);
  for (std::size_t begin = 0; begin < slab.size(); begin += chunk) {
    const std::size_t end = std::min(begin + chunk, slab.capacity());
    // Only distances can exclude points: the reachability is at least the distance.
    std::fill(most.begin(), most.end(), slab.compared_above(best.reachability));
    nearest::pair_distances(slab.points(), place, most.data(), begin, end, to.data());
    for (std::size_t i = begin; i < std::min(end, slab.size()); ++i) {
      if (to[i - begin] > most[i - begin]) continue;
      Joint joint{slab.id(i), slab.distance(to[i - begin]), best.core, 0};
      joint.reachability = std::max({joint.distance, best.core, cores[i]});
      if (joins_before(joint, best)) best = joint;
    }
  }
}

}  // namespace

// Joints of new points for many axes: places go around all ranks in batches, and the best joint is kept.
void join_by_pairs(const Slab& slab, std::span<const double> cores, std::span<const double> rows,
                   std::vector<Joint>& joints, comm::Transport& transport) {
  // All ranks make as many batches as the one with most new points, since the exchanges are collective; batches bound the memory.
  constexpr std::size_t kBatch = 1024;
  const std::size_t axes = slab.axes();
  const auto batches = static_cast<std::size_t>(
      transport.all_reduce(static_cast<std::int64_t>((joints.size() + kBatch - 1) / kBatch), comm::Op::max));
  for (std::size_t b = 0; b < batches; ++b) {
    const std::size_t begin = std::min(b * kBatch, joints.size());
    const std::size_t end = std::min(begin + kBatch, joints.size());
    const auto places = comm::all_gather(transport, rows.subspan(begin * axes, (end - begin) * axes));
    const auto asked = comm::all_gather(transport, std::span<const Joint>(joints).subspan(begin, end - begin));
    std::vector<std::vector<Joint>> back;
    for (std::size_t r = 0; r < asked.size(); ++r) {
      auto& best = back.emplace_back(asked[r].begin(), asked[r].end());
      for (std::size_t i = 0; i < best.size(); ++i) join_here(slab, cores, places[r].data() + i * axes, best[i]);
    }
    for (const auto answers : comm::all_to_all(transport, std::move(back)))
      for (std::size_t i = 0; i < answers.size(); ++i)
        if (joins_before(answers[i], joints[begin + i])) joints[begin + i] = answers[i];
  }
}

// k nearest points for many axes: each rank compares the places of all ranks with its points; the lists are then
// merged.
std::vector<Near> nearest_by_pairs(const Slab& slab, std::span<const double> rows, std::size_t k, int threads,
                                   comm::Transport& transport, const std::function<void(double)>& progress) {
  const std::size_t axes = slab.axes();
  const std::size_t count = rows.size() / axes;
  // Places of all ranks are gathered in batches, so that memory stays bounded; each rank compares them with its own points.
  const std::size_t batch = std::clamp<std::size_t>((std::size_t{1} << 22) / (axes + 2 * k), 1, 1024);
  const auto most = static_cast<std::size_t>(
      transport.all_reduce(static_cast<std::int64_t>((count + batch - 1) / batch), comm::Op::max));
  std::vector<Near> out(count * k);
  for (std::size_t b = 0; b < most; ++b) {
    if (progress) progress(static_cast<double>(b) / static_cast<double>(most));
    const std::size_t begin = std::min(b * batch, count);
    const std::size_t end = std::min(begin + batch, count);
    const auto asked = comm::all_gather(transport, rows.subspan(begin * axes, (end - begin) * axes));
    std::vector<std::vector<Near>> back;
    for (std::size_t r = 0; r < asked.size(); ++r)
      back.push_back(nearest_here(slab, std::span<const double>(asked[r].data(), asked[r].size()), k, threads));
    const auto answers = comm::all_to_all(transport, std::move(back));
    for (std::size_t r = 0; r < answers.size(); ++r)
      for (std::size_t i = 0; i < answers[r].size(); ++i)
        insert_near(out.data() + (begin + i / k) * k, k, answers[r][i]);
  }
  return out;
}

namespace {

/// Measures the time of computing one distance between points in this rank's space, in seconds, by computing some for about 10 ms;
/// 0 on a rank without points.
double measure_distance(const CheckedPoints& given) {
  // Repeated until the clock resolves it; the padding of the slab is computed too, and counts.
  constexpr double kLong = 0.01;
  const Slab slab(given, 4096);
  if (slab.size() == 0) return 0;
  std::vector<double> row(slab.axes());
  slab.write_coordinates(0, row.data());
  const std::vector<double> most(slab.capacity(), kInfinity);
  std::vector<double> to(slab.capacity());
  const double start = now();
  double done = 0;
  double seconds = 0;
  for (; seconds < kLong; seconds = now() - start) {
    nearest::pair_distances(slab.points(), row.data(), most.data(), 0, slab.capacity(), to.data());
    done += static_cast<double>(slab.capacity());
  }
  return seconds / done;
}

/// Returns the forecast of comparing all pairs of points as text, for the error that refuses it.
std::string format_forecast(const PairsForecast& f) {
  return count_text(static_cast<std::int64_t>(std::min(f.distances, 9e18))) + " distances of " +
         count_text(static_cast<std::int64_t>(f.points)) + " points in " + std::to_string(f.dimension) +
         " dimensions, which are compared pair by pair: about " + seconds_text(f.seconds) + " and " +
         bytes_text(f.rank_bytes) + " on each rank";
}

}  // namespace

// Forecast of a brute-force run from a short measurement; refuses more distances than the option allows.
void forecast_pairs(const CheckedPoints& given, comm::Transport& transport, const EuclideanOptions& options,
                    double distances, Report& report) {
  // The slowest rank and the largest share determine the cost: all ranks work in step.
  double cost[2] = {measure_distance(given), static_cast<double>(given.size())};
  transport.all_reduce(cost, comm::Op::max);
  PairsForecast forecast;
  forecast.points = given.total();
  forecast.dimension = static_cast<int>(given.axes());
  forecast.distances = distances;
  forecast.seconds = cost[0] * distances / transport.size();
  forecast.rank_bytes = cost[1] * (8 * static_cast<double>(given.axes()) + 56);
  report.fact("pairs_distances", static_cast<std::int64_t>(std::min(distances, 9e18)));
  comm::agree(transport, [&] {
    if (distances > static_cast<double>(options.most_distances))
      throw UsageError(format_forecast(forecast) + "; allowed: up to " + count_text(options.most_distances) +
                       ", or more with most_distances (--most-distances of a command)");
    if (transport.rank() == 0 && options.forecast) options.forecast(forecast);
  });
}

// Core distances for many axes, from the k nearest points.
std::vector<double> cores_by_pairs(const CheckedPoints& given, const Slab& slab, int k, int threads,
                                   comm::Transport& transport, Report& report) {
  const Report::Scope scope(report, "neighbours", transport);
  const auto keep = static_cast<std::size_t>(k);
  std::vector<double> cores(given.size(), 0);
  if (k <= 1) return cores;
  std::function<void(double)> progress;
  if (report.progress && transport.rank() == 0) progress = [&](double share) { report.progress("neighbours", share); };
  constexpr std::size_t kPiece = 8192;  // points whose coordinates are written out at once
  const auto pieces = static_cast<std::size_t>(
      transport.all_reduce(static_cast<std::int64_t>((given.size() + kPiece - 1) / kPiece), comm::Op::max));
  for (std::size_t p = 0; p < pieces; ++p) {
    const std::size_t begin = std::min(p * kPiece, given.size());
    const std::size_t end = std::min(begin + kPiece, given.size());
    // Row-major copies of the coordinates, made piece by piece: a copy of all would double the memory.
    std::vector<double> rows((end - begin) * slab.axes());
    for (std::size_t i = begin; i < end; ++i) given.write_coordinates(i, rows.data() + (i - begin) * slab.axes());
    std::function<void(double)> part;
    if (progress)
      part = [&](double share) { progress((static_cast<double>(p) + share) / static_cast<double>(pieces)); };
    const auto near = nearest_by_pairs(slab, rows, keep, threads, transport, part);
    for (std::size_t i = begin; i < end; ++i) cores[i] = near[(i - begin) * keep + keep - 1].d2;
  }
  return cores;
}

std::vector<double> core_distances_by_pairs(const CheckedPoints& given, comm::Transport& transport,
                                            const EuclideanOptions& options, Report& report) {
  const auto n = static_cast<double>(given.total());
  if (options.min_samples > 1) forecast_pairs(given, transport, options, n * n, report);
  const Slab slab(given);
  auto cores = cores_by_pairs(given, slab, options.min_samples, options.threads, transport, report);
  for (double& core : cores) core = given.distance(core);
  return cores;
}

}  // namespace merganser::msf::euclidean
