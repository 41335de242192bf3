#include <limits>

#include "merganser/base/error.hpp"
#include "merganser/comm/traffic_matrix.hpp"

/// Text encoding of the flows of a communication matrix (TrafficMatrix): numbers of seven bits a byte (LEB128), then six bits a
/// character (as base64). Ranks are differences to the flow before. Redundant numbers are omitted: the size class of a flow with
/// one class, which follows from its mean size, and the last count of a flow with more, which follows from the sum.
namespace merganser::comm {
namespace {

constexpr std::string_view kDigits = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
constexpr std::uint64_t kMoveStates = 4;  // kinds of operation, with room for one more, in the low digit of a number

/// Throws InputError with the reason why a text of packed traffic cannot have been written by pack_flows().
[[noreturn]] void refuse_packed(const std::string& why) { throw InputError("packed traffic: " + why); }

/// Encoder of the numbers of packed traffic flows into text.
class Writer {
 public:
  /// Appends a number to the packed traffic, seven bits a byte (LEB128).
  void write(std::uint64_t value) {
    do {
      const auto low = static_cast<std::uint8_t>(value & 0x7F);
      value >>= 7;
      bytes_.push_back(static_cast<std::uint8_t>(value == 0 ? low : low | 0x80));
    } while (value != 0);
  }
  /// Returns the numbers of the packed traffic so far as text, six bits a character.
  [[nodiscard]] std::string to_string() const {
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

/// Decoder of the numbers of packed traffic flows from text, which it validates.
class Reader {
 public:
  /// Converts the characters of packed traffic to bytes. @throws InputError for a character that is no digit, and a cut text
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
    // The writer pads with fewer than 6 zero bits; anything else was cut.
    if (bits >= 6 || (held & ((1U << bits) - 1)) != 0) refuse_packed("it ends in the middle of a byte");
  }
  /// Returns true if all numbers of the packed traffic have been read.
  [[nodiscard]] bool is_done() const { return at_ == bytes_.size(); }
  /// Reads the next number of the packed traffic. @throws InputError if the text ends within it or it exceeds 63 bits
  std::uint64_t read_number() {
    std::uint64_t value = 0;
    for (unsigned shift = 0;; shift += 7) {
      if (is_done()) refuse_packed("it ends in the middle of a flow");
      const std::uint8_t byte = bytes_[at_++];
      if (shift >= 63 && byte > 0) refuse_packed("a number has more than 63 bits");  // it must fit std::int64_t
      value |= static_cast<std::uint64_t>(byte & 0x7F) << shift;
      if ((byte & 0x80) == 0) return value;
    }
  }
  /// Reads a rank of a packed traffic flow, given by its difference to `base`. @throws InputError if it exceeds an int
  int read_rank(int base) {
    const std::uint64_t value = read_number();
    if (value > static_cast<std::uint64_t>(std::numeric_limits<int>::max() - base))
      refuse_packed("a rank is out of range");
    return base + static_cast<int>(value);
  }

 private:
  std::vector<std::uint8_t> bytes_;
  std::size_t at_ = 0;  // number of bytes read
};

/// Returns the size class of the mean size of a traffic flow's operations. If all operations are of one class, it is that class,
/// because a class is an interval: packed traffic omits it.
std::size_t common_class(const TrafficFlow& flow) {
  return size_class(static_cast<std::uint64_t>(flow.bytes / flow.operations));
}

/// Reads the operation counts of a packed traffic flow by size class. @param classes  number of classes that were written
void read_sizes(Reader& in, TrafficFlow& flow, std::uint64_t classes) {
  if (classes == 0) return;
  if (classes == 1) {
    flow.first_class = common_class(flow);
    flow.sizes = {flow.operations};
    return;
  }
  flow.first_class = in.read_number();
  std::int64_t left = flow.operations;
  for (std::uint64_t i = 0; i + 1 < classes; ++i) {
    const auto count = static_cast<std::int64_t>(in.read_number());
    if (count > left) refuse_packed("more operations are counted by size than there are");
    left -= count;
    flow.sizes.push_back(count);
  }
  flow.sizes.push_back(left);
  // A class that does not follow from the mean was written with an empty one behind it, which may be beyond the last.
  while (flow.sizes.size() > 1 && flow.sizes.back() == 0) flow.sizes.pop_back();
}

}  // namespace

// Encoder of a run record's traffic: flows in ascending order, ranks as differences.
std::string pack_flows(const std::vector<TrafficFlow>& flows) {
  Writer out;
  int from = 0;
  int to = 0;
  for (const TrafficFlow& flow : flows) {
    out.write(static_cast<std::uint64_t>(flow.from - from));
    // Flows ascend by (from, to), so both differences are >= 0.
    out.write(static_cast<std::uint64_t>(flow.from == from ? flow.to - to : flow.to));
    // Counts from elsewhere may contradict their mean; then two classes, the second one empty, are written.
    const bool implied = flow.sizes.size() == 1 && flow.first_class == common_class(flow);
    const std::size_t classes = flow.sizes.size() == 1 && !implied ? 2 : flow.sizes.size();
    out.write(static_cast<std::uint64_t>(flow.move) + kMoveStates * classes);
    out.write(static_cast<std::uint64_t>(flow.operations));
    out.write(static_cast<std::uint64_t>(flow.bytes));
    if (classes > 1) {
      out.write(flow.first_class);
      for (std::size_t i = 0; i + 1 < classes; ++i) out.write(static_cast<std::uint64_t>(flow.sizes[i]));
    }
    from = flow.from;
    to = flow.to;
  }
  return out.to_string();
}

// Decoder of a run record's traffic.
std::vector<TrafficFlow> unpack_flows(std::string_view text) {
  Reader in(text);
  std::vector<TrafficFlow> flows;
  int from = 0;
  int to = 0;
  while (!in.is_done()) {
    TrafficFlow flow;
    flow.from = in.read_rank(from);
    flow.to = in.read_rank(flow.from == from ? to : 0);
    const std::uint64_t kind = in.read_number();
    if (kind % kMoveStates >= kMoves || kind / kMoveStates > kSizeClasses) {
      refuse_packed("there is no kind of operation " + std::to_string(kind));
    }
    flow.move = static_cast<Move>(kind % kMoveStates);
    flow.operations = static_cast<std::int64_t>(in.read_number());
    flow.bytes = static_cast<std::int64_t>(in.read_number());
    if (flow.operations == 0) refuse_packed("a flow without operations");
    read_sizes(in, flow, kind / kMoveStates);
    from = flow.from;
    to = flow.to;
    flows.push_back(std::move(flow));
  }
  return flows;
}

}  // namespace merganser::comm
