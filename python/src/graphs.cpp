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

/// Edge list of one rank, and the log of reading it.
struct Edges {
  graphs::EdgeList list;
  graphs::ReadLog log;
};

/// Converts the weights of an edge list to an array of T by a function of their ordered bits.
template <class T, class Weight>
nb::object weights_to_numpy(const graphs::EdgeList& list, const Weight& weight) {
  std::vector<T> out;
  out.reserve(list.size());
  list.for_each([&](const auto& e) { out.push_back(static_cast<T>(weight(e.weight))); });
  return nb::cast(move_to_numpy(std::move(out)));
}

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

// Converts one end of all edges, low or high, to an array of NumPy.
nb::object ends_to_numpy(const graphs::EdgeList& list, bool high) {
  std::vector<std::int64_t> out;
  out.reserve(list.size());
  list.for_each([&](const auto& e) { out.push_back(static_cast<std::int64_t>(high ? e.high : e.low)); });
  return nb::cast(move_to_numpy(std::move(out)));
}

/// Converts edges to (n, u, v, w), as minimum_spanning_forest() takes them.
nb::tuple to_edge_arrays(const Edges& edges) {
  return nb::make_tuple(edges.list.vertices, ends_to_numpy(edges.list, false), ends_to_numpy(edges.list, true),
                        weights_to_numpy(edges.list));
}

// Body of merganser.generate_graph().
nb::tuple generate(const std::shared_ptr<Team>& team, const std::string& spec, std::uint64_t seed,
                   const std::string& weights) {
  const auto edges = std::make_shared<Edges>();
  team->run([=](comm::Transport& transport, const Interrupt&) {
    edges->list = graphs::generate(spec, {seed, weights}, transport);
  });
  return to_edge_arrays(*edges);
}

// Body of merganser.read_graph(): arrays of this rank's edges, and what the reader noticed.
nb::tuple read(const std::shared_ptr<Team>& team, const std::string& path, const std::string& format,
               const std::string& weights, std::uint64_t seed) {
  const auto edges = std::make_shared<Edges>();
  team->run([=](comm::Transport& transport, const Interrupt&) {
    edges->list = graphs::read_graph(path, {format, weights, seed}, transport, edges->log);
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
  return nb::make_tuple(to_edge_arrays(*edges), record);
}

// Body of merganser.write_graph(): edges from arrays of NumPy, checked while the interpreter's lock is released.
template <class T>
void write(const std::shared_ptr<Team>& team, const std::string& path, const std::string& format, std::uint64_t n,
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

template <class T>
void bind_write(nb::module_& m) {
  m.def("write_graph", &write<T>, nb::arg("team"), nb::arg("path"), nb::arg("format"), nb::arg("n"),
        nb::arg("u").noconvert(), nb::arg("v").noconvert(), nb::arg("w").noconvert(), "See merganser.write_graph().");
}

}  // namespace

void bind_graphs(nb::module_& m) {
  m.def("generate_graph", &generate, nb::arg("team"), nb::arg("spec"), nb::arg("seed"), nb::arg("weights"),
        "See merganser.generate_graph().");
  m.def("read_graph", &read, nb::arg("team"), nb::arg("path"), nb::arg("format"), nb::arg("weights"), nb::arg("seed"),
        "See merganser.read_graph().");
  bind_write<std::uint64_t>(m);
  bind_write<std::int64_t>(m);
  bind_write<double>(m);
}

}  // namespace merganser::python
