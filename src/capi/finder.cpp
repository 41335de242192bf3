// C interface of the star finder (mg_finder_...): search, lists of links without a copy, migration of rows, merge in columns.
#include "merganser/capi/finder.h"

#include <algorithm>
#include <cstddef>
#include <limits>

#include "merganser/capi/detail/columns.hpp"
#include "merganser/capi/detail/objects.hpp"
#include "merganser/cluster/star_finder.hpp"

namespace merganser::capi {
namespace {

// return_array_as() gives the lists of the finder to C without a copy, so the records of both must have the same layout.
static_assert(sizeof(mg_link) == sizeof(StarLink) && offsetof(mg_link, rank) == offsetof(StarLink, rank) &&
              offsetof(mg_link, centre) == offsetof(StarLink, centre) &&
              offsetof(mg_link, centre_id) == offsetof(StarLink, centre_id) &&
              offsetof(mg_link, distance2) == offsetof(StarLink, distance2));
static_assert(sizeof(mg_receive) == sizeof(StarReceive) && offsetof(mg_receive, rank) == offsetof(StarReceive, rank) &&
              offsetof(mg_receive, source) == offsetof(StarReceive, source) &&
              offsetof(mg_receive, source_id) == offsetof(StarReceive, source_id) &&
              offsetof(mg_receive, distance2) == offsetof(StarReceive, distance2));

/// Converts the options of a star finder from the C record; zero fields keep the defaults.
FinderOptions convert_options(const mg_finder_options* given) {
  const auto record = read_options(given, "options");
  FinderOptions options;
  options.prune = read_flag(record.prune, "options: prune") ? Prune::iterative : Prune::single_pass;
  options.iterative.sub_communicator = read_flag(record.subcommunicator, "options: subcommunicator");
  return options;
}

/// Star finder behind a handle of the C interface, the stars of its last search, and buffers of lists that the caller reads in
/// place.
class FinderObject final : public OverTransport {
 public:
  static constexpr const char* kKind = "finder";
  FinderObject(std::shared_ptr<TransportObject> transport_object, const Decomposition& d, const FinderOptions& options)
      : OverTransport(std::move(transport_object)), box(d.grid().box), finder(transport(), d, options) {}

  /// Finds the stars among the points of all ranks, for mg_finder_find(); there are none if it throws. Called by every rank.
  void find(const PointView& points, const std::uint8_t* small, const std::int64_t* ids) {
    found_ = false;
    static_cast<void>(transport());
    check_not_null(small, points.size, "small");
    finder.find(points, {small, points.size}, {ids, ids != nullptr ? points.size : 0});
    points_ = points.size;
    found_ = true;
  }
  /// Returns the number of this rank's points in the last search of stars. @throws UsageError if there was none, it failed, or its
  /// stars were merged
  std::size_t points() {
    static_cast<void>(transport());
    if (!found_)
      throw UsageError("finder: no stars; allowed: after mg_finder_find() that ended well, before mg_finder_merge()");
    return points_;
  }
  /// Discards the stars of the last search, before the caller's points that they refer to change.
  void invalidate() { found_ = false; }
  /// Fills sources, centres and holes, the lists of EPIC's merging, from the stars of the last search. @param base  first
  /// position, 0 or 1
  void fill_lists(int base);

  Box box;
  StarFinder finder;
  std::vector<std::byte> received;
  std::vector<std::int32_t> sources, centres, holes;

