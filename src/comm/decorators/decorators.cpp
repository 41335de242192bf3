// Table of the decorators of transports, and the parser of the option that names them.
#include "src/comm/decorators/decorators.hpp"

#include <array>
#include <charconv>
#include <sstream>

#include "merganser/base/error.hpp"

namespace merganser::comm::detail {
namespace {

/// Decorator of transports that options can name, in the table kKnown.
struct DecoratorEntry {
  std::string_view name;         // name in options: "checked", "chaos"
  bool needs_seed;               // options give it as "name:seed"
  decltype(&make_checked) make;  // function that wraps a transport into the decorator
};

constexpr std::array kKnown{DecoratorEntry{"checked", false, make_checked}, DecoratorEntry{"chaos", true, make_chaos}};

/// Returns the table entry of the decorator of this name. @throws UsageError for an unknown name, with the list of names
const DecoratorEntry& find_decorator(const std::string& name) {
  for (const DecoratorEntry& known : kKnown) {
    if (known.name == name) return known;
  }
  std::string text = "unknown decorator '" + name + "'; known:";
  for (const DecoratorEntry& known : kKnown) text += " " + std::string(known.name) + (known.needs_seed ? ":SEED" : "");
  throw UsageError(text);
}

/// Parses one item of the comma list of decorators, "name" or "name:seed". @throws UsageError for an unknown name, and for a seed
/// that is missing, not taken by the decorator, or no number
DecoratorSpec parse_one(const std::string& word) {
  const auto colon = word.find(':');
  DecoratorSpec spec{word.substr(0, colon)};
  const DecoratorEntry& known = find_decorator(spec.name);
  if (known.needs_seed != (colon != std::string::npos)) {
    throw UsageError("decorator '" + word +
                     "': " + (known.needs_seed ? "a seed is needed, as in " : "takes no seed: ") + spec.name +
                     (known.needs_seed ? ":1" : ""));
  }
  if (!known.needs_seed) return spec;
  const char* end = word.data() + word.size();
  const auto [at, error] = std::from_chars(word.data() + colon + 1, end, spec.seed);
  if (error != std::errc{} || at != end) {
    throw UsageError("decorator '" + word + "': the seed must be a number from 0 to 2^64 - 1");
  }
  return spec;
}

}  // namespace

// Parser of the option `decorators`; empty items of the comma list are passed over.
std::vector<DecoratorSpec> parse_decorators(const std::string& list) {
  std::vector<DecoratorSpec> specs;
  std::istringstream words(list);
  for (std::string word; std::getline(words, word, ',');) {
    if (!word.empty()) specs.push_back(parse_one(word));
  }
  return specs;
}

// Wraps a transport from the last decorator of the list outwards, so that the first one gets the program's calls first.
std::unique_ptr<Transport> decorate(Transport& inner, const std::vector<DecoratorSpec>& list) {
  std::unique_ptr<Transport> outer;
  for (auto spec = list.rbegin(); spec != list.rend(); ++spec) {
    Transport& wrapped = outer ? *outer : inner;
    outer = find_decorator(spec->name).make(wrapped, std::move(outer), spec->seed);
  }
  return outer;
}

}  // namespace merganser::comm::detail
