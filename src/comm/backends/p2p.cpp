// requires: MPI
#include "src/comm/backends/mpi/library.hpp"
#include "src/comm/backends/mpi/transport.hpp"
#include "src/comm/detail/registry.hpp"

/// The model p2p: MPI two-sided, non-blocking sends and matched probes, as MpiTransport implements them (mpi/transport.cpp,
/// mpi/link.cpp) for the other models over MPI too. This file registers it. No call is collective once an object is made.
namespace merganser::comm::detail {
namespace {

/// Transport of the model p2p (MPI two-sided messages) as one rank holds it.
class P2p final : public MpiTransport {
 public:
  using MpiTransport::MpiTransport;
  [[nodiscard]] std::string_view name() const noexcept override { return "p2p"; }
  [[nodiscard]] Capabilities capabilities() const noexcept override {
    return {.one_sided = false, .subset_waves = true, .sub_transports = true, .processes = true};
  }

 protected:
  [[nodiscard]] std::unique_ptr<MpiTransport> make(MPI_Comm parent) const override {
    return std::make_unique<P2p>(parent);
  }
};

}  // namespace

extern const BackendEntry p2p_backend;
const BackendEntry p2p_backend{
    {"p2p", "MPI two-sided: non-blocking sends, matched probes", true}, start_over_world<P2p>, open_over<P2p>};

}  // namespace merganser::comm::detail
