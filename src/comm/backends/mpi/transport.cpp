// requires: MPI
// Collectives of the models over MPI for set-up: messages of any length, made of MPI's non-blocking collectives for lengths and of
// two-sided messages in pieces that an int can count.
#include "src/comm/backends/mpi/transport.hpp"

#include <algorithm>
#include <array>
#include <cstring>
#include <exception>
#include <utility>

#include "src/comm/backends/mpi/library.hpp"
#include "src/comm/backends/mpi/simulated.hpp"
#include "src/comm/detail/limits.hpp"
#include "src/comm/detail/scoped_yield.hpp"

namespace merganser::comm::detail {
namespace {

constexpr int kCollectiveTag = 0;  // MPI tag of messages of collectives; Links have the tags above it

// The collectives below are non-blocking, so that a wait can yield the core and end at the wait limit. In a simulation they
// block: SMPI's non-blocking ones send a message for each pair of ranks, its blocking ones use the algorithms of libraries.

/// Starts MPI's all-reduce of `number` values in place (complete at the return in a simulation). Returns MPI's code. Collective.
int start_all_reduce(void* values, int number, MPI_Datatype type, MPI_Op op, MPI_Comm comm, MPI_Request* request) {
  if constexpr (kSimulated) return MPI_Allreduce(MPI_IN_PLACE, values, number, type, op, comm);
  return MPI_Iallreduce(MPI_IN_PLACE, values, number, type, op, comm, request);
}
/// Starts MPI's gather of one integer per rank on rank 0 (complete at the return in a simulation). Returns MPI's code. Collective.
int start_gather(const std::int64_t* mine, std::int64_t* all, MPI_Comm comm, MPI_Request* request) {
  if constexpr (kSimulated) return MPI_Gather(mine, 1, MPI_INT64_T, all, 1, MPI_INT64_T, 0, comm);
  return MPI_Igather(mine, 1, MPI_INT64_T, all, 1, MPI_INT64_T, 0, comm, request);
}
/// Starts MPI's barrier (complete at the return in a simulation). Returns MPI's code. Collective.
int start_barrier(MPI_Comm comm, MPI_Request* request) {
  if constexpr (kSimulated) return MPI_Barrier(comm);
  return MPI_Ibarrier(comm, request);
}

/// Starts MPI's all-gather of one integer per rank (complete at the return in a simulation). Returns MPI's code. Collective.
int start_all_gather(const std::int64_t* mine, std::int64_t* all, MPI_Comm comm, MPI_Request* request) {
  if constexpr (kSimulated) return MPI_Allgather(mine, 1, MPI_INT64_T, all, 1, MPI_INT64_T, comm);
  return MPI_Iallgather(mine, 1, MPI_INT64_T, all, 1, MPI_INT64_T, comm, request);
}
/// Starts MPI's broadcast of `length` bytes from rank `from` (complete at the return in a simulation). Returns MPI's code.
/// Collective.
int start_broadcast(std::byte* bytes, int length, int from, MPI_Comm comm, MPI_Request* request) {
  if constexpr (kSimulated) return MPI_Bcast(bytes, length, MPI_BYTE, from, comm);
  return MPI_Ibcast(bytes, length, MPI_BYTE, from, comm, request);
}
/// Starts MPI's all-to-all of one integer per pair of ranks (complete at the return in a simulation). Returns MPI's code.
/// Collective.
int start_all_to_all(const std::int64_t* to, std::int64_t* from, MPI_Comm comm, MPI_Request* request) {
  if constexpr (kSimulated) return MPI_Alltoall(to, 1, MPI_INT64_T, from, 1, MPI_INT64_T, comm);
  return MPI_Ialltoall(to, 1, MPI_INT64_T, from, 1, MPI_INT64_T, comm, request);
}
/// Starts MPI's all-gather of bytes whose numbers differ between ranks (complete at the return in a simulation), into `all` at
/// `offsets`, counts[r] from rank r. Returns MPI's code. Collective.
int start_all_gather_bytes(BytesView mine, std::byte* all, const std::vector<int>& counts,
                           const std::vector<int>& offsets, MPI_Comm comm, MPI_Request* request) {
  const auto length = static_cast<int>(mine.size());
  if constexpr (kSimulated)
    return MPI_Allgatherv(mine.data(), length, MPI_BYTE, all, counts.data(), offsets.data(), MPI_BYTE, comm);
  return MPI_Iallgatherv(mine.data(), length, MPI_BYTE, all, counts.data(), offsets.data(), MPI_BYTE, comm, request);
}

/// Calls piece(offset, length) for each piece of a message of `bytes` bytes, none longer than max_piece_bytes, so that MPI's
/// counts of type int hold it.
template <class Piece>
void for_each_piece(std::size_t bytes, const Piece& piece) {
  for (std::size_t at = 0; at < bytes; at += max_piece_bytes) {
    piece(at, static_cast<int>(std::min(max_piece_bytes, bytes - at)));
  }
}

}  // namespace

Communicator::Communicator(MPI_Comm comm) : comm_(comm) {
  check(MPI_Comm_set_errhandler(comm_, MPI_ERRORS_RETURN), "MPI_Comm_set_errhandler");
}

Communicator::Communicator(Communicator&& other) noexcept : comm_(std::exchange(other.comm_, MPI_COMM_NULL)) {}

Communicator& Communicator::operator=(Communicator&& other) noexcept {
  if (this != &other) {
    free();
    comm_ = std::exchange(other.comm_, MPI_COMM_NULL);
  }
  return *this;
}

// Collective release of a communicator, which is omitted where other ranks may not take part.
void Communicator::free() noexcept {
  const MPI_Comm comm = std::exchange(comm_, MPI_COMM_NULL);
  if constexpr (kSimulated) return;  // transports share it
  // MPI_Comm_free is collective, and while an exception unwinds the other ranks may be in any call.
  if (comm != MPI_COMM_NULL && mpi_running() && std::uncaught_exceptions() == 0) {
    MPI_Comm freed = comm;
    const ScopedYield yield;
    MPI_Comm_free(&freed);
  }
}

// Wait of every MPI call of the library: polled, so that the core is yielded and the wait limit holds.
void complete(std::span<MPI_Request> requests, const char* call, const Waiter::Describe& describe) {
  if constexpr (kSimulated) {
    for (auto& request : requests) check(MPI_Wait(&request, MPI_STATUS_IGNORE), call);
    return;
  }
  Waiter waiter(describe);
  for (int done = 0; done == 0;) {
    check(MPI_Testall(static_cast<int>(requests.size()), requests.data(), &done, MPI_STATUSES_IGNORE), call);
    if (done == 0) waiter.idle();
  }
}

void MpiTransport::complete(std::span<MPI_Request> requests, const char* what, const char* call) const {
  detail::complete(requests, call, [&] {
    return "rank " + std::to_string(rank_) + " in " + what + ": not every one of " + std::to_string(size_) +
           " ranks has come (" + call + " does not tell which)";
  });
}

namespace {

/// Returns a new MPI communicator of the ranks of `parent`, without its hints and topology, for a transport. Collective over
/// `parent`.
MPI_Comm duplicate_communicator(MPI_Comm parent) {
  enable_mpi_yielding();
  const ScopedYield yield;
  MPI_Comm own = MPI_COMM_NULL;
  int topology = MPI_UNDEFINED;
  check(MPI_Topo_test(parent, &topology), "MPI_Topo_test");
  if (topology == MPI_UNDEFINED) {
    // Hints of the caller may assert properties (as mpi_assert_no_any_source) that our messages do not have.
    check(MPI_Comm_dup_with_info(parent, MPI_INFO_NULL, &own), "MPI_Comm_dup_with_info");
  } else {
    // In Open MPI 5 a graph made over a Cartesian communicator stays Cartesian, and neighbourhood collectives then crash.
    MPI_Group all = MPI_GROUP_NULL;
    check(MPI_Comm_group(parent, &all), "MPI_Comm_group");
    check(MPI_Comm_create(parent, all, &own), "MPI_Comm_create");
    check(MPI_Group_free(&all), "MPI_Group_free");
  }
  return own;
}

}  // namespace

// Transport over a duplicate of the caller's communicator, so that its messages match none of the program's.
MpiTransport::MpiTransport(MPI_Comm parent) {
  if constexpr (kSimulated) {
    simulated_ = simulated_collectives(parent);
    timed_ = timed_collectives(parent);
    links_ = simulated_first_tag(parent);
    comm_ = Communicator(parent);
  } else {
    comm_ = Communicator(duplicate_communicator(parent));
  }
  check(MPI_Comm_rank(comm_, &rank_), "MPI_Comm_rank");
  check(MPI_Comm_size(comm_, &size_), "MPI_Comm_size");
  if constexpr (!kSimulated) depend_on(mpi_running);
  int* highest = nullptr;
  int found = 0;
  check(MPI_Comm_get_attr(comm_, MPI_TAG_UB, &highest, &found), "MPI_Comm_get_attr");
  highest_tag_ = found != 0 ? *highest : 32767;
}

// Sub-transport of the ranks that take part, in the order of their ranks here.
std::unique_ptr<Transport> MpiTransport::subset(bool take_part) {
  ++counters_.collectives;
  do_barrier();  // MPI_Comm_split blocks; the barrier reports ranks that do not call, after the wait limit
  MPI_Comm part = MPI_COMM_NULL;
  const ScopedYield yield;
  check(MPI_Comm_split(comm_, take_part ? 0 : MPI_UNDEFINED, rank_, &part), "MPI_Comm_split");
  if (!take_part) return nullptr;
  const Communicator owner(part);
  auto transport = make(part);
  adopt(*transport);
  return transport;
}

int MpiTransport::next_tag() {
  // Tags repeat only after highest_tag_ Links (at least 32767), when the first ones are no longer in use.
  return 1 + static_cast<int>(links_++ % highest_tag_);
}

std::unique_ptr<Link> MpiTransport::link(const Graph& graph) {
  if constexpr (kSimulated) return simulated_link(comm_, next_tag(), graph);
  return mpi_link(comm_, next_tag(), graph);
}

// Logical OR over all ranks for Segment::sync_any(), by MPI's all-reduce.
bool MpiTransport::any(bool mine) {
  check_usable();
  if (timed_ != nullptr) return timed_any(mine);
  int flag = mine ? 1 : 0;
  MPI_Request request = MPI_REQUEST_NULL;
  check(start_all_reduce(&flag, 1, MPI_INT, MPI_LOR, comm_, &request), "MPI_Iallreduce");
  complete({&request, 1}, "sync_any", "MPI_Iallreduce");
  return flag != 0;
}

bool MpiTransport::timed_any(bool mine) {
  std::uint64_t flag = mine ? 1 : 0;
  timed_->reduce({&flag, 1}, Op::max, sizeof(int));
  return flag != 0;
}

// All-gather of simulated ranks: copies each rank's part of the result that all of them share.
std::vector<Bytes> MpiTransport::timed_all_gather(BytesView mine) {
  const auto parts = timed_->all_gather(mine, false);
  std::vector<Bytes> all(static_cast<std::size_t>(size_));
  for (std::size_t r = 0; r < all.size(); ++r) {
    const auto part = std::span(parts->bytes).subspan(parts->begin[r], parts->begin[r + 1] - parts->begin[r]);
    all[r].assign(part.begin(), part.end());
  }
  return all;
}

// Barrier of the models over MPI; in a simulation by the simulated collectives.
void MpiTransport::do_barrier() {
  check_usable();
  if (simulated_ != nullptr) return simulated_->barrier();
  if (timed_ != nullptr) return timed_->barrier();
  MPI_Request request = MPI_REQUEST_NULL;
  check(start_barrier(comm_, &request), "MPI_Ibarrier");
  complete({&request, 1}, "barrier", "MPI_Ibarrier");
}

void MpiTransport::start_receiving(std::span<std::byte> to, int from, std::vector<MPI_Request>& requests) const {
  for_each_piece(to.size(), [&](std::size_t at, int length) {
    check(MPI_Irecv(to.data() + at, length, MPI_BYTE, from, kCollectiveTag, comm_,
                    &requests.emplace_back(MPI_REQUEST_NULL)),
          "MPI_Irecv");
  });
}

void MpiTransport::start_sending(std::span<const std::byte> from, int to, std::vector<MPI_Request>& requests) const {
  for_each_piece(from.size(), [&](std::size_t at, int length) {
    check(MPI_Isend(from.data() + at, length, MPI_BYTE, to, kCollectiveTag, comm_,
                    &requests.emplace_back(MPI_REQUEST_NULL)),
          "MPI_Isend");
  });
}

// Integer reduction over all ranks by MPI's all-reduce, at set-up and for totals.
void MpiTransport::do_reduce(std::span<std::uint64_t> words, Op op) {
  check_usable();
  if (simulated_ != nullptr) return simulated_->reduce(words, op);
  if (timed_ != nullptr) return timed_->reduce(words, op, words.size_bytes());
  MPI_Request request = MPI_REQUEST_NULL;
  const MPI_Op mpi_op = op == Op::sum ? MPI_SUM : op == Op::min ? MPI_MIN : MPI_MAX;
  check(start_all_reduce(words.data(), static_cast<int>(words.size()), MPI_UINT64_T, mpi_op, comm_, &request),
        "MPI_Iallreduce");
  complete({&request, 1}, "all_reduce", "MPI_Iallreduce");
}

// Gather of messages of any length: lengths by MPI_Gather, then the bytes point-to-point in pieces.
std::vector<Bytes> MpiTransport::do_gather(std::span<const std::byte> mine) {
  check_usable();
  if (simulated_ != nullptr) return simulated_->gather(mine);
  const auto size = static_cast<std::int64_t>(mine.size());
  std::vector<std::int64_t> sizes(rank_ == 0 ? static_cast<std::size_t>(size_) : 0);
  std::vector<MPI_Request> requests(1, MPI_REQUEST_NULL);
  check(start_gather(&size, sizes.data(), comm_, requests.data()), "MPI_Igather");
  complete(requests, "gather", "MPI_Igather");
  std::vector<Bytes> all(sizes.size());
  if (rank_ != 0) start_sending(mine, 0, requests);
  if (rank_ == 0) all[0].assign(mine.begin(), mine.end());
  for (std::size_t r = 1; r < all.size(); ++r) {
    all[r].resize(static_cast<std::size_t>(sizes[r]));
    start_receiving(all[r], static_cast<int>(r), requests);
  }
  complete(requests, "gather", "MPI_Irecv");
  return all;
}

// Broadcast of a message of any length from rank 0: its length, then the bytes in pieces.
Bytes MpiTransport::do_broadcast(std::span<const std::byte> mine) {
  check_usable();
  if (simulated_ != nullptr) return simulated_->broadcast(mine);
  auto size = static_cast<std::int64_t>(mine.size());
  MPI_Request request = MPI_REQUEST_NULL;
  check(start_broadcast(reinterpret_cast<std::byte*>(&size), sizeof(size), 0, comm_, &request), "MPI_Ibcast");
  complete({&request, 1}, "broadcast", "MPI_Ibcast");
  Bytes told(static_cast<std::size_t>(size));
  if (rank_ == 0) std::copy(mine.begin(), mine.end(), told.begin());
  for_each_piece(told.size(), [&](std::size_t at, int length) {
    check(start_broadcast(told.data() + at, length, 0, comm_, &request), "MPI_Ibcast");
    complete({&request, 1}, "broadcast", "MPI_Ibcast");
  });
  return told;
}

// All-gather of messages of any length: lengths first, then one MPI_Allgatherv, or broadcasts where counts would
// overflow an int.
std::vector<Bytes> MpiTransport::do_all_gather(std::span<const std::byte> mine) {
  check_usable();
  if (simulated_ != nullptr) return simulated_->all_gather(mine);
  if (timed_ != nullptr) return timed_all_gather(mine);
  const auto ranks = static_cast<std::size_t>(size_);
  const auto size = static_cast<std::int64_t>(mine.size());
  std::vector<std::int64_t> sizes(ranks);
  MPI_Request request = MPI_REQUEST_NULL;
  check(start_all_gather(&size, sizes.data(), comm_, &request), "MPI_Iallgather");
  complete({&request, 1}, "all_gather", "MPI_Iallgather");

  std::vector<Bytes> all(ranks);
  std::vector<int> counts(ranks);
  std::vector<int> offsets(ranks);
  std::int64_t total = 0;
  for (std::size_t r = 0; r < ranks; ++r) {
    all[r].resize(static_cast<std::size_t>(sizes[r]));
    // Clamped values are not used: a total beyond max_piece_bytes takes the way of broadcasts below.
    counts[r] = static_cast<int>(std::min<std::int64_t>(sizes[r], INT32_MAX));
    offsets[r] = static_cast<int>(std::min<std::int64_t>(total, INT32_MAX));
    total += sizes[r];
  }
  if (static_cast<std::size_t>(total) <= max_piece_bytes) {
    Bytes flat(static_cast<std::size_t>(total));
    check(start_all_gather_bytes(mine, flat.data(), counts, offsets, comm_, &request), "MPI_Iallgatherv");
    complete({&request, 1}, "all_gather", "MPI_Iallgatherv");
    for (std::size_t r = 0; r < ranks; ++r) std::copy_n(flat.begin() + offsets[r], counts[r], all[r].begin());
    return all;
  }
  std::copy(mine.begin(), mine.end(), all[static_cast<std::size_t>(rank_)].begin());
  for (int r = 0; r < size_; ++r) {
    auto& theirs = all[static_cast<std::size_t>(r)];
    for_each_piece(theirs.size(), [&](std::size_t at, int length) {
      check(start_broadcast(theirs.data() + at, length, r, comm_, &request), "MPI_Ibcast");
      complete({&request, 1}, "all_gather", "MPI_Ibcast");
    });
  }
  return all;
}

// All-to-all of messages of any length: lengths by MPI_Alltoall, then the bytes point-to-point in pieces.
std::vector<Bytes> MpiTransport::do_all_to_all(std::span<const BytesView> to) {
  check_usable();
  if (simulated_ != nullptr) return simulated_->all_to_all(to);
  const auto ranks = static_cast<std::size_t>(size_);
  std::vector<std::int64_t> out(ranks);
  std::vector<std::int64_t> in(ranks);
  for (std::size_t r = 0; r < ranks; ++r) out[r] = static_cast<std::int64_t>(to[r].size());
  std::vector<MPI_Request> requests(1, MPI_REQUEST_NULL);
  check(start_all_to_all(out.data(), in.data(), comm_, requests.data()), "MPI_Ialltoall");
  complete(requests, "all_to_all", "MPI_Ialltoall");

  std::vector<Bytes> from(ranks);
  // In step i every rank receives from the rank i further on, and sends to the one i before: pairs differ between ranks.
  for (int i = 0; i < size_; ++i) {
    const int other = (rank_ + i) % size_;
    auto& theirs = from[static_cast<std::size_t>(other)];
    if (other == rank_) {
      const auto mine = to[static_cast<std::size_t>(other)];
      theirs.assign(mine.begin(), mine.end());
      continue;
    }
    theirs.resize(static_cast<std::size_t>(in[static_cast<std::size_t>(other)]));
    start_receiving(theirs, other, requests);
  }
  for (int i = 1; i < size_; ++i) {
    const int other = (rank_ + size_ - i) % size_;
    start_sending(to[static_cast<std::size_t>(other)], other, requests);
  }
  complete(requests, "all_to_all", "MPI_Irecv");
  return from;
}

// Handshake between neighbours, each of which sends one message of any length to each partner of `ranks`. The first
// MPI message to each partner has the length and up to kBegin bytes, which mostly is all; the rest follows. Receives of the
// first round are complete before those of the second are posted, and MPI keeps the order between two ranks, so one tag suffices.
std::vector<Bytes> MpiTransport::do_exchange(std::span<const int> ranks, const std::vector<Bytes>& messages) {
  check_usable();
  if (simulated_ != nullptr) return simulated_->exchange(ranks, messages);
  constexpr std::size_t kLength = sizeof(std::uint64_t);
  constexpr std::size_t kBegin = 64;
  using Head = std::array<std::byte, kLength + kBegin>;
  std::vector<Head> out(ranks.size());
  std::vector<Head> in(ranks.size());
  std::vector<MPI_Request> requests;
  const auto request = [&] { return &requests.emplace_back(MPI_REQUEST_NULL); };
  for (std::size_t i = 0; i < ranks.size(); ++i) {
    check(MPI_Irecv(in[i].data(), sizeof(Head), MPI_BYTE, ranks[i], kCollectiveTag, comm_, request()), "MPI_Irecv");
  }
  for (std::size_t i = 0; i < ranks.size(); ++i) {
    const std::uint64_t length = messages[i].size();
    const std::size_t begin = std::min(kBegin, messages[i].size());
    std::memcpy(out[i].data(), &length, kLength);
    std::copy_n(messages[i].begin(), begin, out[i].begin() + kLength);
    check(MPI_Isend(out[i].data(), static_cast<int>(kLength + begin), MPI_BYTE, ranks[i], kCollectiveTag, comm_,
                    request()),
          "MPI_Isend");
  }
  complete(requests, "set-up", "MPI_Irecv");
  std::vector<Bytes> came(ranks.size());
  for (std::size_t i = 0; i < ranks.size(); ++i) {
    came[i].resize(static_cast<std::size_t>(read<std::uint64_t>(in[i])));
    const std::size_t begin = std::min(kBegin, came[i].size());
    std::copy_n(in[i].begin() + kLength, begin, came[i].begin());
    start_receiving(std::span(came[i]).subspan(begin), ranks[i], requests);
  }
  for (std::size_t i = 0; i < ranks.size(); ++i) {
    start_sending(std::span(messages[i]).subspan(std::min(kBegin, messages[i].size())), ranks[i], requests);
  }
  complete(requests, "set-up", "MPI_Irecv");
  return came;
}

}  // namespace merganser::comm::detail
