#pragma once
/// Names in VTKHDF files of parcels, which reader and writer share.
#include <array>
#include <utility>

#include "merganser/parcels/parcels.hpp"

namespace merganser::io {

inline constexpr const char* kVtkhdf = "/VTKHDF";
inline constexpr const char* kPointData = "/VTKHDF/PointData";
inline constexpr const char* kSteps = "/VTKHDF/Steps";
inline constexpr const char* kVersionAttribute = "merganser_version";
inline constexpr const char* kTimeAttribute = "merganser_time";
/// Attributes of an array over the points: rule by which it merges, and its place in the schema, from 0.
inline constexpr const char* kRuleAttribute = "merganser_rule";
inline constexpr const char* kPlaceAttribute = "merganser_place";
/// Rules that arrays tell, by name.
inline constexpr std::array<std::pair<const char*, Rule>, 6> kRuleNames{{{"mean", Rule::mean},
                                                                         {"sum", Rule::sum},
                                                                         {"centre", Rule::centre},
                                                                         {"largest", Rule::largest},
                                                                         {"mean_present", Rule::mean_present},
                                                                         {"sum_present", Rule::sum_present}}};

}  // namespace merganser::io
