// Validation of the parameters of HDBSCAN*.
#include "merganser/msf/hdbscan_options.hpp"

#include <cmath>

#include "merganser/base/error.hpp"
#include "merganser/base/text.hpp"
#include "merganser/msf/linkage.hpp"

namespace merganser::msf {

// Ranges of all parameters of HDBSCAN*; messages name a field as the caller's interface does.
void check(const HdbscanOptions& o, const std::function<std::string(std::string_view field)>& name) {
  const auto require = [&](bool ok, const char* field, const std::string& value, const std::string& allowed) {
    if (!ok) throw UsageError((name ? name(field) : field) + ": " + value + "; allowed: " + allowed);
  };
  const auto require_word = [&](const char* field, auto value, const auto& choices) {
    require(!choices.name(value).empty(), field, std::to_string(static_cast<int>(value)),
            joined(choices.words, ", ", [](const auto& word) { return word.first; }));
  };
  constexpr auto kMax = static_cast<std::int64_t>(kMaxLinkageVertices);
  require(o.min_cluster_size >= 2 && o.min_cluster_size <= kMax, "min_cluster_size", std::to_string(o.min_cluster_size),
          "from 2 to " + std::to_string(kMax));
  require(o.max_cluster_size >= 0, "max_cluster_size", std::to_string(o.max_cluster_size), "0 and more; 0: any size");
  require(o.epsilon >= 0 && std::isfinite(o.epsilon), "epsilon", number_text(o.epsilon), "finite numbers from 0");
  require(o.epsilon_max >= 0, "epsilon_max", number_text(o.epsilon_max), "numbers from 0, or infinity");
  require(o.persistence >= 0, "persistence", number_text(o.persistence), "0 and more");
  require_word("selection", o.selection, selections());
  require_word("ties", o.ties, hdbscan_ties());
}

}  // namespace merganser::msf
