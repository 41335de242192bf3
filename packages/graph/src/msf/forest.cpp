// Totals of distributed spanning forests (exact weight, digest), and reports of time and communication by phase.
#include "merganser/msf/forest.hpp"

#include <algorithm>
#include <array>
#include <cmath>

#include "merganser/base/exact_sum.hpp"
#include "merganser/base/random.hpp"
#include "merganser/base/text.hpp"
#include "merganser/base/timer.hpp"
#include "merganser/comm/collectives.hpp"

namespace merganser::msf {
namespace {

__extension__ using Wide = __int128;  // holds the sum of all integer weights of a forest

/// Returns two 64-bit hashes of an edge of a spanning forest; their sums modulo 2^64 over all edges are the order-independent
/// digest of the forest.
std::array<std::uint64_t, 2> hash_edge(const graphs::Edge24& e) {
  const std::uint64_t a = mix64(e.low + 0x9e3779b97f4a7c15ULL);
  const std::uint64_t b = mix64(a ^ (e.high * 0xd1342543de82ef95ULL + 1));
  const std::uint64_t c = mix64(b ^ (e.weight * 0xaf251af3b0f025b5ULL + 3));
  return {c, mix64(c ^ a)};
}

/// Returns the decimal digits of a 128-bit integer, the exact total weight of a forest, with a minus sign where it is negative.
std::string decimal(Wide value) {
  // Digits are taken from the negative remainders too: the least 128-bit integer has no absolute value.
  const bool negative = value < 0;
  std::string digits;
  do {
    const int digit = static_cast<int>(value % 10);
    digits.push_back(static_cast<char>('0' + (digit < 0 ? -digit : digit)));
    value /= 10;
  } while (value != 0);
  if (negative) digits.push_back('-');
  std::reverse(digits.begin(), digits.end());
  return digits;
}

/// Returns whether edge weights of a kind are integers (else floating-point numbers).
bool is_integer(graphs::WeightKind kind) {
  return kind == graphs::WeightKind::unsigned_integer || kind == graphs::WeightKind::signed_integer;
}

/// Computes the exact sum of the integer edge weights of a forest over all ranks, into out.weight and out.weight_value. Collective.
/// The lower and upper 32 bits of the weights are summed apart, so that no sum over up to 2^31 edges overflows 64 bits.
void sum_integer_weights(const Forest& forest, comm::Transport& transport, ForestTotals& out) {
  std::int64_t parts[2] = {0, 0};
  const bool flip = forest.kind == graphs::WeightKind::signed_integer;
  for (const auto& e : forest.edges) {
    const std::uint64_t bits = flip ? e.weight ^ (std::uint64_t{1} << 63) : e.weight;
    parts[0] += static_cast<std::int64_t>(bits & 0xffffffffU);
    parts[1] += flip ? static_cast<std::int64_t>(bits) >> 32 : static_cast<std::int64_t>(bits >> 32);
  }
  transport.all_reduce(parts, comm::Op::sum);
  const Wide sum = static_cast<Wide>(parts[0]) + static_cast<Wide>(parts[1]) * (Wide{1} << 32);
  out.weight = decimal(sum);
  out.weight_value = static_cast<double>(sum);
}

/// Computes the correctly rounded sum of the floating-point edge weights of a forest over all ranks, whatever the order and
/// distribution of edges, into out.weight and out.weight_value. Collective.
void sum_float_weights(const Forest& forest, comm::Transport& transport, ForestTotals& out) {
  ExactSum mine;
  double infinite = 0;  // an exact sum holds finite numbers only
  for (const auto& e : forest.edges) {
    const double w = graphs::weight_from_bits(forest.kind, e.weight);
    if (std::isfinite(w))
      mine.add(w);
    else
      infinite += w;
  }
  const auto shares = comm::all_gather(transport, mine.words());
  double infinities[1] = {infinite};
  transport.all_reduce(infinities, comm::Op::sum);
  ExactSum all;
  for (const auto theirs : shares) all.add(ExactSum::from_words(theirs.data()));
  out.weight_value = infinities[0] == 0 ? all.value() : infinities[0];
  out.weight = number_text(out.weight_value);
}

}  // namespace

// Totals of a forest that identify it: edges, exact weight, and an order-independent digest.
ForestTotals totals(const Forest& forest, comm::Transport& transport) {
  std::array<std::uint64_t, 2> digest{};
  for (const auto& e : forest.edges) {
    const auto h = hash_edge(e);
    for (std::size_t i = 0; i < 2; ++i) digest[i] += h[i];
  }
  // Sums of unsigned hashes wrap modulo 2^64 as those of signed integers do in the reduction.
  std::int64_t counts[3] = {static_cast<std::int64_t>(forest.edges.size()), static_cast<std::int64_t>(digest[0]),
                            static_cast<std::int64_t>(digest[1])};
  transport.all_reduce(counts, comm::Op::sum);
  ForestTotals out;
  out.edges = counts[0];
  out.components = static_cast<std::int64_t>(forest.vertices) - counts[0];
  out.digest = hex16_text(static_cast<std::uint64_t>(counts[1])) + hex16_text(static_cast<std::uint64_t>(counts[2]));
  if (is_integer(forest.kind))
    sum_integer_weights(forest, transport, out);
  else
    sum_float_weights(forest, transport, out);
  return out;
}

// Timer of a phase of a forest's computation, with the communication in it.
Report::Scope::Scope(Report& report, std::string_view name, comm::Transport& transport)
    : report_(report),
      phase_(report.phase(name)),
      transport_(transport),
      before_(transport.counters()),
      start_(now()) {}

Report::Scope::~Scope() {
  Phase& phase = report_.phases_[phase_];
  phase.seconds += now() - start_;
  ++phase.calls;
  phase.counts += transport_.counters() - before_;
}

void Report::fact(std::string_view name, std::int64_t value) { find(name) = value; }
void Report::add(std::string_view name, std::int64_t value) { find(name) += value; }

std::size_t Report::phase(std::string_view name) {
  for (std::size_t i = 0; i < phases_.size(); ++i)
    if (phases_[i].name == name) return i;
  phases_.push_back({std::string(name), 0, 0, {}});
  return phases_.size() - 1;
}

std::int64_t& Report::find(std::string_view name) {
  for (auto& [known, value] : facts_)
    if (known == name) return value;
  return facts_.emplace_back(std::string(name), 0).second;
}

}  // namespace merganser::msf
