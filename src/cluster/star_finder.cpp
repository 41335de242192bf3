// StarFinder: stars among points in the caller's arrays, by the star search that the Clusterer uses too.
#include "merganser/cluster/star_finder.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <optional>
#include <string>

#include "merganser/base/error.hpp"
#include "merganser/geometry/box_checks.hpp"
#include "src/cluster/distinct_ids.hpp"
#include "src/cluster/merge_columns.hpp"
#include "src/cluster/owner_checks.hpp"
#include "src/cluster/rank_agreement.hpp"
#include "src/cluster/spare_buffers.hpp"
#include "src/cluster/star_core.hpp"

namespace merganser {
namespace {

constexpr std::size_t kMaxPoints = std::size_t{1} << 31;  // of one rank
constexpr std::uint32_t kChunk = 2048;                    // vertices listed at a time
constexpr std::size_t kAhead = 32;                        // prefetch distance, in links
constexpr int kIdBits = 40;                               // bits of a position in ids that are not given

/// Returns the options of the star search that a StarFinder uses: exact search, with positions of points exchanged.
cluster::StarOptions star_options(const FinderOptions& o) { return {{Search::exact, true}, o.prune, o.iterative}; }

/// Validates the lengths and pointers of the arrays passed to StarFinder::find(). Local. @throws UsageError, InputError
void check_lengths(const PointView& points, std::span<const std::uint8_t> small, std::span<const std::int64_t> ids) {
  if (points.size > kMaxPoints)
    throw InputError("find: " + std::to_string(points.size) + " points on one rank; allowed: up to " +
                     std::to_string(kMaxPoints) + "; use more ranks");
  if (points.size > 0 && (points.x == nullptr || points.y == nullptr))
    throw UsageError("find: x or y is null; allowed: arrays of " + std::to_string(points.size) + " points");
  if (points.stride == 0) throw UsageError("find: the stride of points is 0; allowed: 1 and more");
  if (small.size() != points.size || (!ids.empty() && ids.size() != points.size))
    throw UsageError("find: " + std::to_string(points.size) + " points, " + std::to_string(small.size()) +
                     " entries in the mask and " + std::to_string(ids.size()) +
                     " ids; allowed: as many of each, or no ids");
}

}  // namespace

/// State of a StarFinder on one rank: the star search, its buffers, and links, sends and receives of the last find().
struct StarFinder::Impl {
  Impl(comm::Transport& t, const Decomposition& d, const FinderOptions& o)
      : transport(t),
        decomposition(d),
        core(t, decomposition, star_options(o), nullptr),
        details(o.details),
        checked(t.capabilities().checked) {}

  /// Finds the stars among the points of all ranks and lists this rank's links, sends and receives. Called by every rank.
  void find(const nearest::PointSet& set) {
    numbers = {};
    const comm::Counters counted = transport.counters();
    cluster::Laps laps;
    points = set.size();
    numbers.before = static_cast<std::int64_t>(points);
    link_count = 0;
    sends.clear();
    receives.clear();
    core.clear();  // so that nothing of the last find is left where this one is refused
    if (checked) check(set);
    reserve_buffers(points);
    if (search(set, laps)) {
      list_links();
      list_receives();
      laps.add_to(numbers.seconds.prune);
    }
    numbers.after = numbers.before - static_cast<std::int64_t>(link_count);
    numbers.counters = transport.counters() - counted;
  }

  /// Runs the star search on this rank's points. Most callers have wrapped them: they are copied and wrapped only if the first
  /// reading finds one that is not. That does not disturb other ranks, since that reading sends nothing.
  /// @return false if this rank had nothing to search
  bool search(const nearest::PointSet& set, cluster::Laps& laps) {
    auto* const sites = reinterpret_cast<Site*>(sorted.data());
    given.emplace(set);
    given->wrap_on_demand();
    try {
      return core.find(*given, sites, scratch, numbers, laps);
    } catch (const nearest::Unwrapped&) {  // nothing has been sent
      given.emplace(wrap(set));
      return core.find(*given, sites, scratch, numbers, laps);
    }
  }

