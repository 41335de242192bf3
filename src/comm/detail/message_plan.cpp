// Plan over messages: repeated ghost exchange with a fixed pattern, in chunks.
#include <algorithm>

#include "src/comm/detail/message_objects.hpp"

namespace merganser::comm::detail {
namespace {

/// Plan (repeated ghost exchange) over messages of one chunk of elements each. Chunks of an arc arrive in order, so
/// their positions are not sent; chunks of a neighbour's next pull may arrive early and are kept.
class MessagePlan final : public Plan {
 public:
  /// Makes the plan and counts the chunks of its longest out-arc and the elements that a pull reads.
  MessagePlan(Place place, Graph graph, std::unique_ptr<Link> link, Pattern pattern, PlanOptions options)
      : place_(std::move(place)),
        graph_(std::move(graph)),
        peers_(find_peers(place_, graph_.out)),
        link_(std::move(link)),
        pattern_(std::move(pattern)),
        options_(options),
        self_out_(position(graph_.out, place_.rank)),
        out_(2, std::vector<Bytes>(graph_.out.size())),
        in_(graph_.in.size()) {
    for (std::size_t arc = 0; arc < graph_.out.size(); ++arc) {
      for (const std::size_t element : pattern_.out[arc]) highest_ = std::max(highest_, element + 1);
      if (arc == self_out_) continue;
      const std::size_t count = pattern_.out[arc].size();
      stages_ = std::max(stages_, count / options_.chunk_elements + (count % options_.chunk_elements != 0 ? 1 : 0));
    }
  }

  /// Performs one ghost exchange: sends the pattern's elements of `local` chunk by chunk and passes received chunks to `use`.
  void pull(std::span<const std::byte> local, const Use& use) override {
    place_.liveness->check("Plan::pull");
    if (highest_ > local.size() / options_.element_bytes) {
      throw CommError("Plan::pull: the pattern sends element " + std::to_string(highest_ - 1) + ", but there are " +
                      std::to_string(local.size() / options_.element_bytes));
    }
    left_ = 0;
    ++pulls_;
    for (std::size_t arc = 0; arc < in_.size(); ++arc) {
      in_[arc].next = 0;
      if (graph_.in[arc] != place_.rank) left_ += pattern_.in[arc];
    }
    Waiter waiter([this] { return describe_wait(); });
    std::size_t started = 0;
    // A stage is one chunk of every arc. Two are in flight at a time, so that one moves while the callback works on the chunks
    // before; each has buffers of its own, which are reused once the Link has sent both.
    const auto advance = [&] {
      if (started == stages_ || !link_->sent()) return false;
      for (int i = 0; i < 2 && started < stages_; ++i) start_stage(started++, local);
      return true;
    };
    advance();
    if (self_out_ != ArcIndex::kNone) deliver_own(local, use);
    // Chunks of this pull that arrived during the last one, from neighbours that were ahead.
    for (std::size_t arc = 0; arc < in_.size(); ++arc) {
      while (!in_[arc].early.empty() && in_[arc].next < pattern_.in[arc]) {
        const Bytes chunk = std::move(in_[arc].early.front());
        in_[arc].early.erase(in_[arc].early.begin());
        deliver(arc, chunk, use);
      }
    }
    while (left_ > 0 || started < stages_ || !link_->sent()) {
      const bool advanced = advance();
      const auto arc = link_->receive(buffer_);
      if (!arc) {
        if (!advanced) link_->idle(waiter);
      } else if (in_[*arc].next < pattern_.in[*arc]) {
        advance();  // before the callback, which may take long
        deliver(*arc, buffer_, use);
        waiter.reset();
      } else {
        in_[*arc].early.push_back(buffer_);  // of a neighbour's next pull
      }
    }
  }

 private:
  /// State of an in-arc in the current ghost exchange, and chunks that arrived early.
  struct Arriving {
    std::size_t next = 0;      // position of the next chunk's first ghost among those of the arc
    std::vector<Bytes> early;  // chunks of the neighbour's next pull
  };

