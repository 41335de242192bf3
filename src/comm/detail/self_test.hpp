#pragma once
/// Self test of a communication model before its first use, since some versions of libraries deliver wrong bits.
#include "src/comm/detail/transport_base.hpp"

namespace merganser::comm::detail {

/// Returns true if the self test of this communication model over `ranks` ranks has passed in this process. Local, thread-safe.
[[nodiscard]] bool self_test_passed(std::string_view model, int ranks);

/// Tests a communication model: sends known words by Mailbox, Segment and Stream, in the shapes that libraries have got wrong:
/// small blocks of differing sizes, and ranks with more in-arcs than out-arcs. Does nothing on one rank, and nothing if
/// self_test_passed() on every rank. Collective. The transport is to be used for nothing else, since the counts of the test stay in
/// it.
/// @throws CommError on every rank, with the model, its library and the words that differ; for data that do not arrive at
///         all, on the receiving rank after 30 s, unless MERGANSER_WAIT_LIMIT is set
/// Cost: some milliseconds.
void run_self_test(TransportBase& transport);

}  // namespace merganser::comm::detail
