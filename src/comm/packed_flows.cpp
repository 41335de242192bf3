#include <limits>

#include "merganser/base/error.hpp"
#include "merganser/comm/traffic_matrix.hpp"

/// Flows as numbers of seven bits a byte, then six bits a character. Ranks are differences to the flow before; what
/// follows from other numbers is left out: the class of a flow with one, the last count of one with more.
namespace merganser::comm {
namespace {

constexpr std::string_view kDigits = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
constexpr std::uint64_t kMoveStates = 4;

[[noreturn]] void refuse_packed(const std::string& why) { throw InputError("packed traffic: " + why); }

class Writer {
 public:
  void number(std::uint64_t value) {
    do {
      const auto low = static_cast<std::uint8_t>(value & 0x7F);
      value >>= 7;
      bytes_.push_back(static_cast<std::uint8_t>(value == 0 ? low : low | 0x80));
    } while (value != 0);
  }
  [[nodiscard]] std::string text() const {
    std::string out;
    std::uint32_t held = 0;
    unsigned bits = 0;
    for (const std::uint8_t byte : bytes_) {
      held = (held << 8) | byte;
      for (bits += 8; bits >= 6; bits -= 6) out += kDigits[(held >> (bits - 6)) & 0x3F];
    }
    if (bits > 0) out += kDigits[(held << (6 - bits)) & 0x3F];
    return out;
  }

 private:
  std::vector<std::uint8_t> bytes_;
};

class Reader {
 public:
  explicit Reader(std::string_view text) {
    std::uint32_t held = 0;
    unsigned bits = 0;
    for (const char c : text) {
      const auto digit = kDigits.find(c);
      if (digit == std::string_view::npos) refuse_packed(std::string("the character '") + c + "' is no digit of it");
      held = (held << 6) | static_cast<std::uint32_t>(digit);
      bits += 6;
      if (bits >= 8) bytes_.push_back(static_cast<std::uint8_t>(held >> (bits -= 8)));
    }
    if (bits >= 6 || (held & ((1U << bits) - 1)) != 0) refuse_packed("it ends in the middle of a byte");
  }
  [[nodiscard]] bool done() const { return at_ == bytes_.size(); }
  std::uint64_t number() {
    std::uint64_t value = 0;
    for (unsigned shift = 0;; shift += 7) {
      if (done()) refuse_packed("it ends in the middle of a flow");
      const std::uint8_t byte = bytes_[at_++];
      if (shift >= 63 && byte > 0) refuse_packed("a number has more than 63 bits");
      value |= static_cast<std::uint64_t>(byte & 0x7F) << shift;
      if ((byte & 0x80) == 0) return value;
    }
  }
  int rank(int base) {
    const std::uint64_t value = number();
    if (value > static_cast<std::uint64_t>(std::numeric_limits<int>::max() - base))
      refuse_packed("a rank is out of range");
    return base + static_cast<int>(value);
  }

 private:
  std::vector<std::uint8_t> bytes_;
  std::size_t at_ = 0;
};

/// The class of operations that are all in one.
std::size_t common_class(const TrafficFlow& flow) {
  return size_class(static_cast<std::uint64_t>(flow.bytes / flow.operations));
}

void read_sizes(Reader& in, TrafficFlow& flow, std::uint64_t classes) {
  if (classes == 0) return;
  if (classes == 1) {
    flow.first_class = common_class(flow);
    flow.sizes = {flow.operations};
    return;
  }
  flow.first_class = in.number();
  std::int64_t left = flow.operations;
  for (std::uint64_t i = 0; i + 1 < classes; ++i) {
    const auto count = static_cast<std::int64_t>(in.number());
    if (count > left) refuse_packed("more operations are counted by size than there are");
    left -= count;
    flow.sizes.push_back(count);
  }
  flow.sizes.push_back(left);
  // A class that does not follow from the mean was written with an empty one behind it, which may be beyond the last.
  while (flow.sizes.size() > 1 && flow.sizes.back() == 0) flow.sizes.pop_back();
}

}  // namespace

std::string pack_flows(const std::vector<TrafficFlow>& flows) {
  Writer out;
  int from = 0;
  int to = 0;
  for (const TrafficFlow& flow : flows) {
    out.number(static_cast<std::uint64_t>(flow.from - from));
    out.number(static_cast<std::uint64_t>(flow.from == from ? flow.to - to : flow.to));
    // Only where the last class holds all that is longer may one class not follow from the mean.
    const bool implied = flow.sizes.size() == 1 && flow.first_class == common_class(flow);
    const std::size_t classes = flow.sizes.size() == 1 && !implied ? 2 : flow.sizes.size();
    out.number(static_cast<std::uint64_t>(flow.move) + kMoveStates * classes);
    out.number(static_cast<std::uint64_t>(flow.operations));
    out.number(static_cast<std::uint64_t>(flow.bytes));
    if (classes > 1) {
      out.number(flow.first_class);
      for (std::size_t i = 0; i + 1 < classes; ++i) out.number(static_cast<std::uint64_t>(flow.sizes[i]));
    }
    from = flow.from;
    to = flow.to;
  }
  return out.text();
}

std::vector<TrafficFlow> unpack_flows(std::string_view text) {
  Reader in(text);
  std::vector<TrafficFlow> flows;
  int from = 0;
  int to = 0;
  while (!in.done()) {
    TrafficFlow flow;
    flow.from = in.rank(from);
    flow.to = in.rank(flow.from == from ? to : 0);
    const std::uint64_t kind = in.number();
    if (kind % kMoveStates >= kMoves || kind / kMoveStates > kSizeClasses) {
      refuse_packed("there is no kind of operation " + std::to_string(kind));
    }
    flow.move = static_cast<Move>(kind % kMoveStates);
    flow.operations = static_cast<std::int64_t>(in.number());
    flow.bytes = static_cast<std::int64_t>(in.number());
    if (flow.operations == 0) refuse_packed("a flow without operations");
    read_sizes(in, flow, kind / kMoveStates);
    from = flow.from;
    to = flow.to;
    flows.push_back(std::move(flow));
  }
  return flows;
}

}  // namespace merganser::comm
