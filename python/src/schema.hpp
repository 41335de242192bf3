#pragma once
/// Rules of attributes by their names in Python.
#include <string>

#include "merganser/parcels/parcels.hpp"

namespace merganser::python {

/// The rule of a name: mean, sum, centre, largest, mean_present, sum_present, ellipsoid. @throws UsageError for another
[[nodiscard]] Rule rule_of_name(const std::string& name);
/// The name of a rule.
[[nodiscard]] std::string name_of(Rule rule);

}  // namespace merganser::python