 private:
  std::size_t points_ = 0;
  bool found_ = false;
};

// Lists of EPIC's merging (isma, iclo, inva): own sources in ascending order, then the rows received from other ranks.
void FinderObject::fill_lists(int base) {
  const std::size_t n = points();
  const auto receives = finder.receives();
  if (n + receives.size() >= std::numeric_limits<std::int32_t>::max())
    throw_range("lists", std::to_string(n + receives.size()) + " positions",
                "below 2^31 - 1; take the links themselves");
  const auto position = [base](std::size_t p) { return static_cast<std::int32_t>(p) + base; };
  std::vector<std::int32_t> centre_of(n, -1);
  holes.clear();
  for (const StarLink& l : finder.links()) {
    holes.push_back(position(l.source));
    if (l.rank == transport().rank()) centre_of[l.source] = position(l.centre);
  }
  // Received rows stand behind the n own points, at n + k for receive k, and are holes once they have been merged.
  std::sort(holes.begin(), holes.end());
  sources.clear();
  centres.clear();
  for (std::size_t i = 0; i < n; ++i) {
    if (centre_of[i] < 0) continue;
    sources.push_back(position(i));
    centres.push_back(centre_of[i]);
  }
  for (std::size_t k = 0; k < receives.size(); ++k) {
    sources.push_back(position(n + k));
    centres.push_back(position(receives[k].centre));
    holes.push_back(position(n + k));
  }
}

/// Copies the rows of sources received from other ranks to the C caller's buffer. @throws UsageError if it is too short
void copy_received(FinderObject& object, void* received, std::size_t capacity) {
  check_capacity(capacity, object.received.size(), "capacity");
  if (!object.received.empty())
    std::copy(object.received.begin(), object.received.end(), static_cast<std::byte*>(received));
}

/// Validates the arguments of mg_finder_migrate() and mg_finder_migrate_packed() before any message is sent: bytes of a row,
/// buffer for the received rows. @throws UsageError naming the argument
void check_rows(FinderObject& object, std::size_t row_bytes, const void* received, std::size_t capacity) {
  constexpr std::size_t kMaxRowBytes = std::size_t{1} << 30;
  const std::size_t points = object.points();
  check_range<std::size_t>(row_bytes, 0, kMaxRowBytes, "row_bytes");
  check_range<std::size_t>(points, 0, PTRDIFF_MAX / std::max<std::size_t>(row_bytes, 1), "rows");
  const std::size_t bytes = object.finder.receives().size() * row_bytes;
  check_capacity(capacity, bytes, "capacity");
  check_not_null(received, bytes, "received");
}

/// Returns strided views of the C caller's parcel columns, in which mg_finder_merge() merges in place.
Columns column_views(const mg_columns& c) {
  Columns columns;
  columns.x = {c.x, c.position_stride};
  columns.y = {c.y, c.position_stride};
  columns.z = {c.z, c.position_stride};
  columns.volume = {c.volume, 1};
  for (std::size_t a = 0; a < c.attributes; ++a) columns.attributes.push_back({c.columns[a], column_stride(c, a)});
  if (c.ids != nullptr) columns.ids = {c.ids, c.count};
  columns.size = c.count;
  return columns;
}

/// Fills an output array of mg_finder_places(), unless it is null, with value(link) for every point of this rank that merges and
/// -1 for every other point.
template <class T, class Value>
void fill_places(FinderObject& object, T* to, const Value& value) {
  if (to == nullptr) return;
  std::fill_n(to, object.points(), T(-1));
  for (const StarLink& l : object.finder.links()) to[l.source] = static_cast<T>(value(l));
}

}  // namespace
}  // namespace merganser::capi

using namespace merganser;
using namespace merganser::capi;

