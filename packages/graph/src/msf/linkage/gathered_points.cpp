// Gathering of all points and their core distances on rank 0, for the order in which scikit-learn merges equal edges.
#include "merganser/msf/gathered_points.hpp"

#include <limits>

#include "merganser/base/error.hpp"
#include "merganser/base/text.hpp"
#include "merganser/comm/collectives.hpp"
#include "src/msf/euclidean/core_neighbours.hpp"

namespace merganser::msf {
namespace {

/// Gathers one number per point (core distance) of all ranks' points on rank 0. Collective. @param mine  by point of this rank
/// @return on rank 0 the numbers by id of the point; empty on the others
std::vector<double> gather_by_id(const euclidean::CheckedPoints& given, const std::vector<double>& mine,
                                 comm::Transport& transport) {
  std::vector<double> out;
  if (transport.size() == 1) {
    out.resize(mine.size());
    for (std::size_t i = 0; i < mine.size(); ++i) out[static_cast<std::size_t>(given.id(i))] = mine[i];
    return out;
  }
  std::vector<std::uint64_t> ids(given.size());
  for (std::size_t i = 0; i < ids.size(); ++i) ids[i] = given.id(i);
  const auto all_ids = comm::gather_to_first(transport, ids);
  const auto all = comm::gather_to_first(transport, mine);
  if (transport.rank() != 0) return out;
  out.resize(static_cast<std::size_t>(given.total()));
  for (std::size_t r = 0; r < static_cast<std::size_t>(transport.size()); ++r)
    for (std::size_t i = 0; i < all_ids[r].size(); ++i) out[static_cast<std::size_t>(all_ids[r][i])] = all[r][i];
  return out;
}

}  // namespace

// Gather of points and core distances on rank 0, for the order of merges of equal height.
GatheredPoints gather_points(const PointSet& points, comm::Transport& transport, const EuclideanOptions& options,
                             Report& report) {
  std::vector<double> cores;
  if (options.min_samples > 1) cores = core_distances(points, options.min_samples, transport, options, report);
  return gather_points(points, cores, transport, options);
}

GatheredPoints gather_points(const PointSet& points, const std::vector<double>& cores, comm::Transport& transport,
                             const EuclideanOptions& options, euclidean::NeighboursPointer neighbours) {
  euclidean::check_uniform_options(options, transport);
  const euclidean::CheckedPoints given(points, transport);
  const bool some = transport.all_reduce(static_cast<std::int64_t>(!cores.empty()), comm::Op::sum) > 0;
  comm::agree(transport, [&] {
    if (some && cores.size() != given.size())
      throw InputError("gather: " + std::to_string(cores.size()) + " core distances of " +
                       std::to_string(given.size()) + " points; allowed: one for each");
    if (neighbours != nullptr && neighbours->size() != given.total())
      throw InputError("gather: neighbours of " + std::to_string(neighbours->size()) + " points; allowed: of the " +
                       std::to_string(given.total()) + " points of the forest");
  });
  GatheredPoints all;
  auto sites = std::make_shared<const euclidean::Sites>(given, transport, options.alpha);
  if (some) all.core_distances = gather_by_id(given, cores, transport);
  comm::agree(transport, [&] {
    if (options.alpha == 1) return;
    for (double& core : all.core_distances) {
      const double weight = sites->weight_of_core(core);
      if (!(weight < std::numeric_limits<double>::infinity()))  // not a number beyond pi on a sphere
        throw InputError("gather: alpha " + number_text(options.alpha) + " times a core distance of " +
                         number_text(core) + "; allowed: a product in the range of distances, on a sphere up to pi");
      core = weight;
    }
  });
  if (transport.rank() == 0) all.sites = std::move(sites);
  all.min_samples = options.min_samples;
  all.threads = options.threads;
  if (transport.size() == 1) all.neighbours = std::move(neighbours);
  return all;
}

}  // namespace merganser::msf
