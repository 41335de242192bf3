/// Python bindings of graphs: generation, reading and writing of edge lists.
#include <nanobind/stl/shared_ptr.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <algorithm>

#include "merganser/base/error.hpp"
#include "merganser/comm/collectives.hpp"
#include "merganser/graphs/files.hpp"
#include "merganser/graphs/generate.hpp"
#include "python/src/arrays.hpp"
#include "python/src/team.hpp"
#include "python/src/themes.hpp"

namespace merganser::python {
namespace {

/// This rank's share of a graph's edges, and the log of the graph file reader.
struct RankEdges {
  graphs::EdgeList list;
  graphs::ReadLog log;
};

/// Converts the weights of this rank's graph edges to a NumPy array of T. @param weight  function of a weight's order-preserving
/// bits
template <class T, class Weight>
nb::object weights_to_numpy(const graphs::EdgeList& list, const Weight& weight) {
  std::vector<T> out;
  out.reserve(list.size());
  list.for_each([&](const auto& e) { out.push_back(static_cast<T>(weight(e.weight))); });
  return nb::cast(move_to_numpy(std::move(out)));
}

/// Converts the weights of this rank's graph edges to a NumPy array of the type that the graph's kind of weights names.
nb::object weights_to_numpy(const graphs::EdgeList& list) {
  const auto real = [&](std::uint64_t bits) { return graphs::weight_from_bits(list.kind, bits); };
  switch (list.kind) {
    case graphs::WeightKind::unsigned_integer:
      return weights_to_numpy<std::uint64_t>(list, [](std::uint64_t b) { return b; });
    case graphs::WeightKind::signed_integer:
      return weights_to_numpy<std::int64_t>(list, [](std::uint64_t b) { return b ^ (std::uint64_t{1} << 63); });
    case graphs::WeightKind::float32:
      return weights_to_numpy<float>(list, real);
    case graphs::WeightKind::float64:
      break;
  }
  return weights_to_numpy<double>(list, real);
}

/// Converts one end of each graph edge of this rank, the higher or the lower vertex, to a NumPy array of int64.
nb::object ends_to_numpy(const graphs::EdgeList& list, bool high) {
  std::vector<std::int64_t> out;
  out.reserve(list.size());
  list.for_each([&](const auto& e) { out.push_back(static_cast<std::int64_t>(high ? e.high : e.low)); });
  return nb::cast(move_to_numpy(std::move(out)));
}

/// Converts this rank's graph edges to a tuple (n, u, v, w) of the number of vertices and NumPy arrays of ends and weights, as
/// merganser.minimum_spanning_forest() takes them.
nb::tuple to_edge_arrays(const RankEdges& edges) {
  return nb::make_tuple(edges.list.vertices, ends_to_numpy(edges.list, false), ends_to_numpy(edges.list, true),
                        weights_to_numpy(edges.list));
}

/// Generates this rank's edges of a random graph for merganser.generate_graph(), as (n, u, v, w). Collective.
/// @param spec  generator and its parameters, as "rmat:..." @param weights  weight model
nb::tuple generate_edges(const std::shared_ptr<Team>& team, const std::string& spec, std::uint64_t seed,
                         const std::string& weights) {
  const auto edges = std::make_shared<RankEdges>();
  team->run([=](comm::Transport& transport, const Interrupt&) {
    edges->list = graphs::generate(spec, {seed, weights}, transport);
  });
  return to_edge_arrays(*edges);
}

/// Reads this rank's edges of a graph file for merganser.read_graph(). Collective. @return ((n, u, v, w), dict of the reader's log:
/// format, entries, loops dropped, remarks, original vertex ids or names)
nb::tuple read_edges(const std::shared_ptr<Team>& team, const std::string& path, const std::string& format,
                     const std::string& weights, std::uint64_t seed, bool names) {
  const auto edges = std::make_shared<RankEdges>();
  team->run([=](comm::Transport& transport, const Interrupt&) {
    edges->list = graphs::read_graph(path, {format, weights, seed, names}, transport, edges->log);
  });
  const graphs::ReadLog& log = edges->log;
  nb::dict record;
  record["format"] = std::string(graphs::to_string(log.format));
  record["bytes"] = log.file_bytes;
  record["entries"] = log.arcs;
  record["loops"] = log.loops;
  record["repeated"] = log.repeated;
  record["directed"] = log.directed;
  record["weighted"] = log.weighted;
  record["remarks"] = log.lines;
  record["names"] =
      edges->list.names.empty() ? nb::none() : nb::cast(move_to_numpy(std::vector<std::uint64_t>(edges->list.names)));
  if (log.named) {
    nb::list text;  // bytes that are no UTF-8 become lone surrogates, as in names of files
    for (const std::string& name : edges->list.text_names)
      text.append(
          nb::steal(PyUnicode_DecodeUTF8(name.data(), static_cast<Py_ssize_t>(name.size()), "surrogateescape")));
    record["names"] = text;
  }
  return nb::make_tuple(to_edge_arrays(*edges), record);
}

/// Writes edges of all ranks, given as NumPy arrays of ends and weights, to a graph file for merganser.write_graph(). Collective.
/// @throws UsageError for arrays of different lengths, InputError on every rank for an end that is no vertex
template <class T>
void write_edges(const std::shared_ptr<Team>& team, const std::string& path, const std::string& format, std::uint64_t n,
                 const Line<std::int64_t>& u, const Line<std::int64_t>& v, const Line<T>& w) {
  if (u.size() != v.size() || u.size() != w.size()) throw UsageError("graph: u, v and w of different lengths");
  const auto list = std::make_shared<graphs::EdgeList>();
  list->vertices = n;
  list->kind = std::is_same_v<T, std::uint64_t>  ? graphs::WeightKind::unsigned_integer
               : std::is_same_v<T, std::int64_t> ? graphs::WeightKind::signed_integer
                                                 : graphs::WeightKind::float64;
  const auto how = format.empty() ? graphs::format_from_path(path) : graphs::parse_format(format);
  graphs::check_writable(how);
  team->run([=](comm::Transport& transport, const Interrupt&) {
    comm::agree(transport, [&] {
      std::vector<graphs::Edge24> edges;
      edges.reserve(u.size());
      for (std::size_t i = 0; i < u.size(); ++i) {
        const auto a = static_cast<std::uint64_t>(u.data()[i]);
        const auto b = static_cast<std::uint64_t>(v.data()[i]);
        if (std::max(a, b) >= n) throw InputError("graph: edge " + std::to_string(i) + " has an end that is no vertex");
        edges.push_back(graphs::make_edge<graphs::Edge24>(a, b, graphs::ordered_bits(w.data()[i])));
      }
      list->edges = std::move(edges);
    });
    graphs::write_graph(path, *list, how, transport);
  });
}

/// Registers write_graph() for edge weights of type T.
template <class T>
void bind_write(nb::module_& m) {
  m.def("write_graph", &write_edges<T>, nb::arg("team"), nb::arg("path"), nb::arg("format"), nb::arg("n"),
        nb::arg("u").noconvert(), nb::arg("v").noconvert(), nb::arg("w").noconvert(),
        "Writes a graph file from edge arrays: see merganser.write_graph(). Collective.");
}

}  // namespace

// Registers generation, reading and writing of graphs, which merganser.generate_graph(), read_graph() and write_graph() wrap.
void bind_graphs(nb::module_& m) {
  m.def("generate_graph", &generate_edges, nb::arg("team"), nb::arg("spec"), nb::arg("seed"), nb::arg("weights"),
        "Generates this rank's edges of a random graph: see merganser.generate_graph(). Collective.");
  m.def("read_graph", &read_edges, nb::arg("team"), nb::arg("path"), nb::arg("format"), nb::arg("weights"),
        nb::arg("seed"), nb::arg("names"),
        "Reads this rank's edges of a graph file: see merganser.read_graph(). Collective.");
  bind_write<std::uint64_t>(m);
  bind_write<std::int64_t>(m);
  bind_write<double>(m);
}

}  // namespace merganser::python
