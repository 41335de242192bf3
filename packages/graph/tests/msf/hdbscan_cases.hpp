#pragma once
/// Labels and probabilities that scikit-learn 1.9.1 and, where an epsilon is given, the package hdbscan found for a few
/// points in the plane.
///
/// How: X = these points as float64;
///   HDBSCAN(min_cluster_size, min_samples, cluster_selection_method, allow_single_cluster, max_cluster_size,
///           algorithm="brute").fit(X)
///   hdbscan.HDBSCAN(min_cluster_size, min_samples - 1, cluster_selection_method, cluster_selection_epsilon,
///                   algorithm="generic").fit(X)   (it does not count the point itself)
/// labels_ renamed in the order of their first points, a to z, noise a dot; probabilities_ to six digits.
#include <array>
#include <string_view>
#include <vector>

#include "merganser/msf/hdbscan.hpp"

namespace merganser::test {

inline const std::vector<std::array<double, 2>> kHdbscanPoints{
    {-46, -24}, {622, 64},   {-64, -109}, {790, 308}, {60, 2},    {-6, 13},   {-141, -72}, {12, -171}, {-143, 123},
    {995, 124}, {-120, -84}, {214, -255}, {685, 318}, {756, 194}, {-24, -3},  {609, -19},  {624, 175}, {513, 64},
    {-122, 4},  {802, 280},  {725, 331},  {683, 129}, {140, 32},  {-40, 240}, {823, 338},  {576, 152}, {632, 180},
    {-91, -90}, {630, 150},  {633, -49},  {608, 153}, {-100, 93}, {792, 305}, {-36, 120},  {346, 146}, {569, -32},
    {41, -49},  {579, 95},   {724, 265},  {344, 149}, {626, 47},  {651, 327}};

struct HdbscanCase {
  std::string_view name;
  msf::HdbscanOptions options;
  std::size_t min_samples;
  std::string_view labels;
  std::vector<double> probabilities;
};

inline std::vector<HdbscanCase> hdbscan_cases() {
  using msf::Selection;
  return {
      {"plain distances",
       {5, Selection::excess_of_mass, 0, false, 0},
       1,
       "abacaaaaa.aaccabbbaccbaacbbabbbaca.babc.bc",
       {1, 0.560901, 1, 1,        1, 1,        1, 0.814436, 0.871316, 0,        1, 0.365139, 1,        0.885348,
        1, 0.469752, 1, 0.439065, 1, 1,        1, 0.561591, 0.934938, 0.665307, 1, 1,        1,        1,
        1, 0.469752, 1, 0.871316, 1, 0.871316, 0, 0.469752, 1,        0.560901, 1, 0,        0.560901, 1}},
      {"mutual reachability",
       {5, Selection::excess_of_mass, 0, false, 0},
       4,
       "ababaaaaa.a.bbabbbabbbaabbbabbbababbabbbbb",
       {1, 1, 0.935066, 1,        0.949286, 1,        1,        0.60962, 0.661056, 0,        1, 0,        1, 1,
        1, 1, 1,        0.896739, 0.907506, 1,        1,        1,       0.542556, 0.503114, 1, 1,        1, 1,
        1, 1, 1,        0.871316, 1,        0.718834, 0.424832, 1,       1,        1,        1, 0.421278, 1, 1}},
      {"leaves",
       {3, Selection::leaf, 0, false, 0},
       1,
       "abcdaac.e.c.f.agh.cdfh..dhhchghede.gabf.bf",
       {1, 1, 0.896988, 1, 0.454545, 1, 1, 0,        1,        0, 1,        0,        1, 0,
        1, 1, 1,        0, 0.378026, 1, 1, 0.450982, 0,        0, 0.603742, 0.803043, 1, 1,
        1, 1, 1,        1, 1,        1, 0, 1,        0.454545, 1, 0.639175, 0,        1, 1}},
      {"leaves, risen to a distance",
       {2, Selection::leaf, 60, false, 0},
       3,
       "abcdaac...c.e.afb..de...dbbcbfb.d..fabe.b.",
       {1, 0.450428, 0.538346, 1, 0.814351, 1, 0.621271, 0, 0,        0,        1,        0,        1,        0,
        1, 1,        1,        0, 0,        1, 1,        0, 0,        0,        0.672817, 0.483034, 0.855099, 1,
        1, 1,        0.945115, 0, 1,        0, 0,        1, 0.700357, 0.450428, 1,        0,        0.382708, 0}},
      {"most stable, risen to a distance",
       {3, Selection::excess_of_mass, 150, false, 0},
       3,
       "ababaaaaa.a.bbabbbabbbaabbbabbbababbabbbbb",
       {1, 1, 1, 1,        1,        1,       1,        0.637014, 0.74626,  0,        1, 0,        1, 1,
        1, 1, 1, 0.903147, 0.986262, 1,       1,        1,        0.624491, 0.512459, 1, 1,        1, 1,
        1, 1, 1, 0.871316, 1,        0.74626, 0.525379, 1,        1,        1,        1, 0.516697, 1, 1}},
      {"one cluster allowed",
       {30, Selection::excess_of_mass, 0, true, 0},
       3,
       "aaaaaaaaa.a.aaaaaaaaaaaaaaaaaaaaaaaaaaaaaa",
       {1, 1, 1, 1, 1, 1, 1, 1, 1, 0, 1, 0, 1, 1, 1, 1, 1, 1, 1, 1, 1,
        1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1}},
      {"clusters of at most 12 points",
       {4, Selection::excess_of_mass, 0, false, 12},
       3,
       "abcdaac...c.ddabb..ddb..dbbcbbb.d..babd.bd",
       {1, 0.526755, 1, 1, 1, 1, 1,       0,        0,        0,        1,       0,        0.65667, 0.464238,
        1, 0.441155, 1, 0, 0, 1, 0.65667, 0.416868, 0,        0,        1,       0.564886, 1,       1,
        1, 0.441155, 1, 0, 1, 0, 0,       0.441155, 0.860019, 0.526755, 0.65667, 0,        0.44756, 0.610958}},
      {"all noise",
       {25, Selection::excess_of_mass, 0, false, 0},
       2,
       "..........................................",
       {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0,
        0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0}},
  };
}

}  // namespace merganser::test
