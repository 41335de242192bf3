/// Python bindings of single linkage: dendrograms of forests, and cuts of dendrograms.
#include <nanobind/stl/optional.h>
#include <nanobind/stl/shared_ptr.h>
#include <nanobind/stl/string.h>

#include <cmath>

#include "merganser/base/error.hpp"
#include "merganser/comm/open.hpp"
#include "python/src/clusters.hpp"
#include "python/src/themes.hpp"

namespace merganser::python {
namespace {

/// Throws the error of a row of a linkage matrix that Python passed. @throws InputError "linkage: row N: what"
[[noreturn]] void refuse_row(std::size_t row, const std::string& what) {
  throw InputError("linkage: row " + std::to_string(row) + ": " + what);
}

/// Converts an entry of a linkage matrix (a cluster's number or its size, stored as double) to an integer. @throws InputError
/// unless it is a whole number from 0 to below `below`, with `row` and the word `what` in the message
std::uint32_t parse_whole(double x, double below, std::size_t row, const char* what) {
  if (!(x >= 0 && x < below) || x != std::floor(x))
    refuse_row(row, std::string(what) + " " + std::to_string(x) + "; allowed: whole numbers from 0 to below " +
                        std::to_string(static_cast<std::uint64_t>(below)));
  return static_cast<std::uint32_t>(x);
}

/// Converts a single-linkage dendrogram to the rows of a linkage matrix of SciPy: (a, b, height, size), concatenated.
std::vector<double> to_rows(const msf::Dendrogram& d) {
  std::vector<double> rows(4 * d.merges.size());
  double* to = rows.data();
  for (const msf::Merge& m : d.merges) {
    *to++ = m.a;
    *to++ = m.b;
    *to++ = m.height;
    *to++ = m.size;
  }
  return rows;
}

/// Computes the single-linkage dendrogram of a spanning forest for merganser.linkage(), as a linkage matrix of SciPy. Collective
/// over the forest's team. @return a NumPy array of shape (n - 1, 4); None on ranks other than 0
nb::object linkage(const std::shared_ptr<ForestObject>& forest) {
  const auto rows = std::make_shared<std::vector<double>>();
  forest->sorted();
  const Team& team = *forest->team();
  const bool mine = team.is_local() || team.rank() == 0;
  const auto body = [=](comm::Transport& transport, const Interrupt&) {
    *rows = to_rows(gather_dendrogram(*forest, msf::Apart::join, transport));
  };
  if (team.is_local()) {
    Team(1).run(body);
  } else {
    team.run(body);
  }
  return mine ? nb::cast(move_rows_to_numpy(std::move(*rows), 4)) : nb::none();
}

/// Moves cluster labels of a cut dendrogram into a NumPy array of int32, without a copy.
nb::object labels_to_numpy(msf::Labels labels) {
  const std::size_t n = labels.of.size();
  using Numbers = std::vector<std::uint32_t>;
  return nb::cast(move_to_numpy<std::int32_t, Numbers>(
      std::move(labels.of), [](Numbers& v) { return reinterpret_cast<std::int32_t*>(v.data()); }, {n}));
}

/// Cuts a single-linkage dendrogram, given as a linkage matrix of SciPy, into flat clusters by the rule `how`, without the
/// interpreter's lock. @return cluster labels by vertex. @throws InputError for an invalid matrix
template <class Cut>
nb::object cut(const Rows<double>& rows, const Cut& how) {
  msf::Labels labels;
  {
    const nb::gil_scoped_release free;
    labels = how(parse_dendrogram(rows));
  }
  return labels_to_numpy(std::move(labels));
}

}  // namespace

// Dendrogram of a forest that is distributed over ranks, for cuts and HDBSCAN.
msf::Dendrogram gather_dendrogram(ForestObject& forest, msf::Apart apart, comm::Transport& transport) {
  if (transport.size() == 1) return msf::dendrogram(forest.sorted_forest(), apart);
  const msf::Forest all = msf::gather_forest(forest.sorted_forest(), transport);
  return transport.rank() == 0 ? msf::dendrogram(all, apart) : msf::Dendrogram{};
}

// Converts a linkage matrix that may come from SciPy or any program: heights must ascend, and each cluster is merged once.
msf::Dendrogram parse_dendrogram(const Rows<double>& linkage) {
  if (linkage.shape(1) != 4)
    throw InputError("linkage: rows of " + std::to_string(linkage.shape(1)) + " numbers; allowed: 4");
  msf::Dendrogram d;
  const std::size_t merges = linkage.shape(0);
  if (merges + 1 > msf::kMaxLinkageVertices)
    throw InputError("linkage: " + std::to_string(merges) + " rows; allowed: below " +
                     std::to_string(msf::kMaxLinkageVertices));
  d.vertices = merges + 1;
  d.merges.reserve(merges);
  std::vector<bool> used(2 * merges + 1);
  double height = -std::numeric_limits<double>::infinity();
  for (std::size_t i = 0; i < merges; ++i) {
    const double* const row = linkage.data() + 4 * i;
    const auto below = static_cast<double>(merges + 1 + i);
    const std::uint32_t a = parse_whole(row[0], below, i, "cluster");
    const std::uint32_t b = parse_whole(row[1], below, i, "cluster");
    if (a == b || used[a] || used[b]) refuse_row(i, "a cluster that was merged before; allowed: each once");
    if (!(row[2] >= height)) refuse_row(i, "a height below the one before, or none; allowed: ascending heights");
    used[a] = used[b] = true;
    height = row[2];
    d.merges.push_back({std::min(a, b), std::max(a, b), height, parse_whole(row[3], below + 1, i, "size")});
  }
  return d;
}

// Registers linkage() of forests, and the cuts of dendrograms by height and by number of clusters.
void bind_linkage(nb::module_& m) {
  m.def("linkage", &linkage, nb::arg("forest"), "Computes the dendrogram of a forest: see merganser.linkage().");
  m.def(
      "cut_by_height",
      [](const Rows<double>& rows, double height) {
        return cut(rows, [height](const msf::Dendrogram& d) { return msf::cut_by_height(d, height); });
      },
      nb::arg("linkage").noconvert(), nb::arg("height"), "Cuts a dendrogram at a height: see merganser.cut().");
  m.def(
      "cut_by_count",
      [](const Rows<double>& rows, std::uint64_t count, bool apart) {
        const auto ties = apart ? msf::Ties::apart : msf::Ties::together;
        return cut(rows, [=](const msf::Dendrogram& d) { return msf::cut_by_count(d, count, ties); });
      },
      nb::arg("linkage").noconvert(), nb::arg("count"), nb::arg("apart"),
      "Cuts a dendrogram into a number of clusters: see merganser.cut().");
}

}  // namespace merganser::python
