#include "src/graphs/process/regular.hpp"

#include <algorithm>
#include <functional>

namespace merganser::graphs::detail {

Rows chain(int ranks) {
  check_arcs(2.0 * ranks);
  Rows rows = empty_rows(ranks);
  for (int r = 0; r + 1 < ranks; ++r) join(rows, r, r + 1);
  return rows;
}

Rows ring(int ranks) {
  Rows rows = chain(ranks);
  if (ranks > 2) join(rows, 0, ranks - 1);
  return rows;
}

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

Rows incast(int ranks, int fan_in) {
  Rows rows = empty_rows(ranks);
  for (int r = 1; r <= fan_in; ++r) rows[static_cast<std::size_t>(r)].push_back({0});
  return rows;
}

Rows torus(std::span<const int> dims, std::span<const bool> periodic) {
  int ranks = 1;
  for (const int d : dims) ranks *= d;
  Rows rows = empty_rows(ranks);
  int step = 1;
  for (std::size_t axis = 0; axis < dims.size(); ++axis) {
    const int length = dims[axis];
    for (int r = 0; r < ranks; ++r) {
      const int at = r / step % length;
      if (at + 1 < length) join(rows, r, r + step);
      if (at + 1 == length && length > 2 && periodic[axis]) join(rows, r, r - at * step);
    }
    step *= length;
  }
  return rows;
}

std::vector<int> equal_dims(int ranks, int axes) {
  std::vector<int> factors;
  for (int f = 2; f <= ranks / f; ++f)
    for (; ranks % f == 0; ranks /= f) factors.push_back(f);
  if (ranks > 1) factors.push_back(ranks);
  std::vector<int> dims(static_cast<std::size_t>(axes), 1);
  for (auto f = factors.rbegin(); f != factors.rend(); ++f) *std::min_element(dims.begin(), dims.end()) *= *f;
  std::sort(dims.begin(), dims.end(), std::greater<>());
  return dims;
}

}  // namespace merganser::graphs::detail
