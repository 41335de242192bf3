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
        self.output = Path(folder.name).resolve() / "out"
        self.source = self.output / "source"
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
        self.assertIn("(docs/README.md)", (self.source / "README.md").read_text())
        self.assertTrue((self.source / "docs" / "picture.svg").exists())
        start = (self.source / "docs" / "api.md").read_text()
        for link in ("(../api/base/count.rst)", "(../examples/use.cpp.md)", "(architecture.md)"):
            self.assertIn(link, start)
        self.assertIn("{literalinclude} use.cpp", (self.source / "examples" / "use.cpp.md").read_text())
        self.assertIn(".. doxygenfile:: merganser/base/count.hpp", (self.source / "api" / "base" / "count.rst").read_text())
        self.assertIn("# Module base\n\nThings.\n", (self.source / "api" / "base" / "index.md").read_text())

    def test_a_header_has_what_it_declares_in_a_namespace(self):
        run = self.run_docs()
        self.assertEqual(run.returncode, 0, run.stdout + run.stderr)
        index = (self.output / "xml" / "index.xml").read_text()
        self.assertIn("<name>merganser/base/count.hpp</name>", index)
        header = (self.output / "xml" / "count_8hpp.xml").read_text()
        self.assertIn("<name>merganser::add</name>", header)
        self.assertIn("Things that are counted", header)
        self.assertIn('url="../../docs/more.html"', header)
        self.assertRegex(header, r"(?s)<title>Cost</title>\s*<para>O\(1\)")
        self.assertNotIn("undescribed", header)

    def test_packages_are_there(self):
        run = self.run_docs()
        self.assertEqual(run.returncode, 0, run.stdout + run.stderr)
        self.assertIn("9 pages", run.stdout)
        self.assertIn("(graph/README.md)", (self.source / "packages" / "README.md").read_text())
        start = (self.source / "docs" / "api.md").read_text()
        for link in ("../api/graphs/pair.rst", "../packages/graph/examples/pairs.cpp.md", "../packages/graph/docs/pairs.md",
                     "../packages/README.md", "../packages/graph/README.md"):
            self.assertIn(f"({link})", start)
        self.assertIn('url="../../packages/graph/docs/pairs.html"', (self.output / "xml" / "pair_8hpp.xml").read_text())
        self.assertIn("Pairs of things", (self.source / "api" / "graphs" / "index.md").read_text())

    def test_the_first_page_has_the_tables_of_contents(self):
        self.write("docs/home.md", "# House\n\n[All](README.md), [pairs](../packages/graph/docs/pairs.md)\n")
        self.write("README.md", "# House\n\n[all](docs/README.md) and [the first page](docs/home.md)\n")
        run = self.run_docs()
        self.assertEqual(run.returncode, 0, run.stdout + run.stderr)
        first = (self.source / "index.md").read_text()
        self.assertIn("[All](docs/README.md), [pairs](packages/graph/docs/pairs.md)", first)
        for document in ("docs/more", "packages/graph/docs/pairs", "api/index"):
            self.assertIn(f"\n{document}\n", first)
        self.assertIn("(index.md)", (self.source / "README.md").read_text())
        self.assertFalse((self.source / "docs" / "home.md").exists())

    def test_pages_that_are_gone_leave_the_sources(self):
        self.write("docs/later.md", "# Later\n")
        self.write("docs/more.md", "# More\n\n[later](later.md) [packages](../packages/README.md)\n")
        self.assertEqual(self.run_docs().returncode, 0)
        self.assertTrue((self.source / "docs" / "later.md").exists())
        (self.root / "docs" / "later.md").unlink()
        self.write("docs/more.md", "# More\n\n[packages](../packages/README.md)\n")
        self.assertEqual(self.run_docs().returncode, 0)
        self.assertFalse((self.source / "docs" / "later.md").exists())

    def test_python_without_a_docstring_is_refused_and_with_one_is_a_page(self):
        self.write("python/merganser/__init__.py", '"""Counts."""\nfrom ._count import Count, add\n\n__all__ = ["Count", "add"]\n')
        text = ('"""Counting. More."""\n\n\nclass Count:\n    """A count."""\n\n    def value(self):\n        """Returns it."""\n\n\n'
                'def add(more):\n    """Adds."""\n')
        self.write("python/merganser/_count.py", text)
        run = self.run_docs()
        self.assertEqual(run.returncode, 0, run.stdout + run.stderr)
        page = (self.source / "reference" / "python" / "count.rst").read_text()
        self.assertIn("Counting\n========\n", page)
        self.assertIn(".. autoclass:: merganser.Count\n", page)
        self.assertIn(".. autofunction:: merganser.add\n", page)
        self.write("python/merganser/_count.py", text.replace('"""Returns it."""', "pass"))
        self.refused("python/merganser/_count.py:7: value has no docstring")

    def test_the_core_is_right_without_packages(self):
        for gone in ("packages/graph", "packages"):
            shutil.rmtree(self.root / gone)
            if gone == "packages/graph":
                self.write("packages/README.md", "# Packages\n\n[graph](graph/README.md)\n")
                self.write("docs/more.md", "# More\n\n[packages](../packages/README.md)\n")
            run = self.run_docs()
            self.assertEqual(run.returncode, 0, run.stdout + run.stderr)
            start = (self.source / "docs" / "api.md").read_text()
            self.assertIn("../api/base/count.rst", start)
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
        self.refused("include/merganser/base/count.hpp: docs/less.md leads nowhere")

    def test_links_of_html_are_followed(self):
        self.write("a.html", '<p id="x"><a href="b.html#y">b</a><a href="#x">x</a><a href="c.html">c</a><a href="#z">z</a>')
        self.write("b.html", '<a name="w"></a>')
        self.assertEqual(list(docs.broken_html_links(self.root)),
                         ["a.html: #z: no such place", "a.html: b.html#y: no such place", "a.html: c.html leads nowhere"])

    def test_pages_of_earlier_builds_are_removed(self):
        for name in ("a.html", "old.html", "genindex.html", "py-modindex.html", "docs/b.html"):
            self.write(name, "<p>")
        self.write("searchindex.js", 'Search.setIndex({"docnames":["a","docs/b"]})')
        docs.remove_old_pages(self.root)
        self.assertEqual(sorted(p.relative_to(self.root).as_posix() for p in self.root.rglob("*.html")),
                         ["a.html", "docs/b.html", "genindex.html", "py-modindex.html"])


if __name__ == "__main__":
    unittest.main()
