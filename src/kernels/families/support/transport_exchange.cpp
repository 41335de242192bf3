// requires: nothing
// Exchange kernels by a Mailbox or by Streams of a Transport.
#include "src/kernels/families/support/transport_exchange.hpp"

#include <algorithm>
#include <cstring>
#include <utility>

#include "src/kernels/families/support/exchange_base.hpp"

namespace merganser::kernels::detail {
namespace {

using comm::Mailbox;
using comm::Stream;

/// Base of the exchange kernels over a Transport.
class TransportExchange : public ExchangeBase {
 public:
  /// Returns false: the objects of a Transport have no notification that could be omitted.
  bool drop_next(std::size_t) override { return false; }

 protected:
  TransportExchange(comm::Transport& control, ExchangePlan plan) : ExchangeBase(control, std::move(plan), {}) {}
  /// Returns the bytes that this rank sends to other ranks, and in `messages` the number of arcs that carry any.
  [[nodiscard]] comm::Counters payload() const {
    comm::Counters counters;
    for (std::size_t arc = 0; arc < out_.size(); ++arc) {
      if (out_[arc] == control_.rank() || out_bytes_[arc] == 0) continue;
      ++counters.messages;
      counters.bytes += static_cast<std::int64_t>(out_bytes_[arc]);
    }
    return counters;
  }
};

/// Exchange kernel by a Mailbox.
class MailboxExchange final : public TransportExchange {
 public:
  MailboxExchange(comm::Transport& control, ExchangePlan plan, std::unique_ptr<Mailbox> mailbox)
      : TransportExchange(control, std::move(plan)), mailbox_(std::move(mailbox)) {}

  /// Makes one exchange: fills the outboxes, makes a step, and copies the inboxes.
  void iterate(std::size_t buffer) override {
    const Iteration mark(*this, buffer);
    for (std::size_t arc = 0; arc < out_.size(); ++arc) {
      const std::byte* from = out_at(arc, buffer);
      mailbox_->outbox(arc).assign(from, from + out_bytes_[arc]);
    }
    mailbox_->step();
    for (std::size_t arc = 0; arc < in_.size(); ++arc) {
      const std::span<const std::byte> box = mailbox_->inbox(arc);
      if (!box.empty()) std::memcpy(in_at(arc, buffer), box.data(), box.size());
    }
  }
  [[nodiscard]] comm::Counters per_iteration() const override {
    comm::Counters counters = payload();
    counters.waves = 1;
    return counters;
  }

 private:
  std::unique_ptr<Mailbox> mailbox_;
};

/// Streams of an exchange kernel, and what separates their rounds.
struct Streams {
  std::unique_ptr<Stream> first;       ///< of every round, or of every second one
  std::unique_ptr<Stream> second;      ///< of the other rounds; null if there is a separator
  std::unique_ptr<Mailbox> separator;  ///< its step ends each round; null if two streams alternate
};

/// Exchange kernel by Streams.
class StreamExchange final : public TransportExchange {
 public:
  StreamExchange(comm::Transport& control, ExchangePlan plan, Streams streams)
      : TransportExchange(control, std::move(plan)), streams_(std::move(streams)) {
    StreamExchange::resized();
  }

  /// Makes one exchange: sends the records of all out-arcs, takes those of all in-arcs. Where two Streams alternate, a rank that
  /// begins a round has taken a record of each neighbour's last round, before which the neighbour took all records of the round before
  /// that, the last one on this Stream: their slots are free.
  void iterate(std::size_t buffer) override {
    const Iteration mark(*this, buffer);
    if (streams_.second) std::swap(streams_.first, streams_.second);
    Stream& stream = *streams_.first;
    stream.open(records_out_, records_in_);
    for (std::size_t arc = 0; arc < out_.size(); ++arc) {
      for (std::size_t slot = 0; slot < records_out_[arc]; ++slot) {
        std::uint32_t record = 0;
        std::memcpy(&record, out_at(arc, buffer) + kRecord * slot, bytes_of(slot, out_bytes_[arc]));
        stream.send(arc, slot, record);
      }
    }
    const auto land = [this, buffer](std::size_t arc, std::size_t slot, std::uint32_t record) {
      std::memcpy(in_at(arc, buffer) + kRecord * slot, &record, bytes_of(slot, in_bytes_[arc]));
    };
    while (stream.take(land) > 0) stream.wait();
    stream.finish();
    if (streams_.separator) streams_.separator->step();
  }
  /// Counts the payload and its records. Of what carries them, one message for each arc is counted where records travel in messages:
  /// arcs without bytes send one too, long rounds send several.
  [[nodiscard]] comm::Counters per_iteration() const override {
    comm::Counters counters = payload();
    if (info().model == "rma" || info().model == "shmem") counters.messages = 0;
    for (std::size_t arc = 0; arc < out_.size(); ++arc)
      if (out_[arc] != control_.rank()) counters.records += static_cast<std::int64_t>(records_out_[arc]);
    if (streams_.separator) counters.waves = 1;
    return counters;
  }

 protected:
  /// Recomputes the numbers of records of all arcs.
  void resized() override {
    const auto records = [](std::size_t bytes) { return std::max<std::size_t>((bytes + kRecord - 1) / kRecord, 1); };
    records_out_.resize(out_.size());
    records_in_.resize(in_.size());
    std::transform(out_bytes_.begin(), out_bytes_.end(), records_out_.begin(), records);
    std::transform(in_bytes_.begin(), in_bytes_.end(), records_in_.begin(), records);
  }

 private:
  static constexpr std::size_t kRecord = sizeof(std::uint32_t);  // bytes of a record
  /// Returns the bytes of a zone of `bytes` bytes that one record holds: 4, fewer in the last one.
  static std::size_t bytes_of(std::size_t slot, std::size_t bytes) {
    return std::min(kRecord, bytes - std::min(bytes, kRecord * slot));
  }

  Streams streams_;
  std::vector<std::size_t> records_out_;  // by out-arc: records of a round
  std::vector<std::size_t> records_in_;   // by in-arc: records of a round
};

/// Returns true on every rank if every arc of the process graph has one in the other direction. Collective.
bool is_symmetric(comm::Transport& control, const comm::Graph& graph) {
  std::vector<int> out = graph.out;
  std::vector<int> in = graph.in;
  std::sort(out.begin(), out.end());
  std::sort(in.begin(), in.end());
  return control.all_reduce(out == in ? 1 : 0, comm::Op::min) == 1;
}

}  // namespace

std::unique_ptr<Exchange> make_mailbox_exchange(comm::Transport& control, comm::Transport& model, ExchangePlan&& plan) {
  auto mailbox = model.mailbox(plan.spec.graph);
  return make_agreed<MailboxExchange>(control, control, std::move(plan), std::move(mailbox));
}

std::unique_ptr<Exchange> make_stream_exchange(comm::Transport& control, comm::Transport& model, ExchangePlan&& plan) {
  const comm::Graph& graph = plan.spec.graph;
  Streams streams{model.stream(graph, {}), nullptr, nullptr};
  if (is_symmetric(control, graph) && !model.capabilities().checked) {
    streams.second = model.stream(graph, {});
  } else {  // from the receivers to the senders, which so learn that the slots are free
    streams.separator = model.mailbox({graph.in, graph.out});
  }
  return make_agreed<StreamExchange>(control, control, std::move(plan), std::move(streams));
}

}  // namespace merganser::kernels::detail
