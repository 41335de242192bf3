// Overlay networks on boxes: Manhattan Street Network and torus. The existing points of every line of the box form a ring.
#include <algorithm>

#include "merganser/announce/network.hpp"
#include "merganser/base/error.hpp"

namespace merganser::announce {
namespace {

constexpr int kMaxDimension = 30;  // of the box of an overlay network

/// Returns true if x^power >= value, for the extents of a box, without overflow: the product is compared after every factor.
bool is_power_at_least(int x, int power, int value) {
  std::int64_t product = 1;
  for (int i = 0; i < power; ++i) {
    product *= x;
    if (product >= value) return true;
  }
  return product >= value;
}

/// Returns the root of a number of vertices rounded up, an extent of a nearly cubic box: the least x with x^power >= value, by
/// bisection in integers, since pow() rounds.
int ceil_root(int value, int power) {
  int low = 1;
  int high = value;
  while (low < high) {
    const int middle = low + (high - low) / 2;
    if (is_power_at_least(middle, power, value))
      high = middle;
    else
      low = middle + 1;
  }
  return low;
}

/// Checks the dimension of the box of an overlay network, from `least` to 30. @throws UsageError otherwise
void check_dimension(int dimension, int least) {
  if (dimension >= least && dimension <= kMaxDimension) return;
  throw UsageError("network: " + std::to_string(dimension) + " dimensions; allowed: " + std::to_string(least) + " to " +
                   std::to_string(kMaxDimension));
}

/// Returns the extents of a nearly cubic box for an overlay network, after a check of the dimension. @throws UsageError
std::vector<int> checked_extents(int vertices, int dimension, int least) {
  check_dimension(dimension, least);
  return box_extents(vertices, dimension);
}

/// Line of the box of an overlay network through a vertex along one dimension, whose existing points form a ring.
struct Line {
  int base;    ///< first vertex of the line
  int length;  ///< number of its points that exist, >= 1
};
/// Returns the line of the box through vertex v, whose coordinate is x, along the dimension with the given stride and extent.
Line find_line(int v, int x, int stride, int extent, int vertices) {
  const int base = v - x * stride;
  const bool whole = std::int64_t{base} + std::int64_t{extent - 1} * stride < vertices;
  return {base, whole ? extent : (vertices - 1 - base) / stride + 1};
}
/// Returns the vertex one step above v, whose coordinate is x, on a line of the box of an overlay network; above the last existing
/// vertex of the line, its first.
int next_up(const Line& line, int v, int x, int stride) { return x + 1 == line.length ? line.base : v + stride; }
/// Returns the vertex one step below v, whose coordinate is x, on a line of the box of an overlay network; below the first vertex
/// of the line, its last existing one.
int next_down(const Line& line, int v, int x, int stride) {
  return x == 0 ? line.base + (line.length - 1) * stride : v - stride;
}

}  // namespace

// Computes the extents of a nearly cubic box for the vertices of an overlay network, from the first dimension on.
std::vector<int> box_extents(int vertices, int dimension) {
  if (vertices < 1) throw UsageError("network: " + std::to_string(vertices) + " vertices; allowed: at least 1");
  check_dimension(dimension, 1);
  std::vector<int> extents;
  int left = vertices;
  for (int i = 0; i < dimension; ++i) {
    extents.push_back(ceil_root(left, dimension - i));
    left = (left - 1) / extents.back() + 1;
  }
  return extents;
}

// Makes an overlay network on a box: strides of its dimensions, and whether all its points exist.
BoxNetwork::BoxNetwork(int vertices, std::vector<int> extents) : Network(vertices), extents_(std::move(extents)) {
  std::int64_t product = 1;
  for (const int n : extents_) {
    if (n < 1) throw UsageError("network: an extent of " + std::to_string(n) + "; allowed: at least 1");
    // Strides and product are limited so that they do not overflow: a stride of at least `vertices` means lines of one vertex.
    strides_.push_back(static_cast<int>(std::min<std::int64_t>(product, vertices)));
    product = std::min<std::int64_t>(product * n, INT64_MAX / 0x7fffffff);
  }
  if (product < vertices) {
    throw UsageError("network: the box holds " + std::to_string(product) + " vertices; " + std::to_string(vertices) +
                     " must fit");
  }
  full_ = product == vertices;
}

// Returns the coordinates of a vertex of an overlay network on a box, from its number with the first coordinate fastest.
std::vector<int> BoxNetwork::coordinates(int v) const {
  std::vector<int> x;
  for (const int n : extents_) {
    x.push_back(v % n);
    v /= n;
  }
  return x;
}

std::string BoxNetwork::describe() const {
  std::string text = std::string(name()) + ' ';
  for (std::size_t i = 0; i < extents_.size(); ++i) text += (i > 0 ? "x" : "") + std::to_string(extents_[i]);
  return full_ ? text : text + ", " + std::to_string(vertices_) + " of it";
}

ManhattanStreetNetwork::ManhattanStreetNetwork(int vertices, int dimension)
    : ManhattanStreetNetwork(vertices, checked_extents(vertices, dimension, 2)) {}

ManhattanStreetNetwork::ManhattanStreetNetwork(int vertices, std::vector<int> extents)
    : BoxNetwork(vertices, std::move(extents)) {
  check_dimension(dimension(), 2);
  degree_ = dimension();
}

namespace {

/// Calls use(x, stride, extent, upwards) for every dimension of vertex v: x is its coordinate, upwards the direction of the
/// Manhattan Street Network, by the parity of the sum of the other coordinates. Unsigned divisions are faster, and this is the
/// inner loop of searches.
template <class Use>
void for_each_dimension(int v, std::span<const int> extents, std::span<const int> strides, const Use& use) {
  unsigned sum = 0;
  auto rest = static_cast<unsigned>(v);
  unsigned x[kMaxDimension];
  const std::size_t n = extents.size();
  for (std::size_t i = 0; i < n; ++i) {
    const auto extent = static_cast<unsigned>(extents[i]);
    const unsigned quotient = rest / extent;
    x[i] = rest - quotient * extent;
    rest = quotient;
    sum += x[i];
  }
  for (std::size_t i = 0; i < n; ++i) use(static_cast<int>(x[i]), strides[i], extents[i], ((sum - x[i]) & 1) == 0);
}

}  // namespace

// Writes the out-neighbours of a vertex of the Manhattan Street Network: one per dimension, in the direction of its line.
int ManhattanStreetNetwork::out_to(int v, int* to) const noexcept {
  int count = 0;
  for_each_dimension(v, extents_, strides_, [&](int x, int stride, int extent, bool upwards) {
    const Line line = find_line(v, x, stride, extent, vertices_);
    if (line.length > 1) to[count++] = upwards ? next_up(line, v, x, stride) : next_down(line, v, x, stride);
  });
  return count;
}

// Writes the in-neighbours of a vertex of the Manhattan Street Network: one per dimension, against the direction of its line.
int ManhattanStreetNetwork::in_to(int v, int* to) const noexcept {
  int count = 0;
  for_each_dimension(v, extents_, strides_, [&](int x, int stride, int extent, bool upwards) {
    const Line line = find_line(v, x, stride, extent, vertices_);
    if (line.length > 1) to[count++] = upwards ? next_down(line, v, x, stride) : next_up(line, v, x, stride);
  });
  return count;
}

/// Returns vertices of which one has the greatest eccentricity. In a full box x -> a + s x with s_i = (-1)^(sum of a_j, j not i) is
/// an automorphism for any a that is 0 along odd extents, and so is an exchange of coordinates with equal extents
/// (docs/announce.md): representatives have coordinate 0 along even extents, any coordinate along odd ones, and descending
/// coordinates along equal odd extents.
std::vector<int> ManhattanStreetNetwork::representatives() const {
  constexpr int kMax = 1'000'000;
  if (!full_) return {};
  std::vector<int> found{0};
  std::vector<std::vector<int>> at{std::vector<int>(extents_.size(), 0)};
  for (std::size_t i = 0; i < extents_.size(); ++i) {
    if (extents_[i] % 2 == 0) continue;
    const auto equal = std::find(extents_.begin(), extents_.begin() + static_cast<std::ptrdiff_t>(i), extents_[i]);
    std::size_t before = extents_.size();  // the dimension of the same extent before this one
    for (std::size_t j = static_cast<std::size_t>(equal - extents_.begin()); j < i; ++j) {
      if (extents_[j] == extents_[i]) before = j;
    }
    std::vector<int> next;
    std::vector<std::vector<int>> next_at;
    for (std::size_t k = 0; k < found.size(); ++k) {
      const int last = before < i ? at[k][before] : extents_[i] - 1;
      for (int x = 0; x <= last; ++x) {
        next.push_back(found[k] + x * strides_[i]);
        next_at.push_back(at[k]);
        next_at.back()[i] = x;
      }
      if (next.size() > kMax) return {};
    }
    found.swap(next);
    at.swap(next_at);
  }
  return found;
}

int ManhattanStreetNetwork::published_diameter() const {
  std::int64_t sum = 0;
  for (const int n : extents_) sum += n;
  return static_cast<int>((sum + 1) / 2);
}

// Returns the diameter of a full box with even extents: half their sum, and one more if all are multiples of 4.
std::optional<int> ManhattanStreetNetwork::regular_diameter() const {
  if (!full_) return std::nullopt;
  int sum = 0;
  bool fours = true;
  for (const int n : extents_) {
    if (n % 2 != 0) return std::nullopt;
    sum += n / 2;
    fours = fours && n % 4 == 0;
  }
  return sum + (fours ? 1 : 0);
}

TorusNetwork::TorusNetwork(int vertices, int dimension)
    : BoxNetwork(vertices, checked_extents(vertices, dimension, 1)) {
  for (const int n : extents_) degree_ += n > 2 ? 2 : n - 1;
}

// Writes the neighbours of a vertex of the torus: both of each dimension, one where a line has two points.
int TorusNetwork::out_to(int v, int* to) const noexcept {
  int count = 0;
  for_each_dimension(v, extents_, strides_, [&](int x, int stride, int extent, bool) {
    const Line line = find_line(v, x, stride, extent, vertices_);
    if (line.length > 1) to[count++] = next_up(line, v, x, stride);
    if (line.length > 2) to[count++] = next_down(line, v, x, stride);
  });
  return count;
}

std::vector<int> TorusNetwork::representatives() const { return full_ ? std::vector<int>{0} : std::vector<int>{}; }

// Returns the diameter of a full torus: half of each extent, rounded down, in sum.
std::optional<int> TorusNetwork::diameter_bound() const {
  if (!full_) return std::nullopt;
  int sum = 0;
  for (const int n : extents_) sum += n / 2;
  return sum;
}

}  // namespace merganser::announce
