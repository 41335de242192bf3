// Reader of Pajek networks (.net): "*Vertices N", lines of vertices with labels, then sections of arcs and edges. Rank 0 parses.
#include <array>
#include <string>
#include <string_view>
#include <vector>

#include "src/graphs/files/one_rank.hpp"
#include "src/graphs/files/words.hpp"

namespace merganser::graphs::detail {
namespace {

/// Sections of a Pajek network.
enum class Section : std::uint8_t { none, vertices, arcs, edges, arcs_list, edges_list };

/// Words of a line of a Pajek file: separated by blanks and tabs, or in quotes.
class PajekWords {
 public:
  explicit PajekWords(std::string_view line) : rest_(line) {}
  /// Returns the next word of the line, without its quotes; empty at the end, and for "". @param quoted  set to whether it was in quotes
  /// @param closed  set to false if a quote has no end, or text behind it
  std::string_view next(bool& quoted, bool& closed) {
    while (!rest_.empty() && BlankWords::is_separator(rest_.front())) rest_.remove_prefix(1);
    quoted = rest_.starts_with('"');
    closed = true;
    std::size_t end = 0;
    if (quoted) {
      rest_.remove_prefix(1);
      end = rest_.find('"');
      closed = end != std::string_view::npos && (end + 1 == rest_.size() || BlankWords::is_separator(rest_[end + 1]));
    } else {
      while (end < rest_.size() && !BlankWords::is_separator(rest_[end])) ++end;
    }
    const std::string_view word = rest_.substr(0, end);
    rest_.remove_prefix(std::min(rest_.size(), word.size() + (quoted ? 1 : 0)));
    return word;
  }

 private:
  std::string_view rest_;
};

/// Parser of a Pajek network, on rank 0.
class PajekParser {
 public:
  /// Takes the file and the destination of its arcs, which must outlive the parser.
  PajekParser(const Source& source, Raw& raw) : source_(source), raw_(raw), in_(source.path) {}

  /// Parses the whole file. @throws PlacedError naming the line
  void parse() {
    for (std::string line; line_ = in_.line(), in_.next_line(line);) {
      const std::string_view text = BlankWords(line).rest();
      if (text.empty() || text.starts_with('%')) continue;
      if (text.starts_with('*'))
        begin_section(text);
      else if (section_ == Section::none)
        fail(quote(text) + " before *Vertices; allowed: *Vertices and the number of vertices");
      else if (section_ == Section::vertices)
        add_vertex(text);
      else if (section_ == Section::arcs || section_ == Section::edges)
        add_edge(text);
      else
        add_list(text);
    }
    finish();
  }

 private:
  [[noreturn]] void fail(const std::string& what) const { in_.fail(line_, what); }

  /// Parses a line that begins a section.
  void begin_section(std::string_view text) {
    BlankWords words(text.substr(1));
    std::string name(words.next());
    for (char& c : name) c = static_cast<char>(c >= 'A' && c <= 'Z' ? c - 'A' + 'a' : c);
    if (name == "network" && section_ == Section::none && !counted_) return;
    if (name == "vertices") return begin_vertices(text, words);
    constexpr std::array<std::pair<std::string_view, Section>, 4> kSections{{{"arcs", Section::arcs},
                                                                             {"edges", Section::edges},
                                                                             {"arcslist", Section::arcs_list},
                                                                             {"edgeslist", Section::edges_list}}};
    for (const auto& [known, section] : kSections) {
      if (name != known) continue;
      if (!counted_) fail(quote(text) + " before *Vertices; allowed: behind it");
      section_ = section;
      relations_ += words.rest().empty() ? 0U : 1U;
      return;
    }
    fail(quote(text) + "; allowed: one network of *Vertices, *Arcs, *Edges, *Arcslist, *Edgeslist");
  }

  /// Parses the line "*Vertices N", perhaps with the number of vertices of the first kind.
  void begin_vertices(std::string_view text, BlankWords words) {
    std::uint64_t first_kind = 0;
    if (counted_) fail(quote(text) + " again; allowed: one network in a file");
    const std::string_view number = words.next(), first = words.next();
    if (!parse_id(number, count_) || (!first.empty() && (!parse_id(first, first_kind) || first_kind > count_)) ||
        !words.next().empty())
      fail(quote(text) + "; allowed: *Vertices and the number of vertices");
    const std::uint64_t most = max_vertices(in_.stream().file_bytes(), in_.stream().compressed());
    if (count_ > most)
      fail(std::to_string(count_) + " vertices; allowed for a file of " + std::to_string(in_.stream().file_bytes()) +
           " bytes: at most " + std::to_string(most));
    counted_ = true;
    two_kinds_ = !first.empty();
    section_ = Section::vertices;
  }

  /// Parses a number of a vertex, from 1 on. @return it from 0 on
  [[nodiscard]] std::uint64_t vertex(std::string_view word) const {
    std::uint64_t value = 0;
    if (!parse_id(word, value) || value < 1 || value > count_)
      fail("vertex " + quote(word) + "; allowed: 1 to " + std::to_string(count_));
    return value - 1;
  }

