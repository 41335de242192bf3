// Reader of GML: keys with numbers, texts or lists in brackets; "graph [ directed 0 node [ id 1 ] edge [ source 1 target 2 ] ]".
// Rank 0 parses.
#include <array>
#include <optional>
#include <set>
#include <string>
#include <string_view>

#include "merganser/base/text.hpp"
#include "src/graphs/files/gml_text.hpp"
#include "src/graphs/files/one_rank.hpp"
#include "src/graphs/files/words.hpp"

namespace merganser::graphs::detail {
namespace {

constexpr int kDeepest = 64;  // lists in lists

bool is_letter(int c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; }
bool is_digit(int c) { return c >= '0' && c <= '9'; }
bool is_blank(int c) { return c == ' ' || c == '\t' || c == '\n' || c == '\r'; }

/// Token of a GML file.
struct Token {
  /// Kinds of tokens.
  enum class Kind : std::uint8_t { key, number, text, open, close, end };
  Kind kind = Kind::end;
  std::string text{};      ///< of a key, a number or a text without its quotes
  std::uint64_t line = 0;  ///< line in which it begins
};

/// Splits a GML file into tokens. Lines that begin with # are comments.
class GmlTokens {
 public:
  explicit GmlTokens(const std::string& path) : in_(path) {}
  /// Returns the next token of the GML file. @throws PlacedError for characters that begin none
  Token next() {
    skip_blanks();
    Token token{Token::Kind::end, {}, in_.line()};
    const int c = in_.peek();
    if (c == Characters::kEnd) return token;
    if (c == '[' || c == ']') {
      in_.next();
      token.kind = c == '[' ? Token::Kind::open : Token::Kind::close;
    } else if (c == '"') {
      token.kind = Token::Kind::text;
      read_text(token);
    } else if (is_letter(c)) {
      token.kind = Token::Kind::key;
      read_while(token, [](int x) { return is_letter(x) || is_digit(x); });
    } else if (is_digit(c) || c == '-' || c == '+' || c == '.') {
      token.kind = Token::Kind::number;
      read_while(token, [](int x) { return is_letter(x) || is_digit(x) || x == '-' || x == '+' || x == '.'; });
    } else {
      const char character = static_cast<char>(c);
      in_.fail(token.line,
               "character " + quote({&character, 1}) + "; allowed: keys, numbers, texts in quotes, [ and ]");
    }
    return token;
  }
  /// Throws the error of a line of the GML file.
  [[noreturn]] void fail(std::uint64_t line, const std::string& what) const { in_.fail(line, what); }

 private:
  /// Passes blanks, ends of lines and comments.
  void skip_blanks() {
    for (;;) {
      const int c = in_.peek();
      if (c == '#' && begins_line_) {
        while (in_.peek() != Characters::kEnd && in_.peek() != '\n') in_.next();
      } else if (is_blank(c)) {
        begins_line_ = begins_line_ || c == '\n';
        in_.next();
      } else {
        begins_line_ = false;
        return;
      }
    }
  }
  /// Reads characters of a token as long as they fit.
  template <class Fits>
  void read_while(Token& token, const Fits& fits) {
    while (fits(in_.peek())) append(token, in_.next());
  }
  /// Reads a text in quotes, which may have several lines.
  void read_text(Token& token) {
    in_.next();
    for (int c = in_.next(); c != '"'; c = in_.next()) {
      if (c == Characters::kEnd) in_.fail(token.line, "a text without its end; allowed: \"...\"");
      append(token, c);
    }
  }
  /// Appends a character to a token. @throws PlacedError for tokens that are too long
  void append(Token& token, int c) const {
    if (token.text.size() == kLongestWord)
      in_.fail(token.line, "a word of more than " + std::to_string(kLongestWord) + " bytes; allowed: at most that");
    token.text += static_cast<char>(c);
  }

  Characters in_;
  bool begins_line_ = true;
};

/// Values of one node or edge of a GML file, by the keys that are used.
struct GmlItem {
  std::optional<std::string> id, label, source, target, weight, value;
  std::uint64_t line = 0;
};

/// Parser of a GML file, on rank 0.
class GmlParser {
 public:
  /// Takes the file and the destination of its arcs, which must outlive the parser.
  GmlParser(const Source& source, Raw& raw)
      : source_(source),
        raw_(raw),
        in_(source.path),
        graph_(source, raw, "node", [this](std::uint64_t line, const std::string& what) { in_.fail(line, what); }) {}

