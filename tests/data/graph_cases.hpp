#pragma once
/// Small configurations whose clusters are known. Positions and expected merges: unit tests of EPIC 0.14.3 (its 3D cases
/// nearest_1 to 20 and subcomm, its 2D cases nearest_1 to 4); cluster sizes: an independent serial program.
#include <array>
#include <cmath>
#include <cstdint>
#include <map>
#include <numbers>
#include <string>
#include <vector>

#include "merganser/geometry/box.hpp"
#include "merganser/parcels/parcels.hpp"

namespace merganser::test {

struct CasePoint {
  double x;
  double y;
  bool big = false;
};

/// The same few parcels in every cell of one layer, at offsets from the cell's centre in units of the spacing. In
/// patterns "a - b" points, "a = b" is a dual link, a capital is big.
struct GraphCase {
  const char* id;
  const char* pattern;
  std::vector<CasePoint> cell;
  std::int64_t merged;
  std::map<int, std::int64_t> clusters;
  double shift_x = 0;  ///< of all parcels, in units of the spacing
  double shift_y = 0;
  bool patches = false;  ///< three patches of cells of a 16^3 grid instead of a full layer of a 10^3 grid
};

inline constexpr double kGraphRatio = 8;  ///< min_volume_ratio of the graph cases

inline const std::vector<GraphCase>& graph_cases() {
  static const std::vector<GraphCase> cases{
      {"1.1", "a = b", {{0, 0, true}, {-0.45, 0}, {0.45, 0}, {0, -0.45}, {0, 0.45}}, 200, {{2, 200}}},
      {"2.1", "a = b", {{0, 0, true}, {-0.44, 0.44}, {0.44, 0.44}, {-0.44, -0.44}, {0.44, -0.44}}, 200, {{2, 200}}},
      {"3.1", "a - B", {{0.1, 0, true}, {0.35, 0}, {-0.42, 0, true}}, 100, {{2, 100}}, 0, 1e-6},
      {"4.1", "a - B", {{0, 0.1, true}, {0, 0.35}, {0, -0.42, true}}, 100, {{2, 100}}, 1e-6, 0},
      {"5.1", "a = b - c", {{0.44, 0}, {-0.4, 0}, {-0.3, 0}}, 200, {{3, 100}}},
      {"6.1", "a = b - c", {{-0.24, 0}, {-0.42, 0}, {0.46, 0}}, 200, {{3, 100}}},
      {"7.1", "a = b - c", {{0, 0.44}, {0, -0.4}, {0, -0.3}}, 200, {{3, 100}}},
      {"8.1", "a = b - c", {{0, -0.24}, {0, -0.42}, {0, 0.46}}, 200, {{3, 100}}},
      {"9.1", "a = b - c", {{-0.44, 0.44}, {0.44, -0.44}, {-0.3, 0.28}}, 200, {{3, 100}}},
      {"10.1", "a = b - c", {{-0.44, 0.44}, {0.4, -0.4}, {-0.35, 0.33}}, 200, {{3, 100}}},
      {"11.1", "a = b - c", {{0.44, 0.44}, {-0.4, -0.4}, {0.35, 0.33}}, 200, {{3, 100}}},
      {"12.1", "a - b - C", {{0.44, 0.44}, {-0.44, -0.44, true}, {0.3, 0.28}}, 100, {{2, 100}}},
      {"12.2", "a - b - C", {{0.44, 0.44}, {-0.4, -0.4}, {0.36, 0.34, true}}, 100, {{2, 100}}},
      {"12.3", "a - b - C", {{-0.44, 0.44}, {0.44, -0.44, true}, {-0.3, 0.28}}, 100, {{2, 100}}},
      {"12.4", "a - b - C", {{-0.44, 0.44}, {0.4, -0.4}, {-0.36, 0.34, true}}, 100, {{2, 100}}},
      {"12.5",
       "a - b - C",
       {{-0.44, 0}, {0.44, 0, true}, {-0.3, 0}, {0, -0.44}, {0, 0.44, true}, {0, -0.3}},
       200,
       {{2, 200}}},
      {"12.6",
       "a - b - C",
       {{-0.44, 0}, {-0.32, 0, true}, {0.33, 0}, {0, -0.44}, {0, -0.32, true}, {0, 0.33}},
       200,
       {{2, 200}}},
      {"13.1", "a = b  C", {{0.44, 0.44}, {-0.4, -0.4, true}, {0.36, 0.34}}, 100, {{2, 100}}},
      {"13.2", "a = b  C", {{0.44, 0.44}, {-0.42, -0.44}, {0.28, 0.26, true}}, 100, {{2, 100}}},
      {"13.3", "a = b  C", {{-0.44, 0.44}, {0.42, -0.4, true}, {-0.36, 0.34}}, 100, {{2, 100}}},
      {"13.4", "a = b  C", {{-0.44, 0.44}, {0.44, -0.42}, {-0.3, 0.28, true}}, 100, {{2, 100}}},
      {"13.5",
       "a = b  C",
       {{-0.44, 0}, {0.4, 0, true}, {-0.34, 0}, {0, -0.44}, {0, 0.4, true}, {0, -0.34}},
       200,
       {{2, 200}}},
      {"13.6",
       "a = b  C",
       {{0.44, 0}, {-0.4, 0, true}, {0.34, 0}, {0, 0.44}, {0, -0.4, true}, {0, 0.34}},
       200,
       {{2, 200}}},
      {"13.7",
       "a = b  C",
       {{-0.44, 0}, {-0.28, 0, true}, {0.44, 0}, {0, -0.44}, {0, -0.28, true}, {0, 0.44}},
       200,
       {{2, 200}}},
      {"13.8",
       "a = b  C",
       {{0.44, 0}, {0.28, 0, true}, {-0.44, 0}, {0, 0.44}, {0, 0.28, true}, {0, -0.44}},
       200,
       {{2, 200}}},
      {"14.1", "a - B - c", {{-0.42, 0.4}, {0.44, -0.44, true}, {0.36, -0.34}}, 200, {{3, 100}}},
      {"14.2", "a - B - c", {{0.42, 0.4}, {-0.44, -0.44, true}, {-0.36, -0.34}}, 200, {{3, 100}}},
      {"14.3", "a - B - c", {{-0.42, -0.4}, {0.44, 0.44, true}, {0.36, 0.34}}, 200, {{3, 100}}},
      {"14.4", "a - B - c", {{0.42, -0.4}, {-0.44, 0.44, true}, {-0.36, 0.34}}, 200, {{3, 100}}},
      {"14.5",
       "a - B - c",
       {{-0.28, 0}, {-0.44, 0, true}, {0.44, 0}, {0, -0.28}, {0, -0.44, true}, {0, 0.44}},
       400,
       {{3, 200}}},
      {"14.6",
       "a - B - c",
       {{0.28, 0}, {0.44, 0, true}, {-0.44, 0}, {0, 0.28}, {0, 0.44, true}, {0, -0.44}},
       400,
       {{3, 200}}},
      {"15.1", "a - b = c - d", {{0.4, -0.4}, {0.45, 0.44}, {-0.45, 0.44}, {-0.4, -0.4}}, 200, {{2, 200}}},
      {"15.2", "a - b = c - d", {{0.4, 0.4}, {0.45, -0.44}, {-0.45, -0.44}, {-0.4, 0.4}}, 200, {{2, 200}}},
      {"15.3", "a - b = c - d", {{0.4, -0.4}, {-0.45, -0.44}, {-0.45, 0.44}, {0.4, 0.4}}, 200, {{2, 200}}},
      {"15.4",
       "a - b = c - d",
       {{0.4, 0}, {-0.45, 0}, {-0.35, 0}, {-0.2, 0}, {0, 0.4}, {0, -0.45}, {0, -0.35}, {0, -0.2}},
       400,
       {{2, 400}}},
      {"15.5",
       "a - b = c - d",
       {{0.2, 0}, {0.4, 0}, {-0.45, 0}, {-0.2, 0}, {0, 0.2}, {0, 0.4}, {0, -0.45}, {0, -0.2}},
       400,
       {{2, 400}}},
      {"16.1", "a - b - c = d", {{0.3, -0.4}, {0.45, 0.44}, {-0.4, 0.44}, {-0.35, -0.43}}, 200, {{2, 200}}},
      {"16.2", "a - b - c = d", {{-0.3, 0.4}, {-0.45, -0.44}, {0.4, -0.44}, {0.35, 0.43}}, 200, {{2, 200}}},
      {"16.3", "a - b - c = d", {{-0.3, -0.4}, {-0.45, 0.44}, {0.4, 0.44}, {0.35, -0.43}}, 200, {{2, 200}}},
      {"16.4",
       "a - b - c = d",
       {{0.3, 0}, {-0.45, 0}, {-0.3, 0}, {-0.2, 0}, {0, 0.3}, {0, -0.45}, {0, -0.3}, {0, -0.2}},
       400,
       {{2, 400}}},
      {"16.5",
       "a - b - c = d",
       {{0.2, 0}, {0.4, 0}, {-0.45, 0}, {-0.35, 0}, {0, 0.2}, {0, 0.4}, {0, -0.45}, {0, -0.35}},
       400,
       {{2, 400}}},
      {"17.1", "a - B - c - d", {{0.3, -0.4}, {0.45, 0.44, true}, {-0.44, 0.44}, {-0.35, -0.43}}, 200, {{2, 200}}},
      {"17.2", "a - B - c - d", {{0.3, 0.4}, {0.45, -0.44, true}, {-0.44, -0.44}, {-0.35, 0.43}}, 200, {{2, 200}}},
      {"17.3", "a - B - c - d", {{-0.42, -0.35}, {0.45, -0.4, true}, {0.45, 0.44}, {-0.38, 0.35}}, 200, {{2, 200}}},
      {"17.4",
       "a - B - c - d",
       {{0.4, 0}, {-0.4, 0, true}, {-0.3, 0}, {-0.15, 0}, {0, 0.4}, {0, -0.4, true}, {0, -0.3}, {0, -0.15}},
       400,
       {{2, 400}}},
      {"17.5",
       "a - B - c - d",
       {{0.25, 0}, {0.4, 0, true}, {-0.45, 0}, {-0.25, 0}, {0, 0.25}, {0, 0.4, true}, {0, -0.45}, {0, -0.25}},
       400,
       {{2, 400}}},
      {"18.1", "a = b  c = d", {{0.32, -0.38}, {0.45, -0.38}, {-0.45, 0.38}, {-0.32, 0.38}}, 200, {{2, 200}}},
      {"18.2", "a = b  c = d", {{0.45, -0.3}, {0.45, -0.38}, {-0.45, 0.3}, {-0.45, 0.38}}, 200, {{2, 200}}},
      {"18.3",
       "a = b  c = d",
       {{0.45, 0}, {-0.45, 0}, {-0.3, 0}, {-0.2, 0}, {0, 0.45}, {0, -0.45}, {0, -0.3}, {0, -0.2}},
       400,
       {{2, 400}}},
      {"18.4",
       "a = b  c = d",
       {{-0.45, 0}, {0.45, 0}, {0.3, 0}, {0.2, 0}, {0, -0.45}, {0, 0.45}, {0, 0.3}, {0, 0.2}},
       400,
       {{2, 400}}},
      {"19.1", "a - b - c - D", {{0.3, -0.23}, {0.4, -0.44}, {0.45, 0.43}, {-0.45, 0.43, true}}, 200, {{2, 200}}},
      {"19.2", "a - b - c - D", {{0.45, -0.23}, {0.45, -0.44}, {-0.45, 0.43}, {-0.45, 0.33, true}}, 200, {{2, 200}}},
      {"19.3", "a - b - c - D", {{0.3, -0.43}, {0.44, 0.4}, {-0.42, 0.43}, {-0.39, -0.44, true}}, 200, {{2, 200}}},
      {"19.4",
       "a - b - c - D",
       {{0.44, 0}, {-0.4, 0}, {-0.25, 0}, {-0.13, 0, true}, {0, 0.44}, {0, -0.4}, {0, -0.25}, {0, -0.13, true}},
       400,
       {{2, 400}}},
      {"19.5",
       "a - b - c - D",
       {{0.2, 0}, {0.35, 0}, {0.46, 0}, {-0.46, 0, true}, {0, 0.2}, {0, 0.35}, {0, 0.46}, {0, -0.46, true}},
       400,
       {{2, 400}}},
      {"20.1",
       "(a, b) - c - d = e",
       {{0.4, -0.35}, {0.44, 0.4}, {-0.45, -0.44}, {-0.35, 0.44}, {-0.27, 0.38}},
       300,
       {{3, 100}, {2, 100}}},
      {"20.2",
       "(a, b) - C - (d, e)",
       {{0.4, 0.35}, {0.44, -0.4}, {-0.45, 0.44, true}, {-0.35, -0.4}, {-0.33, 0.38}},
       400,
       {{5, 100}}},
      {"subcomm.1",
       "(a,b) - c - d = e, patches",
       {{0.4, -0.35}, {0.44, 0.4}, {-0.45, -0.44}, {-0.35, 0.44}, {-0.27, 0.38}},
       132,
       {{3, 39}, {2, 54}},
       0,
       0,
       true},
  };
  return cases;
}

/// Name of a case as tests may use it: 12.3 -> nearest_12_3.
inline std::string case_name(const char* id) {
  std::string name = std::string("nearest_") + id;
  for (char& c : name)
    if (c == '.') c = '_';
  return name;
}

inline Grid graph_grid(const GraphCase& c) {
  const std::int64_t n = c.patches ? 16 : 10;
  return {{{0, 0, 0}, {1, 1, 1}, {true, true, false}}, {n, n, n}};
}

/// A parcel with the given volume: a sphere at p with attributes that depend on the id.
inline void add_sphere(Parcels& parcels, std::int64_t id, const Vec3& p, double volume) {
  const double radius = std::cbrt(0.75 * volume / std::numbers::pi);
  const auto n = static_cast<double>(id);
  const double b = radius * radius;
  std::array<double, 10> row{0, std::sin(n), std::cos(n), 0.25 * n, 1 / (1 + n), b, 0, 0, b, 0};
  parcels.append({p[0], p[1], p[2], volume}, row.data());
  parcels.set_id(parcels.size() - 1, id);
}

/// The parcels of a case, cell after cell; ids count from 0.
inline Parcels graph_parcels(const GraphCase& c) {
  const Grid grid = graph_grid(c);
  const double h = grid.spacing(0);
  const double smallest = grid.cell_volume() / kGraphRatio;
  const auto filled = [&](std::int64_t i, std::int64_t j) {
    if (!c.patches) return true;
    return (i < 4 && j < 4) || (i >= 9 && i < 14 && j >= 3 && j < 7) || (i > 2 && i < 6 && j > 10 && j < 14);
  };
  Parcels parcels;
  std::int64_t id = 0;
  for (std::int64_t j = 0; j < grid.cells[1]; ++j) {
    for (std::int64_t i = 0; i < grid.cells[0]; ++i) {
      if (!filled(i, j)) continue;
      for (const CasePoint& p : c.cell) {
        const double x = (static_cast<double>(i) + 0.5 + p.x + c.shift_x) * h;
        const double y = (static_cast<double>(j) + 0.5 + p.y + c.shift_y) * h;
        add_sphere(parcels, id++, {x, y, 1.5 * h}, (p.big ? 1.1 : 0.9) * smallest);
      }
    }
  }
  return parcels;
}

/// A few parcels a, b, c, ... in one cell. A star is written centre first, then its sources; "=" before it: a dual link
/// of which either end may be the centre.
struct PlaneCase {
  const char* id;
  const char* pattern;
  std::vector<CasePoint> points;
  std::vector<std::string> stars;
};

inline constexpr double kPlaneRatio = 10;

inline const std::vector<PlaneCase>& plane_cases() {
  static const std::vector<PlaneCase> cases{
      {"2a", "a=b", {{-.25, 0}, {.25, 0}}, {"=ab"}},
      {"2b", "a-B", {{-.25, 0}, {.25, 0, true}}, {"ba"}},
      {"3a", "a=b-c", {{-.1, 0}, {0, 0}, {.12, 0}}, {"bac"}},
      {"3b", "a-b-C", {{-.2, 0}, {0, 0}, {.1, 0, true}}, {"ba"}},
      {"3c", "a=b C", {{-.1, 0}, {0, 0}, {.11, 0, true}}, {"=ab"}},
      {"3d", "a-B-c", {{-.1, 0}, {0, 0, true}, {.1, 0}}, {"bac"}},
      {"4a", "a-b=c-d", {{-.2, 0}, {-.05, 0}, {.05, 0}, {.2, 0}}, {"ba", "cd"}},
      {"4b", "a-b-c=d", {{-.25, 0}, {-.05, 0}, {.1, 0}, {.2, 0}}, {"ba", "=cd"}},
      {"4c", "a-B-c-d", {{-.2, 0}, {-.1, 0, true}, {0, 0}, {.15, 0}}, {"ba", "cd"}},
      {"4d", "a=b c=d", {{-.1, 0}, {0, 0}, {.101, 0}, {.2, 0}}, {"=ab", "=cd"}},
      {"4e", "a-b-c-D", {{-.11, 0}, {-.02, 0}, {.05, 0}, {.1, 0, true}}, {"ba", "dc"}},
      {"5a", "(a,b)-c-d=e", {{.12, .07}, {.12, -.07}, {.19, 0}, {.25, 0}, {.3, 0}}, {"cab", "=de"}},
      {"5b", "(a,b)-C-(d,e)", {{-.12, .07}, {-.12, -.07}, {0, 0, true}, {.12, .07}, {.12, -.07}}, {"cabde"}},
  };
  return cases;
}

inline Grid plane_grid() {
  const double pi = std::numbers::pi;
  return {{{-pi / 2, -pi / 2, -pi / 2}, {pi, pi, pi}, {true, false, false}}, {1, 1, 1}};
}

/// Parcel points[k] with id ids[k], stored in the order `order`.
inline Parcels plane_parcels(const PlaneCase& c, const std::vector<std::size_t>& order,
                             const std::vector<std::int64_t>& ids) {
  const double smallest = plane_grid().cell_volume() / kPlaneRatio;
  Parcels parcels;
  for (const std::size_t k : order)
    add_sphere(parcels, ids[k], {c.points[k].x, c.points[k].y, 0}, (c.points[k].big ? 1.3 : 0.3) * smallest);
  return parcels;
}

}  // namespace merganser::test
