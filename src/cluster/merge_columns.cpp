// Merge of one rank's stars in the caller's columns, the last stage of StarFinder::merge.
#include "src/cluster/merge_columns.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <string>

#include "merganser/base/error.hpp"
#include "merganser/base/indexed_text.hpp"
#include "merganser/base/text.hpp"
#include "merganser/geometry/box_checks.hpp"
#include "merganser/parcels/limits.hpp"
#include "src/cluster/distinct_ids.hpp"

namespace merganser::cluster {
namespace {

constexpr std::uint32_t kNoMember = 0xffffffffU;

/// Linked lists of the sources that merge into each centre of this rank: first[centre], then next[member]. A member is an index
/// into the rank's star links or, from their number on, a received point.
struct SourceLists {
  std::vector<std::uint32_t> first;
  std::vector<std::uint32_t> next;
  std::vector<std::uint32_t> centres;  ///< centres in the order in which their first source is listed

  /// Lists the sources of the centres on rank `rank`, this one, from its own star links and from the received points.
  SourceLists(std::size_t points, std::span<const StarLink> links, int rank, std::span<const StarReceive> receives)
      : first(points, kNoMember), next(links.size() + receives.size(), kNoMember) {
    for (std::size_t k = 0; k < links.size(); ++k)
      if (links[k].rank == rank) add(links[k].centre, static_cast<std::uint32_t>(k));
    for (std::size_t k = 0; k < receives.size(); ++k)
      add(receives[k].centre, static_cast<std::uint32_t>(links.size() + k));
  }

