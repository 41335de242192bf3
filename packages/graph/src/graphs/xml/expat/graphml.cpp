// Reader of GraphML by expat: nodes, edges, and the data of edges whose key is named weight. Rank 0 parses.
#include <expat.h>

#include <exception>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "merganser/base/log.hpp"
#include "merganser/base/text.hpp"
#include "src/graphs/files/one_rank.hpp"

namespace merganser::graphs::detail {
namespace {

constexpr char kSeparator = '|';  // between the namespace of an element and its name
constexpr std::string_view kNamespace = "http://graphml.graphdrawing.org/xmlns";
constexpr std::size_t kDeepest = 256;  // elements in elements

/// Key of data in a GraphML file.
struct DataKey {
  std::string name;    ///< attribute attr.name
  std::string domain;  ///< attribute for
  bool of_edges = false;
};

/// Parser of a GraphML file, on rank 0.
class GraphmlParser {
 public:
  /// Takes the file and the destination of its arcs, which must outlive the parser. @throws std::bad_alloc
  GraphmlParser(const Source& source, Raw& raw)
      : source_(source),
        raw_(raw),
        graph_(source, raw, "node", [this](std::uint64_t line, const std::string& what) { fail_at(line, what); }),
        parser_(::XML_ParserCreateNS(nullptr, kSeparator), ::XML_ParserFree) {
    if (!parser_) throw std::bad_alloc();
    ::XML_SetUserData(parser_.get(), this);
    ::XML_SetElementHandler(
        parser_.get(),
        [](void* self, const char* name, const char** given) {
          guarded(self, [&](GraphmlParser& p) { p.begin(name, given); });
        },
        [](void* self, const char*) { guarded(self, [](GraphmlParser& p) { p.end(); }); });
    ::XML_SetCharacterDataHandler(parser_.get(), [](void* self, const char* text, int length) {
      guarded(self, [&](GraphmlParser& p) { p.add_text({text, static_cast<std::size_t>(length)}); });
    });
    // Without a declaration there are no entities, which could expand to any size or name other files.
    ::XML_SetStartDoctypeDeclHandler(parser_.get(), [](void* self, const char*, const char*, const char*, int) {
      guarded(self, [](GraphmlParser& p) {
        p.fail("a document type (<!DOCTYPE), which may declare entities; allowed: none");
      });
    });
  }

  /// Parses the whole file. @throws PlacedError naming the line
  void parse() {
    ByteStream in(source_.path);
    std::vector<char> buffer(std::size_t{1} << 16);
    std::uint64_t given = 0;  // bytes given to the parser
    for (bool last = false; !last;) {
      const std::size_t got = in.read(buffer.data(), buffer.size());
      last = got < buffer.size();
      const XML_Status status = ::XML_Parse(parser_.get(), buffer.data(), static_cast<int>(got), last ? 1 : 0);
      if (error_) std::rethrow_exception(error_);
      if (status != XML_STATUS_OK) {
        if (::XML_GetErrorCode(parser_.get()) == XML_ERROR_NO_MEMORY) throw std::bad_alloc();
        fail(std::string("no XML: ") + ::XML_ErrorString(::XML_GetErrorCode(parser_.get())) + "; allowed: GraphML");
      }
      // Expat looks at an unfinished tag from its beginning each time, which takes quadratic time for a long one.
      given += got;
      const XML_Index at = ::XML_GetCurrentByteIndex(parser_.get());
      if (!last && at >= 0 && given - static_cast<std::uint64_t>(at) > kLongestWord + buffer.size())
        fail("a tag or a comment of more than " + std::to_string(kLongestWord) + " bytes; allowed: at most that");
    }
    if (!graph_seen_) fail("the file ends without a graph; allowed: <graph edgedefault=\"undirected\"> or directed");
    graph_.finish();
    finish_notes();
  }

 private:
  /// Elements that contain what is read.
  enum class Element : std::uint8_t { graphml, key, default_value, graph, node, edge, data, other };