extern "C" {

int mg_finder_new(mg_transport* transport, mg_decomposition* decomposition, const mg_finder_options* options,
                  mg_finder** finder) {
  return guard([&] {
    auto over = object_from<TransportObject>(transport);
    std::shared_ptr<DecompositionObject> blocks;
    FinderOptions how;
    // An invalid argument on one rank must fail on all: the others would wait for it in the collective constructor.
    comm::agree(over->get(), [&] {
      check_not_null(finder, "finder");
      blocks = object_from<DecompositionObject>(decomposition);
      how = convert_options(options);
    });
    make_handle<FinderObject>(finder, std::move(over), blocks->value, how);
  });
}

int mg_finder_find(mg_finder* finder, const mg_points* points, const uint8_t* small, const int64_t* ids) {
  return guard<FinderObject>(finder, [&](FinderObject& object) {
    object.invalidate();  // first, so that invalid arguments leave no stars either
    object.find(to_point_view(points), small, ids);
  });
}

int mg_finder_links(mg_finder* finder, const mg_link** links, size_t* count) {
  return guard<FinderObject>(finder, [&](FinderObject& object) {
    static_cast<void>(object.points());
    return_array_as(object.finder.links(), links, count);
  });
}

int mg_finder_sends(mg_finder* finder, const uint32_t** positions, size_t* count) {
  return guard<FinderObject>(finder, [&](FinderObject& object) {
    static_cast<void>(object.points());
    return_array(object.finder.sends(), positions, count);
  });
}

int mg_finder_receives(mg_finder* finder, const mg_receive** receives, size_t* count) {
  return guard<FinderObject>(finder, [&](FinderObject& object) {
    static_cast<void>(object.points());
    return_array_as(object.finder.receives(), receives, count);
  });
}

int mg_finder_places(mg_finder* finder, int32_t* rank, int64_t* position, int64_t* id, double* distance2) {
  return guard<FinderObject>(finder, [&](FinderObject& object) {
    static_cast<void>(object.points());
    fill_places(object, rank, [](const StarLink& l) { return l.rank; });
    fill_places(object, position, [](const StarLink& l) { return l.centre; });
    fill_places(object, id, [](const StarLink& l) { return l.centre_id; });
    fill_places(object, distance2, [](const StarLink& l) { return l.distance2; });
  });
}

int mg_finder_lists(mg_finder* finder, int base, mg_star_lists* lists) {
  return guard<FinderObject>(finder, [&](FinderObject& object) {
    check_range(base, 0, 1, "base");
    check_record(lists, "lists");
    object.fill_lists(base);
    mg_star_lists record{};
    record.merging = object.sources.size();
    record.sources = object.sources.data();
    record.centres = object.centres.data();
    record.invalid = object.holes.size();
    record.holes = object.holes.data();
    write_record(record, lists, "lists");
  });
}

int mg_finder_migrate(mg_finder* finder, const void* rows, size_t row_bytes, void* received, size_t capacity) {
  return guard<FinderObject>(finder, [&](FinderObject& object) {
    check_rows(object, row_bytes, received, capacity);
    const std::size_t bytes = object.points() * row_bytes;
    check_not_null(rows, bytes, "rows");
    object.finder.migrate_bytes({static_cast<const std::byte*>(rows), bytes}, row_bytes, object.received);
    copy_received(object, received, capacity);
  });
}

int mg_finder_migrate_packed(mg_finder* finder, size_t row_bytes, mg_pack pack, void* user, void* received,
                             size_t capacity) {
  return guard<FinderObject>(finder, [&](FinderObject& object) {
    check_rows(object, row_bytes, received, capacity);
    if (pack == nullptr) throw UsageError("pack: a null pointer; allowed: a function");
    object.finder.migrate_packed(
        row_bytes, [&](std::uint32_t position, std::byte* row) { pack(position, row, user); }, object.received);
    copy_received(object, received, capacity);
  });
}

int mg_finder_merge(mg_finder* finder, mg_schema* schema, const mg_columns* columns, size_t* left) {
  return guard<FinderObject>(finder, [&](FinderObject& object) {
    const auto attributes = object_from<SchemaObject>(schema);
    const Columns all = column_views(checked_columns(columns, attributes->schema, false));
    if (all.size != object.points())
      throw_range("columns: count", std::to_string(all.size), std::to_string(object.points()) + ", the points found");
    MergeRules rules(attributes->schema, object.box);
    rules.callbacks = attributes->callbacks;
    object.invalidate();  // merging moves the points, so the positions in links and lists no longer hold
    store_optional(left, object.finder.merge(rules, all));
  });
}

int mg_finder_free(mg_finder* finder) { return guard_free<FinderObject>(finder); }

}  // extern "C"
