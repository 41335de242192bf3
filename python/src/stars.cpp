/// Python bindings of merganser.stars(): stars of points, migration of rows to centres, and merges of stars into parcels.
#include "python/src/stars.hpp"

#include <nanobind/stl/array.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/shared_ptr.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <algorithm>
#include <bit>

#include "merganser/base/error.hpp"
#include "merganser/geometry/box_checks.hpp"
#include "merganser/parcels/limits.hpp"
#include "python/src/schema.hpp"
#include "python/src/spread.hpp"
#include "python/src/themes.hpp"

namespace merganser::python {
namespace {

/// Concatenates the stars of ranks that are threads of this process; positions of centres in a rank's share become those in the
/// caller's array of n points.
Stars join_parts(std::vector<Stars>& parts, std::size_t n) {
  const int ranks = static_cast<int>(parts.size());
  Stars all{parts[0].team, parts[0].box, parts[0].dimension, {}, {}, {}, {}, {}};
  all.centre.resize(n);
  all.ids.resize(n);
  for (int r = 0; r < ranks; ++r) {
    const RowRange share = row_share(n, r, ranks);
    Stars& part = parts[static_cast<std::size_t>(r)];
    for (std::size_t i = 0; i < share.size(); ++i) {
      const RowRange theirs = row_share(n, part.rank[i], ranks);
      all.centre[share.begin + i] = static_cast<std::int64_t>(theirs.begin) + part.centre[i];
      all.ids[share.begin + i] = part.ids[i];
    }
    part = {};
  }
  return all;
}

/// Finds the stars of this process's points for merganser.stars(); each rank finds those of its share. Collective over the team.
/// @param small  1 for points that link to their nearest neighbour @param block  corners of this rank's block, if points stay
/// @throws UsageError for 2^31 points or more on a rank
std::shared_ptr<Stars> stars(const std::shared_ptr<Team>& team, Rows<double> points, Line<std::uint8_t> small,
                             std::optional<Line<std::int64_t>> ids, const std::optional<Box>& box,
                             const std::optional<std::array<Vec3, 2>>& block) {
  const auto task = std::make_shared<StarTask>();
  const std::size_t n = points.shape(0);
  if (n >= std::size_t{1} << 31) throw UsageError("points: " + std::to_string(n) + " on one rank; allowed: below 2^31");
  *task = {std::move(points), std::move(small), std::move(ids), box, {}};
  if (block) task->block = Decomposition::Block{(*block)[0], (*block)[1]};
  const bool here = team->is_local();
  const auto parts = std::make_shared<std::vector<Stars>>(static_cast<std::size_t>(here ? team->ranks() : 1));
  team->run([=, whole = std::shared_ptr<Team>(team)](comm::Transport& transport, const Interrupt&) {
    const RowRange share = here ? row_share(n, transport.rank(), transport.size()) : RowRange{0, n};
    find_stars(*task, share, transport, (*parts)[static_cast<std::size_t>(here ? transport.rank() : 0)]);
  });
  auto found = std::make_shared<Stars>(here ? join_parts(*parts, n) : std::move((*parts)[0]));
  found->team = team;
  return found;
}

/// Sends the rows (bytes) of this rank's star sources to the ranks of their centres, and returns the rows that this rank receives,
/// of shape (receives, bytes of a row), for merganser.Stars.migrate(). Collective over a communicator.
nb::object migrate_rows(const Stars& stars, const Rows<std::uint8_t>& rows) {
  const std::size_t row_bytes = rows.shape(1);
  std::vector<std::byte> came;
  if (!stars.team->is_local()) {
    const auto bytes = std::as_bytes(to_span(rows));
    stars.team->run([&](comm::Transport& transport, const Interrupt&) {
      comm::check_uniform_across_ranks(transport, "migrate", {{"bytes of a row", std::to_string(row_bytes)}});
      came = migrate(stars, bytes, row_bytes, transport);
    });
  }
  using Bytes = std::vector<std::byte>;
  return nb::cast(move_to_numpy<std::uint8_t, Bytes>(std::move(came),
                                                     [](Bytes& b) { return reinterpret_cast<std::uint8_t*>(b.data()); },
                                                     {stars.receives.size(), row_bytes}));
}

/// Member of a star as merge_star() takes it: site (position and volume), and row of the schema's width (id and attributes).
struct Parcel {
  Site site;
  std::vector<double> row;
};

/// Merges of stars into parcels on the rank of their centres, for merganser.Stars.merge(): the members are points of this rank and
/// rows (x y z volume id attributes) that have come from other ranks by migration.
class StarMerger {
 public:
  /// Takes the stars, the rows of this rank's points, and the rows received for `stars.receives`; all must outlive the object.
  StarMerger(const Stars& stars, const Schema& schema, const Rows<double>& rows, const Rows<double>& came)
      : stars_(stars), rules_(schema, stars.box), rows_(rows), came_(came) {}