  /// Calls `use` from a function that expat calls, through which no exception may pass: it is kept, and the parser stopped.
  template <class Use>
  static void guarded(void* self, const Use& use) {
    auto& parser = *static_cast<GraphmlParser*>(self);
    if (parser.error_) return;
    try {
      use(parser);
    } catch (...) {
      parser.error_ = std::current_exception();
      ::XML_StopParser(parser.parser_.get(), XML_FALSE);
    }
  }
  [[noreturn]] void fail_at(std::uint64_t line, const std::string& what) const {
    throw PlacedError(0, source_.path + ": line " + std::to_string(line) + ": " + what);
  }
  [[nodiscard]] std::uint64_t line() const { return ::XML_GetCurrentLineNumber(parser_.get()); }
  [[noreturn]] void fail(const std::string& what) const { fail_at(line(), what); }

  /// Attributes of an element.
  struct Attributes {
    const char** given;
    /// Returns the value of an attribute; empty if it is not there.
    [[nodiscard]] std::string_view operator[](std::string_view name) const {
      for (const char** at = given; *at != nullptr; at += 2)
        if (name == at[0]) return at[1];
      return {};
    }
  };

  /// Reads the beginning of an element.
  void begin(std::string_view full, const char** given) {
    if (open_.size() == kDeepest)
      fail("more than " + std::to_string(kDeepest) + " elements in elements; allowed: at most that");
    const std::size_t bar = full.find(kSeparator);
    const bool foreign = bar != std::string_view::npos && full.substr(0, bar) != kNamespace;
    const std::string_view name = bar == std::string_view::npos ? full : full.substr(bar + 1);
    const Attributes attributes{given};
    const Element parent = open_.empty() ? Element::other : open_.back();
    if (open_.empty() && (foreign || name != "graphml")) {
      if (foreign && name == "graphml")
        fail("<graphml> of the namespace " + quote(full.substr(0, bar)) + "; allowed: " + std::string(kNamespace) +
             ", or none");
      fail("element " + quote(name) + "; allowed: <graphml>");
    }
    open_.push_back(foreign ? Element::other : begin_known(name, attributes, parent));
  }

  /// Reads the beginning of an element of GraphML. @return what it is
  Element begin_known(std::string_view name, const Attributes& attributes, Element parent) {
    if (name == "hyperedge") fail("a hyperedge; allowed: edges of two nodes");
    if (name == "graph" && parent != Element::graphml)
      fail("a graph in a node or an edge; allowed: graphs without others in them");
    if (name == "graphml" && open_.empty()) return Element::graphml;
    if (name == "key" && parent == Element::graphml) return begin_key(attributes);
    if (name == "default" && parent == Element::key) return begin_default();
    if (name == "graph") return begin_graph(attributes);
    if (name == "node" && parent == Element::graph) return begin_node(attributes);
    if (name == "edge" && parent == Element::graph) return begin_edge(attributes);
    if (name == "data" && parent == Element::edge) return begin_data(attributes);
    if (name == "node" || name == "edge") fail("<" + std::string(name) + "> outside of <graph>; allowed: in it");
    return Element::other;
  }

  Element begin_key(const Attributes& attributes) {
    if (graph_seen_) fail("<key> behind <graph>; allowed: before it");
    const std::string_view domain = attributes["for"], id = attributes["id"];
    if (id.empty()) fail("<key> without id; allowed: one in every key");
    DataKey key{std::string(attributes["attr.name"]), std::string(domain),
                domain.empty() || domain == "edge" || domain == "all"};
    const auto [at, is_new] = keys_.emplace(id, std::move(key));
    if (!is_new) fail("key " + quote(id) + " again; allowed: different ids");
    key_ = &at->second;
    if (!key_->of_edges) return Element::key;
    if (key_->name == "weight") {
      weight_keys_.emplace(id);  // writers have one for each type of numbers
    } else {
      const std::string name = one_line(key_->name.empty() ? id : std::string_view(key_->name), 40);
      if (unused_.size() < kMaxUnused)
        unused_.insert(name);
      else
        more_ = more_ || !unused_.contains(name);
    }
    return Element::key;
  }

  Element begin_default() {
    if (!key_->of_edges || key_->name != "weight") return Element::other;
    if (!default_.empty()) fail("two defaults of the weight; allowed: one");
    text_.emplace();
    return Element::default_value;
  }

  Element begin_graph(const Attributes& attributes) {
    if (graph_seen_) fail("graph again; allowed: one graph in a file");
    graph_seen_ = true;
    const std::string_view way = attributes["edgedefault"];
    if (way != "directed" && way != "undirected") fail("edgedefault " + quote(way) + "; allowed: directed, undirected");
    directed_ = way == "directed";
    return Element::graph;
  }

