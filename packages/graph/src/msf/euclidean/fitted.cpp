// Queries of a distributed point set by new points with one tree of boxes per rank: k nearest points, and joints.
#include "src/msf/euclidean/fitted.hpp"

#include "merganser/base/parallel.hpp"
#include "merganser/comm/collectives.hpp"
#include "src/msf/euclidean/near_search.hpp"

namespace merganser::msf::euclidean {
namespace {

/// Query of nearest_points() to another rank: for its points nearest to the place of a new point.
template <std::size_t D>
struct NearQuestion {
  Place<D> at;  ///< coordinates of the new point
  double most;  ///< greatest distance of use, as compared (squared distance, or distance)
};
/// Query of join_points() to another rank: for a joint (edge from a new point to the set) that comes before `best`.
template <std::size_t D>
struct JointQuestion {
  Place<D> at;  ///< coordinates of the new point
  Joint best;   ///< best joint found so far, with the core distance of the new point
};

/// Sends the results of queries by new points back to the ranks of these points. Collective.
/// @param rows  results, `width` for each place that this rank answered for
/// @param came  by rank: number of places that it sent to this rank
/// @param went  by new point of this rank: the rank that its place was sent to
/// @return results for this rank's new points, in their order
template <class T>
std::vector<T> return_rows(const std::vector<T>& rows, std::size_t width, std::span<const std::size_t> came,
                           std::span<const std::size_t> went, comm::Transport& transport) {
  // Messages keep the order of their queries: the next row from an owner belongs to the next point that was sent there.
  std::vector<std::vector<T>> back(came.size());
  auto next = rows.begin();
  for (std::size_t r = 0; r < came.size(); ++r) {
    const auto end = next + static_cast<std::ptrdiff_t>(came[r] * width);
    back[r].assign(next, end);
    next = end;
  }
  const auto mine = comm::all_to_all(transport, std::move(back));
  std::vector<std::size_t> place(mine.size(), 0);
  std::vector<T> out;
  out.reserve(went.size() * width);
  for (const std::size_t owner : went) {
    const auto from = mine[owner].begin() + static_cast<std::ptrdiff_t>(place[owner]);
    out.insert(out.end(), from, from + static_cast<std::ptrdiff_t>(width));
    place[owner] += width;
  }
  return out;
}

/// Sends the core distances of the points of a set, which the caller of join_points() gives, to the ranks that own the points.
/// Collective. @return pairs of id and core distance of the points that this rank owns, ascending by id
/// @param went  by point of this rank in the order of the input: the rank that owns it
/// @param came  by rank: ids of the points that this rank received from it
std::vector<std::pair<std::uint64_t, double>> distribute_cores(std::span<const double> cores, std::span<const int> went,
                                                               const std::vector<std::vector<std::uint64_t>>& came,
                                                               comm::Transport& transport) {
  std::vector<std::vector<double>> to(came.size());
  for (std::size_t i = 0; i < cores.size(); ++i) to[static_cast<std::size_t>(went[i])].push_back(cores[i]);
  const auto got = comm::all_to_all(transport, std::move(to));
  std::vector<std::pair<std::uint64_t, double>> by_id;
  for (std::size_t r = 0; r < got.size(); ++r)
    for (std::size_t i = 0; i < got[r].size(); ++i) by_id.emplace_back(came[r][i], got[r][i]);
  std::sort(by_id.begin(), by_id.end());
  return by_id;
}

/// Distributed point set with one tree of boxes per rank, for queries by new points.
template <std::size_t D>
class Fitted {
 public:
  /// Distributes the points of the set and builds this rank's tree. Collective. @param cores  core distances of this rank's points,
  /// in the order of the input, for joints
  Fitted(const CheckedPoints& points, std::span<const double> cores, bool join, comm::Transport& transport,
         const EuclideanOptions& options)
      : transport_(transport), threads_(options.threads) {
    constexpr std::uint32_t kNoFolds = kNone;  // equal points stay apart: each may be an answer
    auto distributed = distribute_points(points, kNoFolds, transport, surplus_, true);
    std::vector<std::pair<std::uint64_t, double>> by_id;
    if (join) by_id = distribute_cores(cores, distributed.went, distributed.came, transport);
    search_.emplace(distributed.items, points.metric<D>(), leaf_capacity(options, D), join, [&](std::uint64_t id) {
      return std::lower_bound(by_id.begin(), by_id.end(), std::pair{id, -kInfinity})->second;
    });
    if (transport.size() > 1) others_.emplace(search_->tree(), transport);
    owners_ = std::move(distributed.owners);
  }

  /// Answers the queries of all ranks' new points to the set. Collective: places of new points are sent to the ranks that own them,
  /// which search their own points, then query other ranks that can have nearer ones. @return results for this rank's new points
  [[nodiscard]] QueryResult query(const CheckedPoints& fresh, const QueryKind& what) {
    const auto owner = [&](const Place<D>& at) { return owners_ ? static_cast<std::size_t>(owners_->owner(at)) : 0; };
    std::vector<std::vector<Place<D>>> to(static_cast<std::size_t>(transport_.size()));
    std::vector<std::size_t> went(fresh.size());
    for (std::size_t i = 0; i < fresh.size(); ++i) {
      const Place<D> at = fresh.at<D>(i);
      went[i] = owner(at);
      to[went[i]].push_back(at);
    }
    const auto came = comm::all_to_all(transport_, std::move(to));
    std::vector<Place<D>> places;
    std::vector<std::size_t> counts;
    for (const auto& theirs : came) {
      places.insert(places.end(), theirs.begin(), theirs.end());
      counts.push_back(theirs.size());
    }
    const auto near = nearest(places, what.k);
    const auto joints = what.join ? join(places, near, what.k) : std::vector<Joint>();
    QueryResult looked;
    looked.near = return_rows(near, what.k, counts, went, transport_);
    if (what.join) looked.joints = return_rows(joints, 1, counts, went, transport_);
    return looked;
  }

