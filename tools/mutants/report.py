"""The list of mutants of a module with what became of them: tests/mutants/MODULE.tsv."""

REFUSED = "does not compile"


def line(site, texts, verdict):
    original, mutant = site.words(texts[site.path])
    return "\t".join([str(site.number), f"{site.path}:{site.line}:{site.column}", site.kind, original, mutant, verdict])


def survived(verdict):
    return verdict.startswith(("survived", "not run"))


def killed_percent(verdicts):
    judged = [v for v in verdicts.values() if v != REFUSED]
    return 100.0 * sum(not survived(v) for v in judged) / len(judged) if judged else 0.0


def summary(o, order, verdicts):
    values = list(verdicts.values())
    killed = [v for v in values if v.startswith("killed")]
    ended = sum(v.endswith(("(time)", "(memory)")) for v in killed)
    return (f"{o.module}, seed {o.seed}: {len(killed)} of {len(values) - values.count(REFUSED)} mutants killed "
            f"({killed_percent(verdicts):.0f} %; {ended} by time or memory), {sum(v.startswith('survived') for v in values)} survived, "
            f"{sum(v.startswith('not run') for v in values)} are not run by a test; drawn from {len(order)} places, "
            f"{values.count(REFUSED)} more do not compile")


def survivors(order, texts, verdicts):
    """file:line: original -> mutant."""
    for site in order:
        if survived(verdicts.get(site.number, "")):
            original, mutant = site.words(texts[site.path])
            yield f"{site.path}:{site.line}: {original} -> {mutant}" + f" ({verdicts[site.number]})" * (verdicts[site.number] != "survived")


def write(path, o, order, texts, verdicts):
    rows = [line(s, texts, verdicts[s.number]) for s in order if s.number in verdicts]
    head = [f"# ./x mutants {o.module} --seed {o.seed}", f"# {summary(o, order, verdicts)}",
            "# number\tplace\tkind\toriginal\tmutant\tverdict"]
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("\n".join(head + rows) + "\n")


def read(path, o, order, texts):
    """{number: verdict} of lines that were written for the same seed and the same code."""
    if not path.is_file() or path.read_text().split("\n", 1)[0] != f"# ./x mutants {o.module} --seed {o.seed}":
        return {}
    known = {line(s, texts, ""): s.number for s in order}
    rows = [row.rsplit("\t", 1) for row in path.read_text().splitlines() if row and row[0] != "#"]
    return {known[f"{row[0]}\t"]: row[1] for row in rows if len(row) == 2 and f"{row[0]}\t" in known}