  Element begin_node(const Attributes& attributes) {
    const std::string_view id = attributes["id"];
    if (id.empty()) fail("<node> without id; allowed: one in every node");
    graph_.add_vertex(id, {}, line());
    return Element::node;
  }

  Element begin_edge(const Attributes& attributes) {
    edge_ = {std::string(attributes["source"]), std::string(attributes["target"]), default_, line()};
    if (edge_.from.empty() || edge_.to.empty()) fail("<edge> without source or target; allowed: both");
    const std::string_view way = attributes["directed"];
    if (!way.empty() && way != "true" && way != "false") fail("directed " + quote(way) + "; allowed: true, false");
    raw_.directed = raw_.directed || (way.empty() ? directed_ : way == "true");
    edge_weighted_ = false;
    return Element::edge;
  }

  Element begin_data(const Attributes& attributes) {
    const std::string_view key = attributes["key"];
    const auto known = keys_.find(key);
    if (known == keys_.end()) fail("data with key " + quote(key) + "; allowed: the id of a <key>");
    if (!known->second.of_edges)
      fail("data of an edge with key " + quote(key) + ", which is for " + quote(known->second.domain) +
           "; allowed: the id of a <key> for edge or all");
    if (!weight_keys_.contains(key)) return Element::other;
    if (edge_weighted_) fail("weight again; allowed: once in an edge");
    edge_weighted_ = true;
    text_.emplace();
    return Element::data;
  }

  /// Adds characters to the text of the data that is read.
  void add_text(std::string_view part) {
    if (!text_ || (open_.back() != Element::data && open_.back() != Element::default_value)) return;
    if (text_->size() + part.size() > kMaxWeight)
      fail("a weight of more than " + std::to_string(kMaxWeight) + " bytes; allowed: a number");
    *text_ += part;
  }

  /// Reads the end of an element.
  void end() {
    const Element element = open_.back();
    open_.pop_back();
    if (element == Element::edge) graph_.add_edge(edge_.from, edge_.to, edge_.weight, edge_.line);
    if (element != Element::data && element != Element::default_value) return;
    const std::string weight(trimmed(*text_, " \t\r\n"));
    text_.reset();
    if (weight.empty()) fail("an empty weight; allowed: a number");
    (element == Element::data ? edge_.weight : default_) = weight;
  }

  /// Stores the notes on what was done and not used.
  void finish_notes() {
    raw_.lines.emplace_back("GraphML: nodes are numbered in the order of the file" +
                            std::string(source_.names ? ", and named by their ids" : ""));
    if (!default_.empty()) raw_.lines.push_back("GraphML: edges without a weight have that of its key, " + default_);
    if (!unused_.empty())
      raw_.lines.push_back("GraphML: data of edges that are not used: " + joined(unused_, ", ") +
                           (more_ ? ", ..." : ""));
  }

  /// Edge that is read.
  struct Edge {
    std::string from{}, to{}, weight{};
    std::uint64_t line = 0;
  };

  static constexpr std::size_t kMaxWeight = 4096, kMaxUnused = 16;
  const Source& source_;
  Raw& raw_;
  DeclaredGraph graph_;
  std::unique_ptr<XML_ParserStruct, void (*)(XML_Parser)> parser_;
  std::exception_ptr error_;
  std::vector<Element> open_;                         // elements around the place
  std::map<std::string, DataKey, std::less<>> keys_;  // by their ids
  const DataKey* key_ = nullptr;                      // key that is read
  std::set<std::string, std::less<>> weight_keys_;
  std::optional<std::string> text_;
  std::string default_;  // weight of edges without one; empty: none
  bool graph_seen_ = false, directed_ = false, edge_weighted_ = false;
  bool more_ = false;  // there are more names than in unused_
  Edge edge_;
  std::set<std::string> unused_;  // names of keys of edges
};

}  // namespace

Raw read_graphml(const Source& source) {
  Raw raw(source.path, source.sharing);
  parse_on_first(source, raw, [&] { GraphmlParser(source, raw).parse(); });
  return raw;
}

}  // namespace merganser::graphs::detail