  /// Grows the buffers of the star search for n points; their contents are not kept.
  void reserve_buffers(std::size_t n) {
    const auto grow = [](RawBuffer& buffer, std::size_t bytes) {
      if (buffer.bytes() >= bytes) return;
      cluster::SpareBuffers::give_back(buffer);
      buffer = cluster::SpareBuffers::take(bytes + bytes / 8);
    };
    grow(sorted, n * sizeof(Site));
    grow(scratch, nearest::CellList::scratch_bytes(n));
  }

  /// Lists the star links of this rank's points that merge (StarFinder::links), within the rank first, then those to other
  /// ranks in the order of sends.
  void list_links() {
    const auto& search = core.search();
    const auto& l = core.search().links();
    const std::uint32_t* const order = search.cells().order();
    const Site* const sites = search.cells().sites();
    const links::Ids ids = search.ids();
    const Box& box = decomposition.grid().box;
    const auto kept = static_cast<std::size_t>(core.stars().kept);
    if (links.bytes() < kept * sizeof(StarLink)) links = RawBuffer(), links = RawBuffer(kept * sizeof(StarLink));
    auto* out = reinterpret_cast<StarLink*>(links.data());
    const auto here = static_cast<std::int32_t>(transport.rank());
    const auto n = static_cast<std::uint32_t>(l.target.size());
    const std::uint32_t* const target = l.target.data();
    // In chunks, without a branch: which vertices have a link is unpredictable, and the ends are scattered over memory,
    // so they are prefetched kAhead links before they are read. The list is padded by its last entry.
    std::array<std::uint32_t, kChunk + kAhead> sources;
    for (std::uint32_t begin = 0; begin < n; begin += kChunk) {
      const std::uint32_t end = std::min(n - begin, kChunk) + begin;
      std::size_t count = 0;
      for (std::uint32_t v = begin; v < end; ++v) {
        sources[count] = v;
        count += static_cast<std::size_t>(target[v] < links::kAway);  // kNone is above
      }
      std::fill_n(sources.begin() + static_cast<std::ptrdiff_t>(count), kAhead, count > 0 ? sources[count - 1] : 0);
      for (std::size_t i = 0; i < (details ? 0 : count); ++i) {
        __builtin_prefetch(&order[target[sources[i + kAhead]]]);
        *out++ = {order[sources[i]], here, order[target[sources[i]]]};
      }
      for (std::size_t i = 0; i < (details ? count : 0); ++i) {
        const std::uint32_t ahead = target[sources[i + kAhead]];
        __builtin_prefetch(&sites[ahead]);
        __builtin_prefetch(&order[ahead]);
        ids.prefetch(target[sources[i + kAhead / 2]]);
        const std::uint32_t v = sources[i];
        const std::uint32_t t = target[v];
        const Site& a = sites[v];
        const Site& b = sites[t];
        *out++ = {order[v], here, order[t], 0, ids[t], box.distance2({a.x, a.y, a.z}, {b.x, b.y, b.z})};
      }
    }
    for (std::size_t i = 0; i < l.out.size(); ++i) {
      if (!core.stars().out_kept[i]) continue;
      const auto& link = l.out[i];
      sends.push_back(order[link.vertex]);
      *out++ = {sends.back(), link.remote_rank, link.remote_position, 0, link.remote_id, link.distance2};
    }
    link_count = static_cast<std::size_t>(out - reinterpret_cast<StarLink*>(links.data()));
  }

  /// Lists the points of other ranks that merge into points of this one (StarFinder::receives), in the order in which migrate()
  /// delivers them.
  void list_receives() {
    const auto& l = core.search().links();
    const std::uint32_t* const order = core.search().cells().order();
    for (std::size_t i = 0; i < l.in.size(); ++i) {
      if (!core.stars().in_kept[i]) continue;
      const auto& link = l.in[i];
      receives.push_back(
          {order[link.vertex], link.remote_rank, link.remote_position, 0, link.remote_id, link.distance2});
    }
    numbers.merged = static_cast<std::int64_t>(link_count - sends.size() + receives.size());
  }

