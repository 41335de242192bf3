#pragma once
/// bench msf: tables for people, published numbers beside measured ones.
#include <string>

#include "apps/bench_msf/plan.hpp"

namespace merganser::app {

/// All tables that the plan wants. @param here  "2 cores, 1 node"
[[nodiscard]] std::string msf_bench_text(const MsfPlan& plan, const MsfResults& results, const std::string& here);

}  // namespace merganser::app
