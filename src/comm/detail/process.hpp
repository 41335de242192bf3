#pragma once
/// Life of a process as one rank of a job.
#include <functional>
#include <memory>

#include "transport_base.hpp"

namespace merganser::comm::detail {

/// Exports the launcher_settings() that work from inside, those not set yet. Before a library is started.
void cure_environment();

/// @throws CommError if the launcher promised several ranks and the library sees `size`
void check_world(int rank, int size, const char* library);

/// Opens a transport, runs `each` and closes the transport if all ranks leave alike.
void run_process(const std::function<std::unique_ptr<TransportBase>()>& open,
                 const std::function<void(TransportBase&)>& each);

/// True if this process left run() with an error of its own: it must not wait for others any more.
[[nodiscard]] bool left_alone();

}  // namespace merganser::comm::detail