  /// Copies a chunk of the elements that an out-arc sends, from number `first` of its pattern on, from `local` into a message.
  void gather(std::size_t arc, std::size_t first, std::span<const std::byte> local, Bytes& to) const {
    const auto& elements = pattern_.out[arc];
    const std::size_t last = first + std::min(elements.size() - first, options_.chunk_elements);  // no overflow
    const std::size_t size = options_.element_bytes;
    to.resize((last - first) * size);
    for (std::size_t i = first; i < last; ++i) {
      std::memcpy(to.data() + (i - first) * size, local.data() + elements[i] * size, size);
    }
  }

  /// Passes the elements that this rank sends to itself in a ghost exchange to the callback, chunk by chunk.
  void deliver_own(std::span<const std::byte> local, const Use& use) {
    const std::size_t arc = position(graph_.in, place_.rank);
    for (std::size_t first = 0; first < pattern_.out[self_out_].size(); first += options_.chunk_elements) {
      gather(self_out_, first, local, buffer_);
      use({arc, first, buffer_});
    }
  }

  /// Sends chunk number `stage` of the ghost exchange along every out-arc that has so many chunks.
  void start_stage(std::size_t stage, std::span<const std::byte> local) {
    const std::size_t first = stage * options_.chunk_elements;  // below some arc's number of elements
    for (std::size_t arc = 0; arc < graph_.out.size(); ++arc) {
      if (arc == self_out_ || first >= pattern_.out[arc].size()) continue;
      auto& chunk = out_[stage % 2][arc];
      gather(arc, first, local, chunk);
      place_.count(Move::message, chunk.size(), peers_[arc]);
      link_->send(arc, chunk);
    }
  }

  /// Passes a received chunk of ghosts with its position on the in-arc to the callback.
  void deliver(std::size_t arc, const Bytes& chunk, const Use& use) {
    const std::size_t first = in_[arc].next;
    const std::size_t count = chunk.size() / options_.element_bytes;
    in_[arc].next += count;
    left_ -= count;
    use({arc, first, chunk});
  }

  /// Describes a ghost exchange that waits for chunks, for the error of a wait that exceeds its limit.
  [[nodiscard]] std::string describe_wait() const {
    std::string text = place_.to_string() + ", pull " + std::to_string(pulls_) + ":";
    for (std::size_t arc = 0; arc < in_.size(); ++arc) {
      if (graph_.in[arc] == place_.rank || in_[arc].next == pattern_.in[arc]) continue;
      text += " " + std::to_string(in_[arc].next) + " of " + std::to_string(pattern_.in[arc]) +
              " elements have come from rank " + std::to_string(graph_.in[arc]) + ",";
    }
    if (left_ == 0) return text + " all elements have come, but what this rank sends is not taken";
    text.pop_back();
    return text;
  }

  Place place_;
  Graph graph_;
  std::vector<PeerTraffic*> peers_;  // per out-arc: traffic counts with that rank
  std::unique_ptr<Link> link_;
  Pattern pattern_;
  PlanOptions options_;
  std::size_t self_out_;                 // out-arc of this rank to itself, ArcIndex::kNone without one
  std::size_t stages_ = 0;               // largest number of chunks of an out-arc
  std::size_t highest_ = 0;              // largest index of an element that this rank sends, plus one
  std::vector<std::vector<Bytes>> out_;  // [stage % 2][out-arc]: chunk being sent
  std::vector<Arriving> in_;             // per in-arc
  std::size_t left_ = 0;                 // elements still to come in this pull
  std::uint64_t pulls_ = 0;              // number of the current pull, from 1
  Bytes buffer_;                         // chunk being received
};

}  // namespace

std::unique_ptr<Plan> message_plan(Place place, Graph graph, std::unique_ptr<Link> link, Pattern pattern,
                                   PlanOptions options) {
  return std::make_unique<MessagePlan>(std::move(place), std::move(graph), std::move(link), std::move(pattern),
                                       options);
}

}  // namespace merganser::comm::detail
