#include "merganser/comm/transport.hpp"

#include <algorithm>
#include <exception>
#include <new>
#include <type_traits>

#include "detail/bytes.hpp"
#include "detail/transport_base.hpp"

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

void Transport::barrier() {
  ++counters().collectives;
  do_barrier();
}

std::vector<std::vector<std::byte>> Transport::all_gather(std::span<const std::byte> mine) {
  ++counters().collectives;
  return do_all_gather(mine);
}

std::vector<std::vector<std::byte>> Transport::all_to_all(const std::vector<std::vector<std::byte>>& to) {
  if (to.size() != static_cast<std::size_t>(size())) {
    throw CommError("all_to_all: messages for " + std::to_string(to.size()) + " ranks; there are " +
                    std::to_string(size()));
  }
  ++counters().collectives;
  return do_all_to_all(to);
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

template <class T>
void reduce(std::span<T> values, Op op, const std::vector<std::vector<std::byte>>& all) {
  std::vector<T> theirs(values.size());
  for (std::size_t rank = 0; rank < all.size(); ++rank) {
    if (all[rank].size() != values.size_bytes()) {
      throw CommError("all_reduce: " + std::to_string(values.size()) + " values here, " +
                      std::to_string(all[rank].size() / sizeof(T)) + " on rank " + std::to_string(rank));
    }
    if (values.empty()) continue;
    std::memcpy(theirs.data(), all[rank].data(), values.size_bytes());
    for (std::size_t i = 0; i < values.size(); ++i) {
      values[i] = rank == 0 ? theirs[i] : combine(values[i], theirs[i], op);
    }
  }
}

}  // namespace

void Transport::all_reduce(std::span<double> values, Op op) { reduce(values, op, all_gather(std::as_bytes(values))); }

void Transport::all_reduce(std::span<std::int64_t> values, Op op) {
  reduce(values, op, all_gather(std::as_bytes(values)));
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