  /// Merges every star of this rank. @return the rows (x y z volume id attributes) of centres, merged, and of points without a
  /// star, concatenated; and the positions of these points in this rank's arrays
  std::pair<std::vector<double>, std::vector<std::int64_t>> run() {
    collect_sources();
    const std::size_t width = rows_.shape(1);
    std::vector<double> out;
    std::vector<std::int64_t> kept;
    std::size_t next = 0;
    for (std::size_t i = 0; i < stars_.centre.size(); ++i) {
      if (!is_kept(i)) continue;
      kept.push_back(static_cast<std::int64_t>(i));
      const double* const row = rows_.data() + i * width;
      const Vec3 place = wrapped(stars_.box, {row[0], row[1], row[2]});
      out.insert(out.end(), place.begin(), place.end());
      out.insert(out.end(), row + 3, row + width);
      const std::size_t first = next;
      while (next < members_.size() && members_[next].centre == static_cast<std::int64_t>(i)) ++next;
      if (next > first) merge(row, {members_.data() + first, next - first}, out.data() + out.size() - width);
    }
    return {std::move(out), std::move(kept)};
  }

 private:
  /// Star member that merges into a centre of this rank.
  struct Source {
    std::int64_t centre;  ///< position of the centre in this rank's arrays
    std::int64_t id;      ///< id of the source
    const double* row;    ///< x y z volume id attributes of the source
  };

  /// Returns true if point i of this rank merges into no other point: a centre, or a point without a star.
  [[nodiscard]] bool is_kept(std::size_t i) const {
    const bool here = stars_.rank.empty() || stars_.rank[i] == stars_.team->rank();
    return here && stars_.centre[i] == static_cast<std::int64_t>(i);
  }
  /// Collects the sources of all stars with a centre on this rank, its own and received ones, sorted by (centre, id), so that the
  /// floating-point result of a merge does not depend on the number of ranks.
  void collect_sources() {
    const std::size_t width = rows_.shape(1);
    const auto source = [&](std::int64_t centre, const double* row) {
      members_.push_back({centre, std::bit_cast<std::int64_t>(row[4]), row});
    };
    for (std::size_t i = 0; i < stars_.centre.size(); ++i) {
      const bool here = stars_.rank.empty() || stars_.rank[i] == stars_.team->rank();
      if (here && !is_kept(i)) source(stars_.centre[i], rows_.data() + i * width);
    }
    for (std::size_t k = 0; k < stars_.receives.size(); ++k)
      source(stars_.receives[k].centre, came_.data() + k * width);
    std::sort(members_.begin(), members_.end(), [](const Source& a, const Source& b) {
      return a.centre != b.centre ? a.centre < b.centre : a.id < b.id;
    });
  }
  /// Converts a row (x y z volume id attributes) to a star member, its position wrapped into the box.
  [[nodiscard]] Parcel parcel(const double* row) const {
    const Vec3 place = wrapped(stars_.box, {row[0], row[1], row[2]});
    Parcel p{{place[0], place[1], place[2], row[3]}, std::vector<double>(rules_.schema->width())};
    std::copy(row + 4, row + rows_.shape(1), p.row.begin());
    return p;
  }
  /// Merges one star by the schema's rules, and writes position, volume and attributes of the merged parcel to the row `out`, which
  /// keeps the id of the centre.
  void merge(const double* centre, std::span<const Source> sources, double* out) const {
    std::vector<Parcel> parcels{parcel(centre)};
    for (const Source& s : sources) parcels.push_back(parcel(s.row));
    std::vector<Member> members;
    for (const Parcel& p : parcels) members.push_back({&p.site, p.row.data()});
    Site site;
    std::vector<double> row(rules_.schema->width());
    merge_star(rules_, members, site, row.data());
    const double numbers[] = {site.x, site.y, site.z, site.volume};
    std::copy(std::begin(numbers), std::end(numbers), out);
    std::copy_n(row.begin() + 1, rows_.shape(1) - 5, out + 5);
  }

