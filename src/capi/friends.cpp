// C interface of friends of friends (mg_friends_...): labels of points in the caller's arrays, and lists of groups.
#include "merganser/capi/friends.h"

#include <algorithm>
#include <string>
#include <utility>

#include "merganser/capi/detail/columns.hpp"
#include "merganser/capi/detail/objects.hpp"
#include "merganser/cluster/friends.hpp"
#include "merganser/comm/collectives.hpp"

namespace merganser::capi {
namespace {

/// Converts the options of friends of friends from the C record. @throws UsageError for a text that is no length
FriendsOptions convert_options(const mg_friends_options* given) {
  const auto record = read_record(given, "options");
  check_not_null(record.linking_length, "options: linking_length");
  const std::pair<std::string, std::string> part{"friends", record.linking_length};
  FriendsOptions options = friends_options(policy_from_parts({&part, 1}));
  if (record.least_members != 0) options.least_members = record.least_members;
  return options;
}

/// Returns the stride that a C caller passed, 1 for 0. @throws UsageError for one out of range
std::size_t stride_or_one(std::size_t stride, const char* name) {
  constexpr std::size_t kMaxStride = std::size_t{1} << 16;
  check_range<std::size_t>(stride, 0, kMaxStride, name);
  return std::max<std::size_t>(stride, 1);
}

/// Returns views of the columns in a C caller's arrays. @throws UsageError for null pointers, strides or numbers out of range
FriendColumns to_columns(const mg_friend_columns* given, std::size_t points) {
  constexpr std::size_t kMaxSame = 4096;
  const auto record = read_options(given, "columns");
  FriendColumns columns;
  columns.mass = {record.mass, stride_or_one(record.mass_stride, "columns: mass_stride")};
  const std::size_t stride = stride_or_one(record.velocity_stride, "columns: velocity_stride");
  const bool moving = std::any_of(std::begin(record.velocity), std::end(record.velocity),
                                  [](const double* component) { return component != nullptr; });
  for (const double* const component : record.velocity) {
    if (!moving) break;
    check_not_null(component, points, "columns: velocity");
    columns.velocity.push_back({component, stride});
  }
  check_range<std::size_t>(record.same, 0, kMaxSame, "columns: same");
  check_not_null(record.same_columns, record.same, "columns: same_columns");
  for (std::size_t k = 0; k < record.same; ++k) {
    check_not_null(record.same_columns[k], points, "columns: same_columns");
    columns.same.push_back({record.same_columns[k], 1});
  }
  return columns;
}

/// Finder of friends of friends behind a handle of the C interface, and the groups that the caller reads in place.
class FriendsObject final : public OverTransport {
 public:
  static constexpr const char* kKind = "friends";
  FriendsObject(std::shared_ptr<TransportObject> transport_object, const Decomposition& d,
                const FriendsOptions& options)
      : OverTransport(std::move(transport_object)), friends(transport(), d, options) {}

  /// Keeps the groups of a search as records of C.
  void keep(const FriendLabels& labels) {
    groups.clear();
    for (const FriendGroup& g : labels.groups) {
      mg_friend_group record{};
      record.id = g.id;
      record.members = g.members;
      record.mass = g.mass;
      std::copy(g.centre.begin(), g.centre.end(), record.centre);
      std::copy(g.velocity.begin(), g.velocity.end(), record.velocity);
      record.winds = g.winds ? 1 : 0;
      groups.push_back(record);
    }
    length = labels.numbers.length;
    found = true;
  }
  /// Checks that there was a search. @throws UsageError
  void check_found() const {
    if (!found) throw UsageError("friends: no groups; allowed: after mg_friends_label() that ended well");
  }

  FriendsOfFriends friends;
  std::vector<mg_friend_group> groups;
  double length = 0;
  bool found = false;
};

}  // namespace
}  // namespace merganser::capi

using namespace merganser;
using namespace merganser::capi;

extern "C" {

int mg_friends_new(mg_transport* transport, mg_decomposition* decomposition, const mg_friends_options* options,
                   mg_friends** friends) {
  return guard([&] {
    auto over = object_from<TransportObject>(transport);
    std::shared_ptr<DecompositionObject> blocks;
    FriendsOptions how;
    // An invalid argument on one rank must fail on all: the others would wait for it in the collective constructor.
    comm::agree(over->get(), [&] {
      check_not_null(friends, "friends");
      blocks = object_from<DecompositionObject>(decomposition);
      how = convert_options(options);
    });
    make_handle<FriendsObject>(friends, std::move(over), blocks->value, how);
  });
}

int mg_friends_label(mg_friends* friends, const mg_points* points, const int64_t* ids, const mg_friend_columns* columns,
                     int64_t* groups) {
  return guard<FriendsObject>(friends, [&](FriendsObject& object) {
    object.found = false;
    PointView view;
    FriendColumns more;
    comm::agree(object.transport(), [&] {
      view = to_point_view(points);
      check_not_null(view.x, view.size, "points: x");
      check_not_null(view.y, view.size, "points: y");
      more = to_columns(columns, view.size);
    });
    const FriendLabels labels = object.friends.label(view, {ids, ids != nullptr ? view.size : 0}, more);
    object.keep(labels);
    if (groups != nullptr) std::copy(labels.group.begin(), labels.group.end(), groups);
  });
}

int mg_friends_groups(mg_friends* friends, const mg_friend_group** groups, size_t* n) {
  return guard<FriendsObject>(friends, [&](FriendsObject& object) {
    object.check_found();
    return_array(object.groups, groups, n);
  });
}

int mg_friends_length(mg_friends* friends, double* length) {
  return guard_get<FriendsObject>(friends, length, "length", [](FriendsObject& object) {
    object.check_found();
    return object.length;
  });
}

int mg_friends_free(mg_friends* friends) { return guard_free<FriendsObject>(friends); }
}
