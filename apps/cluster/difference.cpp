// Comparison of two sets of parcels bit for bit, for cluster --reference and verify.
#include "apps/cluster/difference.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <bit>
#include <numeric>

#include "apps/frame/table.hpp"
#include "merganser/cluster/policy_reference.hpp"
#include "merganser/cluster/reference.hpp"

namespace merganser::app {
namespace {

/// Returns the indices of the parcels in ascending order of their ids.
std::vector<std::size_t> order_by_id(const Parcels& p) {
  std::vector<std::size_t> order(p.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) { return p.id(a) < p.id(b); });
  return order;
}

/// Returns the name of a column of parcel rows: that of the component of an attribute which it holds.
std::string column_name(const Schema& schema, std::size_t column) {
  for (const auto& a : schema.attributes()) {
    const std::size_t first = schema.offset(a.name);
    const auto n = static_cast<std::size_t>(a.components);
    if (column < first || column >= first + n) continue;
    const std::size_t c = column - first;
    if (c < a.component_names.size()) return a.component_names[c];
    return n == 1 ? a.name : fmt::format("{}[{}]", a.name, c);
  }
  return fmt::format("column {}", column);
}

/// Formats a value of a parcel in decimal and hexadecimal: "0.5 (0x1p-1)".
std::string format_both(double x) { return general_text(x, 17) + " (" + hex_text(x) + ')'; }

/// Compares the bits of one value of a parcel in two sets, so that NaNs and signed zeros count. @return description of the
/// difference; empty if they are equal
std::string compare_values(std::int64_t id, const std::string& what, double expected, double got) {
  if (std::bit_cast<std::uint64_t>(expected) == std::bit_cast<std::uint64_t>(got)) return "";
  return fmt::format("parcel {}: {} is {}, expected {}", id, what, format_both(got), format_both(expected));
}

/// Compares two parcels of one id: position, volume, attributes, in this order. @return the first difference; empty if there is
/// none
std::string compare_parcel(const Parcels& expected, std::size_t e, const Parcels& got, std::size_t g) {
  const std::int64_t id = expected.id(e);
  const Site& a = expected.site(e);
  const Site& b = got.site(g);
  std::string text = compare_values(id, "x_position", a.x, b.x);
  if (text.empty()) text = compare_values(id, "y_position", a.y, b.y);
  if (text.empty()) text = compare_values(id, "z_position", a.z, b.z);
  if (text.empty()) text = compare_values(id, "volume", a.volume, b.volume);
  std::size_t used = 1;
  for (const auto& attribute : expected.schema().attributes()) used += static_cast<std::size_t>(attribute.components);
  for (std::size_t c = 1; text.empty() && c < used; ++c)
    text = compare_values(id, column_name(expected.schema(), c), expected.row(e)[c], got.row(g)[c]);
  return text;
}

}  // namespace

// First difference of two sets of parcels, by a merge of both in the order of ids.
std::string first_difference(const Parcels& expected, const Parcels& got) {
  if (!(expected.schema() == got.schema())) return "the attributes differ";
  const auto e = order_by_id(expected);
  const auto g = order_by_id(got);
  // Both are sorted by id, so the first position at which they differ has the lowest id that differs.
  for (std::size_t i = 0; i < std::max(e.size(), g.size()); ++i) {
    const bool has_e = i < e.size();
    const bool has_g = i < g.size();
    if (!has_g || (has_e && expected.id(e[i]) < got.id(g[i])))
      return fmt::format("parcel {} is missing", expected.id(e[i]));
    if (!has_e || got.id(g[i]) < expected.id(e[i]))
      return fmt::format(
          "parcel {}{}", got.id(g[i]),
          i > 0 && got.id(g[i]) == got.id(g[i - 1]) ? " is there twice" : " should have been merged away");
    const std::string text = compare_parcel(expected, e[i], got, g[i]);
    if (!text.empty()) return text;
  }
  return "";
}

std::string difference_from_reference(Parcels& parcels, const Parcels& got, const Grid& grid,
                                      const ClusterOptions& options, int steps) {
  MergePolicy policy = options.policy;
  for (int i = 0; i < steps; ++i, ++policy.step) {
    if (policy.is_default()) {
      cluster_reference(parcels, grid, options);
    } else {
      policy_reference(parcels, grid, options, policy);
    }
  }
  return first_difference(parcels, got);
}

}  // namespace merganser::app
