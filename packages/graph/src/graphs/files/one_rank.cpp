// Shared parts of the readers of formats that rank 0 parses: bytes and characters of a file, and vertices with ids of any kind.
#include "src/graphs/files/one_rank.hpp"

#include <algorithm>
#include <array>

#include "merganser/base/lines.hpp"
#include "merganser/base/text.hpp"
#include "merganser/base/text_table.hpp"
#include "merganser/comm/collectives.hpp"
#include "src/graphs/files/text.hpp"

namespace merganser::graphs::detail {
namespace {

constexpr std::size_t kBufferBytes = std::size_t{1} << 18;

/// Facts of a graph that rank 0 tells the others.
struct SharedFacts {
  std::uint64_t vertices, vertices_known, weighted, directed, named, compressed;
};

}  // namespace

ByteStream::ByteStream(const std::string& path) : file_(path) {
  std::array<char, kCompressionBytes> head{};
  const std::size_t got = file_.read(0, head.data(), head.size());
  if (find_compression({head.data(), got}) != Compression::none) unpacked_ = Decompressor::open(path);
}

std::size_t ByteStream::read(char* to, std::size_t bytes) {
  if (unpacked_) return unpacked_->read(to, bytes);
  const std::size_t got = file_.read(at_, to, bytes);
  at_ += got;
  return got;
}

Characters::Characters(const std::string& path) : path_(path), stream_(path), buffer_(kBufferBytes, '\0') {
  refill();
  const std::string_view head(buffer_.data(), filled_);
  if (const auto what = foreign_text(head); !what.empty()) throw InputError(path_ + ": " + what);
  if (head.starts_with(kUtf8Mark)) at_ = kUtf8Mark.size();
}

bool Characters::refill() {
  at_ = 0;
  filled_ = stream_.read(buffer_.data(), buffer_.size());
  return filled_ > 0;
}

bool Characters::next_line(std::string& line) {
  line.clear();
  if (peek() == kEnd) return false;
  const std::uint64_t number = line_;
  for (int c = next(); c != kEnd && c != '\n'; c = next()) {
    if (line.size() == kLongestWord)
      fail(number, "more than " + std::to_string(kLongestWord) + " bytes; allowed: at most that");
    line += static_cast<char>(c);
  }
  if (line.ends_with('\r')) line.pop_back();
  if (line.find('\r') != std::string::npos) fail(number, std::string(kBareReturnText));
  return true;
}

void Characters::fail(std::uint64_t line, const std::string& what) const {
  throw PlacedError(0, path_ + ": line " + std::to_string(line) + ": " + what);
}

DeclaredGraph::DeclaredGraph(const Source& source, Raw& raw, std::string node, Fail fail)
    : source_(source), raw_(raw), node_(std::move(node)), fail_(std::move(fail)), ids_(source.path, source.sharing) {}

std::uint64_t DeclaredGraph::vertex(std::string_view id, std::uint64_t line) {
  const std::uint64_t number = ids_.number(id, 0);
  if (number == vertices_.size()) vertices_.push_back({kNone, line});
  return number;
}

void DeclaredGraph::add_vertex(std::string_view id, std::string_view label, std::uint64_t line) {
  Vertex& v = vertices_[static_cast<std::size_t>(vertex(id, line))];
  if (v.number != kNone)
    fail_(line, node_ + " " + quote(id) + " again, as in line " + std::to_string(v.line) + "; allowed: different ids");
  v = {declared_++, line};
  if (source_.names) raw_.names.push_back({v.number, std::string(label.empty() ? id : label)});
}

void DeclaredGraph::add_edge(std::string_view from, std::string_view to, std::string_view weight, std::uint64_t line) {
  const std::uint64_t a = vertex(from, line), b = vertex(to, line);
  if (weight.empty()) {
    raw_.add(a, b);
    if (without_++ == 0) without_line_ = line;
    return;
  }
  if (!raw_.add(a, b, weight)) fail_(line, "weight " + quote(weight) + "; allowed: an integer to 64 bit or a number");
  if (with_++ == 0) with_line_ = line;
}

void DeclaredGraph::finish() {
  for (std::size_t v = 0; v < vertices_.size(); ++v)
    if (vertices_[v].number == kNone)
      fail_(vertices_[v].line, "an edge of " + quote(ids_.names()[v].name) + "; allowed: ids that a " + node_ + " has");
  if (with_ > 0 && without_ > 0)
    fail_(without_line_, "an edge without a weight, and in line " + std::to_string(with_line_) +
                             " one with a weight; allowed: all or none");
  raw_.arcs.for_each([&](Arc& arc) {
    arc.from = vertices_[static_cast<std::size_t>(arc.from)].number;
    arc.to = vertices_[static_cast<std::size_t>(arc.to)].number;
  });
  raw_.vertices = declared_;
  raw_.vertices_known = true;
  raw_.weighted = with_ > 0;
  raw_.named = source_.names;
  check_distinct_names(source_.path, raw_.names);
}

void check_distinct_names(const std::string& path, const std::vector<VertexName>& named) {
  std::vector<const VertexName*> sorted;
  sorted.reserve(named.size());
  for (const VertexName& n : named) {
    if (n.name.find_first_of("\n\r") != std::string::npos)
      throw InputError(path + ": name " + quote(n.name) + " with a line break; allowed: names of one line");
    sorted.push_back(&n);
  }
  std::sort(sorted.begin(), sorted.end(), [](const VertexName* a, const VertexName* b) { return a->name < b->name; });
  for (std::size_t i = 1; i < sorted.size(); ++i)
    if (sorted[i]->name == sorted[i - 1]->name)
      throw InputError(path + ": two vertices with the name " + quote(sorted[i]->name) +
                       "; allowed: different names, or without --names");
}

void parse_on_first(const Source& source, Raw& raw, const std::function<void()>& parse) {
  bool compressed = false;
  agree_first(source.transport, [&] {
    if (source.transport.rank() != 0) return;
    compressed = ByteStream(source.path).compressed();
    parse();
  });
  SharedFacts facts{raw.vertices, raw.vertices_known, raw.weighted, raw.directed, raw.named, compressed};
  facts = comm::broadcast_from_first(source.transport, std::span<const SharedFacts>(&facts, 1)).at(0);
  raw.vertices = facts.vertices;
  raw.vertices_known = facts.vertices_known != 0;
  raw.weighted = facts.weighted != 0;
  raw.directed = facts.directed != 0;
  raw.named = facts.named != 0;
  source.log.compressed = facts.compressed != 0;
  const auto told = comm::broadcast_from_first(source.transport, joined(raw.lines, "\n"));
  raw.lines.clear();
  if (told.empty()) return;
  for (const auto line : split_at(std::string_view(told.data(), told.size()), '\n')) raw.lines.emplace_back(line);
}

std::uint64_t expansion(const std::string& path) {
  const File file(path);
  std::array<char, kCompressionBytes> head{};
  const Compression found = find_compression({head.data(), file.read(0, head.data(), head.size())});
  if (found == Compression::none) return 1;
  return found == Compression::gzip || found == Compression::zstd ? 5 : 7;
}

Sizes estimate_sizes(const std::string& path, std::string_view head, std::string_view mark) {
  std::string lower(head);
  for (char& c : lower) c = static_cast<char>(c >= 'A' && c <= 'Z' ? c - 'A' + 'a' : c);
  std::uint64_t edges = 0;
  for (auto at = lower.find(mark); at != std::string::npos; at = lower.find(mark, at + mark.size())) ++edges;
  Sizes sizes;
  sizes.on_one_rank = true;
  sizes.edge_bytes = sizeof(Edge16);
  sizes.arcs = edges;
  if (head.size() >= kHeadBytes) {
    // The first bytes may hold vertices alone: then an edge is taken to be as long as a line of 40 bytes.
    const std::uint64_t size = File(path).size() * expansion(path);
    sizes.arcs = edges > 0 ? size / (head.size() / edges) + 1 : size / 40;
  }
  sizes.vertices = sizes.arcs;
  return sizes;
}

}  // namespace merganser::graphs::detail