  /// Returns the next word of a line. @param quoted  set to whether it was in quotes
  std::string_view next(PajekWords& words, bool& quoted) const {
    bool closed = true;
    const std::string_view word = words.next(quoted, closed);
    if (!closed) fail("a quote without an end, or text behind it; allowed: labels in quotes \"...\"");
    return word;
  }

  /// Parses the line of a vertex: its number and its label; what follows (coordinates, shapes) is not used.
  void add_vertex(std::string_view text) {
    PajekWords words(text);
    bool quoted = false;
    const std::uint64_t v = vertex(next(words, quoted));
    if (quoted) fail("vertex in quotes; allowed: its number, from 1 on, before the label");
    if (seen_.empty()) seen_.resize(static_cast<std::size_t>(count_));
    if (seen_[static_cast<std::size_t>(v)])
      fail("vertex " + std::to_string(v + 1) + " again; allowed: one line for each");
    seen_[static_cast<std::size_t>(v)] = true;
    const std::string_view label = next(words, quoted);
    if (source_.names && !label.empty()) raw_.names.push_back({v, std::string(label)});
  }

  /// Parses a line of *Arcs or *Edges: two vertices and perhaps a weight; attributes behind it are not used.
  void add_edge(std::string_view text) {
    PajekWords words(text);
    bool quoted = false;
    const std::uint64_t from = vertex(next(words, quoted)), to = vertex(next(words, quoted));
    const std::string_view weight = next(words, quoted);
    if (weight.empty()) {
      raw_.add(from, to);
      if (without_++ == 0) without_line_ = line_;
    } else if (quoted || !raw_.add(from, to, weight)) {
      fail("weight " + quote(weight) + "; allowed: an integer to 64 bit or a number");
    } else if (with_++ == 0) {
      with_line_ = line_;
    }
    more_ = more_ || !next(words, quoted).empty();
    raw_.directed = raw_.directed || section_ == Section::arcs;
  }

  /// Parses a line of *Arcslist or *Edgeslist: a vertex and its neighbours, without weights.
  void add_list(std::string_view text) {
    BlankWords words(text);
    const std::uint64_t from = vertex(words.next());
    for (std::string_view word = words.next(); !word.empty(); word = words.next()) {
      raw_.add(from, vertex(word));
      if (without_++ == 0) without_line_ = line_;
    }
    raw_.directed = raw_.directed || section_ == Section::arcs_list;
  }

  /// Checks what must hold of the whole file, and stores its facts.
  void finish() {
    if (!counted_) fail("the file ends without *Vertices; allowed: a network of Pajek");
    if (with_ > 0 && without_ > 0)
      in_.fail(without_line_, "a line without a weight, and line " + std::to_string(with_line_) +
                                  " has one; allowed: weights in all lines or none");
    raw_.vertices = count_;
    raw_.vertices_known = true;
    raw_.weighted = with_ > 0;
    raw_.named = source_.names;
    if (two_kinds_) raw_.lines.emplace_back("Pajek: two kinds of vertices are not told apart");
    if (relations_ > 0) raw_.lines.emplace_back("Pajek: relations are not told apart");
    if (more_) raw_.lines.emplace_back("Pajek: attributes of lines behind the weight are not used");
    if (source_.names) name_the_rest();
  }

  /// Gives vertices without a label their numbers for names. @throws InputError for two vertices of one name
  void name_the_rest() {
    constexpr double kEach = 140;  // bytes for a name, its place and its message
    check_memory(source_.path, kEach * static_cast<double>(count_), 1, std::to_string(count_) + " names");
    std::vector<bool> named(static_cast<std::size_t>(count_));
    for (const VertexName& n : raw_.names) named[static_cast<std::size_t>(n.vertex)] = true;
    for (std::uint64_t v = 0; v < count_; ++v)
      if (!named[static_cast<std::size_t>(v)]) raw_.names.push_back({v, std::to_string(v + 1)});
    check_distinct_names(source_.path, raw_.names);
  }

  const Source& source_;
  Raw& raw_;
  Characters in_;
  Section section_ = Section::none;
  std::uint64_t line_ = 0;   // of the line that is parsed
  std::uint64_t count_ = 0;  // vertices
  bool counted_ = false;     // *Vertices was read
  bool two_kinds_ = false;
  bool more_ = false;  // lines have attributes
  std::uint64_t relations_ = 0;
  std::vector<bool> seen_;  // vertices that had a line
  std::uint64_t with_ = 0, without_ = 0, with_line_ = 0, without_line_ = 0;
};

}  // namespace

Raw read_pajek(const Source& source) {
  Raw raw(source.path, source.sharing);
  parse_on_first(source, raw, [&] { PajekParser(source, raw).parse(); });
  return raw;
}

}  // namespace merganser::graphs::detail
