// Resolution of values that both an option and the input file may give: sources, report lines, warnings and run record.
#include "apps/frame/answers.hpp"

#include <fmt/core.h>

#include <algorithm>

#include "apps/frame/record.hpp"
#include "merganser/base/text.hpp"

namespace merganser::app {

// Record of a resolved value: its source is the option, the input file, or the rule of a default.
void Answers::note(const std::string& option, const OptionValue& value, const OptionValue& in_file, bool given,
                   const std::string& rule) {
  const bool file_says = !std::holds_alternative<std::monostate>(in_file);
  const std::string source = given ? "--" + option : file_says ? "from " + input_ : input_ + " does not say: " + rule;
  if (!has(option)) order_.push_back(option);
  sources_.insert_or_assign(option, Source{value, in_file, given, source});
}

std::string Answers::to_string(const std::string& option) const {
  const Source& s = sources_.at(option);
  return fmt::format("{} {} ({})", option, value_text(s.value), s.text);
}

std::string Answers::to_string() const {
  return joined(order_, ", ", [&](const std::string& option) { return to_string(option); });
}

// Report line on the sources of values: values of the same source share one mention of it.
std::string Answers::to_grouped_string() const {
  std::vector<std::string> groups;
  for (const auto& option : order_) {
    const Source& s = sources_.at(option);
    const std::string value = option + ' ' + value_text(s.value), end = " (" + s.text + ')';
    const auto same = std::find_if(groups.begin(), groups.end(), [&](const auto& g) { return g.ends_with(end); });
    if (same == groups.end()) {
      groups.push_back(value + end);
    } else {
      same->insert(same->size() - end.size(), ", " + value);
    }
  }
  return joined(groups, "; ");
}

// Warnings of options that contradict the input file.
std::vector<std::string> Answers::warnings() const {
  std::vector<std::string> out;
  for (const auto& option : order_) {
    const Source& s = sources_.at(option);
    if (s.given && !std::holds_alternative<std::monostate>(s.in_file) && s.in_file != s.value)
      out.push_back(fmt::format("--{} {} overrides {}, which says {}", option, value_text(s.value), input_,
                                value_text(s.in_file)));
  }
  return out;
}

// Part of a run record that makes it reproducible: every resolved value with its source.
void Answers::add_to(Json& record) const {
  for (const auto& option : order_) {
    const Source& s = sources_.at(option);
    if (record["options"].contains(option)) record["options"][option] = value_json(s.value);
    record["sources"][option] = {
        {"value", value_json(s.value)}, {"source", bytes_to_utf8(s.text)}, {"in_file", value_json(s.in_file)}};
  }
}

}  // namespace merganser::app
