#pragma once
/// Conversion between merge rules of attributes and their names in Python.
#include <string>

#include "merganser/parcels/parcels.hpp"

namespace merganser::python {

/// Returns the merge rule of a parcel attribute by its name: mean, sum, centre, largest, mean_present, sum_present, ellipsoid.
/// @throws UsageError for another name
[[nodiscard]] Rule parse_rule(const std::string& name);
/// Returns the name of the merge rule of a parcel attribute; "callback" for rules that Python cannot set.
[[nodiscard]] std::string rule_name(Rule rule);

}  // namespace merganser::python
