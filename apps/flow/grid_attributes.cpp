#include "apps/flow/grid_attributes.hpp"

#include <array>
#include <cstdint>
#include <utility>

#include "merganser/io/data_file.hpp"

namespace merganser::app {

std::vector<io::FileAttribute> grid_attributes(std::string_view file_type, const Grid& grid) {
  std::array<std::int32_t, 3> cells{};
  for (std::size_t a = 0; a < 3; ++a) cells[a] = static_cast<std::int32_t>(grid.cells[a]);
  return {{"file_type", io::file_values(file_type)},
          {"Conventions", io::file_values(std::string_view("CF-1.8"))},
          {"ncells", io::file_values(std::span<const std::int32_t>(cells))},
          {"extent", io::file_values(std::span<const double>(grid.box.extent))},
          {"origin", io::file_values(std::span<const double>(grid.box.lower))}};
}

io::FileVariable file_variable(const char* name, std::vector<std::string> dimensions, const char* unit,
                               const char* words, io::FileValues values) {
  io::FileVariable v;
  v.name = name;
  v.dimensions = std::move(dimensions);
  v.attributes = {{"units", io::file_values(std::string_view(unit))},
                  {"long_name", io::file_values(std::string_view(words))}};
  v.values = std::move(values);
  return v;
}

}  // namespace merganser::app