 private:
  /// Queries each other rank that may have a point within most(i) of place i of a new point. Collective. There answer(question(i),
  /// answers) appends `width` replies; here take(i, reply) is called for each.
  template <class Answer>
  void query_others(const std::vector<Place<D>>& places, std::size_t width, const auto& most, const auto& question,
                    const auto& answer, const auto& take) {
    if (!others_) return;
    std::vector<std::vector<decltype(question(std::size_t{}))>> to(others_->ranks());
    std::vector<std::vector<std::size_t>> who(to.size());
    for (std::size_t i = 0; i < places.size(); ++i)
      for (std::size_t r = 0; r < to.size(); ++r) {
        if (!can_have(places[i], r, most(i))) continue;
        to[r].push_back(question(i));
        who[r].push_back(i);
      }
    const auto answers = query_ranks<Answer>(transport_, std::move(to), answer);
    for (std::size_t r = 0; r < answers.size(); ++r)
      for (std::size_t i = 0; i < answers[r].size(); ++i) take(who[r][i / width], answers[r][i]);
  }

  /// Finds the k nearest points of the set, on all ranks, to each of the new points' places that this rank owns. Collective.
  std::vector<Near> nearest(const std::vector<Place<D>>& places, std::size_t k) {
    // This rank's own points first: the k-th distance among them limits the queries to other ranks.
    std::vector<Near> rows(places.size() * k);
    share_loop(threads_, places.size(), [&](std::size_t begin, std::size_t end) {
      for (std::size_t i = begin; i < end; ++i) search_->nearest_here(places[i], kInfinity, k, rows.data() + i * k);
    });
    const auto most = [&](std::size_t i) { return rows[i * k + k - 1].d2; };
    const auto answer = [&](const NearQuestion<D>& q, std::vector<Near>& answers) {
      answers.resize(answers.size() + k);
      search_->nearest_here(q.at, q.most, k, answers.data() + answers.size() - k);
    };
    query_others<Near>(
        places, k, most,
        [&](std::size_t i) {
          return NearQuestion<D>{places[i], most(i)};
        },
        answer, [&](std::size_t i, const Near& near) { insert_near(rows.data() + i * k, k, near); });
    return rows;
  }

  /// Finds the best joint (edge of least mutual reachability) to all ranks' points of the set for each of the new points' places
  /// that this rank owns. Collective. @param near  their k nearest points, the last of which gives the core distance
  std::vector<Joint> join(const std::vector<Place<D>>& places, const std::vector<Near>& near, std::size_t k) {
    // This rank's own points first: the best joint among them limits the queries to other ranks.
    const Metric<D>& metric = search_->tree().metric();
    std::vector<Joint> joints(places.size());
    share_loop(threads_, places.size(), [&](std::size_t begin, std::size_t end) {
      for (std::size_t i = begin; i < end; ++i) {
        joints[i] = {~std::uint64_t{0}, kInfinity, metric.weight(near[i * k + k - 1].d2), kInfinity};
        search_->join_here(places[i], joints[i]);
      }
    });
    const auto take = [&](std::size_t i, const Joint& joint) {
      if (joins_before(joint, joints[i])) joints[i] = joint;
    };
    query_others<Joint>(
        places, 1, [&](std::size_t i) { return metric.compared_above(joints[i].reachability); },
        [&](std::size_t i) {
          return JointQuestion<D>{places[i], joints[i]};
        },
        [&](const auto& q, std::vector<Joint>& answers) { search_->join_here(q.at, answers.emplace_back(q.best)); },
        take);
    return joints;
  }

  /// Returns whether rank `rank`, not this one, may have a point of the set within `most` of a place, by the boxes of its points.
  [[nodiscard]] bool can_have(const Place<D>& at, std::size_t rank, double most) const {
    if (rank == static_cast<std::size_t>(transport_.rank())) return false;
    const double least = others_->distance2(Bounds<D>{at, at}, rank, most);
    return least <= most && least < kInfinity;
  }

  comm::Transport& transport_;
  int threads_;
  SurplusPoints<D> surplus_;              ///< no points, as equal points of the set are not folded
  std::optional<NearSearch<D>> search_;   ///< this rank's points of the set, in a tree of boxes
  std::optional<RemoteBoxes<D>> others_;  ///< upper boxes of the other ranks' trees; none on one rank
  std::optional<PlaceOwners<D>> owners_;  ///< partition of space among the ranks; none on one rank
};

}  // namespace

template <std::size_t D>
QueryResult query_tree(const CheckedPoints& points, std::span<const double> cores, const CheckedPoints& fresh,
                       const QueryKind& what, comm::Transport& transport, const EuclideanOptions& options,
                       Report& report) {
  std::optional<Fitted<D>> fitted;
  {
    const Report::Scope scope(report, "tree", transport);
    fitted.emplace(points, cores, what.join, transport, options);
  }
  const Report::Scope scope(report, "new points", transport);
  return fitted->query(fresh, what);
}

MERGANSER_FOR_AXES(MERGANSER_FUNCTION, query_tree)

}  // namespace merganser::msf::euclidean
