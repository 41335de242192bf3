#pragma once
/// Mutual reachability distances with distances divided by a number, alpha: a search multiplies the core distances instead, and its
/// weights are divided at the end.
#include <cmath>
#include <string>
#include <vector>

#include "merganser/base/error.hpp"
#include "merganser/base/text.hpp"
#include "merganser/comm/collectives.hpp"
#include "merganser/graphs/edges.hpp"
#include "src/msf/euclidean/search_names.hpp"

namespace merganser::msf::euclidean {

/// Returns the value by which a distance is compared, the inverse of distance_from_compared() up to rounding; not finite for a distance
/// that overflows, or on a sphere exceeds pi. @param divisor  as in distance_from_compared()
inline double compared_from_distance(double distance, Norm norm, bool sphere, double divisor) {
  if (divisor > 0) return distance * divisor;
  if (norm != Norm::squares) return distance;
  if (!sphere) return distance * distance;
  if (distance > std::numbers::pi) return kInfinity;
  const double chord = 2 * std::sin(distance / 2);
  return chord * chord > nearest::kFarChord2 ? 4 - 2 * std::sin((std::numbers::pi - distance) / 2) : chord * chord;
}

/// Metric of points with the number alpha by which distances are divided. Every value is a function of the compared one alone, so that
/// it does not depend on the rank that computes it.
struct Stretch {
  double alpha;    ///< EuclideanOptions::alpha; 1: all functions return what they are given, or the plain distance
  Norm norm;       ///< how distances are compared
  bool sphere;     ///< points are on the unit sphere
  double divisor;  ///< as in distance_from_compared()

  /// Returns the compared value of alpha times a core distance, which is given as it is compared.
  [[nodiscard]] double stretched(double core) const {
    if (alpha == 1) return core;
    return compared_from_distance(alpha * distance_from_compared(core, norm, sphere, divisor), norm, sphere, divisor);
  }
  /// Returns the weight of an edge for the compared value of the search: its distance divided by alpha.
  [[nodiscard]] double weight(double compared) const {
    const double distance = distance_from_compared(compared, norm, sphere, divisor);
    return alpha == 1 ? distance : distance / alpha;
  }
  /// Returns a core distance as weights of edges have it.
  [[nodiscard]] double weight_of_core(double core) const {
    return alpha == 1 ? core : weight(compared_from_distance(alpha * core, norm, sphere, divisor));
  }

  /// Replaces core distances, as they are compared, by those that the search compares with distances. Collective. @throws InputError on
  /// every rank for one that leaves the range
  void stretch(std::vector<double>& cores, comm::Transport& transport) const {
    if (alpha == 1) return;
    comm::agree(transport, [&] {
      for (double& core : cores) {
        const double more = stretched(core);
        if (!(more < kInfinity))
          throw InputError("alpha " + number_text(alpha) + " times a core distance of " +
                           number_text(distance_from_compared(core, norm, sphere, divisor)) + "; allowed: " +
                           (sphere ? "up to pi, the greatest distance on the sphere" : "less than 1e154"));
        core = more;
      }
    });
  }
  /// Divides the weights of the edges of a tree by alpha, as the search leaves them.
  void divide(std::vector<graphs::Edge24>& edges) const {
    if (alpha == 1) return;
    for (auto& edge : edges)
      edge.weight = graphs::ordered_bits(graphs::weight_from_bits(graphs::WeightKind::float64, edge.weight) / alpha);
  }
};

}  // namespace merganser::msf::euclidean
