// Metric, random draws and kinetic energy of merge policies.
#include "src/cluster/policy_arithmetic.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <string>

#include "merganser/base/error.hpp"
#include "merganser/base/random.hpp"
#include "merganser/base/text.hpp"

namespace merganser::cluster {
namespace {

constexpr double kMaxPhase = 1e150;  // of a column of the metric times its factor

/// Starts the random sequence of a merge policy for one purpose and parcel.
Random start(const DrawKey& key, Draw purpose, std::int64_t id) {
  const std::uint64_t salt = 0x9e3779b97f4a7c15ULL * (8 * key.step + static_cast<std::uint64_t>(purpose));
  return {mix64(key.seed ^ mix64(salt)), static_cast<std::uint64_t>(id), key.round};
}

/// Returns a point of the unit disc without its centre, uniform, and its squared distance from the centre.
Vec3 draw_in_disc(Random& random) {
  for (;;) {
    const double a = 2 * random.uniform() - 1;
    const double b = 2 * random.uniform() - 1;
    const double s = a * a + b * b;
    if (s > 0 && s <= 1) return {a, b, s};
  }
}

/// Returns the scalar product of two vectors, added from the left.
double dot(const Vec3& a, const Vec3& b) { return (a[0] * b[0] + a[1] * b[1]) + a[2] * b[2]; }

/// Returns a random unit vector: perpendicular to p, or of any direction where p is 0.
Vec3 draw_direction(Random& random, const Vec3& p) {
  const auto [a, b, s] = draw_in_disc(random);
  const double length = std::sqrt(dot(p, p));
  if (!(length > 0)) {
    const double r = 2 * std::sqrt(1 - s);
    return {a * r, b * r, 1 - 2 * s};
  }
  const Vec3 n{p[0] / length, p[1] / length, p[2] / length};
  // The axis on which n is shortest is far from n, so that the rest of it perpendicular to n is long.
  std::size_t axis = 0;
  for (std::size_t i = 1; i < 3; ++i)
    if (std::fabs(n[i]) < std::fabs(n[axis])) axis = i;
  Vec3 t{-n[axis] * n[0], -n[axis] * n[1], -n[axis] * n[2]};
  t[axis] = 1 - n[axis] * n[axis];
  const double size = std::sqrt(dot(t, t));
  for (double& x : t) x /= size;
  const Vec3 u{n[1] * t[2] - n[2] * t[1], n[2] * t[0] - n[0] * t[2], n[0] * t[1] - n[1] * t[0]};
  const double cosine = (a * a - b * b) / s;  // of twice the angle of the point, without a trigonometric function
  const double sine = 2 * a * b / s;
  return {cosine * t[0] + sine * u[0], cosine * t[1] + sine * u[1], cosine * t[2] + sine * u[2]};
}

}  // namespace

// Exponential distribution by comparisons [vonneumann1951]: a descending run of uniform numbers that starts at x has an
// odd length with probability exp(-x).
double draw_exponential(const DrawKey& key, Draw purpose, std::int64_t id) {
  Random random = start(key, purpose, id);
  for (double whole = 0;; whole += 1) {
    const double first = random.uniform();
    bool odd = true;
    double last = first;
    for (double next = random.uniform(); next < last; next = random.uniform()) {
      last = next;
      odd = !odd;
    }
    if (odd) return whole + first;
  }
}

double draw_uniform(const DrawKey& key, Draw purpose, std::int64_t id) { return start(key, purpose, id).uniform(); }

Vec3 draw_uniform3(const DrawKey& key, Draw purpose, std::int64_t id) {
  Random random = start(key, purpose, id);
  const double x = random.uniform();
  const double y = random.uniform();
  return {x, y, random.uniform()};
}

std::vector<std::string> momentum_columns(const MergePolicy& policy, const Schema& schema) {
  if (!policy.momentum.empty()) return policy.momentum;
  for (const Attribute& attribute : schema.attributes())
    if (attribute.name == "momentum" && attribute.components == 3) return attribute.component_names;
  if (!schema.has("ux") || !schema.has("uy") || !schema.has("uz"))
    throw UsageError(
        "policy: momentum: neither an attribute momentum of three components nor all of ux, uy, uz; allowed: "
        "momentum:A+B+C, with the names of three attributes");
  return {"ux", "uy", "uz"};
}

PolicyColumns::PolicyColumns(const MergePolicy& policy, const Schema& schema) {
  check(policy, schema);
  for (const ScaledColumn& c : policy.phase) {
    phase.push_back(schema.component_offset(c.column, 0));
    factors.push_back(c.factor);
  }
  for (const std::string& column : policy.same) same.push_back(schema.component_offset(column, 0));
  if (policy.looker == Looker::mask) mask = schema.component_offset(policy.mask, 0);
  const bool of_split = policy.split_below > 0 && policy.split_along == SplitAlong::velocity;
  if (policy.conserve != Conserve::rules || of_split) {
    const std::vector<std::string> names = momentum_columns(policy, schema);
    for (std::size_t i = 0; i < 3; ++i) momentum[i] = schema.component_offset(names[i], 0);
    if (!policy.mass.empty()) {
      mass = schema.component_offset(policy.mass, 0);
      same.push_back(mass);
    }
  }
  std::vector<std::size_t> read{mask, momentum[0], momentum[1], momentum[2]};  // 0, the id, where nothing is read
  read.insert(read.end(), phase.begin(), phase.end());
  read.insert(read.end(), same.begin(), same.end());
  for (const IntegerColumn& c : policy.integers) {
    const std::size_t offset = schema.component_offset(c.column, c.component);
    if (std::find(read.begin(), read.end(), offset) != read.end()) integers.push_back({offset, c.is_signed});
  }
}

double integer_of_bits(double bits, bool is_signed) {
  return is_signed ? static_cast<double>(std::bit_cast<std::int64_t>(bits))
                   : static_cast<double>(std::bit_cast<std::uint64_t>(bits));
}

void check_integer(double bits, bool is_signed, std::int64_t id, const std::string& name) {
  constexpr std::int64_t kMaxInteger = std::int64_t{1} << 53;
  const auto value = std::bit_cast<std::int64_t>(bits);
  if (value <= kMaxInteger && value >= (is_signed ? -kMaxInteger : 0)) return;
  throw InputError("parcel id " + std::to_string(id) + ": " + name + " is " +
                   (is_signed ? std::to_string(value) : std::to_string(std::bit_cast<std::uint64_t>(bits))) +
                   "; allowed: integers of magnitude up to 2^53");
}

double PolicyColumns::value_of_bits(const double* row, std::size_t column) const {
  for (const Integers& i : integers)
    if (i.offset == column) return integer_of_bits(row[column], i.is_signed);
  return row[column];
}

// Most rows pass simple comparisons, column by column; check_row() looks at all if some row does not.
void PolicyColumns::check_rows(const double* rows, std::size_t width, std::size_t count) const {
  constexpr double kMaxInteger = 0x1p53;
  bool fit = integers.empty();
  const auto require = [&](std::size_t column, const auto& is_fit) {
    bool all = true;
    for (std::size_t i = 0; i < count; ++i) all = all & is_fit(rows[i * width + column]);
    fit = fit && all;
  };
  for (std::size_t k = 0; k < phase.size() && fit; ++k)
    require(phase[k], [factor = factors[k]](double x) { return std::fabs(x * factor) <= kMaxPhase; });
  for (std::size_t k = 0; k < same.size() && fit; ++k)
    require(same[k], [is_mass = same[k] == mass](double x) {
      if (is_mass) return x > 0 && x <= kMaxInteger;
      return std::fabs(x) <= kMaxInteger && static_cast<double>(static_cast<std::int64_t>(x)) == x;
    });
  for (std::size_t i = 0; i < count && !fit; ++i) check_row(rows + i * width);
}

void PolicyColumns::check_row(const double* row) const {
  const auto id = std::bit_cast<std::int64_t>(row[0]);
  for (const Integers& i : integers) check_integer(row[i.offset], i.is_signed, id, "a column of the policy");
  for (std::size_t i = 0; i < phase.size(); ++i) {
    const double x = value(row, phase[i]);
    if (std::fabs(x * factors[i]) <= kMaxPhase) [[likely]]
      continue;  // and x is finite
    if (!std::isfinite(x))
      throw InputError("parcel id " + std::to_string(id) + ": a column of phase is " + number_text(x) +
                       "; allowed: finite numbers");
    throw InputError("parcel id " + std::to_string(id) + ": a column of phase times its factor is " +
                     number_text(x * factors[i]) + "; allowed: magnitudes up to " + number_text(kMaxPhase));
  }
  for (const std::size_t column : same) {
    const double x = value(row, column);
    const bool is_mass = column == mass;
    if (is_mass ? std::isfinite(x) && x > 0 : std::isfinite(x) && std::trunc(x) == x) continue;
    throw InputError("parcel id " + std::to_string(id) + ": " +
                     (is_mass ? "its rest mass is " : "a column of same is ") + number_text(x) +
                     "; allowed: " + (is_mass ? "positive (photons are not supported)" : "integers"));
  }
}

double metric2(const Box& box, const PolicyColumns& columns, const Site& a, const double* row_a, const Site& b,
               const double* row_b) {
  double sum = box.distance2({a.x, a.y, a.z}, {b.x, b.y, b.z});
  for (std::size_t i = 0; i < columns.phase.size(); ++i) {
    const double s = std::fabs(columns.value(row_a, columns.phase[i]) * columns.factors[i] -
                               columns.value(row_b, columns.phase[i]) * columns.factors[i]);
    sum = sum + s * s;
  }
  return sum;
}

double kinetic_energy(const MergePolicy& policy, const PolicyColumns& columns, const double* row) {
  const double m = columns.mass == 0 ? 1 : columns.value(row, columns.mass);
  const Vec3 v{row[columns.momentum[0]] / m, row[columns.momentum[1]] / m, row[columns.momentum[2]] / m};
  const double s = dot(v, v);
  if (policy.light_speed == 0) return m * (0.5 * s);
  return m * (s / (1 + std::sqrt(1 + s / (policy.light_speed * policy.light_speed))));
}

// The two momenta have one magnitude, since the difference is perpendicular to the mean: its square follows from the
// energy, s = k (k / (c c) + 2) with k = energy / mass.
std::array<Vec3, 2> two_momenta(const MergePolicy& policy, const DrawKey& key, const Vec3& mean, double energy,
                                double mass, std::int64_t id) {
  const double k = energy / mass;
  const double c2 = policy.light_speed * policy.light_speed;
  const double s = policy.light_speed == 0 ? 2 * k : k * (k / c2 + 2);
  const Vec3 v{mean[0] / mass, mean[1] / mass, mean[2] / mass};
  const double d = mass * std::sqrt(std::max(s - dot(v, v), 0.0));
  Random random = start(key, Draw::direction, id);
  const Vec3 e = draw_direction(random, mean);
  return {Vec3{mean[0] + d * e[0], mean[1] + d * e[1], mean[2] + d * e[2]},
          Vec3{mean[0] - d * e[0], mean[1] - d * e[1], mean[2] - d * e[2]}};
}

// The margin keeps an extent that is a whole number of cells, as 0.9 of 0.3, from one cell more by rounding.
Grid crowd_grid(const MergePolicy& policy, const Grid& grid) {
  if (policy.looker != Looker::crowded || policy.crowded_cell.value == 0) return grid;
  const double edge = policy.crowded_cell.in_box_units(grid, 1);
  constexpr double kMaxCells = 0x1p62;
  double product = 1;
  Grid out = grid;
  for (std::size_t a = 0; a < 3; ++a) {
    const double cells = std::max(std::ceil(grid.box.extent[a] / edge * (1 - 1e-12)), 1.0);
    product *= cells;
    if (!(cells <= static_cast<double>(kMaxAxisCells)))
      throw UsageError("policy: crowded: cells of " + number_text(edge) + " are " + number_text(cells) + " along " +
                       "xyz"[a] + "; allowed: up to " + std::to_string(kMaxAxisCells) + " along an axis");
    out.cells[a] = static_cast<std::int64_t>(cells);
  }
  if (product > kMaxCells)
    throw UsageError("policy: crowded: " + number_text(product) + " cells of " + number_text(edge) +
                     "; allowed: up to 2^62, which can be numbered");
  return out;
}

}  // namespace merganser::cluster
