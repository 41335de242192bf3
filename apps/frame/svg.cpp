// Formatting of SVG elements and documents as text.
#include "apps/frame/svg.hpp"

#include <algorithm>
#include <cmath>

#include "apps/frame/table.hpp"

namespace merganser::app::svg {
namespace {

/// Returns the opening tag of an SVG element, "<name key="value" ...", not closed.
std::string opening_tag(std::string_view name, Attributes attributes) {
  std::string out = "<" + std::string(name);
  for (const auto& [key, value] : attributes) out.append(" ").append(key).append("=\"").append(value) += '"';
  return out;
}

}  // namespace

std::string element(std::string_view name, Attributes attributes, const std::string& content) {
  const std::string begin = opening_tag(name, attributes);
  return content.empty() ? begin + "/>" : begin + '>' + content + "</" + std::string(name) + '>';
}

std::string escape(const std::string& words) {
  std::string out;
  for (const char c : words) out += c == '<' ? "&lt;" : (c == '&' ? "&amp;" : (c == '>' ? "&gt;" : std::string(1, c)));
  return out;
}

std::string document(const std::string& width, const std::string& height, Attributes more, const std::string& content) {
  const std::string size =
      opening_tag("svg", {{"xmlns", "http://www.w3.org/2000/svg"}, {"width", width}, {"height", height}});
  return size + opening_tag("", more).substr(1) + ">\n" + content + "</svg>\n";
}

std::vector<double> round_levels(double low, double high) {
  constexpr double kNegligible = 1e-12;  // relative difference that rounding makes
  const double range = high - low;
  if (!(range > kNegligible * std::max(std::fabs(low), std::fabs(high)))) return {low};
  double step = std::pow(10, std::floor(std::log10(range / 4)));
  while (range / step > 6) step *= range / step > 15 ? 5 : 2;
  std::vector<double> out;
  for (double n = std::ceil(low / step); n * step <= high; ++n) out.push_back(n * step + 0.0);  // + 0.0: no -0
  return out;
}

std::string level_text(double level, double low, double high) {
  constexpr double kDigits = 4, kMaxDigits = 17;  // 17: all of a double
  const double range = high - low;
  const double more = range > 0 ? std::floor(std::log10(std::max(std::fabs(low), std::fabs(high)) / range)) : 0;
  return general_text(level, static_cast<int>(std::min(kDigits + std::max(0.0, more), kMaxDigits)));
}

std::string background() {
  return element("rect", {{"width", "100%"}, {"height", "100%"}, {"fill", "#f7f9fa"}}) + '\n';
}

}  // namespace merganser::app::svg
