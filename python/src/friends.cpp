/// Python bindings of merganser.friends_of_friends(): points are sent to the owners of their positions, grouped there, and the
/// labels come back.
#include <nanobind/stl/optional.h>
#include <nanobind/stl/shared_ptr.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include <algorithm>
#include <bit>
#include <cmath>

#include "merganser/base/error.hpp"
#include "merganser/base/options.hpp"
#include "merganser/cluster/friends.hpp"
#include "merganser/comm/collectives.hpp"
#include "python/src/spread.hpp"
#include "python/src/themes.hpp"

namespace merganser::python {
namespace {

/// Arguments of merganser.friends_of_friends(). It owns its arrays, since an interrupted call may outlive its caller.
struct FriendsTask {
  Rows<double> points;                    ///< coordinates of this process's points, shape (n, 2) or (n, 3)
  std::optional<Line<std::int64_t>> ids;  ///< ids of the points, unique over all ranks; none: consecutive
  std::optional<Line<double>> mass;       ///< masses; none: 1
  std::optional<Rows<double>> velocity;   ///< velocities, shape (n, 3); none: not wanted
  std::optional<Rows<double>> same;       ///< columns in which friends are equal, shape (n, k)
  std::optional<Box> box;                 ///< domain of the points; none: the bounding box of all ranks' points
  FriendsOptions options;                 ///< linking length and least number of members
};

/// Result of merganser.friends_of_friends() on one rank.
struct FoundFriends {
  std::vector<std::int64_t> labels;  ///< id of the group of each point, in the order of the rank's share
  std::vector<FriendGroup> groups;   ///< groups whose point of the lowest id this rank passed, by id
  FriendNumbers numbers;             ///< counts and times of this rank
};

/// Row of doubles in which a point travels to the owner of its position: x y z, bits of the id and of its origin, mass, velocity,
/// then the columns in which friends are equal.
constexpr std::size_t kIdAt = 3;
constexpr std::size_t kOriginAt = 4;
constexpr std::size_t kMassAt = 5;
constexpr std::size_t kVelocityAt = 6;
constexpr std::size_t kSameAt = 9;

/// Rank that passed a point, and the position of the point in its share.
struct Origin {
  std::uint32_t position;
  std::int32_t rank;
};

/// Label of a point on its way back to the rank that passed it.
struct SentLabel {
  std::int64_t group;
  Origin to;
};
/// Group of friends on its way to the rank that passed its point of the lowest id.
struct SentGroup {
  FriendGroup group;
  std::int64_t rank;
};

/// Validates the columns of this rank's points, which travel before the library sees them. Local. @throws InputError naming the
/// point
void check_columns(const FriendsTask& task, RowRange share) {
  const auto refuse = [](const char* column, std::size_t i, double value, const char* allowed) {
    throw InputError(std::string(column) + ": point " + std::to_string(i) + ": " + number_text(value) +
                     "; allowed: " + allowed);
  };
  const auto check_rows = [&](const char* column, const std::optional<Rows<double>>& rows) {
    if (!rows) return;
    const std::size_t width = rows->shape(1);
    for (std::size_t k = share.begin * width; k < share.end * width; ++k)
      if (!std::isfinite(rows->data()[k])) refuse(column, k / width, rows->data()[k], "finite numbers");
  };
  for (std::size_t i = share.begin; task.mass && i < share.end; ++i) {
    const double mass = task.mass->data()[i];
    if (!(mass > 0) || !std::isfinite(mass)) refuse("mass", i, mass, "finite and positive");
  }
  check_rows("velocity", task.velocity);
  check_rows("same", task.same);
}

/// Sends every point of this rank's share to the owner of its position. Collective. @return the rows that arrive
std::vector<double> send_points(const FriendsTask& task, RowRange share, const Decomposition& blocks, const Box& box,
                                const std::vector<std::int64_t>& ids, comm::Transport& transport) {
  const std::size_t same = task.same ? task.same->shape(1) : 0;
  const SpreadPoints spread{task.points, task.box};
  std::vector<std::vector<double>> to(static_cast<std::size_t>(transport.size()));
  for (std::size_t i = share.begin; i < share.end; ++i) {
    const Vec3 p = spread.wrapped_at(i, box);
    auto& row = to[static_cast<std::size_t>(blocks.owner(p))];
    const Origin origin{static_cast<std::uint32_t>(i - share.begin), transport.rank()};
    row.insert(row.end(), p.begin(), p.end());
    row.push_back(std::bit_cast<double>(ids[i - share.begin]));
    row.push_back(std::bit_cast<double>(origin));
    row.push_back(task.mass ? task.mass->data()[i] : 1);
    for (std::size_t a = 0; a < 3; ++a) row.push_back(task.velocity ? task.velocity->data()[3 * i + a] : 0);
    for (std::size_t k = 0; k < same; ++k) row.push_back(task.same->data()[same * i + k]);
  }
  return comm::all_to_all(transport, std::move(to)).flat();
}

/// Labels the points that this rank owns. Collective. @param rows  as send_points() returns them, `width` numbers each
FriendLabels label_owned(const FriendsTask& task, const std::vector<double>& rows, std::size_t width,
                         const Decomposition& blocks, comm::Transport& transport) {
  const std::size_t n = rows.size() / width;
  std::vector<std::int64_t> ids(n);
  for (std::size_t i = 0; i < n; ++i) ids[i] = std::bit_cast<std::int64_t>(rows[i * width + kIdAt]);
  const double* const first = rows.empty() ? nullptr : rows.data();
  const auto column = [&](std::size_t at) { return ConstColumn{first == nullptr ? nullptr : first + at, width}; };
  FriendColumns columns;
  if (task.mass) columns.mass = column(kMassAt);
  for (std::size_t a = 0; task.velocity && a < 3; ++a) columns.velocity.push_back(column(kVelocityAt + a));
  for (std::size_t at = kSameAt; at < width; ++at) columns.same.push_back(column(at));
  PointView points;
  if (n > 0) points = {first, first + 1, first + 2, width, n};
  FriendsOfFriends friends(transport, blocks, task.options);
  return friends.label(points, ids, columns);
}

/// Finds friends of friends among this rank's share of points, for merganser.friends_of_friends(). Collective.
/// @throws UsageError on every rank if ranks differ in what they pass; InputError on every rank for invalid points or equal ids
void find_friends(const FriendsTask& task, RowRange share, comm::Transport& transport, FoundFriends& found) {
  const SpreadPoints spread{task.points, task.box};
  const std::size_t width = kSameAt + (task.same ? task.same->shape(1) : 0);
  auto uniform = uniform_values(spread, task.ids);
  uniform.push_back({"columns `same`", std::to_string(width - kSameAt)});
  uniform.push_back({"the argument `mass`", task.mass ? "given" : "None"});
  uniform.push_back({"the argument `velocity`", task.velocity ? "given" : "None"});
  comm::check_uniform_across_ranks(transport, "friends_of_friends", uniform);
  comm::agree(transport, [&] { check_columns(task, share); });
  const Box box = common_box(spread, share, transport);
  const auto ids = spread_ids(task.ids, share, transport);
  const Decomposition blocks = balanced_blocks(spread, share, box, transport);
  const auto rows = send_points(task, share, blocks, box, ids, transport);
  FriendLabels labels = label_owned(task, rows, width, blocks, transport);
  const auto origin = [&](std::size_t i) { return std::bit_cast<Origin>(rows[i * width + kOriginAt]); };
  std::vector<SentLabel> back;
  std::vector<std::pair<std::int64_t, std::int32_t>> passed;  // id and rank of points with the lowest id of their group
  for (std::size_t i = 0; i < labels.group.size(); ++i) {
    back.push_back({labels.group[i], origin(i)});
    const auto id = std::bit_cast<std::int64_t>(rows[i * width + kIdAt]);
    if (id == labels.group[i]) passed.emplace_back(id, origin(i).rank);
  }
  std::sort(passed.begin(), passed.end());
  std::vector<SentGroup> groups;
  for (const FriendGroup& g : labels.groups) {
    const auto at = std::lower_bound(passed.begin(), passed.end(), std::pair<std::int64_t, std::int32_t>{g.id, 0});
    groups.push_back({g, at->second});  // the root of a group is the rank that holds its point of the lowest id
  }
  const auto to_rank = [](const SentLabel& l) { return l.to.rank; };
  found.labels.resize(share.size());
  for (const auto& theirs : comm::send_to_owners(transport, std::span<const SentLabel>(back), to_rank))
    for (const SentLabel& l : theirs) found.labels[l.to.position] = l.group;
  for (const auto& theirs :
       comm::send_to_owners(transport, std::span<const SentGroup>(groups), [](const SentGroup& g) { return g.rank; }))
    for (const SentGroup& g : theirs) found.groups.push_back(g.group);
  std::sort(found.groups.begin(), found.groups.end(), [](const auto& a, const auto& b) { return a.id < b.id; });
  found.numbers = labels.numbers;
}

/// Converts one quantity of every group to a NumPy array.
template <class T, class Get>
nb::object group_column(const std::vector<FriendGroup>& groups, const Get& get) {
  std::vector<T> out;
  out.reserve(groups.size());
  for (const FriendGroup& g : groups) out.push_back(get(g));
  return nb::cast(move_to_numpy(std::move(out)));
}

/// Converts a vector of every group to a NumPy array of shape (groups, dimension).
nb::object group_rows(const std::vector<FriendGroup>& groups, Vec3 FriendGroup::*vector, std::size_t dimension) {
  std::vector<double> out;
  for (const FriendGroup& g : groups)
    out.insert(out.end(), (g.*vector).begin(), (g.*vector).begin() + static_cast<std::ptrdiff_t>(dimension));
  return nb::cast(move_rows_to_numpy(std::move(out), dimension));
}

/// Converts the groups of this process to a dict of arrays and numbers, the fields of merganser.Friends.
nb::dict to_dict(FoundFriends&& found, std::size_t dimension, bool velocity) {
  nb::dict out;
  const auto& groups = found.groups;
  out["labels"] = nb::cast(move_to_numpy(std::move(found.labels)));
  out["id"] = group_column<std::int64_t>(groups, [](const FriendGroup& g) { return g.id; });
  out["members"] = group_column<std::int64_t>(groups, [](const FriendGroup& g) { return g.members; });
  out["mass"] = group_column<double>(groups, [](const FriendGroup& g) { return g.mass; });
  out["centre"] = group_rows(groups, &FriendGroup::centre, dimension);
  out["velocity"] = velocity ? group_rows(groups, &FriendGroup::velocity, dimension) : nb::none();
  out["winds"] = group_column<std::uint8_t>(groups, [](const FriendGroup& g) { return g.winds ? 1 : 0; });
  out["length"] = found.numbers.length;
  out["rounds"] = found.numbers.rounds;
  return out;
}

/// Returns the linking length of friends of friends from its text. @throws UsageError for a text that is no length, and for units
/// of cells, of which points in arrays have none
Length linking_length(const std::string& text) {
  const std::pair<std::string, std::string> part{"friends", text};
  const Length length = policy_from_parts(std::span(&part, 1)).linking;
  if (length.unit == Length::Unit::cell)
    throw UsageError("linking_length: '" + text +
                     "' in units of cells, of which points have none; allowed: a number in units of the box, or with "
                     "spacing behind it");
  return length;
}

/// Finds friends of friends for merganser.friends_of_friends(); each rank finds those of its share. Collective over the team.
/// @throws UsageError for 2^31 points or more on a rank
nb::dict friends_of_friends(const std::shared_ptr<Team>& team, Rows<double> points,
                            std::optional<Line<std::int64_t>> ids, std::optional<Line<double>> mass,
                            std::optional<Rows<double>> velocity, std::optional<Rows<double>> same,
                            const std::optional<BoxGiven>& box, const std::string& length, std::int64_t least_members) {
  const std::size_t n = points.shape(0);
  const std::size_t dimension = points.shape(1);
  const bool moving = velocity.has_value();
  if (n >= std::size_t{1} << 31) throw UsageError("points: " + std::to_string(n) + " on one rank; allowed: below 2^31");
  const auto task = std::make_shared<FriendsTask>();
  *task = {std::move(points), std::move(ids), std::move(mass), std::move(velocity), std::move(same), {}, {}};
  if (box) task->box = to_box(*box);
  task->options.linking = linking_length(length);
  task->options.least_members = least_members;
  const bool here = team->is_local();
  const auto parts = std::make_shared<std::vector<FoundFriends>>(static_cast<std::size_t>(here ? team->ranks() : 1));
  team->run([=](comm::Transport& transport, const Interrupt&) {
    const RowRange share = here ? row_share(n, transport.rank(), transport.size()) : RowRange{0, n};
    find_friends(*task, share, transport, (*parts)[static_cast<std::size_t>(here ? transport.rank() : 0)]);
  });
  FoundFriends all = std::move((*parts)[0]);
  for (std::size_t r = 1; r < parts->size(); ++r) {
    const FoundFriends& part = (*parts)[r];
    all.labels.insert(all.labels.end(), part.labels.begin(), part.labels.end());
    all.groups.insert(all.groups.end(), part.groups.begin(), part.groups.end());
  }
  std::sort(all.groups.begin(), all.groups.end(), [](const auto& a, const auto& b) { return a.id < b.id; });
  return to_dict(std::move(all), dimension, moving);
}

}  // namespace

// Registers friends_of_friends(), which merganser.friends_of_friends() wraps.
void bind_friends(nb::module_& m) {
  m.def("friends_of_friends", &friends_of_friends, nb::arg("team"), nb::arg("points").noconvert(),
        nb::arg("ids").noconvert().none(), nb::arg("mass").noconvert().none(), nb::arg("velocity").noconvert().none(),
        nb::arg("same").noconvert().none(), nb::arg("box").none(), nb::arg("linking_length"), nb::arg("least_members"),
        "Finds friends of friends among points: see merganser.friends_of_friends(). Collective.");
}

}  // namespace merganser::python
