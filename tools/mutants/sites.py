"""Places that can be mutated, the draw of some of them, and the text in which each hides behind a switch.

Text is one character a byte (latin-1): compilers count bytes."""
import random
import re
from dataclasses import dataclass, field


@dataclass
class Site:
    """One mutation. `mutant` is what stands in place of text[start:end]: texts, and (start, end) of what stays of it."""
    path: str
    line: int
    column: int
    start: int
    end: int
    kind: str
    how: str  # choose: the mutant or the original; flip: the opposite truth; skip: nothing
    mutant: list = field(default_factory=list)
    number: int = 0

    def outer_first(self):
        return self.start, -self.end, self.how == "choose", self.kind != "return"

    def words(self, text):
        """Returns the original and the mutant, each on one line."""
        language = "python" if self.path.endswith(".py") else "c++"
        original = brief(text[self.start:self.end], language)
        if self.how == "flip":
            return original, f"!({original})"
        if self.how == "skip":
            return original, "(left out)"
        return original, brief("".join(p if isinstance(p, str) else text[slice(*p)] for p in self.mutant), language)


def without_comments(text, language):
    return COMMENT[language].sub(lambda m: m[1] or "", text)


def brief(text, language):
    text = " ".join(without_comments(text, language).encode("latin-1").decode("utf-8", "replace").split())
    return text if len(text) <= 100 else f"{text[:60]} ... {text[-35:]}"


def drawn(sites, module, seed):
    """All sites in the order in which they are taken, numbered from 1."""
    out = sorted(sites, key=lambda s: (s.path, s.start, s.end, s.kind, s.how))
    random.Random(f"{module}/{seed}").shuffle(out)
    for number, site in enumerate(out, 1):
        site.number = number
    return out


# What hides a site, by language: {n} is its number, {o} the original, {m} the mutant.
FORMS = {
    "c++": {"choose": "(::merganser_mutant::on({n}) ? ({m}) : ({o}))",
            "flip": "(::merganser_mutant::on({n}) != static_cast<bool>({o}))",
            "skip": "if (::merganser_mutant::on({n})) {{}} else {o}"},
    "python": {"choose": "(({m}) if merganser_mutant({n}) else ({o}))",
               "flip": "(merganser_mutant({n}) != bool({o}))",
               "skip": "(merganser_mutant({n}) or ({o}))"},
}
# A comment, or a string or character in which there is none.
COMMENT = {"c++": re.compile(r'//[^\n]*|("(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])+\')'),
           "python": re.compile(r'#[^\n]*|("(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])*\')')}


def rewritten(text, sites, language, start=0, end=None):
    """text[start:end] with all sites in it behind switches. Lines keep their numbers."""
    end = len(text) if end is None else end
    out, at = [], start
    waiting = sorted((s for s in sites if start <= s.start and s.end <= end), key=Site.outer_first)
    while waiting:
        site, waiting = waiting[0], waiting[1:]
        inside = [s for s in waiting if s.end <= site.end]
        waiting = [s for s in waiting if s.start >= site.end]
        original = rewritten(text, inside, language, site.start, site.end)
        mutant = "".join(p if isinstance(p, str) else f"({rewritten(text, inside, language, *p)})" for p in site.mutant)
        mutant = without_comments(mutant, language).replace("\n", " ")
        out += [text[at:site.start], FORMS[language][site.how].format(n=site.number, m=mutant, o=original)]
        at = site.end
    return "".join(out) + text[at:end]
