// Generated edge weights: models by name, and the conversion of an edge's hash to a weight.
#include "merganser/graphs/weights.hpp"

#include <charconv>
#include <string>

#include "merganser/base/error.hpp"

namespace merganser::graphs {

// Type of the edge weights of a model.
WeightKind WeightMaker::kind() const {
  switch (model) {
    case WeightModel::signed_uniform:
      return WeightKind::signed_integer;
    case WeightModel::float32:
    case WeightModel::euclidean:
      return WeightKind::float32;
    case WeightModel::float64:
      return WeightKind::float64;
    default:
      return WeightKind::unsigned_integer;
  }
}

int WeightMaker::bits() const {
  return model == WeightModel::signed_uniform || model == WeightModel::float64 ? 64 : 32;
}

// Turns the hash of an edge into a weight of the model. The most significant bits of the hash are the best mixed.
// Floats take as many bits as their significand, so that conversion is exact and weights are uniform multiples of 2^-24
// or 2^-53.
std::uint64_t WeightMaker::shape(std::uint64_t h) const {
  switch (model) {
    case WeightModel::signed_uniform:
      return ordered_bits(static_cast<std::int64_t>(static_cast<std::int32_t>(static_cast<std::uint32_t>(h >> 32))));
    case WeightModel::float32:
      return ordered_bits(static_cast<float>(h >> 40) * 0x1p-24F);
    case WeightModel::float64:
      return ordered_bits(static_cast<double>(h >> 11) * 0x1p-53);
    case WeightModel::unit:
      return 1;
    default:
      throw UsageError("weights \"euclidean\"; allowed: for points (rgg2d, rgg3d) only");
  }
}

// Generator of edge weights by the name of its model; "uniform:LIMIT" has a parameter.
WeightMaker parse_weights(std::string_view name, std::uint64_t seed) {
  constexpr std::string_view kLimited = "uniform:";
  if (name.starts_with(kLimited)) {
    const std::string_view digits = name.substr(kLimited.size());
    std::uint64_t limit = 0;
    const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), limit);
    if (error == std::errc() && end == digits.data() + digits.size() && limit >= 1 && limit < (1ULL << 32))
      return {WeightModel::uniform, limit, seed};
    throw UsageError("weights \"" + std::string(name) + "\"; allowed: uniform:LIMIT with LIMIT from 1 to 4294967295");
  }
  if (name == "uniform") return {WeightModel::uniform, 0, seed};
  if (name == "signed") return {WeightModel::signed_uniform, 0, seed};
  if (name == "float32") return {WeightModel::float32, 0, seed};
  if (name == "float64") return {WeightModel::float64, 0, seed};
  if (name == "unit") return {WeightModel::unit, 0, seed};
  if (name == "euclidean") return {WeightModel::euclidean, 0, seed};
  throw UsageError("weights \"" + std::string(name) +
                   "\"; allowed: uniform, uniform:LIMIT, signed, float32, float64, unit, euclidean");
}

}  // namespace merganser::graphs