  const Stars& stars_;
  MergeRules rules_;
  const Rows<double>& rows_;
  const Rows<double>& came_;
  std::vector<Source> members_;
};

/// Merges the rows of star sources into their centres by the merge rules of a schema, as a merge step does with parcels, for
/// merganser.Stars.merge(). Local. @param came  rows that migration brought to this rank
/// @throws UsageError for an attribute that merges by a callback, InputError naming the first invalid row
nb::tuple merge_rows(const Stars& stars, const Schema& schema, const Rows<double>& rows, const Rows<double>& came) {
  for (const Attribute& a : schema.attributes())
    if (a.rule == Rule::callback)
      throw UsageError("merge: attribute " + a.name + " merges by a callback; allowed: a rule");
  for (std::size_t i = 0; i < rows.shape(0); ++i) {
    const double* const row = rows.data() + i * rows.shape(1);
    if (const std::string wrong = row_error(schema, row + 4, row[3]); !wrong.empty())
      throw InputError("row " + std::to_string(i) + ": " + wrong);
  }
  std::pair<std::vector<double>, std::vector<std::int64_t>> merged;
  {
    const nb::gil_scoped_release free;
    merged = StarMerger(stars, schema, rows, came).run();
  }
  return nb::make_tuple(move_rows_to_numpy(std::move(merged.first), rows.shape(1)),
                        move_to_numpy(std::move(merged.second)));
}

/// Copies one value of T per entry of a vector of the stars (centres, ranks, ids, messages) to a NumPy array.
template <class T, class From, class Get>
nb::object copy_to_numpy(const std::vector<From>& from, const Get& get) {
  std::vector<T> out;
  out.reserve(from.size());
  for (const From& f : from) out.push_back(get(f));
  return nb::cast(move_to_numpy(std::move(out)));
}

}  // namespace

// Registers stars() and the class StarsFound, which merganser.stars() and merganser.Stars wrap.
void bind_stars(nb::module_& m) {
  m.def(
      "stars",
      [](const std::shared_ptr<Team>& team, Rows<double> points, Line<std::uint8_t> small,
         std::optional<Line<std::int64_t>> ids, const std::optional<BoxGiven>& box,
         const std::optional<std::array<Vec3, 2>>& block) {
        std::optional<Box> given;
        if (box) given = to_box(*box);
        return stars(team, std::move(points), std::move(small), std::move(ids), given, block);
      },
      nb::arg("team"), nb::arg("points").noconvert(), nb::arg("small").noconvert(), nb::arg("ids").noconvert().none(),
      nb::arg("box").none(), nb::arg("block").none(), "Finds stars among points: see merganser.stars(). Collective.");
  const auto position = [](std::int64_t x) { return x; };
  nb::class_<Stars>(m, "StarsFound", "Stars of this process's points.")
      .def_prop_ro(
          "centre", [=](const Stars& s) { return copy_to_numpy<std::int64_t>(s.centre, position); },
          "Position of the centre of each point in the arrays of its rank.")
      .def_prop_ro(
          "rank", [](const Stars& s) { return copy_to_numpy<std::int32_t>(s.rank, [](std::int32_t r) { return r; }); },
          "Rank of the centre of each point.")
      .def_prop_ro(
          "ids", [=](const Stars& s) { return copy_to_numpy<std::int64_t>(s.ids, position); }, "Id of each point.")
      .def_prop_ro(
          "sends", [=](const Stars& s) { return copy_to_numpy<std::int64_t>(s.sends, position); },
          "Positions of the points whose centre is on another rank, by that rank.")
      .def_prop_ro(
          "receives",
          [](const Stars& s) {
            return copy_to_numpy<std::int64_t>(s.receives, [](const Receive& a) { return a.centre; });
          },
          "Positions of the centres of rows to be received from other ranks, by rank of the source.")
      .def("migrate", &migrate_rows, nb::arg("rows").noconvert(),
           "Sends rows of bytes to the ranks of centres. Collective.")
      .def(
          "merge", &merge_rows, nb::arg("schema"), nb::arg("rows").noconvert(), nb::arg("came").noconvert(),
          "Merges stars. Returns rows (x, y, z, volume, bits of the id, attributes) of the points that stay, and their "
          "positions.");
}

}  // namespace merganser::python
