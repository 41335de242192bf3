/// Tests of Pajek, GML and GraphML: files of networkx and of the formats' descriptions, random round trips by a plain writer of the
/// test, and errors.
#include <gtest/gtest.h>

#include "merganser/base/error.hpp"
#include "merganser/base/random.hpp"
#include "merganser/graphs/weights.hpp"
#include "tests/base/system.hpp"
#include "tests/graphs/whole_graph.hpp"
#include "tests/io/folder.hpp"

namespace {

using namespace merganser;
using namespace merganser::test;
using graphs::Edge24;
using graphs::Format;

std::string named_error(const std::string& path, int ranks, bool with_names) {
  try {
    static_cast<void>(read_named(path, ranks, with_names));
  } catch (const Error& e) {
    return e.what();
  }
  return "none";
}

class DeclaredGraphs : public testing::TestWithParam<Format> {
 protected:
  DeclaredGraphs() {
    if (GetParam() != Format::graphml) return;
    write_bytes(folder_.file("x.graphml"), "<graphml><graph edgedefault=\"directed\"/></graphml>");
    has_library_ = named_error(folder_.file("x.graphml"), 1, false) == "none";
  }
  [[nodiscard]] static std::string extension() {
    return GetParam() == Format::pajek ? ".net" : GetParam() == Format::gml ? ".gml" : ".graphml";
  }
  Folder folder_;
  bool has_library_ = true;
};
INSTANTIATE_TEST_SUITE_P(Formats, DeclaredGraphs, testing::Values(Format::pajek, Format::gml, Format::graphml),
                         [](const auto& info) { return std::string(to_string(info.param)); });

/// Graph of a random test: names of vertices, edges with weights as text (empty: none).
struct DeclaredSample {
  std::vector<std::string> names;
  struct Edge {
    std::size_t from, to;
    std::string weight;
  };
  std::vector<Edge> edges;
  bool directed = false;
};

std::string with_references(const std::string& text) {
  std::string out;
  for (const char c : text) out += c == '&' ? "&amp;" : c == '<' ? "&lt;" : c == '"' ? "&quot;" : std::string(1, c);
  return out;
}

/// Returns a file as an obvious writer makes it, in the order of the sample; of GraphML edges come before nodes.
std::string written(Format format, const DeclaredSample& s) {
  std::string text;
  const auto number = [](std::size_t v) { return std::to_string(v); };
  if (format == Format::pajek) {
    text = "*Vertices " + number(s.names.size()) + "\r\n";
    for (std::size_t v = 0; v < s.names.size(); ++v) text += number(v + 1) + " \"" + s.names[v] + "\" 0.5 0.5\r\n";
    text += s.directed ? "*Arcs\n" : "*Edges\n";
    for (const auto& e : s.edges) text += "  " + number(e.from + 1) + "\t" + number(e.to + 1) + " " + e.weight + "\n";
  } else if (format == Format::gml) {
    text = std::string("Creator \"test\"\ngraph [\n") + (s.directed ? "directed 1\n" : "");
    for (std::size_t v = 0; v < s.names.size(); ++v)
      text += "node [ id " + number(7 * v + 3) + " label \"" + with_references(s.names[v]) + "\" ]\n";
    for (const auto& e : s.edges)
      text += "edge [ source " + number(7 * e.from + 3) + " target " + number(7 * e.to + 3) +
              (e.weight.empty() ? "" : " weight " + e.weight) + " ]\n";
    text += "]\n";
  } else {
    text =
        "<?xml version=\"1.0\"?>\n<graphml xmlns=\"http://graphml.graphdrawing.org/xmlns\">\n"
        "<key id=\"k\" for=\"edge\" attr.name=\"weight\" attr.type=\"double\"/>\n<graph edgedefault=\"" +
        std::string(s.directed ? "directed" : "undirected") + "\">\n";
    for (const auto& e : s.edges)
      text += "<edge source=\"" + with_references(s.names[e.from]) + "\" target=\"" + with_references(s.names[e.to]) +
              "\">" + (e.weight.empty() ? "" : "<data key=\"k\">" + e.weight + "</data>") + "</edge>\n";
    for (const auto& name : s.names) text += "<node id=\"" + with_references(name) + "\"/>\n";
    text += "</graph></graphml>\n";
  }
  return text;
}

TEST_P(DeclaredGraphs, that_were_written_are_read_on_any_number_of_ranks) {
  if (!has_library_) GTEST_SKIP() << "this build has no expat";
  for (std::uint64_t seed = 1; seed <= 30; ++seed) {
    Random random(seed, 0, 0);
    DeclaredSample s;
    s.directed = random.below(2) == 0;
    const std::size_t vertices = 1 + random.below(seed % 5 == 0 ? 500 : 20);
    for (std::size_t v = 0; v < vertices; ++v)
      s.names.push_back((v % 3 == 0 ? "n " : v % 3 == 1 ? "<&" : "#") + std::to_string(v));
    const bool weighted = random.below(3) > 0;
    std::vector<Edge24> wanted;
    const graphs::WeightMaker make = graphs::parse_weights("uniform", 1);
    for (std::uint64_t i = random.below(4 * vertices); i > 0; --i) {
      const std::size_t a = random.below(vertices), b = random.below(vertices);
      const std::uint64_t weight = random.below(5);
      s.edges.push_back({a, b, weighted ? std::to_string(weight) : ""});
      const std::uint64_t low = std::min(a, b), high = std::max(a, b);
      if (a != b) wanted.push_back({low, high, weighted ? weight : std::uint64_t{make(low, high)}});
    }
    std::sort(wanted.begin(), wanted.end(), by_ends);
    wanted.erase(std::unique(wanted.begin(), wanted.end()), wanted.end());
    const std::string path = folder_.file("a" + extension());
    write_bytes(path, written(GetParam(), s));
    for (const int ranks : {1, 2, 3, 4, 7}) {
      const NamedGraph g = read_named(path, ranks);
      ASSERT_EQ(g.graph.edges, wanted) << seed << " on " << ranks;
      EXPECT_EQ(g.names, s.names);
      EXPECT_EQ(g.graph.vertices, vertices);
      EXPECT_EQ(g.graph.log.format, GetParam());
      EXPECT_EQ(g.graph.log.directed, s.directed && !(GetParam() == Format::pajek && s.edges.empty()) &&
                                          !(GetParam() == Format::graphml && s.edges.empty()));
      EXPECT_EQ(g.graph.log.weighted, weighted && !s.edges.empty());
      const NamedGraph plain = read_named(path, ranks, false);
      EXPECT_EQ(plain.graph.edges, wanted);
      EXPECT_TRUE(plain.names.empty());
    }
    // The contents tell the format too.
    write_bytes(folder_.file("b"), written(GetParam(), s));
    EXPECT_EQ(graphs::detect_format(folder_.file("b")), GetParam());
  }
}

TEST_P(DeclaredGraphs, of_networkx_are_read) {
  if (!has_library_) GTEST_SKIP() << "this build has no expat";
  // write_pajek, write_gml and write_graphml of networkx 3.6.1: Graph of ann-bob 1.5, bob-"c d" 2, eve-ann 3, in this order.
  const std::string text =
      GetParam() == Format::pajek ? "*vertices 4\n1 ann 0.0 0.0 ellipse\n2 bob 0.0 0.0 ellipse\n3 \"c d\" 0.0 0.0 "
                                    "ellipse\n4 eve 0.0 0.0 ellipse\n"
                                    "*edges\n1 2 1.5\n1 4 3\n2 3 2\n"
      : GetParam() == Format::gml
          ? "graph [\n  node [\n    id 0\n    label \"ann\"\n  ]\n  node [\n    id 1\n    label \"bob\"\n  ]\n  node "
            "[\n    id 2\n"
            "    label \"c d\"\n  ]\n  node [\n    id 3\n    label \"eve\"\n  ]\n  edge [\n    source 0\n    target 1\n"
            "    weight 1.5\n  ]\n  edge [\n    source 0\n    target 3\n    weight 3\n  ]\n  edge [\n    source 1\n"
            "    target 2\n    weight 2\n  ]\n]\n"
          : "<?xml version='1.0' encoding='utf-8'?>\n<graphml xmlns=\"http://graphml.graphdrawing.org/xmlns\" "
            "xmlns:xsi=\"http://www.w3.org/2001/XMLSchema-instance\" "
            "xsi:schemaLocation=\"http://graphml.graphdrawing.org/xmlns "
            "http://graphml.graphdrawing.org/xmlns/1.0/graphml.xsd\">\n"
            "  <key id=\"d1\" for=\"edge\" attr.name=\"weight\" attr.type=\"long\" />\n"
            "  <key id=\"d0\" for=\"edge\" attr.name=\"weight\" attr.type=\"double\" />\n  <graph "
            "edgedefault=\"undirected\">\n"
            "    <node id=\"ann\" />\n    <node id=\"bob\" />\n    <node id=\"c d\" />\n    <node id=\"eve\" />\n"
            "    <edge source=\"ann\" target=\"bob\">\n      <data key=\"d0\">1.5</data>\n    </edge>\n"
            "    <edge source=\"ann\" target=\"eve\">\n      <data key=\"d1\">3</data>\n    </edge>\n"
            "    <edge source=\"bob\" target=\"c d\">\n      <data key=\"d1\">2</data>\n    </edge>\n  "
            "</graph>\n</graphml>\n";
  const std::string path = folder_.file("a" + extension());
  write_bytes(path, text);
  const NamedGraph g = read_named(path, 3);
  EXPECT_EQ(g.names, (std::vector<std::string>{"ann", "bob", "c d", "eve"}));
  EXPECT_EQ(g.graph.kind, graphs::WeightKind::float64);
  EXPECT_EQ(g.graph.edges, (std::vector<Edge24>{{0, 1, graphs::ordered_bits(1.5)},
                                                {0, 3, graphs::ordered_bits(3.0)},
                                                {1, 2, graphs::ordered_bits(2.0)}}));
  EXPECT_FALSE(g.graph.log.directed);
}

struct WrongFile {
  Format format;
  std::string text, part;
  bool names = false;
};
const std::string kXml = "<graphml><key id=\"w\" for=\"edge\" attr.name=\"weight\"/>";
const std::vector<WrongFile> kWrongFiles{
    {Format::pajek, "*Vertices 2\n*Edges\n1 2 3\n2 1\n",
     ": line 4: a line without a weight, and line 3 has one; allowed: weights in all"},
    {Format::pajek, "*Vertices 2\n*Edges\n1 3\n", ": line 3: vertex \"3\"; allowed: 1 to 2"},
    {Format::pajek, "*Vertices 2\n*Edges\n1 2 x\n", ": line 3: weight \"x\"; allowed: an integer"},
    {Format::pajek, "*Vertices 2\n1 a\n1 b\n", ": line 3: vertex 1 again; allowed: one line"},
    {Format::pajek, "*Vertices 2\n1 a\n2 a\n", ": two vertices with the name \"a\"", true},
    {Format::pajek, "*Vertices 2\n1 2\n", ": two vertices with the name \"2\"", true},
    {Format::pajek, "*Vertices 2\n1 \"a\n", ": line 2: a quote without an end"},
    {Format::pajek, "*Vertices 3\n3 \"c\"d e\" 0.0\n", ": line 2: a quote without an end, or text behind it"},
    {Format::pajek, "*Vertices x\n", ": line 1: \"*Vertices x\"; allowed: *Vertices and the number"},
    {Format::pajek, "*Edges\n1 2\n", ": line 1: \"*Edges\" before *Vertices"},
    {Format::pajek, "*Vertices 1\n*Vertices 1\n", ": line 2: \"*Vertices 1\" again; allowed: one network"},
    {Format::pajek, "*Vertices 2\n*Matrix\n0 1\n1 0\n", ": line 2: \"*Matrix\"; allowed: one network of *Vertices"},
    {Format::pajek, "1 2\n", ": line 1: \"1 2\" before *Vertices"},
    {Format::pajek, "% nothing\n", ": line 2: the file ends without *Vertices"},
    {Format::pajek, "*Vertices 1152921504606846976\n", ": line 1: 1152921504606846976 vertices; allowed for a file of"},
    {Format::gml, "graph [ node [ id 1 ] node [ id 01 ] ]",
     ": line 1: node \"1\" again, as in line 1; allowed: different ids"},
    {Format::gml, "graph [ node [ id 1 ]\nedge [ source 1 target 2 ] ]",
     ": line 2: an edge of \"2\"; allowed: ids that a node has"},
    {Format::gml, "graph [ node [ id 1 ]\nedge [ source 1 target 1 weight 2 ]\nedge [ source 1 target 1 ] ]",
     ": line 3: an edge without a weight, and in line 2 one with a weight"},
    {Format::gml, "graph [ node [ id 1 ] edge [ source 1 target 1 weight 2 value 3 ] ]",
     ": line 1: an edge with weight and value"},
    {Format::gml, "graph [ node [ id 1 ] edge [ source 1 target 1 weight 2 ]\nedge [ source 1 target 1 value 2 ] ]",
     ": line 2: an edge with value, and one before it with the other"},
    {Format::gml, "graph [ node [ id 1 ] edge [ source 1 target 1 weight 1.2.3 ] ]", ": line 1: weight \"1.2.3\""},
    {Format::gml, "graph [ node [ id 1.5 ] ]", ": line 1: id \"1.5\"; allowed: a whole number"},
    {Format::gml, "graph [ node [ label \"a\" ] ]", ": line 1: no id; allowed"},
    {Format::gml, "graph [ node [ id \"a\" ] ]", ": line 1: id \"a\"; allowed: a number"},
    {Format::gml, "graph [ node [ id 1 id 2 ] ]", ": line 1: id again; allowed: once"},
    {Format::gml, "graph [ directed 2 ]", ": line 1: directed \"2\"; allowed: 0 or 1"},
    {Format::gml, "graph [ ]\ngraph [ ]", ": line 2: graph again; allowed: one graph"},
    {Format::gml, "graph [ node [ id 1 ]\n", ": line 1: graph [ without its ]"},
    {Format::gml, "\n\ngraph [ node [ id 1 ]\n", ": line 3: graph [ without its ]"},
    {Format::gml, "graph [ node [ id 1 ]\nEdge [ source 1 target 1 ] ]", ": line 2: key \"Edge\"; allowed: edge"},
    {Format::gml, "graph [ NODE [ id 1 ] ]", ": line 1: key \"NODE\"; allowed: node"},
    {Format::gml, "graph [ node [ id 1 ] edge [ source 1 target 1 weight \"\" ] ]",
     ": line 1: weight \"\"; allowed: a number"},
    {Format::gml, "graph [ node [ id 1 ] edge [ source 1 target 1 weight \"x\" ] ]",
     ": line 1: weight \"x\"; allowed: an integer"},
    {Format::gml, "graph [ node [ id 1 ] edge [ source \"1\" target 1 ] ]",
     ": line 1: source \"1\"; allowed: a number"},
    {Format::gml, "graph [ node [ id 1\n", ": line 1: node [ without its ]"},
    {Format::gml, "Version 1\n", ": line 2: the file ends without a graph"},
    {Format::gml, "graph [ x \"a\n", ": line 1: a text without its end"},
    {Format::gml, "graph [ x ! ]", ": line 1: character \"!\""},
    {Format::gml, "graph [ 5 ]", ": line 1: \"5\" without a key"},
    {Format::gml, "graph [ node [ id 1 label \"&x;\" ] ]", ": line 1: label with \"&x;\"; allowed: &quot;", true},
    {Format::gml, "graph [ node [ id 1 label \"a\" ] node [ id 2 label \"a\" ] ]", ": two vertices with the name \"a\"",
     true},
    {Format::gml, "graph [ node [ id 1 label \"a\nb\" ] ]", " with a line break; allowed", true},
    {Format::graphml, "<graphml><graph edgedefault=\"x\"/></graphml>",
     ": line 1: edgedefault \"x\"; allowed: directed, undirected"},
    {Format::graphml, "<graphml><graph edgedefault=\"directed\">\n<node id=\"a\"/><node id=\"a\"/></graph></graphml>",
     ": line 2: node \"a\" again, as in line 2"},
    {Format::graphml, "<graphml><graph edgedefault=\"directed\"><edge source=\"a\" target=\"b\"/></graph></graphml>",
     ": line 1: an edge of \"a\"; allowed: ids that a node has"},
    {Format::graphml,
     kXml + "<graph edgedefault=\"directed\"><node id=\"a\"/>\n<edge source=\"a\" target=\"a\"><data "
            "key=\"w\">x</data></edge></graph></graphml>",
     ": line 2: weight \"x\"; allowed: an integer"},
    {Format::graphml,
     kXml + "<graph edgedefault=\"directed\"><edge source=\"a\" target=\"a\"><data "
            "key=\"v\">1</data></edge></graph></graphml>",
     ": line 1: data with key \"v\"; allowed: the id of a <key>"},
    {Format::graphml,
     kXml + "<graph edgedefault=\"directed\"><edge source=\"a\" target=\"a\"><data key=\"w\">1</data><data "
            "key=\"w\">1</data></edge></graph></graphml>",
     ": line 1: weight again"},
    {Format::graphml, "<graphml><graph edgedefault=\"directed\"><hyperedge/></graph></graphml>",
     ": line 1: a hyperedge; allowed"},
    {Format::graphml,
     "<graphml><graph edgedefault=\"directed\"><node id=\"a\"><graph "
     "edgedefault=\"directed\"/></node></graph></graphml>",
     ": line 1: a graph in a node or an edge"},
    {Format::graphml, "<graphml><graph edgedefault=\"directed\"/><graph edgedefault=\"directed\"/></graphml>",
     ": line 1: graph again"},
    {Format::graphml, "<graphml>\n", ": line 2: no XML: no element found"},
    {Format::graphml, "<graphml></graphml>", ": line 1: the file ends without a graph"},
    {Format::graphml, "<graphml xmlns=\"http://x/y\"/>",
     ": line 1: <graphml> of the namespace \"http://x/y\"; allowed: http://graphml.graphdrawing.org/xmlns, or none"},
    {Format::graphml,
     "<graphml><key id=\"n\" for=\"node\" attr.name=\"weight\"/><graph edgedefault=\"directed\"><node id=\"a\"/>"
     "<edge source=\"a\" target=\"a\"><data key=\"n\">5</data></edge></graph></graphml>",
     ": line 1: data of an edge with key \"n\", which is for \"node\"; allowed: the id of a <key> for edge or all"},
    {Format::graphml, "<graphml><key id=\"n\"/><key id=\"n\"/></graphml>", ": line 1: key \"n\" again"},
    {Format::graphml, "<graphml><!--" + std::string(3 << 20, 'x') + "--></graphml>",
     "a tag or a comment of more than 1048576 bytes"},
    {Format::graphml, "<svg/>", ": line 1: element \"svg\"; allowed: <graphml>"},
    {Format::graphml, "<!DOCTYPE a [<!ENTITY b \"cc\"><!ENTITY d \"&b;&b;\">]>\n<graphml/>",
     ": line 1: a document type (<!DOCTYPE)"},
};

TEST_P(DeclaredGraphs, that_are_wrong_are_refused_with_the_same_words_on_every_rank) {
  if (!has_library_) GTEST_SKIP() << "this build has no expat";
  for (const WrongFile& bad : kWrongFiles) {
    if (bad.format != GetParam()) continue;
    const std::string path = folder_.file("a" + extension());
    write_bytes(path, bad.text);
    for (const int ranks : {1, 3}) {
      const std::string why = named_error(path, ranks, bad.names);
      EXPECT_NE(why.find(bad.part), std::string::npos) << bad.text << '\n' << why;
    }
  }
}

TEST_P(DeclaredGraphs, that_are_cut_off_are_read_or_refused) {
  if (!has_library_) GTEST_SKIP() << "this build has no expat";
  const DeclaredSample s{{"a", "b", "c"}, {{0, 1, "1.5"}, {1, 2, "2"}}, false};
  const std::string text = written(GetParam(), s), path = folder_.file("a" + extension());
  for (std::size_t length = 1; length < text.size(); ++length) {
    write_bytes(path, text.substr(0, length));
    const std::string why = named_error(path, 2, true);
    EXPECT_TRUE(why == "none" || why.find(path) == 0) << why;
    if (GetParam() != Format::pajek && length + 2 < text.size()) {
      EXPECT_NE(why, "none") << length;
    }
  }
}

TEST(DeclaredGraphFormats, are_known_by_their_contents) {
  const Folder folder;
  const std::string gml = "graph [ node [ id 1 ] node [ id 2 ] edge [ source 1 target 2 ] ]\n", path = folder.file("a");
  for (const std::string before :
       {"", "# c\n", "Creator \"x\"\n", "comment \"x y\"\n", "Version 1\n", "version 2.0\n"}) {
    write_bytes(path, before + gml);
    EXPECT_EQ(graphs::detect_format(path), Format::gml) << before;
    EXPECT_EQ(read_whole(path).edges.size(), 1U) << before;
  }
  for (const char* text : {"*network x\n*VERTICES 2\n*edges\n1 2\n", "*Vertices 2\n*Edges\n1 2\n",
                           "*NETWORK\n*vertices 2\n*EDGES\n1 2\n"}) {
    write_bytes(path, text);
    EXPECT_EQ(read_whole(path).log.format, Format::pajek) << text;
  }
  for (const char* text : {"version bob\n", "comment bob\n", "version 1 5\n"}) {
    write_bytes(path, text);
    EXPECT_EQ(graphs::detect_format(path), Format::edge_list) << text;
  }
}

TEST(DeclaredGraphFormats, have_numbers_in_quotes_for_weights) {
  const Folder folder;
  write_bytes(folder.file("a.gml"),
              "graph [ node [ id 1 ] node [ id 2 ] edge [ source 1 target 2 weight \"4294967296\" ] ]");
  EXPECT_EQ(read_whole(folder.file("a.gml")).edges, (std::vector<Edge24>{{0, 1, std::uint64_t{1} << 32}}));
}

TEST(DeclaredGraphFormats, that_name_more_vertices_than_fit_are_refused) {
  const Folder folder;
  write_bytes(folder.file("a.net"), "*Vertices 1000000\n*Edges\n1 2\n");
  const System system;
  system.memory(64);
  EXPECT_NE(named_error(folder.file("a.net"), 2, true).find("1000000 names"), std::string::npos)
      << named_error(folder.file("a.net"), 2, true);
}

TEST(DeclaredGraphFormats, extensions_for_output_are_those_of_formats_that_are_written) {
  try {
    static_cast<void>(graphs::format_from_path("a.xyz"));
    ADD_FAILURE();
  } catch (const UsageError& e) {
    EXPECT_EQ(std::string(e.what()).find(".gml"), std::string::npos) << e.what();
    EXPECT_NE(std::string(e.what()).find(".mgr"), std::string::npos) << e.what();
  }
}

TEST(DeclaredGraphFormats, are_read_only) {
  for (const Format format : {Format::pajek, Format::gml, Format::graphml})
    EXPECT_THROW(graphs::check_writable(format), UsageError);
}

TEST(DeclaredGraphFormats, tell_what_they_do_not_use) {
  const Folder folder;
  const auto lines = [&](const std::string& name, const std::string& text) {
    write_bytes(folder.file(name), text);
    std::string all;
    for (const auto& line : read_whole(folder.file(name), {}, 2).log.lines) all += line + '\n';
    return all;
  };
  const std::string pajek = lines(
      "a.net", "*Network x\n*Vertices 3 1\n1 \"a\" ic Red\n*Arcs :1 \"r\"\n1 2 5 c Blue\n*Edgeslist\n*Edges\n2 3 1\n");
  EXPECT_NE(pajek.find("two kinds of vertices are not told apart"), std::string::npos) << pajek;
  EXPECT_NE(pajek.find("relations are not told apart"), std::string::npos) << pajek;
  EXPECT_NE(pajek.find("attributes of lines behind the weight are not used"), std::string::npos) << pajek;
  EXPECT_NE(pajek.find("directed: 2 arcs became 2 undirected edges"), std::string::npos) << pajek;
  const std::string gml = lines(
      "a.gml", "graph [ comment \"x\" node [ id 4 graphics [ x 1 ] ] edge [ source 4 target 4 value 2 color 3 ] ]");
  EXPECT_NE(gml.find("weights are the value of edges"), std::string::npos) << gml;
  EXPECT_NE(gml.find("keys that are not used: edge.color, graph.comment, node.graphics"), std::string::npos) << gml;
  std::string keys = "<graphml><key id=\"a\" for=\"edge\" attr.name=\"a&#10;b\"/>";
  for (int i = 0; i < 20; ++i) keys += "<key id=\"k" + std::to_string(i) + "\" for=\"edge\"/>";
  keys += "<graph edgedefault=\"directed\"><node id=\"a\"/></graph></graphml>";
  const std::string graphml_path = folder.file("a.graphml");
  write_bytes(graphml_path, keys);
  if (named_error(graphml_path, 1, false).find("expat") == std::string::npos) {
    const std::string graphml = lines("a.graphml", keys);
    EXPECT_NE(graphml.find(", ..."), std::string::npos) << graphml;
    EXPECT_EQ(graphml.find("a\nb"), std::string::npos) << graphml;
  }
  EXPECT_NE(lines("b.gml", "graph [ node [ id 1 ] node [ id 2 ] edge [ source 1 target 2 ] ]")
                .find("no weights in the file: made ones"),
            std::string::npos);
}

}  // namespace
