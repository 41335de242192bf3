"""The check of the site's search scores pages as Sphinx's search does, with what scorer.js adds; American spellings find pages."""
import json
import sys
import tempfile
import tomllib
import unittest
from pathlib import Path

WEBSITE = Path(__file__).resolve().parents[2] / "tools" / "website"
sys.path[:0] = [str(WEBSITE), str(WEBSITE.parent)]
import pages  # noqa: E402
import search  # noqa: E402

INDEX = {
    "stopwords": ["with"],
    "docnames": ["CHANGELOG", "docs/merge", "docs/questions", "api/cluster/merge", "tests/notes"],
    "titles": ["Changelog", "Merging", "Questions", "merge.hpp", "Notes"],
    "terms": {"merg": [0, 1, 2, 3, 4], "rank": [0, 2], "onlyher": 3, "mergeabl": 4},
    "titleterms": {"merg": [1, 2]},
    "alltitles": {"Merging": [[1, None]], "Who merges with whom?": [[2, "who"]]},
}


class Search(unittest.TestCase):
    def setUp(self):
        self.addCleanup(setattr, search, "stemmed", search.stemmed)
        search.stemmed = lambda words, _passed_over: [word.removesuffix("ing").removesuffix("s") for word in words.lower().split()]

    def test_titles_come_first_then_places(self):
        self.assertEqual(search.results(INDEX, "merging"),
                         ["docs/questions", "docs/merge", "api/cluster/merge", "tests/notes", "CHANGELOG"])

    def test_pages_with_all_words_come_before_those_with_some(self):
        self.assertEqual(search.results(INDEX, "merging ranks"),
                         ["docs/questions", "CHANGELOG", "docs/merge", "api/cluster/merge", "tests/notes"])
        self.assertEqual(search.results(INDEX, "nowhere"), [])

    def test_pages_with_rare_words_come_before_those_with_frequent_ones(self):
        index = {**INDEX, "docnames": [f"api/{letter}" for letter in "abcde"], "titles": list("abcde"), "titleterms": {}, "alltitles": {},
                 "terms": {"frequent": [0, 1, 2], "rare": [3, 2]}}
        self.assertEqual(search.results(index, "frequent rare nowhere"), ["api/c", "api/d", "api/a", "api/b"])

    def test_a_number_in_place_of_a_list_is_one_page(self):
        self.assertEqual(search.results(INDEX, "onlyher"), ["api/cluster/merge"])

    def test_a_part_of_a_word_counts_less(self):
        self.assertEqual(search.results(INDEX, "mergeab"), ["tests/notes"])

    def test_a_heading_that_holds_the_query_is_found(self):
        self.assertEqual(search.results(INDEX, "merges with whom")[:1], ["docs/questions"])

    def test_the_index_is_read_from_the_script(self):
        with tempfile.TemporaryDirectory() as folder:
            (Path(folder) / "_static").mkdir()
            (Path(folder) / "_static" / "language_data.js").write_text('const stopwords = new Set(["with"]);\n')
            index = {name: value for name, value in INDEX.items() if name != "stopwords"}
            (Path(folder) / "searchindex.js").write_text("Search.setIndex(" + json.dumps(index) + ")")
            self.assertEqual(search.load(Path(folder)), INDEX)

    def test_every_page_has_a_place(self):
        for name in (*INDEX["docnames"], "packages/graph/docs/msf", "index", "examples/01_cluster.cpp"):
            self.assertTrue(any(pattern.search(name) for pattern, _ in search.places()), name)

    def test_words_are_found_in_american_spelling(self):
        self.assertEqual(pages.american_words("Neighbours of a `centre`, neighbourhoods; synchronising promises otherwise, no parameter"),
                         ["center", "neighborhoods", "neighbors", "synchronizing"])
        self.assertEqual(pages.american_words("A neighbor, a parameter: advise precisely, realistic or revised"), [])

    def test_there_are_twenty_questions_and_twenty_of_public_trackers(self):
        questions = tomllib.loads((WEBSITE / "questions.toml").read_text())["question"]
        sources = [question["source"] for question in questions if "source" in question]
        self.assertGreaterEqual(len(sources), 20)
        self.assertGreaterEqual(len(questions) - len(sources), 20)
        self.assertEqual(len(sources), len(set(sources)))
        for source in sources:
            self.assertRegex(source, r"^[\w-]+/[\w-]+#\d+$")
        self.assertLessEqual({"hdbscan", "warpx", "chombo-discharge", "ompi", "SOS", "networkit"},
                             {source.split("/")[1].split("#")[0] for source in sources})


if __name__ == "__main__":
    unittest.main()