  /// With the decorator `checked`, before a star search: finds points outside their rank's block and ids that are equal, on one
  /// rank or on different ones. Collective. @throws InputError on every rank
  void check(const nearest::PointSet& set) {
    comm::agree(transport, [&] {
      try {
        check_local(set);
      } catch (const Indexed<InputError>& e) {  // positions are those on this rank
        throw Indexed<InputError>(IndexedText("rank " + std::to_string(transport.rank()) + ": ") + e.indexed_text());
      }
    });
    cluster::check_distinct_over_ranks("id", set.ids(nullptr), set.size(), transport);
  }

  /// Throws the errors of points that StarFinder::find() would throw before it sends anything: outside the rank's block, or two
  /// with one id. Local.
  void check_local(const nearest::PointSet& set) {
    cluster::check_points(wrap(set), decomposition, transport.rank());
    cluster::IdSet().assign(set);
  }

  /// Returns the view of the caller's points, mask and ids that the star search reads.
  [[nodiscard]] nearest::PointSet point_set(const PointView& points, std::span<const std::uint8_t> small,
                                            std::span<const std::int64_t> numbers) const {
    return {points, small.data(), numbers.empty() ? nullptr : numbers.data(),
            static_cast<std::int64_t>(transport.rank()) << kIdBits, decomposition.grid().box.lower[2]};
  }

  /// Copies this rank's points, wrapped on periodic axes, and returns a view of the copy. The wrapped position depends on the
  /// coordinates alone, not on the rank: distances from the upper face of a periodic axis and from the lower one differ by
  /// rounding.
  /// @throws InputError for a point that is then outside of the rank's block
  [[nodiscard]] nearest::PointSet wrap(const nearest::PointSet& set) {
    const Box& box = decomposition.grid().box;
    const PointView& from = set.points();
    const auto block = decomposition.block(transport.rank());
    const auto in_block = [&](int a, double x) {
      const double slack = cluster::rounding_bound(box, a);
      return x >= block.lower[a] - slack && x <= block.upper[a] + slack;
    };
    const double* const axes[3] = {from.x, from.y, from.z};
    const std::size_t width = from.z != nullptr ? 3 : 2;
    wrapped.resize(width * from.size);
    for (std::size_t i = 0; i < from.size; ++i) {
      Vec3 p{0, 0, box.lower[2]};
      bool inside = true;
      bool moved = false;
      for (std::size_t a = 0; a < width; ++a) {
        const int axis = static_cast<int>(a);
        const double x = axes[a][i * from.stride];
        p[a] = std::isfinite(x) ? box.wrap(axis, x) : x;
        wrapped[i * width + a] = p[a];
        moved = moved || p[a] != x;
        inside = inside && in_block(axis, p[a]);
      }
      if (!inside)
        throw Indexed<InputError>(
            set.describe_outside(i, block.lower, block.upper, box) +
            (moved && !std::isnan(p[0] + p[1] + p[2]) ? "; this one is then at " + point_text(p) : ""));
    }
    return set.relocated(width == 3 ? PointView::rows(wrapped.data(), from.size)
                                    : PointView::rows_2d(wrapped.data(), from.size));
  }

