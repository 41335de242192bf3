#include "src/comm/decorators/checked_objects.hpp"

#include <algorithm>

#include "merganser/base/error.hpp"

namespace merganser::comm::detail {

CheckedMailbox::CheckedMailbox(std::unique_ptr<Mailbox> inner, Place place, std::shared_ptr<WaveLog> waves)
    : Mailbox(inner->graph()),
      inner_(std::move(inner)),
      place_(std::move(place)),
      waves_(std::move(waves)),
      sent_(graph_.out.size()),
      taken_(graph_.in.size()) {}

void CheckedMailbox::step_all() {
  step(Kind::full, std::vector<std::uint8_t>(outbox_.size(), 1), std::vector<std::uint8_t>(inbox_.size(), 1));
}

void CheckedMailbox::step_some(std::span<const std::uint8_t> active_out, std::span<const std::uint8_t> active_in) {
  check_wave(graph_, outbox_, active_out, active_in);
  step(Kind::partial, active_out, active_in);
}

void CheckedMailbox::step(Kind kind, std::span<const std::uint8_t> active_out,
                          std::span<const std::uint8_t> active_in) {
  const std::vector<std::size_t> sizes = pass_on(kind, active_out);
  {
    const Uncounted quiet(*place_.counters, *place_.traffic);  // messages are longer here
    if (kind == Kind::full) {
      inner_->step();
    } else {
      inner_->step(active_out, active_in);
    }
  }
  ++place_.counters->waves;
  for (std::size_t arc = 0; arc < sizes.size(); ++arc) {
    if (sizes[arc] == 0 || graph_.out[arc] == place_.rank) continue;
    ++place_.counters->messages;
    place_.counters->bytes += static_cast<std::int64_t>(sizes[arc]);
    place_.traffic->peer(graph_.out[arc]).add(Move::message, sizes[arc]);
  }
  for (std::size_t arc = 0; arc < inbox_.size(); ++arc) {
    inbox_[arc].clear();
    if (active_in[arc] != 0) bring_back(kind, arc);
  }
}

std::vector<std::size_t> CheckedMailbox::pass_on(Kind kind, std::span<const std::uint8_t> active_out) {
  std::vector<std::size_t> sizes;
  for (const auto& box : outbox_) sizes.push_back(box.size());
  for (std::size_t arc = 0; arc < outbox_.size(); ++arc) {
    if (active_out[arc] == 0) continue;
    inner_->post(arc, Header{sent_[arc]++, kind});
    auto& box = inner_->outbox(arc);
    box.insert(box.end(), outbox_[arc].begin(), outbox_[arc].end());
    outbox_[arc].clear();
    ++(*waves_)[static_cast<std::size_t>(graph_.out[arc])];
  }
  return sizes;
}

void CheckedMailbox::bring_back(Kind kind, std::size_t arc) {
  const auto message = inner_->inbox(arc);
  const auto header = read<Header>(message);
  const std::string from = "Mailbox::step: the message from rank " + std::to_string(graph_.in[arc]) + " to rank " +
                           std::to_string(place_.rank);
  if (header.kind != kind) {
    throw CommError(
        from + " belongs to a " +
        (kind == Kind::full ? "partial wave, but this wave is full" : "full wave, but this wave is partial") +
        ": the ends of the arc have not marked it in the same waves");
  }
  if (header.number != taken_[arc]++) {
    throw CommError(from + " is number " + std::to_string(header.number) + ", expected was " +
                    std::to_string(taken_[arc] - 1));
  }
  inbox_[arc].assign(message.begin() + sizeof header, message.end());
  ++(*waves_)[static_cast<std::size_t>(graph_.in[arc])];
}

CheckedStream::CheckedStream(std::unique_ptr<Stream> inner, std::unique_ptr<Stream> counts, Place place,
                             std::shared_ptr<WaveLog> waves)
    : Stream(inner->graph()),
      inner_(std::move(inner)),
      counts_(std::move(counts)),
      place_(std::move(place)),
      waves_(std::move(waves)),
      waves_out_(graph_.out.size(), -1),
      waves_in_(graph_.in.size(), -1) {}

void CheckedStream::check_waves(std::span<const std::size_t> counts, const std::vector<int>& ranks,
                                std::vector<std::int64_t>& seen) {
  for (std::size_t arc = 0; arc < ranks.size(); ++arc) {
    if (counts[arc] == 0 || ranks[arc] == place_.rank) continue;
    const std::int64_t now = (*waves_)[static_cast<std::size_t>(ranks[arc])];
    if (now == seen[arc]) {
      throw CommError("Stream::open: the arc between ranks " + std::to_string(place_.rank) + " and " +
                      std::to_string(ranks[arc]) + " carries a second round without a Mailbox step in between");
    }
    seen[arc] = now;
  }
}

void CheckedStream::open(std::span<const std::size_t> counts_out, std::span<const std::size_t> counts_in) {
  inner_->open(counts_out, counts_in);  // also checks the lengths
  check_waves(counts_out, graph_.out, waves_out_);
  check_waves(counts_in, graph_.in, waves_in_);
  rules_.open(counts_out);
  expected_.assign(counts_in.begin(), counts_in.end());
  came_.assign(counts_in.size(), 0);
  const Uncounted quiet(*place_.counters, *place_.traffic);
  std::vector<std::size_t> out;
  std::vector<std::size_t> in;
  for (const std::size_t count : counts_out) out.push_back(count > 0 ? 1 : 0);
  for (const std::size_t count : counts_in) in.push_back(count > 0 ? 1 : 0);
  counts_->open(out, in);
  for (std::size_t arc = 0; arc < out.size(); ++arc) {
    if (out[arc] > 0) counts_->send(arc, 0, static_cast<std::uint32_t>(counts_out[arc]));
  }
  (void)take_counts();
}

std::size_t CheckedStream::take_counts() {
  const Uncounted quiet(*place_.counters, *place_.traffic);
  return counts_->take([this](std::size_t arc, std::size_t, std::uint32_t count) {
    if (count == expected_[arc]) return;
    throw CommError("Stream: rank " + std::to_string(graph_.in[arc]) + " sends " + std::to_string(count) +
                    " records in this round, but rank " + std::to_string(place_.rank) + " expects " +
                    std::to_string(expected_[arc]));
  });
}

void CheckedStream::send(std::size_t arc, std::size_t slot, std::uint32_t value) {
  rules_.send(arc, slot);
  inner_->send(arc, slot, value);
}

std::size_t CheckedStream::take(const Take& callback) {
  check_usable();
  (void)take_counts();
  const auto early = std::move(early_);
  early_.clear();
  for (const Record& record : early) callback(record.arc, record.slot, record.value);
  return inner_->take([&](std::size_t arc, std::size_t slot, std::uint32_t value) {
    ++came_[arc];
    callback(arc, slot, value);
  });
}

/// Looks for counts too: the sender of one that is wrong may have found out, and send no records any more.
void CheckedStream::wait() {
  check_usable();
  Waiter waiter([this] { return missing(); });
  while (early_.empty()) {
    (void)take_counts();
    const std::size_t left = inner_->take([this](std::size_t arc, std::size_t slot, std::uint32_t value) {
      ++came_[arc];
      early_.push_back({arc, slot, value});
    });
    if (left == 0) return;
    if (early_.empty()) waiter.idle();
  }
}

std::string CheckedStream::missing() const {
  std::string text = "rank " + std::to_string(place_.rank) + " in Stream (checked):";
  for (std::size_t arc = 0; arc < expected_.size(); ++arc) {
    if (came_[arc] == expected_[arc]) continue;
    text += " " + std::to_string(came_[arc]) + " of " + std::to_string(expected_[arc]) +
            " records have come from rank " + std::to_string(graph_.in[arc]) + ",";
  }
  text.pop_back();
  return text;
}

void CheckedStream::finish() {
  inner_->finish();
  const Uncounted quiet(*place_.counters, *place_.traffic);
  while (take_counts() > 0) counts_->wait();
  counts_->finish();
  rules_.close();
}

}  // namespace merganser::comm::detail
