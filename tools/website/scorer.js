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
