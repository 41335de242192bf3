// Public collectives of a transport over those of its backend: counts, checks of arguments, and agreement on errors.
#include "merganser/comm/transport.hpp"

#include <algorithm>
#include <array>
#include <exception>
#include <new>
#include <utility>

#include "merganser/base/indexed_text.hpp"
#include "src/comm/detail/bytes.hpp"
#include "src/comm/detail/transport_base.hpp"

namespace merganser::comm {

namespace {

// Members of Counters, for element-wise arithmetic; the assertion below detects one that is missing here.
constexpr std::array kCounts{&Counters::messages, &Counters::bytes,      &Counters::waves,   &Counters::puts,
                             &Counters::gets,     &Counters::bytes_got,  &Counters::records, &Counters::syncs,
                             &Counters::epochs,   &Counters::collectives};
static_assert(sizeof(Counters) == kCounts.size() * sizeof(std::int64_t));

}  // namespace

Counters& Counters::operator+=(const Counters& o) {
  for (const auto count : kCounts) this->*count += o.*count;
  return *this;
}

Counters operator-(Counters a, const Counters& b) {
  for (const auto count : kCounts) a.*count -= b.*count;
  return a;
}

void Mailbox::check_record_size(std::size_t bytes, std::size_t record) {
  if (bytes % record == 0) return;
  throw CommError("message of " + std::to_string(bytes) + " bytes does not hold whole records of " +
                  std::to_string(record));
}

void Mailbox::throw_no_arc(const char* side, std::size_t arc, std::size_t arcs) {
  throw CommError("Mailbox: " + std::string(side) + "-arc " + std::to_string(arc) + "; " +
                  (arcs == 0 ? "there is none" : "allowed: 0 to " + std::to_string(arcs - 1)));
}

void Transport::barrier() {
  ++counters().collectives;
  do_barrier();
}

std::vector<std::vector<std::byte>> Transport::all_gather(std::span<const std::byte> mine) {
  ++counters().collectives;
  return do_all_gather(mine);
}

// All-to-all of messages: validates the number of messages on this rank, counts the call, and leaves the rest to the backend.
std::vector<std::vector<std::byte>> Transport::all_to_all(std::span<const std::span<const std::byte>> to) {
  if (to.size() != static_cast<std::size_t>(size())) {
    throw CommError("all_to_all: messages for " + std::to_string(to.size()) + " ranks; there are " +
                    std::to_string(size()));
  }
  ++counters().collectives;
  return do_all_to_all(to);
}

std::vector<std::vector<std::byte>> Transport::all_to_all(const std::vector<std::vector<std::byte>>& to) {
  return all_to_all(detail::views(to));
}

std::vector<std::vector<std::byte>> Transport::gather(std::span<const std::byte> mine) {
  ++counters().collectives;
  return do_gather(mine);
}

std::vector<std::byte> Transport::broadcast(std::span<const std::byte> mine) {
  ++counters().collectives;
  return do_broadcast(mine);
}

namespace {

/// Formats the arguments of an all_reduce(), which must be equal on all ranks, as text to compare: "sum of 3 integers".
std::string reduction_text(std::size_t values, bool integers, Op op) {
  constexpr std::array kNames{"sum", "min", "max"};
  const auto at = static_cast<std::size_t>(op);
  return std::string(at < kNames.size() ? kNames[at] : "an unknown Op") + " of " + std::to_string(values) +
         (integers ? " integers" : " doubles");
}

/// Throws a CommError that every rank of the transport throws with the same text, and notes it as agreed: collective calls stay
/// safe afterwards.
[[noreturn]] void throw_on_every_rank(const CommError& error) {
  detail::note_agreed_error(error.what());
  throw error;
}

/// Throws CommError for an all_reduce() whose arguments differ between ranks, with those of rank 0 and of the first rank that
/// differs; the same message on every rank. @param all  by rank: text of reduction_text()
[[noreturn]] void throw_differing(const std::vector<std::vector<std::byte>>& all) {
  const auto text = [&](std::size_t rank) {
    const std::string what(reinterpret_cast<const char*>(all[rank].data()), all[rank].size());
    return what + " on rank " + std::to_string(rank);
  };
  std::size_t other = 1;
  while (other + 1 < all.size() && all[other] == all[0]) ++other;
  throw_on_every_rank(CommError("all_reduce: " + text(0) + ", but " + text(other)));
}

/// Returns a hash (FNV-1a) of the text of a collective call's arguments, by which ranks compare them.
std::uint64_t argument_hash(std::span<const std::byte> bytes) {
  std::uint64_t hash = 0xCBF29CE484222325U;
  for (const std::byte b : bytes) hash = (hash ^ static_cast<std::uint64_t>(b)) * 0x100000001B3U;
  return hash;
}

/// Sign bit of an integer to reduce: flipping it maps signed integers to unsigned words in the same order, so that min and max
/// reduce as words.
constexpr std::uint64_t kSign = std::uint64_t{1} << 63;

/// Returns the hash of this rank's arguments of a collective call, as bytes, and the hash's complement, to be reduced by minimum.
/// The minima over ranks are complements of each other exactly if all hashes are equal, since min(~d) = ~max(d): one reduction
/// finds minimum and maximum.
std::array<std::uint64_t, 2> uniformity_words(std::span<const std::byte> mine) {
  const std::uint64_t word = argument_hash(mine);
  return {word, ~word};
}

/// Returns true if the minima over ranks of uniformity_words() show that all ranks gave a collective call the same arguments.
bool is_uniform(const std::array<std::uint64_t, 2>& reduced) { return reduced[0] == ~reduced[1]; }

}  // namespace

// Validation of a collective call: ranks whose arguments differ would return different results, or hang in the library.
void Transport::check_reduction(std::size_t values, bool integers, Op op) {
  const std::string text = reduction_text(values, integers, op);
  const auto mine = std::as_bytes(std::span(text));
  auto words = uniformity_words(mine);
  do_reduce(words, Op::min);
  if (!is_uniform(words)) throw_differing(do_all_gather(mine));
  if (op > Op::max)
    throw_on_every_rank(CommError("all_reduce: " + text + " on rank 0; allowed: Op::sum, Op::min, Op::max"));
}

// Reduction of doubles: gathered, summed on rank 0 in the order of ranks, and broadcast, so that every model gives the
// same bits.
void Transport::all_reduce(std::span<double> values, Op op) {
  ++counters().collectives;
  check_reduction(values.size(), false, op);
  if (values.empty()) return;
  const auto all = do_gather(std::as_bytes(values));
  std::vector<double> theirs(values.size());
  // Only rank 0 has entries in `all`. It sums in the order of ranks, so that rounding depends on nothing else.
  for (std::size_t rank = 1; rank < all.size(); ++rank) {
    std::memcpy(theirs.data(), all[rank].data(), values.size_bytes());
    for (std::size_t i = 0; i < values.size(); ++i) values[i] = detail::reduce_pair(values[i], theirs[i], op);
  }
  const auto total = do_broadcast(std::as_bytes(values));
  std::memcpy(values.data(), total.data(), values.size_bytes());
}

// Reduction of integers as unsigned words, the one type that every model reduces.
void Transport::all_reduce(std::span<std::int64_t> values, Op op) {
  ++counters().collectives;
  check_reduction(values.size(), true, op);
  if (values.empty()) return;
  const std::uint64_t flipped = op == Op::sum ? 0 : kSign;  // sums modulo 2^64 need no flip, min and max do
  std::vector<std::uint64_t> words;
  for (const std::int64_t value : values) words.push_back(static_cast<std::uint64_t>(value) ^ flipped);
  do_reduce(words, op);
  for (std::size_t i = 0; i < values.size(); ++i) values[i] = static_cast<std::int64_t>(words[i] ^ flipped);
}

namespace {

/// Types of exceptions that agree() rethrows on other ranks, the most derived that fits; none: no exception.
enum class ErrorKind : std::uint8_t { none, verification, usage, input, comm, coded, memory, other };

/// Exception that a rank has thrown in agree(), in a form that can be sent to other ranks; filled by catch_failure() and
/// decode_failure().
struct Failure {
  ErrorKind kind = ErrorKind::none;  // type of the exception
  int exit_code = 0;                 // exit code of an Error, else 0
  IndexedText text;                  // message, whose indices stay numbers
  std::exception_ptr original;       // the exception itself, on the rank that threw it
};

/// Returns the message of an error thrown in agree(), with the positions of indices in it if the error marks them.
IndexedText error_text(const Error& error) {
  const auto* const indexed = dynamic_cast<const HasIndices*>(&error);
  return indexed != nullptr ? indexed->indexed_text() : IndexedText(error.what());
}

/// Runs this rank's part of agree() and returns the exception that it threw, most derived type first; ErrorKind::none if it threw
/// none.
Failure catch_failure(const std::function<void()>& local) {
  try {
    local();
  } catch (const VerificationError& e) {
    return {ErrorKind::verification, e.exit_code(), error_text(e), std::current_exception()};
  } catch (const UsageError& e) {
    return {ErrorKind::usage, e.exit_code(), error_text(e), std::current_exception()};
  } catch (const InputError& e) {
    return {ErrorKind::input, e.exit_code(), error_text(e), std::current_exception()};
  } catch (const CommError& e) {
    return {ErrorKind::comm, e.exit_code(), error_text(e), std::current_exception()};
  } catch (const Error& e) {
    return {ErrorKind::coded, e.exit_code(), error_text(e), std::current_exception()};
  } catch (const std::bad_alloc& e) {
    return {ErrorKind::memory, 0, IndexedText(e.what()), std::current_exception()};
  } catch (const std::exception& e) {
    return {ErrorKind::other, 0, IndexedText(e.what()), std::current_exception()};
  } catch (...) {
    return {ErrorKind::other, 0, IndexedText("unknown error"), std::current_exception()};
  }
  return {};
}

/// Throws an exception of the given type and message, as another rank has thrown it in agree().
[[noreturn]] void rethrow(ErrorKind kind, int exit_code, const IndexedText& indexed) {
  const std::string text = indexed.to_string();
  switch (kind) {
    case ErrorKind::verification:
      throw VerificationError(text);
    case ErrorKind::usage:
      throw Indexed<UsageError>(indexed);
    case ErrorKind::input:
      throw Indexed<InputError>(indexed);
    case ErrorKind::comm:
      throw CommError(text);
    case ErrorKind::coded:
      throw Error(text, exit_code);
    case ErrorKind::memory:
      throw std::bad_alloc();
    case ErrorKind::other:
    case ErrorKind::none:
      break;
  }
  throw std::runtime_error(text);
}

/// Encodes this rank's exception in agree() as bytes for the other ranks: kind, exit code, indices, words; empty for
/// ErrorKind::none. Indices stay numbers, since callers on other ranks may count from 1.
detail::Bytes encode_failure(const Failure& failure) {
  detail::Bytes bytes;
  if (failure.kind == ErrorKind::none) return bytes;
  detail::append(bytes, failure.kind);
  detail::append(bytes, failure.exit_code);
  detail::append(bytes, failure.text.indices().size());
  for (const auto& [at, value] : failure.text.indices()) {
    detail::append(bytes, at);
    detail::append(bytes, value);
  }
  const auto words = std::as_bytes(std::span(failure.text.words()));
  bytes.insert(bytes.end(), words.begin(), words.end());
  return bytes;
}

/// Decodes an exception that another rank threw in agree(), from the bytes of encode_failure(), not empty.
Failure decode_failure(const detail::Bytes& bytes) {
  Failure failure{detail::read<ErrorKind>(bytes), detail::read<int>(bytes, sizeof(ErrorKind)), {}, nullptr};
  std::size_t from = sizeof(ErrorKind) + sizeof(int);
  const auto next = [&] {
    const auto number = detail::read<std::size_t>(bytes, from);
    from += sizeof number;
    return number;
  };
  std::vector<std::pair<std::size_t, std::size_t>> indices(next());
  for (auto& [at, value] : indices) {
    at = next();
    value = next();
  }
  const std::string_view words(reinterpret_cast<const char*>(bytes.data()) + from, bytes.size() - from);
  std::size_t done = 0;
  for (const auto& [at, value] : indices) {
    failure.text = std::move(failure.text) + words.substr(done, at - done) + Index{value};
    done = at;
  }
  failure.text = std::move(failure.text) + words.substr(done);
  return failure;
}

}  // namespace

namespace {

/// Splits the text of a rank's arguments for check_uniform_across_ranks() at its zero bytes: the name of the call, then a line per
/// argument. Ranks that make the same call have the same number of lines.
std::vector<std::string> split_lines(std::span<const std::byte> bytes) {
  std::vector<std::string> lines(1);
  for (const std::byte b : bytes) {
    if (b == std::byte{0}) {
      lines.emplace_back();
    } else {
      lines.back() += static_cast<char>(b);
    }
  }
  return lines;
}

}  // namespace

// Collective comparison of arguments: one reduction of hashes; the texts are exchanged only if they differ.
void check_uniform_across_ranks(Transport& transport, std::string_view what, const std::vector<UniformValue>& values) {
  std::string text(what);
  for (const UniformValue& value : values) text += '\0' + value.name + " is " + value.value;
  const auto mine = std::as_bytes(std::span(text));
  auto words = uniformity_words(mine);
  ++transport.counters().collectives;
  transport.do_reduce(words, Op::min);
  if (is_uniform(words)) return;
  // Every rank compares the same texts in the same order, so all throw the same error without further communication.
  const auto all = transport.all_gather(mine);
  const auto first = split_lines(all[0]);
  for (std::size_t rank = 1; rank < all.size(); ++rank) {
    const auto theirs = split_lines(all[rank]);
    for (std::size_t i = 0; i < std::min(first.size(), theirs.size()); ++i) {
      if (first[i] == theirs[i]) continue;
      const std::string name = i == 0 ? "" : first[0] + ": ";
      const std::string error = name + first[i] + " on rank 0 and " + theirs[i] + " on rank " + std::to_string(rank) +
                                "; every rank must give the same";
      detail::note_agreed_error(error);
      throw UsageError(error);
    }
  }
  throw_on_every_rank(CommError("check_uniform_across_ranks: ranks give different numbers of values"));
}

// Collective agreement on errors: one reduction if no rank fails, else all throw the error of the lowest rank that
// failed.
void agree(Transport& transport, const std::function<void()>& local) {
  const Failure mine = catch_failure(local);
  std::uint64_t failures = mine.kind == ErrorKind::none ? 0 : 1;
  ++transport.counters().collectives;
  transport.do_reduce({&failures, 1}, Op::sum);
  if (failures == 0) return;
  const auto all = transport.do_all_gather(encode_failure(mine));
  for (std::size_t rank = 0; rank < all.size(); ++rank) {
    if (all[rank].empty()) continue;
    const Failure theirs = decode_failure(all[rank]);
    detail::note_agreed_error(theirs.text.to_string());
    if (static_cast<int>(rank) == transport.rank()) std::rethrow_exception(mine.original);  // keeps its dynamic type
    rethrow(theirs.kind, theirs.exit_code, theirs.text);
  }
}

}  // namespace merganser::comm
