"""Tables of simulated merge steps, and the comparison of prunings in words."""
STAGES = ("search", "exchange", "graph", "prune", "migrate", "merge", "step")
HEADINGS = ("ranks", "model", "pruning", *STAGES, "syncs", "waves", "chain", "msgs/rank", "late", "real s", "core s", "MiB", "digest")


def microseconds(seconds):
    """Formats seconds as microseconds, with three digits or more."""
    us = seconds * 1e6
    return f"{us:,.0f}" if us >= 100 else f"{us:.1f}" if us >= 1 else f"{us:.2f}"


def row(run):
    """Returns the entries of the table row of one simulated run of merge steps: times of the slowest rank, counts, costs of the
    simulation."""
    counts = run["counts"]
    synchronisations = counts["prune_syncs"] + counts["prune_reductions"]
    return [f"{run['ranks']:,}", run["model"], run["prune"], *[microseconds(run["slowest_s"][s]) for s in STAGES],
            str(synchronisations), str(counts["most_waves"]), str(counts["prune_rounds"]),
            f"{counts['messages'] / run['ranks']:.1f}", str(run["late_ranks"]), f"{run['real_s']:.1f}", f"{run['cpu_s']:.1f}",
            f"{run['peak_bytes'] / 2**20:,.0f}", counts["digest"][:12]]


def aligned(rows):
    """Formats table rows of equal length as right-aligned columns."""
    widths = [max(len(r[i]) for r in rows) for i in range(len(rows[0]))]
    lines = ["  ".join(cell.rjust(w) for cell, w in zip(r, widths)).rstrip() for r in rows]
    return "\n".join(lines)


def text(runs):
    """Formats the table of simulated runs of merge steps."""
    return aligned([list(HEADINGS)] + [row(r) for r in runs])


def sentences(runs):
    """Describes how the simulated times of the two prunings compare, and how the time of each grows with the ranks. @return lines"""
    by = {(r["model"], r["prune"], r["ranks"]): r["slowest_s"]["prune"] for r in runs}
    said = []
    for model in dict.fromkeys(r["model"] for r in runs):
        both = [n for (m, p, n) in by if m == model and p == "single-pass" and (model, "iterative", n) in by]
        for ranks in both:
            if not by[model, "single-pass", ranks]:  # one rank whose work takes no time
                continue
            ratio = by[model, "iterative", ranks] / by[model, "single-pass", ranks]
            said.append(f"{model}, {ranks:,} ranks: the published pruning takes {ratio:.1f} times as long as the single pass")
        for prune in dict.fromkeys(r["prune"] for r in runs):
            ranks = sorted(n for (m, p, n) in by if (m, p) == (model, prune))
            if len(ranks) > 1 and by[model, prune, ranks[0]]:
                growth = by[model, prune, ranks[-1]] / by[model, prune, ranks[0]]
                said.append(f"{model}, {prune}: from {ranks[0]:,} to {ranks[-1]:,} ranks pruning takes {growth:.2f} times as long")
    return said
