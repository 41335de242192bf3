#pragma once
/// One question's winner so far, by the canonical rule: squared distance, then lowest id.
#include <cmath>
#include <limits>

#include "merganser/nearest/cell_list.hpp"

namespace merganser::nearest {

/// Where candidates are looked up. `slack`: bound of the rounding of coordinates.
struct Ground {
  const Box& box;
  double slack;
  const Site* sites;
  const links::Ids& ids;
};

class BestSoFar {
 public:
  BestSoFar(const Ground& ground, const CellList::Query& query, const Best& best)
      : ground_(ground), query_(query), best_(best), stale_(best.vertex != links::kNone) {
    narrow();
  }

  [[nodiscard]] const Vec3& point() const { return query_.point; }
  [[nodiscard]] double distance2() const { return best_.distance2; }
  [[nodiscard]] std::uint32_t vertex() const { return best_.vertex; }
  /// Candidates whose plain squared distance to some image of the point exceeds this cannot win by that image.
  [[nodiscard]] double limit2() const { return limit2_; }

  void offer(std::uint32_t v) {
    const Site& s = ground_.sites[v];
    const double d2 = ground_.box.distance2(query_.point, {s.x, s.y, s.z});
    if (d2 > best_.distance2 || v == query_.self || v == best_.vertex) return;
    if (d2 == best_.distance2) {
      // Ids lie in rows that the search does not touch otherwise: they are read for the winner and for ties only.
      if (stale_) best_.id = ground_.ids[best_.vertex];
      stale_ = false;
      if (ground_.ids[v] > best_.id) return;
    }
    const bool nearer = d2 < best_.distance2;
    best_.distance2 = d2;
    best_.vertex = v;
    stale_ = true;
    if (nearer) narrow();
  }

  [[nodiscard]] Best result() const {
    Best best = best_;
    if (stale_) best.id = ground_.ids[best.vertex];
    return best;
  }

 private:
  void narrow() {
    const double r = std::sqrt(best_.distance2) * (1 + 1e-14) + ground_.slack;
    limit2_ = r * r * (1 + 1e-12) + std::numeric_limits<double>::min();
  }

  const Ground& ground_;
  CellList::Query query_;
  Best best_;
  double limit2_ = 0;
  bool stale_;  // best_.id is not read yet
};

}  // namespace merganser::nearest
