#pragma once
/// Running minimum of one nearest-neighbour query by the canonical order: squared distance, then lowest id.
#include <cmath>
#include <limits>

#include "merganser/nearest/cell_list.hpp"

namespace merganser::nearest {

/// Arrays of the cell list from which a nearest-neighbour query reads its candidates.
struct SearchContext {
  const Box& box;         ///< domain, for the canonical distance
  double slack;           ///< bound of the rounding of coordinates, absolute
  const Site* sites;      ///< by vertex: position and volume of the parcel
  const links::Ids& ids;  ///< by vertex: global id of the parcel
};

/// Running minimum of one nearest-neighbour query: the nearest candidate so far, of equal distances that of the lowest
/// id. limit2() bounds the plain squared distance of candidates that can still win, rounding included.
class BestSoFar {
 public:
  /// Starts the minimum at `best`, which may be a parcel of another rank or none.
  BestSoFar(const SearchContext& context, const CellList::Query& query, const Best& best)
      : context_(context), query_(query), best_(best), stale_(best.vertex != links::kNone) {
    update_limit();
  }

  /// Returns the position of the query point, in canonical coordinates.
  [[nodiscard]] const Vec3& point() const { return query_.point; }
  /// Returns the squared distance of the nearest candidate so far; infinite if there is none.
  [[nodiscard]] double distance2() const { return best_.distance2; }
  /// Returns the vertex of the nearest candidate so far; kNone if it is on another rank or there is none.
  [[nodiscard]] std::uint32_t vertex() const { return best_.vertex; }
  /// Returns the bound of the search: candidates whose plain squared distance to some image of the point exceeds it
  /// cannot win by that image.
  [[nodiscard]] double limit2() const { return limit2_; }

  /// Replaces the best candidate by vertex v of this rank if v is nearer, or as near with a lower id.
  void consider(std::uint32_t v) {
    const Site& s = context_.sites[v];
    const double d2 = context_.box.distance2(query_.point, {s.x, s.y, s.z});
    if (d2 > best_.distance2 || v == query_.self || v == best_.vertex) return;
    if (d2 == best_.distance2) {
      // Ids lie in rows that the search does not read otherwise: they are read for the winner and for ties only.
      if (stale_) best_.id = context_.ids[best_.vertex];
      stale_ = false;
      if (context_.ids[v] > best_.id) return;
    }
    const bool nearer = d2 < best_.distance2;
    best_.distance2 = d2;
    best_.vertex = v;
    stale_ = true;
    if (nearer) update_limit();
  }

  /// Returns the nearest candidate so far with its global id, which is read only now if no tie needed it.
  [[nodiscard]] Best result() const {
    Best best = best_;
    if (stale_) best.id = context_.ids[best.vertex];
    return best;
  }

 private:
  /// Computes the bound of the search from the distance of the nearest candidate so far, with a margin for rounding.
  void update_limit() {
    // The plain distance to an image and the canonical one differ by the rounding of coordinates (slack) and of each
    // operation (the factors); min() keeps the bound positive for distance 0.
    const double r = std::sqrt(best_.distance2) * (1 + 1e-14) + context_.slack;
    limit2_ = r * r * (1 + 1e-12) + std::numeric_limits<double>::min();
  }

  const SearchContext& context_;
  CellList::Query query_;
  Best best_;          // nearest candidate of the query so far
  double limit2_ = 0;  // squared distance beyond which no candidate can win
  bool stale_;         // best_.id has not been read yet
};

}  // namespace merganser::nearest