  /// Parses the whole file. @throws PlacedError naming the line
  void parse() {
    Token key = in_.next();
    for (; key.kind == Token::Kind::key; key = in_.next()) {
      const Token value = in_.next();
      if (key.text != "graph") {
        skip(key, value, 1);
      } else if (seen_) {
        in_.fail(key.line, "graph again; allowed: one graph in a file");
      } else {
        open_list(key, value);
        parse_graph(key.line);
      }
    }
    if (key.kind != Token::Kind::end)
      in_.fail(key.line, quote(key.text) + " without a key; allowed: a key, then its value");
    if (!seen_) in_.fail(key.line, "the file ends without a graph; allowed: graph [ ... ]");
    graph_.finish();
    finish_notes();
  }

 private:
  /// Checks that the value of a key begins a list.
  void open_list(const Token& key, const Token& value) const {
    if (value.kind != Token::Kind::open)
      in_.fail(value.line, key.text + " without a list; allowed: " + key.text + " [ ... ]");
  }

  /// Passes the value of a key that is not used, lists with all that is in them.
  void skip(const Token& key, const Token& value, int depth) {
    if (value.kind == Token::Kind::number || value.kind == Token::Kind::text) return;
    if (value.kind != Token::Kind::open)
      in_.fail(key.line,
               "key " + quote(key.text) + " without a value; allowed: a number, a text in quotes, a list in [ ]");
    if (depth == kDeepest)
      in_.fail(key.line, "more than " + std::to_string(kDeepest) + " lists in lists; allowed: at most that");
    for (Token inner = next_key(key); inner.kind == Token::Kind::key; inner = next_key(key)) {
      const Token inside = in_.next();
      skip(inner, inside, depth + 1);
    }
  }

  /// Returns the next key of a list, or its end.
  Token next_key(const Token& list) {
    Token key = in_.next();
    if (key.kind == Token::Kind::end) in_.fail(list.line, list.text + " [ without its ]; allowed: lists with an end");
    if (key.kind != Token::Kind::key && key.kind != Token::Kind::close)
      in_.fail(key.line, quote(key.text) + " without a key; allowed: a key, then its value");
    return key;
  }

  /// Parses the list of a graph behind its bracket. @param line  of its key
  void parse_graph(std::uint64_t line) {
    seen_ = true;
    const Token graph{Token::Kind::key, "graph", line};
    bool told = false;
    for (Token key = next_key(graph); key.kind == Token::Kind::key; key = next_key(graph)) {
      const Token value = in_.next();
      if (key.text == "node" || key.text == "edge") {
        open_list(key, value);
        add(key, parse_item(key));
      } else if (key.text == "directed") {
        if (told || value.kind != Token::Kind::number || (value.text != "0" && value.text != "1"))
          in_.fail(key.line, "directed " + quote(value.text) + (told ? " again" : "") + "; allowed: 0 or 1, once");
        told = true;
        raw_.directed = value.text == "1";
      } else {
        if (const std::string lower = lower_case(key.text); lower == "node" || lower == "edge" || lower == "directed")
          in_.fail(key.line, "key " + quote(key.text) + "; allowed: " + lower);
        note_unused("graph." + key.text);
        skip(key, value, 1);
      }
    }
  }

  /// Returns a key in lower case.
  static std::string lower_case(std::string key) {
    for (char& c : key) c = static_cast<char>(c >= 'A' && c <= 'Z' ? c - 'A' + 'a' : c);
    return key;
  }
  /// Keeps a key that is not used for the notes.
  void note_unused(const std::string& key) {
    if (unused_.contains(key)) return;
    if (unused_.size() < kMaxUnused)
      unused_.insert(key);
    else
      more_ = true;
  }

