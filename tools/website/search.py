#!/usr/bin/env python3
"""Asks the search of the built site the questions of questions.toml: search.py HTML [WORDS...]. Exit 1 names those that lead to no
page that answers them among the first five. With words: lists what they lead to.

The scores are those of Sphinx's searchtools.js: words of titles count 15 (7 in part of a word), words of the text 5 (2 in part),
a title that holds the query 15 times as much as it covers. What scorer.js adds is added: places, and, behind the pages that have all
words, the best of those that have some.
"""
import json
import math
import re
import sys
import tomllib
from pathlib import Path

FIRST = 5
# As in scorer.js.
SOME_WORDS_ONLY = -1000
FEWEST = 20


def places():
    """Returns [(pattern, score)] of scorer.js."""
    lines = (Path(__file__).resolve().parent / "scorer.js").read_text().split("\n")
    found = [re.fullmatch(r"  \[/(.*)/, (-?\d+)\],", line) for line in lines]
    return [(re.compile(match[1]), int(match[2])) for match in found if match]


def load(output):
    """Returns the index of a site that Sphinx has built, with the words that its search passes over ("stopwords")."""
    text = (output / "searchindex.js").read_text()
    index = json.loads(text[text.index("(") + 1:text.rindex(")")])
    words = re.search(r"stopwords = new Set\((\[.*?\])\)", (output / "_static" / "language_data.js").read_text(), flags=re.S)
    return {**index, "stopwords": json.loads(words[1])}


def stemmed(words, passed_over):
    """Returns the words of a query as the index has them: in lower case, reduced to their stems."""
    import snowballstemmer
    stemmer = snowballstemmer.stemmer("english")
    return [stemmer.stemWord(word) for word in re.findall(r"\w+", words.lower()) if word not in passed_over and not word.isdigit()]


def pages_with(terms, stem):
    """Returns the numbers of the pages that have a word of the index."""
    found = terms.get(stem, [])
    return found if isinstance(found, list) else [found]


def scores_of_word(index, stem):
    """Returns {page: score} of the pages that have a word, in their text or title, whole or in part of another word."""
    found = {}
    for terms, whole, part in ((index["terms"], 5, 2), (index["titleterms"], 15, 7)):
        for page in pages_with(terms, stem):
            found[page] = max(found.get(page, 0), whole)
        if len(stem) > 2 and stem not in terms:
            for other in terms:
                if stem in other:
                    for page in pages_with(terms, other):
                        found[page] = max(found.get(page, 0), part)
    return found


def scores_of_some(index, wanted, passed):
    """Returns {page: score} of the best pages that have some of the words, and are not among those that have all. They stand behind
    those: each word counts with its score times the logarithm of how few pages have it."""
    scores = {}
    for found in wanted:
        for page in found.keys() - passed:
            weight = math.log(len(index["docnames"]) / len(found))
            scores[page] = scores.get(page, SOME_WORDS_ONLY) + weight * found[page]
    return dict(sorted(scores.items(), key=lambda item: -item[1])[:FEWEST])


def results(index, words):
    """Returns the names of the pages that a query leads to, best first."""
    stems = stemmed(words, index["stopwords"])
    wanted = [(stem, scores_of_word(index, stem)) for stem in dict.fromkeys(stems)]
    counted = [found for stem, found in wanted if len(stem) > 2] or [found for _, found in wanted]
    scores = {page: max(found.get(page, 0) for _, found in wanted) for page in (set.intersection(*map(set, counted)) if counted else ())}
    scores |= scores_of_some(index, [found for _, found in wanted], scores.keys())
    query = words.lower().strip()
    for title, found in index["alltitles"].items():
        title = title.lower().strip()
        if query in title and len(query) >= len(title) / 2:
            for page, anchor in found:
                score = round(15 * len(query) / len(title)) + (1 if anchor is None else 0)
                scores[page] = max(scores.get(page, 0), score)
    names, added = index["docnames"], places()
    for page in scores:
        scores[page] += next(score for pattern, score in added if pattern.search(names[page]))
    # Pages of one score stand in the order of their titles.
    return [names[page] for page in sorted(scores, key=lambda p: (-scores[p], index["titles"][p].lower()))]


def main():
    if len(sys.argv) < 2:
        print(__doc__, file=sys.stderr)
        return 2
    index = load(Path(sys.argv[1]))
    if len(sys.argv) > 2:
        print("\n".join(results(index, " ".join(sys.argv[2:]))[:20]))
        return 0
    questions = tomllib.loads((Path(__file__).resolve().parent / "questions.toml").read_text())["question"]
    wrong = 0
    for question in questions:
        found = results(index, question["words"])[:FIRST]
        if not set(found) & set(question["pages"]):
            wrong += 1
            print(f"search: \"{question['words']}\" leads to {', '.join(found) or 'nothing'}; "
                  f"wanted: {', '.join(question['pages'])}")
    print(f"search: {len(questions) - wrong} of {len(questions)} questions lead to a page that answers them")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
