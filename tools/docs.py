#!/usr/bin/env python3
"""Checks all Markdown files and builds HTML and the API reference: docs.py ROOT [OUTPUT]. Exit 1 names what is wrong.

Checked: links lead somewhere; every document can be reached from the README; publications named in brackets are in
docs/sources.md. With OUTPUT also: what tools/api_reference.py checks, and the links of all HTML that was written.
A link into a package that is not there (packages/ may be deleted, or a part of it) is not followed, and is a word in HTML.
"""
import html
import os
import re
import shutil
import sys
import urllib.parse
from pathlib import Path

import api_reference
import layout

LINK = re.compile(r"!?\[[^\]]*\]\(([^)\s]+)\)")
SOURCE = re.compile(r"\[([a-z]+(?:19|20)\d\d)\b")
SOURCES = "docs/sources.md"
API = "docs/api.md"  # the first page of the API reference
STYLE = """body{max-width:56rem;margin:2rem auto;padding:0 1rem;font:16px/1.55 system-ui,sans-serif;color:#1d2730}
table{border-collapse:collapse}th:empty{display:none}
td,th{border:1px solid #d5dbe1;padding:.3rem .6rem;text-align:left;vertical-align:top}
pre{background:#f4f6f8;padding:.8rem;overflow-x:auto;border-radius:6px}code{font-size:.92em}img{max-width:100%}
a{color:#1f5f99}nav{font-size:.9rem;margin-bottom:2rem}"""


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


def html_name(name):
    """Returns the name of the HTML file that is built from a Markdown page."""
    if name.as_posix() == API:
        return Path("api/index.html")
    return name.with_name("index.html") if name.name == "README.md" else name.with_suffix(".html")


def build(root, output):
    """Writes an HTML page for each Markdown file except the first one of the API reference, and copies the files they link
    to."""
    import markdown  # Debian: python3-markdown

    shutil.rmtree(output, ignore_errors=True)
    for page in pages(root):
        name = page.relative_to(root)
        if name.as_posix() == API:
            continue
        text = layout.without_left_out(root, page)
        title = (re.search(r"^# (.*)$", text, flags=re.M) or [None, name.stem])[1]
        to = output / html_name(name)

        def path_to(other):
            return os.path.relpath(output / html_name(Path(other)), to.parent)

        def href(match):
            file = (page.parent / match[1]).resolve()
            return f'href="{path_to(file.relative_to(root))}{match[2] or ""}"'

        body = markdown.markdown(text, extensions=["tables", "fenced_code", "toc"],
                                 extension_configs={"toc": {"slugify": heading_anchor}})
        body = re.sub(r'href="(?![a-z]+:)([^"#]+\.md)(#[^"]*)?"', href, body)
        nav = " · ".join(f'<a href="{path_to(other)}">{word}</a>' for other, word in
                         (("README.md", "merganser"), ("docs/README.md", "documents"), (API, "API reference")))
        to.parent.mkdir(parents=True, exist_ok=True)
        to.write_text(f"<!doctype html><html lang=en><meta charset=utf-8><title>{html.escape(title)}</title>"
                      f"<style>{STYLE}</style><nav>{nav}</nav>{body}</html>\n")
        for _, file, _ in targets(root, page):  # pictures and sources that the page shows
            if file.is_file() and file.suffix != ".md":
                copy = output / file.relative_to(root)
                copy.parent.mkdir(parents=True, exist_ok=True)
                shutil.copy(file, copy)


def broken_html_links(output):
    """Yields a line for each link of the HTML in a folder that leads nowhere. Files that the search of the API reference loads
    are left out."""
    files = [p for p in sorted(output.rglob("*.html")) if p.parent.name != "search"]
    texts = {p.resolve(): p.read_text(errors="replace") for p in files}
    names = {p: {html.unescape(n) for n in re.findall(r'\b(?:id|name)="([^"]*)"', text)} for p, text in texts.items()}
    for page, text in texts.items():
        for link in sorted(set(re.findall(r'\b(?:href|src)="([^"]*)"', text))):
            link = html.unescape(link)
            if re.match(r"[a-z]+:", link) or link in ("", "#"):
                continue
            name, _, anchor = link.partition("#")
            file = (page.parent / urllib.parse.unquote(name)).resolve() if name else page
            if not file.exists():
                yield f"{page.relative_to(output.resolve())}: {link} leads nowhere"
            elif anchor and file in names and urllib.parse.unquote(anchor) not in names[file]:
                yield f"{page.relative_to(output.resolve())}: {link}: no such place"


def main():
    if len(sys.argv) not in (2, 3):
        print(__doc__, file=sys.stderr)
        return 2
    root = Path(sys.argv[1]).resolve()
    wrong = [*broken_links(root), *unreachable(root), *unknown_sources(root)]
    where = ""
    if not wrong and len(sys.argv) == 3:
        output = Path(sys.argv[2])
        build(root, output)
        wrong = api_reference.build(root, output / "api") or list(broken_html_links(output))
        where = f": {output}/index.html, {output}/api/index.html"
    if wrong:
        print("\n".join(wrong))
        return 1
    print(f"{len(pages(root))} pages, all links lead somewhere{where}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