 private:
  /// Inserts a source at the front of the linked list of the centre that it merges into.
  void add(std::uint32_t centre, std::uint32_t member) {
    if (first[centre] == kNoMember) centres.push_back(centre);
    next[member] = first[centre];
    first[centre] = member;
  }
};

/// Removes the entries of merged sources from one of the caller's columns, keeping the order of the rest. @param gone  1 for
/// entries to remove
void remove_entries(const Column& column, std::size_t size, const std::vector<std::uint8_t>& gone) {
  if (column.data == nullptr) return;
  std::size_t to = 0;
  for (std::size_t i = 0; i < size; ++i) {
    column.data[to * column.stride] = column.data[i * column.stride];
    to += gone[i] == 0;
  }
}

}  // namespace

// Merge of StarFinder in the caller's columns; the columns are validated before anything is written.
ColumnMerge::ColumnMerge(const MergeRules& rules, const Columns& columns, std::size_t points, const Ids& ids)
    : rules_(rules), columns_(columns), ids_(ids), width_(rules.schema->width()) {
  check(points);
}

// Validation of StarFinder::merge: columns, ids, volumes and attributes, before anything is sent or written.
void ColumnMerge::check(std::size_t points) const {
  const auto& c = columns_;
  if (c.size != points)
    throw UsageError("merge: columns of " + std::to_string(c.size) + " points; allowed: the " + std::to_string(points) +
                     " given to find()");
  if (c.ids.size() != (ids_.given ? points : 0))
    throw UsageError("merge: " + std::to_string(c.ids.size()) + " ids; allowed: " +
                     (ids_.given ? "the " + std::to_string(points) + " given to find()"
                                 : std::string("none, because find() was given none")));
  std::size_t components = 0;
  for (std::size_t i = 0; i < rules_.schema->attributes().size(); ++i) {
    const Attribute& a = rules_.schema->attributes()[i];
    components += static_cast<std::size_t>(a.components);
    if (a.rule == Rule::callback && (i >= rules_.callbacks.size() || !rules_.callbacks[i]))
      throw UsageError("attribute " + a.name + " is merged by a callback, but none is given");
  }
  if (c.attributes.size() != components)
    throw UsageError("merge: " + std::to_string(c.attributes.size()) + " columns of attributes; allowed: " +
                     std::to_string(components) + ", one for each component of the schema");
  if (points == 0) return;
  if (ids_.given) {
    PointView all;
    all.size = points;
    IdSet().assign({all, nullptr, c.ids.data(), 0, 0});  // duplicates would leave the order of members undetermined
  }
  const auto usable = [](const Column& column) { return column.data != nullptr && column.stride > 0; };
  if (!usable(c.x) || !usable(c.y) || !usable(c.volume) ||
      !std::all_of(c.attributes.begin(), c.attributes.end(), usable))
    throw UsageError("merge: a column is null or has stride 0; allowed: an array of " + std::to_string(points) +
                     " numbers for x, y, the volume and each component");
  std::vector<double> row(width_);
  for (std::size_t i = 0; i < points; ++i) {
    const double volume = c.volume.data[i * c.volume.stride];
    std::string wrong = volume_error(volume);
    if (wrong.empty()) {
      Site site;
      read(static_cast<std::uint32_t>(i), site, row.data());
      wrong = row_error(*rules_.schema, row.data(), volume);
    }
    if (!wrong.empty()) throw Indexed<InputError>(IndexedText("point ") + Index{i} + ": " + wrong);
  }
}

// Gathering of one point from the caller's columns: its position is wrapped, its id stands first in the payload row.
void ColumnMerge::read(std::uint32_t position, Site& site, double* row) const {
  const auto at = [&](const Column& column) { return column.data[position * column.stride]; };
  const Vec3 p = wrapped(
      rules_.box, {at(columns_.x), at(columns_.y), columns_.z.data != nullptr ? at(columns_.z) : rules_.box.lower[2]});
  site = {p[0], p[1], p[2], at(columns_.volume)};
  row[0] = std::bit_cast<double>(id(position));
  const std::size_t components = columns_.attributes.size();
  for (std::size_t c = 0; c < components; ++c) row[1 + c] = at(columns_.attributes[c]);
  for (std::size_t c = 1 + components; c < width_; ++c) row[c] = 0;
}

// Scattering of one merged parcel into the caller's columns; ids are not changed, since the centre keeps its own.
void ColumnMerge::write(std::uint32_t position, const Site& site, const double* row) const {
  const auto put = [&](const Column& column, double value) { column.data[position * column.stride] = value; };
  put(columns_.x, site.x);
  put(columns_.y, site.y);
  if (columns_.z.data != nullptr) put(columns_.z, site.z);
  put(columns_.volume, site.volume);
  for (std::size_t c = 0; c < columns_.attributes.size(); ++c) put(columns_.attributes[c], row[1 + c]);
}

// Serialization of a leaf that migrates to the rank of its centre.
void ColumnMerge::pack(std::uint32_t position, std::byte* row) const {
  Site site;
  std::vector<double> payload(width_);
  read(position, site, payload.data());
  std::memcpy(row, &site, sizeof site);
  std::memcpy(row + sizeof site, payload.data(), width_ * sizeof(double));
}

// Merge of the stars centred on this rank, members in the order of their ids, so that sums round alike on any number of
// ranks.
void ColumnMerge::run(std::span<const StarLink> links, int rank, std::span<const StarReceive> receives,
                      std::span<const std::byte> received) const {
  const SourceLists lists(columns_.size, links, rank, receives);
  std::vector<Site> sites;   // centre first
  std::vector<double> rows;  // width_ numbers each
  std::vector<Member> members;
  for (const std::uint32_t centre : lists.centres) {
    sites.resize(1);
    rows.resize(width_);
    read(centre, sites[0], rows.data());
    for (std::uint32_t m = lists.first[centre]; m != kNoMember; m = lists.next[m]) {
      sites.emplace_back();
      rows.resize(rows.size() + width_);
      double* const row = rows.data() + rows.size() - width_;
      if (m < links.size()) {
        read(links[m].source, sites.back(), row);
      } else {
        const std::byte* const from = received.data() + (m - links.size()) * row_bytes();
        std::memcpy(&sites.back(), from, sizeof(Site));
        std::memcpy(row, from + sizeof(Site), width_ * sizeof(double));
      }
    }
    members.clear();
    for (std::size_t i = 0; i < sites.size(); ++i) members.push_back({&sites[i], rows.data() + i * width_});
    std::sort(members.begin() + 1, members.end(), [](const Member& a, const Member& b) {
      return std::bit_cast<std::int64_t>(a.row[0]) < std::bit_cast<std::int64_t>(b.row[0]);
    });
    Site merged = sites[0];
    std::vector<double> row(rows.begin(), rows.begin() + static_cast<std::ptrdiff_t>(width_));
    merge_star(rules_, members, merged, row.data());
    write(centre, merged, row.data());
  }
}

// Compaction of the columns after the merge: the sources have become parts of their centres.
std::size_t ColumnMerge::remove_sources(std::span<const StarLink> links) const {
  const std::size_t size = columns_.size;
  std::vector<std::uint8_t> gone(size, 0);
  for (const StarLink& link : links) gone[link.source] = 1;
  for (const Column* column : {&columns_.x, &columns_.y, &columns_.z, &columns_.volume})
    remove_entries(*column, size, gone);
  for (const Column& column : columns_.attributes) remove_entries(column, size, gone);
  std::size_t to = 0;
  for (std::size_t i = 0; i < columns_.ids.size(); ++i) {
    columns_.ids[to] = columns_.ids[i];
    to += gone[i] == 0;
  }
  return size - links.size();
}

}  // namespace merganser::cluster
