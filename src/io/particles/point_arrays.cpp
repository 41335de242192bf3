// Arrays over the points as which files of several formats hold the columns of parcels.
#include "src/io/particles/point_arrays.hpp"

#include <algorithm>

#include "src/io/particles/vtkhdf_names.hpp"

namespace merganser::io {

std::vector<PointArray> point_arrays(const ParticlesToWrite& in) {
  const std::span<const Column> all(in.columns);
  std::vector<PointArray> arrays{{"volume", all.subspan(3, 1)}, {std::string(kIdName), all.last(1)}};
  std::size_t at = 4;
  std::int64_t place = 0;
  for (const Attribute& a : in.parcels.schema().attributes()) {
    const auto count = static_cast<std::size_t>(a.components);
    const std::span<const Column> columns = all.subspan(at, count);
    const Attribute* const told = Schema::epic().has(a.name) || a.rule == Rule::callback ? nullptr : &a;
    const bool alike =
        std::all_of(columns.begin(), columns.end(), [&](const Column& c) { return c.type == columns[0].type; });
    if (count == 3 && alike) {
      arrays.push_back({a.name, columns, told, place});
    } else {
      for (std::size_t c = 0; c < count; ++c)
        arrays.push_back({columns[c].name, columns.subspan(c, 1), count == 1 ? told : nullptr, place});
    }
    at += count;
    ++place;
  }
  return arrays;
}

std::string rule_name(Rule rule) {
  const auto* const known =
      std::find_if(kRuleNames.begin(), kRuleNames.end(), [&](const auto& r) { return r.second == rule; });
  return known == kRuleNames.end() ? std::string() : known->first;
}

void put_array_rows(const ParticlesToWrite& in, std::span<const Column> columns, std::span<const std::size_t> parcels,
                    double* to) {
  for (const Column& column : columns) gather(in.parcels, column, parcels, to++, columns.size());
}

}  // namespace merganser::io
