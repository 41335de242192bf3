"""./x docs finds what is wrong in documents and docstrings, and passes what is right."""
import shutil
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

SOURCE = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(SOURCE / "tools"))
import docs  # noqa: E402

HEADER = """#pragma once
/// Things that are counted. See docs/more.md.
#include <cstdint>

namespace merganser {

/// How many things there are.
struct Count {
  int value = 0;  ///< at least 0
};

/// Adds things [knuth1968]. Local. @throws nothing
/// @param more  what is added
/// @return the sum
/// Cost: O(1).
Count add(Count count, int more);

namespace detail {
int hidden(int undescribed);
}

}  // namespace merganser
"""
PAIR = """#pragma once
/// Pairs of things. See packages/graph/docs/pairs.md.

namespace merganser::graphs {

/// Two of them.
struct Pair {};

}  // namespace merganser::graphs
"""
MODULES = """# Architecture

| module | holds | may use |
|---|---|---|
| base | things: see [more](more.md) | - |

Of packages:

| module | holds | may use |
|---|---|---|
| graphs | pairs of things: [pairs.md](../packages/graph/docs/pairs.md) | base |
"""


class Docs(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.root = Path(folder.name).resolve() / "house"
        self.output = Path(folder.name) / "out"
        shutil.copytree(SOURCE / "tools" / "doxygen", self.root / "tools" / "doxygen")
        self.write("CMakeLists.txt", 'project(merganser VERSION 1.2.3 DESCRIPTION "Counts things")\n')
        self.write("README.md", "# House\n\n[all](docs/README.md) and [a picture](docs/picture.svg)\n")
        self.write("docs/picture.svg", "<svg xmlns='http://www.w3.org/2000/svg'/>\n")
        self.write("docs/README.md", "# Documents\n\n[API](api.md) [modules](architecture.md#architecture) [more](more.md) "
                                     "[sources](sources.md)\n")
        self.write("docs/api.md", "# API\n\nStart with [count.hpp](../include/merganser/base/count.hpp), "
                                  "[use.cpp](../examples/use.cpp) and [modules](architecture.md). Of a package: "
                                  "[pair.hpp](../packages/graph/include/merganser/graphs/pair.hpp), "
                                  "[pairs.cpp](../packages/graph/examples/pairs.cpp), [pairs](../packages/graph/docs/pairs.md), "
                                  "[packages](../packages/README.md), [graph](../packages/graph/README.md).\n")
        self.write("docs/architecture.md", MODULES)
        self.write("docs/more.md", "# More\n\nBack [home](../README.md), on to [packages](../packages/README.md).\n")
        self.write("docs/sources.md", "# Sources\n\n[knuth1968]\n")
        self.write("include/merganser/base/count.hpp", HEADER)
        self.write("examples/use.cpp", "// Uses it.\nint main() {}\n")
        self.write("packages/README.md", "# Packages\n\n[graph](graph/README.md)\n")
        self.write("packages/graph/README.md", "# Graph\n\n[pairs](docs/pairs.md)\n")
        self.write("packages/graph/docs/pairs.md", "# Pairs\n\nOf [things](../../../docs/more.md), in [all](../../README.md).\n")
        self.write("packages/graph/include/merganser/graphs/pair.hpp", PAIR)
        self.write("packages/graph/examples/pairs.cpp", "// Uses pairs.\nint main() {}\n")

    def write(self, name, text):
        path = self.root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)

    def header(self, old, new):
        self.assertIn(old, HEADER)
        self.write("include/merganser/base/count.hpp", HEADER.replace(old, new))

    def run_docs(self):
        return subprocess.run([sys.executable, SOURCE / "tools" / "docs.py", self.root, self.output],
                              capture_output=True, text=True)

    def refused(self, words):
        run = self.run_docs()
        self.assertEqual(run.returncode, 1, run.stdout + run.stderr)
        self.assertIn(words, run.stdout)

    def test_what_is_right_passes_and_is_all_there(self):
        run = self.run_docs()
        self.assertEqual(run.returncode, 0, run.stdout + run.stderr)
        first = (self.output / "index.html").read_text()
        self.assertIn('href="docs/index.html"', first)
        self.assertTrue((self.output / "docs" / "picture.svg").exists())
        start = (self.output / "api" / "index.html").read_text()
        for link in ("count_8hpp.html", "use_8cpp-example.html", "../docs/architecture.html"):
            self.assertIn(link, start)
        self.assertIn("1.2.3", start)
        header = (self.output / "api" / "count_8hpp.html").read_text()
        self.assertIn("Things that are counted", header)
        self.assertIn('href="../docs/more.html"', header)
        functions = (self.output / "api" / "namespacemerganser.html").read_text()
        self.assertRegex(functions, r">Cost</dt><dd>O\(1\)")
        self.assertIn("Module base: things", (self.output / "api" / "files.html").read_text())
        self.assertFalse([page for page in (self.output / "api").glob("*.html")
                          if "undescribed" in page.read_text() and not page.name.endswith("_source.html")])

    def test_packages_are_there(self):
        run = self.run_docs()
        self.assertEqual(run.returncode, 0, run.stdout + run.stderr)
        self.assertIn("9 pages", run.stdout)
        self.assertIn('href="graph/index.html"', (self.output / "packages" / "index.html").read_text())
        start = (self.output / "api" / "index.html").read_text()
        for link in ("pair_8hpp.html", "pairs_8cpp-example.html", "../packages/graph/docs/pairs.html",
                     "../packages/index.html", "../packages/graph/index.html"):
            self.assertIn(link, start)
        self.assertIn('href="../packages/graph/docs/pairs.html"', (self.output / "api" / "pair_8hpp.html").read_text())
        self.assertIn("Module graphs: pairs of things", (self.output / "api" / "files.html").read_text())

    def test_the_core_is_right_without_packages(self):
        for gone in ("packages/graph", "packages"):
            shutil.rmtree(self.root / gone)
            if gone == "packages/graph":
                self.write("packages/README.md", "# Packages\n\n[graph](graph/README.md)\n")
                self.write("docs/more.md", "# More\n\n[packages](../packages/README.md)\n")
            run = self.run_docs()
            self.assertEqual(run.returncode, 0, run.stdout + run.stderr)
            start = (self.output / "api" / "index.html").read_text()
            self.assertIn("count_8hpp.html", start)
            self.assertNotIn("packages/graph", start)

    def test_a_package_that_no_table_names_is_not_left_out(self):
        self.write("docs/more.md", "# More\n\n[gone](../packages/graf/docs/pairs.md)\n")
        self.refused("docs/more.md: ../packages/graf/docs/pairs.md leads nowhere")

    def test_a_header_of_a_package_without_a_word_is_refused_by_its_name(self):
        self.write("packages/graph/include/merganser/graphs/pair.hpp", PAIR.replace("/// Two of them.\n", ""))
        self.refused("packages/graph/include/merganser/graphs/pair.hpp: struct merganser::graphs::Pair has no description")

    def test_a_document_of_a_package_that_nothing_leads_to_is_refused(self):
        self.write("packages/graph/docs/lost.md", "# Lost\n")
        self.refused("packages/graph/docs/lost.md: no link leads here from README.md")

    def test_a_parameter_that_is_not_there_is_refused(self):
        self.header("@param more  what", "@param most  what")
        self.refused("include/merganser/base/count.hpp:12: warning: argument 'most' of command @param is not found")

    def test_a_reference_that_leads_nowhere_is_refused(self):
        self.header("How many things", "How many things, see @ref Number::of,")
        self.refused("unable to resolve reference to 'Number::of'")

    def test_an_unknown_command_is_refused(self):
        self.header("@return the sum", "@returning the sum")
        self.refused("Found unknown command '@returning'")

    def test_a_header_without_a_word_is_refused(self):
        self.header("/// Things that are counted. See docs/more.md.\n", "")
        self.refused("include/merganser/base/count.hpp: file count.hpp has no description")

    def test_a_class_without_a_word_is_refused(self):
        self.header("/// How many things there are.\n", "")
        self.refused("struct merganser::Count has no description")

    def test_a_function_without_a_word_is_refused(self):
        self.header("namespace detail {", "int total();\n\nnamespace detail {")
        self.refused("function merganser::total has no description")

    def test_a_module_that_is_not_in_the_table_is_refused(self):
        self.write("include/merganser/attic/old.hpp", "#pragma once\n/// Old things.\n")
        self.refused("dir merganser/attic has no description")

    def test_a_link_that_leads_nowhere_is_refused(self):
        self.write("docs/more.md", "# More\n\n[gone](gone.md)\n")
        self.refused("docs/more.md: gone.md leads nowhere")

    def test_a_heading_that_is_not_there_is_refused(self):
        self.write("docs/more.md", "# More\n\n[modules](architecture.md#halls)\n")
        self.refused("docs/more.md: architecture.md#halls: no such heading")

    def test_a_document_that_nothing_leads_to_is_refused(self):
        self.write("docs/lost.md", "# Lost\n")
        self.refused("docs/lost.md: no link leads here from README.md")

    def test_a_publication_without_an_entry_is_refused(self):
        self.header("[knuth1968]", "[dijkstra1959]")
        self.refused("include/merganser/base/count.hpp: [dijkstra1959] is not in docs/sources.md")

    def test_a_document_that_a_docstring_names_must_exist(self):
        self.header("docs/more.md", "docs/less.md")
        self.refused("api/count_8hpp.html: ../docs/less.html leads nowhere")

    def test_links_of_html_are_followed(self):
        self.write("a.html", '<p id="x"><a href="b.html#y">b</a><a href="#x">x</a><a href="c.html">c</a><a href="#z">z</a>')
        self.write("b.html", '<a name="w"></a>')
        self.assertEqual(list(docs.broken_html_links(self.root)),
                         ["a.html: #z: no such place", "a.html: b.html#y: no such place", "a.html: c.html leads nowhere"])


if __name__ == "__main__":
    unittest.main()
