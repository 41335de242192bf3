"""Man pages (man(7) macros) from the descriptions of verbs."""
import re
import textwrap
from typing import NamedTuple


class About(NamedTuple):
    """What all pages say: version of the program, date of the pages, and the text of `merganser --help`."""

    version: str
    date: str
    overview: str


def escaped(text):
    """Returns text as roff prints it, with hyphens that can be copied as minus signs."""
    text = text.replace("\\", "\\e").replace("-", "\\-").replace('"', "\\(dq")
    # Long words may be broken behind their parts.
    text = re.sub(r"\S{30,}", lambda word: re.sub(r"([|,:/=\]])(?=.)", r"\1\\:", word[0]), text)
    return re.sub(r"(?m)^([.'])", r"\\&\1", text)


def filled(text):
    """Returns a paragraph as short lines of roff, none of which begins with a control character or a blank."""
    lines = textwrap.wrap(" ".join(text.split()), 64, break_long_words=False, break_on_hyphens=False)
    return "\n".join(escaped(line) for line in lines)


def body(text):
    """Returns paragraphs of --help; blocks of indented lines, which are examples, keep their lines."""
    out = []
    for block in re.split(r"\n\s*\n", text.strip("\n")):
        for indented, lines in grouped(block.split("\n")):
            if indented:
                out.append(".PP\n.RS 4\n.nf\n" + "\n".join(escaped(line.strip()) for line in lines) + "\n.fi\n.RE")
            else:
                out.append(".PP\n" + filled(" ".join(lines)))
    return re.sub(r"\A\.PP\n(?!\.RS)", "", "\n".join(out)) + "\n"


def grouped(lines):
    """Yields (is indented, lines) for runs of lines that are indented, or are not."""
    run = []
    for line in lines:
        indented = line.startswith("  ")
        if run and run[0] != indented:
            yield run[0], run[1:]
            run = []
        run = run or [indented]
        run.append(line)
    if run:
        yield run[0], run[1:]


def head(name, about):
    return f'.TH {escaped(name.upper())} 1 {about.date} "merganser {about.version}" "User Commands"\n.nh\n.ad l\n'


def page_name(verb):
    return "merganser-" + verb["name"].replace(" ", "-")


def option_text(option):
    """Returns the entry of one option or positional argument."""
    if option["positional"]:
        left = f"\\fI{escaped(option['name'])}\\fR"
    else:
        left = f"\\fB\\-\\-{escaped(option['name'])}\\fR"
        if option["letter"]:
            left = f"\\fB\\-{option['letter']}\\fR, " + left
        if not option["flag"] and option["kind"]:
            left += f" \\fI{escaped(option['kind'])}\\fR"
    help_text = option["help"]
    if option["default_text"] and not option["positional"]:
        help_text += f" [{option['default_text']}]"
    return f".TP\n{left}\n{filled(help_text)}\n"


def options_text(verb):
    shown = [o for o in verb["options"] if not o["hidden"]]
    out = "".join(option_text(o) for o in shown if o["positional"])
    out = f".SH ARGUMENTS\n{out}" if out else ""
    named = [o for o in shown if not o["positional"]]
    if named:
        out += ".SH OPTIONS\n"
    for section in dict.fromkeys(o["section"] for o in named):
        if section:
            out += f'.SS "{escaped(section)}"\n'
        out += "".join(option_text(o) for o in named if o["section"] == section)
    return out


def exit_status(about):
    """Returns the section on exit codes, as --help of the program tells them."""
    found = re.search(r"Exit codes: (.*?first\))\.", about.overview, re.S)
    assert found, "merganser --help tells no exit codes"
    return ".SH EXIT STATUS\n" + filled(found[1] + ".") + "\n"


def see_also(names):
    return ".SH SEE ALSO\n" + ",\n".join(f".BR {escaped(name)} (1)" for name in names[:-1]).replace(",\n", " ,\n") + (
        (" ,\n" if len(names) > 1 else "") + f".BR {escaped(names[-1])} (1)\n")


def verb_page(verb, verbs, about):
    family = verb["name"].split()[0]
    beside = [page_name(v) for v in verbs if v is not verb and v["name"].split()[0] == family]
    return (head(page_name(verb), about) + f".SH NAME\n{escaped(page_name(verb))} \\- {escaped(verb['summary'])}\n"
            f".SH SYNOPSIS\n.B merganser {escaped(verb['name'])}\n{escaped(verb['synopsis'].strip())}\n"
            ".SH DESCRIPTION\n" + body(verb["text"]) + options_text(verb) + exit_status(about) + see_also(["merganser", *beside]))


def main_page(verbs, about):
    what, *_ = about.overview.split("\n")
    out = head("merganser", about) + ".SH NAME\nmerganser \\- merges what is near, on many ranks\n"
    out += ".SH SYNOPSIS\n.B merganser\n.I VERB\n[\\fIarguments\\fR]\n.br\n.B merganser\n.I VERB\n.B \\-\\-help\n"
    out += ".br\n.B merganser \\-\\-version\n"
    out += ".SH DESCRIPTION\n" + filled(what) + "\n.PP\n" + filled(
        "Start it alone (ranks are threads), under mpirun or srun, or let it find the launcher:") + "\n"
    out += body("  merganser run -n 4 -- cluster in.nc -o out.nc --comm rma")
    out += ".PP\nThe page of each verb has its options; those of two words have a hyphen in\nthe name of their page.\n.SH VERBS\n"
    for package in dict.fromkeys(v["package"] for v in verbs):
        of_package = sorted((v for v in verbs if v["package"] == package), key=lambda v: v["name"])
        out += f'.SS "{escaped(package)}: {escaped(of_package[0]["package_title"])}"\n'
        for verb in of_package:
            out += f".TP\n.BR {escaped(page_name(verb))} (1)\n{filled(verb['summary'])}\n"
    return out + exit_status(about) + see_also([page_name(v) for v in sorted(verbs, key=lambda v: v["name"])])


def pages(verbs, about):
    """Returns {name of a file: text} of the page of the program and of one for each verb."""
    return {"merganser.1": main_page(verbs, about), **{page_name(v) + ".1": verb_page(v, verbs, about) for v in verbs}}
