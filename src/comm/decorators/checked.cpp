#include "src/comm/decorators/checked_objects.hpp"
#include "src/comm/decorators/decorator.hpp"
#include "src/comm/decorators/decorators.hpp"
#include "src/comm/detail/waiter.hpp"

namespace merganser::comm::detail {
namespace {

/// Ends that disagree about an arc leave a rank waiting for ever; under this decorator it gives up.
constexpr double kWaitLimitSeconds = 120;

class Checked final : public Decorator {
 public:
  Checked(Transport& inner, std::unique_ptr<Transport> owned)
      : Decorator(inner, std::move(owned)), waves_(std::make_shared<WaveLog>(static_cast<std::size_t>(size()))) {
    set_default_wait_limit(kWaitLimitSeconds);
  }

  [[nodiscard]] Capabilities capabilities() const noexcept override {
    Capabilities all = Decorator::capabilities();
    all.checked = true;
    return all;
  }
  [[nodiscard]] std::unique_ptr<Mailbox> mailbox(Graph graph) override {
    return std::make_unique<CheckedMailbox>(inner().mailbox(std::move(graph)), here(), waves_);
  }
  [[nodiscard]] std::unique_ptr<Stream> stream(Graph graph, StreamOptions options) override {
    auto records = inner().stream(graph, options);
    const Uncounted quiet(*this);
    auto counts = inner().stream(std::move(graph), {.slots_per_arc = 0});
    return std::make_unique<CheckedStream>(std::move(records), std::move(counts), here(), waves_);
  }
  [[nodiscard]] std::unique_ptr<Plan> plan(Graph graph, Pattern pattern, PlanOptions options) override {
    return inner().plan(std::move(graph), std::move(pattern), options);
  }
  [[nodiscard]] std::unique_ptr<SegmentBody> segment_body(Graph graph, std::size_t words, std::size_t word_bytes,
                                                          Epoch epoch) override {
    CheckedSegment::Parts parts;
    parts.body = inner().segment_body(graph, words, word_bytes, epoch);
    const Uncounted quiet(*this);
    parts.limits = std::make_unique<WordLimits>(inner(), graph, words);
    parts.logs = inner().mailbox(std::move(graph));
    return std::make_unique<CheckedSegment>(here(), std::move(parts), words, word_bytes);
  }
  [[nodiscard]] std::unique_ptr<Transport> subset(bool take_part) override {
    auto part = inner().subset(take_part);
    if (!part) return nullptr;
    Transport& wrapped = *part;
    return make_checked(wrapped, std::move(part), 0);
  }

 private:
  Place here() { return {rank(), &counters(), &traffic(), nullptr, {}}; }  // who is alive, the inner object knows

  std::shared_ptr<WaveLog> waves_;
};

}  // namespace

std::unique_ptr<Transport> make_checked(Transport& inner, std::unique_ptr<Transport> owned, std::uint64_t) {
  return std::make_unique<Checked>(inner, std::move(owned));
}

}  // namespace merganser::comm::detail