  /// Parses the list of a node or an edge behind its bracket.
  GmlItem parse_item(const Token& list) {
    GmlItem item;
    item.line = list.line;
    const bool node = list.text == "node";
    for (Token key = next_key(list); key.kind == Token::Kind::key; key = next_key(list)) {
      const Token value = in_.next();
      std::optional<std::string>* const place = place_of(item, node, key.text);
      if (place == nullptr) {
        note_unused(list.text + "." + key.text);
        skip(key, value, 1);
        continue;
      }
      if (place->has_value()) in_.fail(key.line, key.text + " again; allowed: once in a " + list.text);
      // Labels may be numbers, and weights numbers in quotes, as networkx writes those from 2^31 on; ids are never texts.
      const bool weight = key.text == "weight" || key.text == "value";
      const bool text = value.kind == Token::Kind::text && (key.text == "label" || (weight && !value.text.empty()));
      if (value.kind != Token::Kind::number && !text)
        in_.fail(value.line, key.text + " " + quote(value.text) + "; allowed: a number" +
                                 (key.text == "label" ? " or a text" : ""));
      *place = value.text;
    }
    return item;
  }

  /// Returns the place for the value of a key in a node or an edge; null for keys that are not used.
  static std::optional<std::string>* place_of(GmlItem& item, bool node, std::string_view key) {
    if (node) return key == "id" ? &item.id : key == "label" ? &item.label : nullptr;
    if (key == "source") return &item.source;
    if (key == "target") return &item.target;
    if (key == "weight") return &item.weight;
    return key == "value" ? &item.value : nullptr;
  }

  /// Adds a node or an edge.
  void add(const Token& list, const GmlItem& item) {
    if (list.text == "node") {
      const std::string label = source_.names && item.label ? label_text(*item.label, item.line) : std::string();
      return graph_.add_vertex(id(item.id, "id", item.line), label, item.line);
    }
    if (item.weight && item.value) in_.fail(item.line, "an edge with weight and value; allowed: one of them");
    if (item.weight || item.value) {
      if (by_value_.has_value() && *by_value_ != item.value.has_value())
        in_.fail(item.line, "an edge with " + std::string(item.value ? "value" : "weight") +
                                ", and one before it with the other; allowed: all with weight, or all with value");
      by_value_ = item.value.has_value();
    }
    graph_.add_edge(id(item.source, "source", item.line), id(item.target, "target", item.line),
                    item.weight ? *item.weight : item.value.value_or(""), item.line);
  }

  /// Returns the text of a label, with references to characters as &quot; replaced.
  [[nodiscard]] std::string label_text(const std::string& label, std::uint64_t line) const {
    std::string text;
    if (const std::string wrong = decode_gml(label, text); !wrong.empty())
      in_.fail(line, "label with " + quote(wrong) + "; allowed: &quot; &amp; &lt; &gt; &apos; &#N; &#xN;");
    return text;
  }

  /// Checks an id of a node: a whole number. @return its digits, without zeros before them
  [[nodiscard]] std::string id(const std::optional<std::string>& text, const char* key, std::uint64_t line) const {
    if (!text) in_.fail(line, std::string("no ") + key + "; allowed: one in every node and edge");
    std::uint64_t value = 0;
    const bool negative = text->starts_with('-');
    if (!parse_id(std::string_view(*text).substr(negative ? 1 : 0), value))
      in_.fail(line, std::string(key) + " " + quote(*text) + "; allowed: a whole number");
    return (negative && value != 0 ? "-" : "") + std::to_string(value);
  }

  /// Stores the notes on what was not used.
  void finish_notes() {
    raw_.lines.emplace_back("GML: nodes are numbered in the order of the file" +
                            std::string(source_.names ? ", and named by their labels, else by their ids" : ""));
    if (by_value_.value_or(false)) raw_.lines.emplace_back("GML: weights are the value of edges");
    if (!unused_.empty())
      raw_.lines.push_back("GML: keys that are not used: " + joined(unused_, ", ") + (more_ ? ", ..." : ""));
  }

  static constexpr std::size_t kMaxUnused = 16;
  const Source& source_;
  Raw& raw_;
  GmlTokens in_;
  DeclaredGraph graph_;
  bool seen_ = false;             // the graph was read
  std::optional<bool> by_value_;  // weights are the key `value`, not `weight`
  std::set<std::string> unused_;  // keys of nodes and edges
  bool more_ = false;             // there are more of them
};

}  // namespace

Raw read_gml(const Source& source) {
  Raw raw(source.path, source.sharing);
  parse_on_first(source, raw, [&] { GmlParser(source, raw).parse(); });
  return raw;
}

}  // namespace merganser::graphs::detail
