// Order of what the search finds. Sphinx's own scores, and what is added for pages that answer questions: the first pattern that
// fits the name of a page counts. tools/website/search.py reads the list.
var Places = [
  [/^docs\/questions$/, 4],
  [/tutorial/, 3],
  [/^docs\/(start|explanations|migration)\//, 2],
  [/^docs\/(README|glossary|sources|measurements(\/README)?|decisions\/.*)$/, -4],
  [/^docs\//, 2],
  [/^packages\/studies\//, 0],
  [/^packages\/.*\/docs\//, 3],
  [/^(CHANGELOG|CONTRIBUTING|README|index)$/, -4],
  [/^(api|reference)\//, 0],
  [/./, -2],
];
var Scorer = {
  score: ([docname, title, anchor, descr, score, filename, kind]) =>
    score + (descr === null ? Places.find(([pattern]) => pattern.test(docname))[1] : 0),
  objNameMatch: 11,
  objPartialMatch: 6,
  objPrio: { 0: 15, 1: 5, 2: -5 },
  objPrioDefault: 0,
  title: 15,
  partialTitle: 7,
  term: 5,
  partialTerm: 2,
};

// Pages that have all words come first, as Sphinx finds them. Behind them stand those that have some: each word counts with its score
// times the logarithm of how few pages have it.
const someWordsOnly = -1000;
const fewest = 20;
const pagesWithAllWords = Search.performTermsSearch;
Search.performTermsSearch = (words, excluded) => {
  const all = pagesWithAllWords(words, excluded);
  const passed = new Set(all.map(([page]) => page));
  const others = new Map();
  words.forEach((word) => {
    const found = pagesWithAllWords(new Set([word]), excluded);
    const weight = Math.log(Search._index.docnames.length / found.length);
    found
      .filter(([page]) => !passed.has(page))
      .forEach((result) => {
        const before = others.has(result[0]) ? others.get(result[0])[4] : someWordsOnly;
        result[4] = before + weight * result[4];
        others.set(result[0], result);
      });
  });
  const best = [...others.values()].sort((left, right) => right[4] - left[4]);
  return [...all, ...best.slice(0, fewest)];
};
