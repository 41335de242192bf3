// Collective calls for records: the prefix sum over ranks, and the errors of the templates.
#include "merganser/comm/collectives.hpp"

#include <string>

#include "merganser/base/error.hpp"

namespace merganser::comm {

// Exclusive prefix sum and total over ranks, by which elements of all ranks are numbered.
Share compute_share(Transport& transport, std::uint64_t mine) {
  Share share;
  const auto counts = all_gather_value(transport, mine);
  for (std::size_t rank = 0; rank < counts.size(); ++rank) {
    if (rank < static_cast<std::size_t>(transport.rank())) share.before += counts[rank];
    share.all += counts[rank];
  }
  return share;
}

namespace detail {

void check_whole_records(std::size_t bytes, std::size_t record, std::size_t rank) {
  if (bytes % record == 0) return;
  throw CommError("message of " + std::to_string(bytes) + " bytes from rank " + std::to_string(rank) +
                  " does not hold whole records of " + std::to_string(record) +
                  "; every rank must run the same version of the program");
}

void throw_not_one(std::size_t records, std::size_t rank) {
  throw CommError(std::to_string(records) + " values from rank " + std::to_string(rank) +
                  "; expected: 1; every rank must make the same collective calls");
}

void throw_no_owner(std::int64_t owner, std::size_t ranks) {
  throw CommError("send_to_owners: a record for rank " + std::to_string(owner) + "; allowed: 0 to " +
                  std::to_string(ranks - 1));
}

}  // namespace detail
}  // namespace merganser::comm
