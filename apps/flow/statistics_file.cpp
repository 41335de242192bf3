#include "apps/flow/statistics_file.hpp"

#include <cstdint>
#include <string_view>
#include <type_traits>

#include "apps/flow/grid_attributes.hpp"
#include "merganser/base/error.hpp"
#include "merganser/io/data_file.hpp"

namespace merganser::app {
namespace {

/// Values of a row, numbers and counts: f(name, unit, long name, value). Writing and reading walk the same list.
template <class F>
void each_value(flow::Statistics& s, const F& f) {
  f("t", "s", "time", s.time);
  f("dt", "s", "length of the step that begins", s.dt);
  f("max_strain", "1/s", "largest strain rate", s.strain);
  f("max_buoyancy_frequency", "1/s", "largest buoyancy frequency", s.frequency);
  f("ke", "m^2/s^2", "domain-averaged kinetic energy", s.kinetic_energy);
  f("en", "1/s^2", "domain-averaged enstrophy", s.enstrophy);
  f("sum_vol", "m^3", "total volume", s.volume);
  f("std_vol", "m^3", "standard deviation of the volume", s.volume_deviation);
  f("x_rms_vorticity", "1/s", "root mean square of x vorticity", s.rms_vorticity[0]);
  f("y_rms_vorticity", "1/s", "root mean square of y vorticity", s.rms_vorticity[1]);
  f("z_rms_vorticity", "1/s", "root mean square of z vorticity", s.rms_vorticity[2]);
  f("min_buoyancy", "m/s^2", "least buoyancy", s.least_buoyancy);
  f("max_buoyancy", "m/s^2", "greatest buoyancy", s.greatest_buoyancy);
  f("step", "1", "number of steps made", s.step);
  f("n_parcels", "1", "number of parcels", s.parcels);
  f("n_small_parcel", "1", "number of small parcels", s.small);
  f("n_parcel_splits", "1", "number of splits in the step before", s.counts.splits);
  f("n_parcel_merges", "1", "number of parcels merged into others in the step before", s.counts.merges);
  f("n_big_neighbour", "1", "number of these whose target was not small", s.counts.merged_into_big);
}
constexpr const char* kClusters = "n_way_merging";

/// Calls f(value) for the value of a row that has this name and type.
template <class T, class F>
void with_value(flow::Statistics& row, std::string_view name, const F& f) {
  each_value(row, [&]<class V>(std::string_view key, const char*, const char*, V& value) {
    if constexpr (std::is_same_v<V, T>) {
      if (key == name) f(value);
    }
  });
}

template <class T>
io::FileValues column_of(const std::vector<flow::Statistics>& rows, std::string_view name) {
  std::vector<T> values;
  for (flow::Statistics row : rows) with_value<T>(row, name, [&](T value) { values.push_back(value); });
  return io::file_values(std::span<const T>(values));
}

template <class T>
const T& checked_column(const std::string& path, const char* name, const T& values, std::size_t rows) {
  if (values.size() != rows)
    throw InputError(path + ": the variable " + name + " has " + std::to_string(values.size()) +
                     " values; expected: " + std::to_string(rows));
  return values;
}

}  // namespace

void write_statistics(const std::string& path, const Grid& grid, const std::vector<flow::Statistics>& rows,
                      comm::Transport& transport) {
  io::FileGroup root;
  root.attributes = grid_attributes("parcel_stats", grid);
  root.dimensions = {{"t", static_cast<std::int64_t>(rows.size()), true}, {"n_way", 7, false}};
  flow::Statistics names;
  each_value(names, [&]<class T>(const char* name, const char* unit, const char* words, T&) {
    root.variables.push_back(file_variable(name, {"t"}, unit, words, column_of<T>(rows, name)));
  });
  std::vector<std::int64_t> clusters;
  for (const flow::Statistics& row : rows)
    clusters.insert(clusters.end(), row.counts.clusters.begin(), row.counts.clusters.end());
  root.variables.push_back(file_variable(kClusters, {"t", "n_way"}, "1",
                                         "clusters of 2, 3, ... 7 members, of 8 and more",
                                         io::file_values(std::span<const std::int64_t>(clusters))));
  io::write_data(path, root, transport);
}

std::vector<flow::Statistics> read_statistics(const std::string& path) {
  const io::FileGroup file = io::read_data(path);
  const auto values_of = [&](const char* name) -> const io::FileValues& {
    const io::FileValues* found = io::find_variable(file, name);
    if (found == nullptr) throw InputError(path + ": the variable " + name + " is missing; not statistics of a flow");
    return *found;
  };
  std::vector<flow::Statistics> rows(static_cast<std::size_t>(values_of("step").count));
  flow::Statistics names;
  each_value(names, [&]<class T>(const char* name, const char*, const char*, T&) {
    const io::FileValues& values = values_of(name);
    std::vector<T> column;
    if constexpr (std::is_same_v<T, double>)
      column = io::numbers_of(values);
    else
      column = io::integers_of(values);
    checked_column(path, name, column, rows.size());
    for (std::size_t i = 0; i < rows.size(); ++i) with_value<T>(rows[i], name, [&](T& to) { to = column[i]; });
  });
  const auto clusters = checked_column(path, kClusters, io::integers_of(values_of(kClusters)), 7 * rows.size());
  for (std::size_t i = 0; i < rows.size(); ++i)
    std::copy_n(clusters.begin() + static_cast<std::ptrdiff_t>(7 * i), 7, rows[i].counts.clusters.begin());
  return rows;
}

}  // namespace merganser::app
