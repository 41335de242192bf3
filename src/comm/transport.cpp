#include "merganser/comm/transport.hpp"

#include <algorithm>
#include <array>
#include <exception>
#include <new>
#include <type_traits>

#include "merganser/comm/collectives.hpp"
#include "src/comm/detail/bytes.hpp"
#include "src/comm/detail/transport_base.hpp"

namespace merganser::comm {

Counters& Counters::operator+=(const Counters& o) {
  messages += o.messages;
  bytes += o.bytes;
  waves += o.waves;
  puts += o.puts;
  gets += o.gets;
  bytes_got += o.bytes_got;
  records += o.records;
  syncs += o.syncs;
  epochs += o.epochs;
  collectives += o.collectives;
  return *this;
}

Counters operator-(Counters a, const Counters& b) {
  a.messages -= b.messages;
  a.bytes -= b.bytes;
  a.waves -= b.waves;
  a.puts -= b.puts;
  a.gets -= b.gets;
  a.bytes_got -= b.bytes_got;
  a.records -= b.records;
  a.syncs -= b.syncs;
  a.epochs -= b.epochs;
  a.collectives -= b.collectives;
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

namespace {

template <class T>
T combine(T a, T b, Op op) {
  switch (op) {
    case Op::min:
      return std::min(a, b);
    case Op::max:
      return std::max(a, b);
    case Op::sum:
      break;
  }
  if constexpr (std::is_integral_v<T>) {  // wraps around, as MPI's sums do
    using Unsigned = std::make_unsigned_t<T>;
    return static_cast<T>(static_cast<Unsigned>(a) + static_cast<Unsigned>(b));
  } else {
    return a + b;
  }
}

/// What a rank asks for, ahead of its values: ranks that ask for different things would get different answers.
struct Reduction {
  std::uint32_t op = 0;
  std::uint32_t integers = 0;

  friend bool operator==(const Reduction&, const Reduction&) = default;
  [[nodiscard]] std::string text(std::size_t values) const {
    constexpr std::array kNames{"sum", "min", "max"};
    return std::string(op < kNames.size() ? kNames[op] : "an unknown Op") + " of " + std::to_string(values) +
           (integers != 0 ? " integers" : " doubles");
  }
};

[[noreturn]] void throw_together(const CommError& error) {
  detail::note_agreed_error(error.what());
  throw error;
}

/// What the first ranks that differ ask for; every rank finds the same two.
void check_reduction(const std::vector<std::vector<std::byte>>& all, std::size_t value_bytes) {
  const auto text = [&](std::size_t rank) {
    const auto what = detail::read<Reduction>(all[rank]);
    return what.text((all[rank].size() - sizeof what) / value_bytes) + " on rank " + std::to_string(rank);
  };
  if (detail::read<Reduction>(all[0]).op > static_cast<std::uint32_t>(Op::max)) {
    throw_together(CommError("all_reduce: " + text(0) + "; allowed: Op::sum, Op::min, Op::max"));
  }
  for (std::size_t rank = 1; rank < all.size(); ++rank) {
    if (all[rank].size() == all[0].size() && detail::read<Reduction>(all[rank]) == detail::read<Reduction>(all[0])) {
      continue;
    }
    throw_together(CommError("all_reduce: " + text(0) + ", but " + text(rank)));
  }
}

template <class T>
detail::Bytes reduction_card(std::span<const T> values, Op op) {
  detail::Bytes card = detail::to_bytes(Reduction{static_cast<std::uint32_t>(op), std::is_integral_v<T> ? 1U : 0U});
  const auto bytes = std::as_bytes(values);
  card.insert(card.end(), bytes.begin(), bytes.end());
  return card;
}

template <class T>
void reduce(std::span<T> values, Op op, const std::vector<std::vector<std::byte>>& all) {
  check_reduction(all, sizeof(T));
  std::vector<T> theirs(values.size());
  for (std::size_t rank = 0; rank < all.size() && !values.empty(); ++rank) {
    std::memcpy(theirs.data(), all[rank].data() + sizeof(Reduction), values.size_bytes());
    for (std::size_t i = 0; i < values.size(); ++i) {
      values[i] = rank == 0 ? theirs[i] : combine(values[i], theirs[i], op);
    }
  }
}

}  // namespace

void Transport::all_reduce(std::span<double> values, Op op) {
  reduce(values, op, all_gather(reduction_card<double>(values, op)));
}

void Transport::all_reduce(std::span<std::int64_t> values, Op op) {
  reduce(values, op, all_gather(reduction_card<std::int64_t>(values, op)));
}

std::int64_t Transport::all_reduce(std::int64_t value, Op op) {
  all_reduce(std::span(&value, 1), op);
  return value;
}

namespace {

enum class Kind : std::uint8_t { none, verification, usage, input, comm, coded, memory, other };

struct Failure {
  Kind kind = Kind::none;
  int exit_code = 0;
  std::string text;
  std::exception_ptr original;
};

Failure failure_of(const std::function<void()>& local) {
  try {
    local();
  } catch (const VerificationError& e) {
    return {Kind::verification, e.exit_code(), e.what(), std::current_exception()};
  } catch (const UsageError& e) {
    return {Kind::usage, e.exit_code(), e.what(), std::current_exception()};
  } catch (const InputError& e) {
    return {Kind::input, e.exit_code(), e.what(), std::current_exception()};
  } catch (const CommError& e) {
    return {Kind::comm, e.exit_code(), e.what(), std::current_exception()};
  } catch (const Error& e) {
    return {Kind::coded, e.exit_code(), e.what(), std::current_exception()};
  } catch (const std::bad_alloc& e) {
    return {Kind::memory, 0, e.what(), std::current_exception()};
  } catch (const std::exception& e) {
    return {Kind::other, 0, e.what(), std::current_exception()};
  } catch (...) {
    return {Kind::other, 0, "unknown error", std::current_exception()};
  }
  return {};
}

[[noreturn]] void rethrow(Kind kind, int exit_code, const std::string& text) {
  switch (kind) {
    case Kind::verification:
      throw VerificationError(text);
    case Kind::usage:
      throw UsageError(text);
    case Kind::input:
      throw InputError(text);
    case Kind::comm:
      throw CommError(text);
    case Kind::coded:
      throw Error(text, exit_code);
    case Kind::memory:
      throw std::bad_alloc();
    case Kind::other:
    case Kind::none:
      break;
  }
  throw std::runtime_error(text);
}

}  // namespace

namespace {

std::uint64_t digest(std::span<const std::byte> bytes) {  // FNV-1a
  std::uint64_t hash = 0xCBF29CE484222325U;
  for (const std::byte b : bytes) hash = (hash ^ static_cast<std::uint64_t>(b)) * 0x100000001B3U;
  return hash;
}

/// Names and values as lines; the same number of them on ranks that make the same call.
std::vector<std::string> lines_of(std::span<const std::byte> bytes) {
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

void check_same(Transport& transport, std::string_view what, const std::vector<Same>& values) {
  std::string text(what);
  for (const Same& value : values) text += '\0' + value.name + " is " + value.value;
  const auto mine = std::as_bytes(std::span(text));
  const auto digests = all_gather_value(transport, digest(mine));
  if (std::all_of(digests.begin(), digests.end(), [&](auto theirs) { return theirs == digests[0]; })) return;
  const auto all = transport.all_gather(mine);
  const auto first = lines_of(all[0]);
  for (std::size_t rank = 1; rank < all.size(); ++rank) {
    const auto theirs = lines_of(all[rank]);
    for (std::size_t i = 0; i < std::min(first.size(), theirs.size()); ++i) {
      if (first[i] == theirs[i]) continue;
      const std::string name = i == 0 ? "" : first[0] + ": ";
      const std::string error = name + first[i] + " on rank 0 and " + theirs[i] + " on rank " + std::to_string(rank) +
                                "; every rank must give the same";
      detail::note_agreed_error(error);
      throw UsageError(error);
    }
  }
  throw_together(CommError("check_same: ranks give different numbers of values"));
}

void agree(Transport& transport, const std::function<void()>& local) {
  const Failure mine = failure_of(local);
  detail::Bytes card;
  if (mine.kind != Kind::none) {
    detail::append(card, mine.kind);
    detail::append(card, mine.exit_code);
    const auto text = std::as_bytes(std::span(mine.text));
    card.insert(card.end(), text.begin(), text.end());
  }
  const auto all = transport.all_gather(card);
  for (std::size_t rank = 0; rank < all.size(); ++rank) {
    if (all[rank].empty()) continue;
    constexpr std::size_t kText = sizeof(Kind) + sizeof(int);
    const auto& bytes = all[rank];
    const std::string text(reinterpret_cast<const char*>(bytes.data()) + kText, bytes.size() - kText);
    detail::note_agreed_error(text);
    if (static_cast<int>(rank) == transport.rank()) std::rethrow_exception(mine.original);
    rethrow(detail::read<Kind>(bytes), detail::read<int>(bytes, sizeof(Kind)), text);
  }
}

}  // namespace merganser::comm
