#!/usr/bin/env python3
"""Checks all documents, and writes what Sphinx makes the site of. Exit 1 names what is wrong.

docs.py ROOT            links of Markdown lead somewhere; every document can be reached from the README; publications named in
                        brackets are in docs/sources.md
docs.py ROOT FOLDER     the same; docstrings of C++, C, Python and, where FORD is there, Fortran; writes FOLDER/source for Sphinx,
                        and FOLDER/xml
docs.py --html FOLDER   all links of the HTML in a folder lead somewhere; lists those to other sites in FOLDER/external-links.txt

A link into a package that is not there (packages/ may be deleted, or a part of it) is not followed, and is a word in the site.
"""
import html
import importlib.util
import json
import re
import sys
import urllib.parse
from pathlib import Path

sys.path.append(str(Path(__file__).resolve().parent / "website"))
import api_reference  # noqa: E402
import layout  # noqa: E402

LINK = re.compile(r"!?\[[^\]]*\]\(([^)\s]+)\)")
SOURCE = re.compile(r"\[([a-z]+(?:19|20)\d\d)\b")
SOURCES = "docs/sources.md"


def pages(root):
    """Returns the Markdown files of the repository outside of builds and hidden folders, those of the root first."""
    skip = ("build", ".")
    found = [p for p in root.rglob("*.md") if not p.relative_to(root).parts[0].startswith(skip)]
    return sorted(found, key=lambda p: (len(p.relative_to(root).parts), p))


def without_fences(text):
    """Returns a Markdown text without its fenced code blocks, in which links and headings do not count."""
    return re.sub(r"^```.*?^```", "", text, flags=re.S | re.M)


def without_code(text):
    """Returns a Markdown text without its fenced code blocks and inline code."""
    return re.sub(r"`[^`\n]*`", "", without_fences(text))


def heading_anchor(heading, _separator="-"):
    """Returns the anchor of a Markdown heading, as code hosts derive it."""
    return re.sub(r"[^\w\- ]", "", heading.lower()).strip().replace(" ", "-")


def anchors(text):
    """Returns the anchors of all headings of a Markdown page."""
    return {heading_anchor(heading) for heading in re.findall(r"^#+\s+(.*)$", without_fences(text), flags=re.M)}


def targets(root, page):
    """Yields (link, file, heading) of every link of a Markdown page within the repository, without those into packages that are
    not there."""
    for link in LINK.findall(without_code(page.read_text())):
        if not re.match(r"[a-z]+:", link):
            name, _, anchor = link.partition("#")
            file = (page.parent / name).resolve() if name else page
            if not layout.is_left_out(root, file):
                yield link, file, anchor


def broken_links(root):
    """Yields a line for each link of a Markdown page to a file or heading that does not exist."""
    for page in pages(root):
        for link, file, anchor in targets(root, page):
            if not file.exists():
                yield f"{page.relative_to(root)}: {link} leads nowhere"
            elif anchor and file.suffix == ".md" and anchor not in anchors(file.read_text()):
                yield f"{page.relative_to(root)}: {link}: no such heading"


def unreachable(root):
    """Yields a line for each Markdown page of the root, docs/ and packages (not of tests) that no chain of links from the README
    reaches."""
    reached, waiting = set(), [root / "README.md"]
    while waiting:
        page = waiting.pop()
        if page.suffix == ".md" and page.exists() and page not in reached:
            reached.add(page)
            waiting += [file for _, file, _ in targets(root, page)]
    for page in pages(root):
        parts = page.relative_to(root).parts
        parts = parts[2:] if parts[0] == "packages" and len(parts) > 2 else parts[-1:] if parts[0] == "packages" else parts
        if page not in reached and parts[0] in ("docs", page.name):
            yield f"{page.relative_to(root)}: no link leads here from README.md"


