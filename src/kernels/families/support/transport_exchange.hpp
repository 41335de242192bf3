#pragma once
/// Exchange kernels by the objects of a Transport: what they cost beside kernels that call a library directly.
#include <memory>

#include "src/kernels/families/support/plan.hpp"

namespace merganser::kernels::detail {

/// Makes an exchange kernel whose iteration is one step of a Mailbox: every source zone is copied into an outbox, every inbox into
/// its landing zone. Collective.
/// @param control  transport for set-up and quiesce()
/// @param model    transport that makes the Mailbox, over the same ranks; it must live as long as the exchange
[[nodiscard]] std::unique_ptr<Exchange> make_mailbox_exchange(comm::Transport& control, comm::Transport& model,
                                                              ExchangePlan&& plan);
/// Makes an exchange kernel whose iteration is one round of a Stream: a record of 4 bytes for every 4 bytes of a source zone begun,
/// at least one for each arc. Rounds of two Streams alternate if every arc has one in the other direction, else an empty Mailbox
/// step from the receivers to the senders ends the round; so it does over a transport with the decorator `checked`, which wants one.
/// Collective.
/// @param control  transport for set-up and quiesce()
/// @param model    transport that makes the Stream, over the same ranks; it must live as long as the exchange
[[nodiscard]] std::unique_ptr<Exchange> make_stream_exchange(comm::Transport& control, comm::Transport& model,
                                                             ExchangePlan&& plan);

/// Texts of the kernels over a Transport in tables, the same in every model.
inline constexpr std::string_view kMailboxText = "merganser's Mailbox: one step, copies to and from its boxes included";
inline constexpr std::string_view kStreamText = "merganser's Stream: one round of records of 4 bytes";

}  // namespace merganser::kernels::detail