  comm::Transport& transport;
  Decomposition decomposition;
  cluster::StarCore core;
  bool details;
  bool checked;
  std::optional<nearest::PointSet> given;  // points that the search reads
  std::vector<double> wrapped;             // rows of wrapped points, where some lay outside of the box
  RawBuffer sorted;
  RawBuffer scratch;
  RawBuffer links;  // array of StarLink
  std::size_t link_count = 0;
  std::vector<std::uint32_t> sends;
  std::vector<StarReceive> receives;
  StepNumbers numbers;
  std::size_t points = 0;           // number of points of the last find()
  cluster::ColumnMerge::Ids ids{};  // ids of the last find()
};

// Validates the arguments of a StarFinder on every rank, compares them over ranks, and makes the star search. Collective.
StarFinder::StarFinder(comm::Transport& transport, const Decomposition& decomposition, const FinderOptions& options) {
  comm::agree(transport, [&] {
    cluster::check(star_options(options));
    cluster::check_ranks(decomposition, transport);
  });
  auto uniform = cluster::uniform_values(decomposition);
  for (auto& star_value : cluster::uniform_values(star_options(options))) uniform.push_back(std::move(star_value));
  comm::check_uniform_across_ranks(transport, "StarFinder", uniform);
  impl_ = std::make_unique<Impl>(transport, decomposition, options);
}
StarFinder::~StarFinder() = default;
StarFinder::StarFinder(StarFinder&&) noexcept = default;

// Search of stars in the caller's arrays; with the decorator `checked` an error of one rank is thrown on all.
void StarFinder::find(const PointView& points, std::span<const std::uint8_t> small, std::span<const std::int64_t> ids) {
  impl_->core.mailbox().check_usable();
  const auto check = [&] { check_lengths(points, small, ids); };
  if (impl_->checked) {
    comm::agree(impl_->transport, check);
  } else {
    check();
  }
  const std::int64_t first_id = static_cast<std::int64_t>(impl_->transport.rank()) << kIdBits;
  impl_->ids = {!ids.empty(), first_id};
  impl_->find(impl_->point_set(points, small, ids));
}

void StarFinder::check(const PointView& points, std::span<const std::uint8_t> small,
                       std::span<const std::int64_t> ids) {
  check_lengths(points, small, ids);
  impl_->check_local(impl_->point_set(points, small, ids));
}

std::span<const StarLink> StarFinder::links() const {
  return {reinterpret_cast<const StarLink*>(impl_->links.data()), impl_->link_count};
}
std::span<const std::uint32_t> StarFinder::sends() const { return impl_->sends; }
std::span<const StarReceive> StarFinder::receives() const { return impl_->receives; }
const StepNumbers& StarFinder::numbers() const { return impl_->numbers; }

void StarFinder::check_row_count(std::size_t rows) const {
  if (rows != impl_->points)
    throw UsageError("migrate: " + std::to_string(rows) + " rows; allowed: " + std::to_string(impl_->points) +
                     ", as many as points given to find()");
}

// Migration of rows in one array to the ranks of their centres.
void StarFinder::migrate_bytes(std::span<const std::byte> rows, std::size_t row_bytes,
                               std::vector<std::byte>& received) {
  if (rows.size() != impl_->points * row_bytes)
    throw UsageError("migrate: " + std::to_string(rows.size()) + " bytes for " + std::to_string(impl_->points) +
                     " rows of " + std::to_string(row_bytes) + "; allowed: as many rows as points given to find()");
  migrate_packed(
      row_bytes,
      [&](std::uint32_t position, std::byte* row) {
        if (row_bytes > 0) std::memcpy(row, rows.data() + position * row_bytes, row_bytes);
      },
      received);
}

// Migration of rows that a callback writes; the star search numbers points by cells, the caller by position in its arrays.
void StarFinder::migrate_packed(std::size_t row_bytes, const PackRow& pack, std::vector<std::byte>& received) {
  impl_->core.mailbox().check_usable();
  received.clear();
  const std::uint32_t* const order = impl_->core.search().cells().order();
  impl_->core.migrate(
      row_bytes, [&](std::uint32_t v, std::byte* row) { pack(order[v], row); }, received);
}

// Merge of the stars in the caller's columns: rows of sources migrate, centres become merged parcels, sources are removed.
std::size_t StarFinder::merge(const MergeRules& rules, const Columns& columns) {
  const cluster::ColumnMerge merge(rules, columns, impl_->points, impl_->ids);
  std::vector<std::byte> received;
  migrate_packed(
      merge.row_bytes(), [&](std::uint32_t position, std::byte* row) { merge.pack(position, row); }, received);
  merge.run(links(), impl_->transport.rank(), receives(), received);
  return merge.remove_sources(links());
}

}  // namespace merganser
