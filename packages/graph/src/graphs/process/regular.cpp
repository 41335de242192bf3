// Generators of regular process graphs: chain, ring, complete graph, incast, torus; and balanced factors for its axes.
#include "src/graphs/process/regular.hpp"

#include <cstdint>
#include <limits>
#include <numeric>

namespace merganser::graphs::detail {

// Process graph of ranks in a row.
Rows chain(int ranks) {
  check_arcs(2.0 * ranks);
  Rows rows = empty_rows(ranks);
  for (int r = 0; r + 1 < ranks; ++r) add_edge(rows, r, r + 1);
  return rows;
}

Rows ring(int ranks) {
  Rows rows = chain(ranks);
  if (ranks > 2) add_edge(rows, 0, ranks - 1);
  return rows;
}

// Process graph in which every rank sends to every other.
Rows complete(int ranks) {
  check_arcs(static_cast<double>(ranks) * (ranks - 1));
  Rows rows = empty_rows(ranks);
  for (int a = 0; a < ranks; ++a) {
    rows[static_cast<std::size_t>(a)].reserve(static_cast<std::size_t>(ranks - 1));
    for (int b = 0; b < ranks; ++b)
      if (a != b) rows[static_cast<std::size_t>(a)].push_back({b});
  }
  return rows;
}

// Directed process graph whose arcs all lead to rank 0.
Rows incast(int ranks, int fan_in) {
  Rows rows = empty_rows(ranks);
  for (int r = 1; r <= fan_in; ++r) rows[static_cast<std::size_t>(r)].push_back({0});
  return rows;
}

// Cartesian grid or torus of ranks, x fastest: each rank is joined to the next one along each axis, which closes if periodic.
Rows torus(std::span<const int> dims, std::span<const bool> periodic) {
  int ranks = 1;
  for (const int d : dims) ranks *= d;
  Rows rows = empty_rows(ranks);
  int step = 1;
  for (std::size_t axis = 0; axis < dims.size(); ++axis) {
    const int length = dims[axis];
    for (int r = 0; r < ranks; ++r) {
      const int at = r / step % length;
      if (at + 1 < length) add_edge(rows, r, r + step);
      // Along a periodic axis of two ranks the edge back would repeat the one forth.
      if (at + 1 == length && length > 2 && periodic[axis]) add_edge(rows, r, r - at * step);
    }
    step *= length;
  }
  return rows;
}

namespace {

/// Returns the divisors of n > 0, ascending: candidates for the lengths of axes of a grid of ranks.
std::vector<int> divisors(int n) {
  std::vector<int> low, high;
  for (int d = 1; d <= n / d; ++d) {
    if (n % d != 0) continue;
    low.push_back(d);
    if (d != n / d) high.push_back(n / d);
  }
  low.insert(low.end(), high.rbegin(), high.rend());
  return low;
}

}  // namespace

// Lengths of the axes of a grid of ranks: the factorisation of least sum, by recursion over the first factor.
std::vector<int> equal_dims(int ranks, int axes) {
  if (axes <= 1) return {ranks};
  std::vector<int> best;
  std::int64_t least = std::numeric_limits<std::int64_t>::max();
  for (const int first : divisors(ranks)) {
    std::vector<int> dims = equal_dims(ranks / first, axes - 1);
    if (first < dims.front()) continue;  // the same factors come again in descending order
    dims.insert(dims.begin(), first);
    const auto sum = std::accumulate(dims.begin(), dims.end(), std::int64_t{0});
    if (sum < least) {
      least = sum;
      best = std::move(dims);
    }
  }
  return best;
}

}  // namespace merganser::graphs::detail
