#!/usr/bin/env python3
"""Checks the links of all Markdown files and builds HTML: docs.py ROOT [OUTPUT]. Exit 1 names the links that lead nowhere."""
import html
import re
import shutil
import sys
from pathlib import Path

LINK = re.compile(r"!?\[[^\]]*\]\(([^)\s]+)\)")
STYLE = """body{max-width:56rem;margin:2rem auto;padding:0 1rem;font:16px/1.55 system-ui,sans-serif;color:#1d2730}
table{border-collapse:collapse}td,th{border:1px solid #d5dbe1;padding:.3rem .6rem;text-align:left;vertical-align:top}
pre{background:#f4f6f8;padding:.8rem;overflow-x:auto;border-radius:6px}code{font-size:.92em}img{max-width:100%}
a{color:#1f5f99}nav{font-size:.9rem;margin-bottom:2rem}"""


def pages(root):
    skip = ("build", ".")
    found = [p for p in root.rglob("*.md") if not p.relative_to(root).parts[0].startswith(skip)]
    return sorted(found, key=lambda p: (len(p.relative_to(root).parts), p))


def without_code(text):
    return re.sub(r"`[^`\n]*`", "", re.sub(r"^```.*?^```", "", text, flags=re.S | re.M))


def anchors(text):
    """Names of the headings, as code hosts make them."""
    names = set()
    for heading in re.findall(r"^#+\s+(.*)$", re.sub(r"^```.*?^```", "", text, flags=re.S | re.M), flags=re.M):
        names.add(re.sub(r"[^\w\- ]", "", heading.lower()).strip().replace(" ", "-"))
    return names


def broken_links(root):
    for page in pages(root):
        text = page.read_text()
        for target in LINK.findall(without_code(text)):
            if re.match(r"[a-z]+:", target):
                continue
            name, _, anchor = target.partition("#")
            file = (page.parent / name).resolve() if name else page
            if not file.exists():
                yield f"{page.relative_to(root)}: {target} leads nowhere"
            elif anchor and file.suffix == ".md" and anchor not in anchors(file.read_text()):
                yield f"{page.relative_to(root)}: {target}: no such heading"


def build(root, output):
    import markdown  # Debian: python3-markdown

    shutil.rmtree(output, ignore_errors=True)
    for page in pages(root):
        name = page.relative_to(root)
        text = page.read_text()
        title = (re.search(r"^# (.*)$", text, flags=re.M) or [None, name.stem])[1]
        up = "../" * (len(name.parts) - 1)
        body = markdown.markdown(text, extensions=["tables", "fenced_code", "toc"])
        body = re.sub(r'(href="(?![a-z]+:)[^"#]*)\.md(#|")', r"\1.html\2", body)
        nav = f'<nav><a href="{up}index.html">merganser</a> · <a href="{up}docs/architecture.html">architecture</a></nav>'
        to = output / name.with_suffix(".html")
        if name.name == "README.md" and len(name.parts) == 1:
            to = output / "index.html"
        body = body.replace('href="README.html', 'href="index.html')
        to.parent.mkdir(parents=True, exist_ok=True)
        to.write_text(f"<!doctype html><html lang=en><meta charset=utf-8><title>{html.escape(title)}</title>"
                      f"<style>{STYLE}</style>{nav}{body}</html>\n")
        for target in LINK.findall(without_code(text)):  # pictures and sources that the page shows
            file = (page.parent / target).resolve()
            if file.is_file() and file.suffix != ".md":
                copy = output / file.relative_to(root.resolve())
                copy.parent.mkdir(parents=True, exist_ok=True)
                shutil.copy(file, copy)


def main():
    if len(sys.argv) not in (2, 3):
        print(__doc__, file=sys.stderr)
        return 2
    root = Path(sys.argv[1]).resolve()
    broken = list(broken_links(root))
    if broken:
        print("\n".join(broken))
        return 1
    count = len(pages(root))
    if len(sys.argv) == 3:
        build(root, Path(sys.argv[2]))
        print(f"{count} pages, all links lead somewhere: {sys.argv[2]}/index.html")
    else:
        print(f"{count} pages, all links lead somewhere")
    return 0


if __name__ == "__main__":
    sys.exit(main())