def unknown_sources(root):
    """Yields a line for each publication that a source or document names in brackets and docs/sources.md lacks."""
    list_of = root / SOURCES
    known = set(SOURCE.findall(list_of.read_text())) if list_of.exists() else set()
    files = [p for name in ("include", "src", "apps", "docs") for folder in layout.folders(root, name)
             for p in sorted(folder.rglob("*"))]
    for file in files + [r / "README.md" for r in layout.roots(root) if (r / "README.md").exists()]:
        if file.suffix in (".hpp", ".cpp", ".md") and file != list_of:
            for name in sorted(set(SOURCE.findall(file.read_text())) - known):
                yield f"{file.relative_to(root)}: [{name}] is not in {SOURCES}"


def wrong_docstrings(root, folder):
    """Writes Doxygen's XML and the sources of the site to a folder. Returns a line for each docstring that is wrong or missing."""
    import doxygen_xml
    import pages as site
    import python_reference

    wrong = api_reference.build(root, folder / "xml")
    wrong += python_reference.undescribed(root)
    if importlib.util.find_spec("ford"):
        import fortran_reference
        wrong += fortran_reference.undescribed(root)
    elif (root / "fortran").is_dir():
        print("not read: the Fortran module, which needs FORD; ./x docs installs it")
    if not wrong:
        doxygen_xml.prepare(folder / "xml")
        site.stage(root, folder / "source", pages(root))
    return wrong


def broken_html_links(output):
    """Yields a line for each link of the HTML in a folder that leads nowhere."""
    files = sorted(output.rglob("*.html"))
    texts = {p.resolve(): p.read_text(errors="replace") for p in files}
    names = {p: {html.unescape(n) for n in re.findall(r'\b(?:id|name)="([^"]*)"', text)} for p, text in texts.items()}
    for page, text in texts.items():
        for link in sorted(set(re.findall(r'\b(?:href|src)="([^"]*)"', text))):
            link = html.unescape(link)
            if re.match(r"[a-z]+:", link) or link in ("", "#"):
                continue
            name, _, anchor = link.partition("#")
            name = name.partition("?")[0]
            file = (page.parent / urllib.parse.unquote(name)).resolve() if name else page
            if not file.exists():
                yield f"{page.relative_to(output.resolve())}: {link} leads nowhere"
            elif anchor and file in names and urllib.parse.unquote(anchor) not in names[file]:
                yield f"{page.relative_to(output.resolve())}: {link}: no such place"


def external_links(output):
    """Returns the links of the HTML in a folder that lead to other sites."""
    return sorted({html.unescape(link) for page in output.rglob("*.html")
                   for link in re.findall(r'<a [^>]*\bhref="(https?:[^"]*)"', page.read_text(errors="replace"))})


def remove_old_pages(output):
    """Removes the HTML of earlier builds from a folder, whose pages the index of the search does not list."""
    index = output / "searchindex.js"
    if not index.exists():
        return
    text = index.read_text()
    names = {*json.loads(text[text.index("(") + 1:text.rindex(")")])["docnames"], "genindex", "search"}
    for page in output.rglob("*.html"):
        name = page.relative_to(output).as_posix().removesuffix(".html")
        if name not in names and not name.endswith("-modindex"):
            page.unlink()


def check_html(output):
    """Checks the links of the site that was built in a folder. Returns the exit code."""
    remove_old_pages(output)
    wrong = list(broken_html_links(output))
    links = external_links(output)
    (output / "external-links.txt").write_text("".join(f"{link}\n" for link in links))
    count = len(list(output.rglob("*.html")))
    print("\n".join(wrong) if wrong else f"{count} pages of HTML, all links lead somewhere; {len(links)} lead to other sites")
    return 1 if wrong else 0


def main():
    if len(sys.argv) not in (2, 3):
        print(__doc__, file=sys.stderr)
        return 2
    if sys.argv[1] == "--html":
        return check_html(Path(sys.argv[2]))
    root = Path(sys.argv[1]).resolve()
    wrong = [*broken_links(root), *unreachable(root), *unknown_sources(root)]
    if not wrong and len(sys.argv) == 3:
        wrong = wrong_docstrings(root, Path(sys.argv[2]).resolve())
    if wrong:
        print("\n".join(wrong))
        return 1
    print(f"{len(pages(root))} pages, all links lead somewhere")
    return 0


if __name__ == "__main__":
    sys.exit(main())
