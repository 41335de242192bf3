// Arcs of a graph file as its reader adds them: growth of the list in the memory available, and representation of the weights.
#include "src/graphs/files/raw.hpp"

#include <algorithm>
#include <bit>
#include <charconv>

#include "merganser/base/error.hpp"
#include "merganser/base/lines.hpp"
#include "src/graphs/files/disk.hpp"

namespace merganser::graphs::detail {
namespace {

constexpr std::uint64_t kTop = std::uint64_t{1} << 63;

}  // namespace

void Raw::refuse_beyond_signed() const {
  throw InputError(path + ": weight " + std::to_string(beyond_signed) +
                   " beside negative ones; allowed: integers below 2^63 there");
}

void Raw::refuse_beyond_real() const {
  throw InputError(path + ": weight " + beyond_real +
                   ", which double precision cannot hold, beside floating-point numbers (with a point, an exponent, or "
                   "infinite); allowed: integers up to 2^53 there, or one with a point, as " +
                   beyond_real + ".0, which is rounded");
}

void Raw::check_real(bool is_negative, std::uint64_t magnitude) {
  const int zeros = std::countr_zero(magnitude);
  if (beyond_real.empty() && magnitude >> zeros >> kBitsOfReal != 0)
    beyond_real = (is_negative ? "-" : "") + std::to_string(magnitude);
}

// Slow path of Raw::append(): checks the memory before the list of arcs grows.
bool Raw::grow() {
  if (arcs.size() >= most_) {
    ++beyond_;
    return false;
  }
  // Later the arcs give way to edges of at most their size, which are sorted into as much memory again.
  if (const std::size_t there = arcs.size(); there > 0) {
    check_memory(path, static_cast<double>(there + arcs.next_block()) * sizeof(Arc), sharing_,
                 "more than " + std::to_string(there) + " arcs on a rank");
  }
  arcs.add_block(static_cast<std::size_t>(most_ - arcs.size()));
  return true;
}

void Raw::widen(Numbers to) {
  real = real || to == Numbers::real;
  convert_numbers(to);
}

// Change of representation of a reader's weights, when a weight comes that the present representation cannot hold.
void Raw::convert_numbers(Numbers to) {
  // Signed 64 bits cannot hold an integer from 2^63 on beside negative ones.
  if (to == Numbers::integer && beyond_signed != 0) to = Numbers::real;
  if (numbers >= to) return;
  // Unsigned to signed needs no change of bits: all weights are below 2^63 then.
  const bool was_natural = numbers == Numbers::natural;
  numbers = to;
  if (to != Numbers::real) return;
  arcs.for_each([&](Arc& arc) {
    const double value =
        was_natural ? static_cast<double>(arc.weight) : static_cast<double>(static_cast<std::int64_t>(arc.weight));
    arc.weight = std::bit_cast<std::uint64_t>(value);
  });
}

// Common part of adding integer weights: keeps track of the signs and sizes that decide about the type of all weights.
void Raw::add_bits(std::uint64_t from, std::uint64_t to, bool is_negative, std::uint64_t magnitude) {
  if (is_negative && magnitude != 0) negative = true;
  if (!is_negative && magnitude >= kTop && beyond_signed == 0) beyond_signed = magnitude;
  if (magnitude >> kBitsOfReal != 0) check_real(is_negative, magnitude);
  if (negative) convert_numbers(Numbers::integer);
  if (numbers == Numbers::real) {
    const double value = static_cast<double>(magnitude);
    append({from, to, std::bit_cast<std::uint64_t>(is_negative ? -value : value)});
  } else {
    append({from, to, is_negative ? 0 - magnitude : magnitude});
  }
}

void Raw::add_integer(std::uint64_t from, std::uint64_t to, std::int64_t weight) {
  const auto bits = static_cast<std::uint64_t>(weight);
  add_bits(from, to, weight < 0, weight < 0 ? 0 - bits : bits);
}

// Arc of a text format: an integer weight if the text is an integer, else a real weight.
bool Raw::add(std::uint64_t from, std::uint64_t to, std::string_view text) {
  std::uint64_t natural = 0;
  if (parse_id(text, natural)) {  // as most weights are
    add_natural(from, to, natural);
    return true;
  }
  const bool below = text.starts_with('-');
  const std::string_view digits = below || text.starts_with('+') ? text.substr(1) : text;
  std::uint64_t magnitude = 0;
  const char* const end = digits.data() + digits.size();
  const auto [stop, error] = std::from_chars(digits.data(), end, magnitude);
  if (stop == end && !digits.empty()) {
    if (error != std::errc() || (below && magnitude > kTop)) return false;  // does not fit 64 bits
    add_bits(from, to, below, magnitude);
    return true;
  }
  double value = 0;
  if (!parse_real(text, value)) return false;
  add_real(from, to, value);
  return true;
}

std::uint64_t max_vertices(std::uint64_t file_bytes, bool compressed) {
  // Generous factors: gzip shrinks repetitive text up to about a thousandfold.
  const std::uint64_t each = compressed ? 16384 : 64;
  return std::max<std::uint64_t>(std::uint64_t{1} << 20, file_bytes > kTop / each ? kTop : file_bytes * each);
}

}  // namespace merganser::graphs::detail
