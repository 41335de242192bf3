"""Writes the sources of the site for Sphinx: documents, navigation, pages of headers, of the Fortran module and of Python."""
import importlib.util
import os
import re
import shutil
import tomllib
from pathlib import Path

import api_reference
import layout
import python_reference

HERE = Path(__file__).resolve().parent
# Code in Markdown, in which links do not count, or a link.
CODE_OR_LINK = re.compile(r"(^```.*?^```|`[^`\n]+`)|(!?\[[^\]]*\])\(([^)\s]+)\)", re.S | re.M)
PICTURES = (".svg", ".png")
# British spellings of the documents, and the American ones by which the search finds their pages too.
SPELLINGS = [(re.compile(british), american) for british, american in (
    ("(neighb|behavi|col)our", r"\1or"), ("centre", "center"), ("metre", "meter"), ("licence", "license"),
    ("(final|general|initial|normal|optim|parallel|random|real|recogn|symmetr|synchron|vector)is(?=e|ing|ation)", r"\1iz"))]
HOME = "docs/home.md"  # first page of the site
LANGUAGES = {".cpp": "cpp", ".hpp": "cpp", ".c": "c", ".h": "c", ".f90": "fortran", ".py": "python", ".sh": "bash"}


def write(path, text):
    """Writes a file unless it holds this text already, so that Sphinx reads only pages that have changed."""
    path.parent.mkdir(parents=True, exist_ok=True)
    if not path.exists() or path.read_text() != text:
        path.write_text(text)
    return path


def public_headers(root):
    """Returns {header: folder that holds it} of the public headers; header is the path in #include."""
    found = {}
    for folder in layout.folders(root, "include"):
        for header in sorted((folder / "merganser").rglob("*.h*")):
            if "detail" not in header.parts:
                found[header.relative_to(folder).as_posix()] = folder
    return found


def header_page(header):
    """Returns the page of a public header: api/MODULE/HEADER, without extension."""
    parts = header.split("/")
    module = parts[1] if len(parts) > 2 else "capi"
    return f"api/{module}/{parts[-1].rsplit('.', 1)[0]}"


def purpose(header):
    """Returns the first sentence of the comment below #pragma once in a header, without links."""
    lines = header.read_text().split("#pragma once\n")[-1].split("\n")
    text = " ".join(line.removeprefix("///").strip() for line in lines[:next(
        (i for i, line in enumerate(lines) if not line.startswith("///")), 0)])
    return re.split(r"(?<=[a-z)\d])\. ", text + " ")[0].strip().rstrip(".").replace("|", "\\|").replace("*", "\\*")


def source_page(root, file):
    """Returns the text of a page that shows a source file."""
    first = re.match(r"(?://|/\*|!>?|#|\"\"\") ?(?!!)(.*?)(\*/|\"\"\")?\n", file.read_text())
    language = LANGUAGES.get(file.suffix, "text")
    return (f"---\norphan: true\n---\n\n# {file.name}\n\n{first[1].strip() if first else ''}\n\n"
            f"`{file.relative_to(root).as_posix()}`\n\n```{{literalinclude}} {file.name}\n:language: {language}\n```\n")


def american_words(text):
    """Returns the words of a text that American English spells otherwise, in American spelling, in the order of the alphabet."""
    words = set(re.findall(r"[a-z]+", text.lower()))
    return sorted({new for word in words for british, american in SPELLINGS if (new := british.sub(american, word)) != word})


class Stage:
    """Folder of the sources of the site, and the files that stand in it."""

    def __init__(self, root, to):
        self.root, self.to = root, to
        self.headers = public_headers(root)
        self.keywords = tomllib.loads((HERE / "keywords.toml").read_text())
        self.written = set()

    def write(self, name, text):
        """Writes a page of the site."""
        self.written.add(write(self.to / name, text))

    def copy(self, file):
        """Copies a file of the repository to the same place in the sources of the site."""
        to = self.to / file.relative_to(self.root)
        to.parent.mkdir(parents=True, exist_ok=True)
        if not to.exists() or to.read_bytes() != file.read_bytes():
            shutil.copyfile(file, to)
        self.written.add(to)

    def target(self, page, link):
        """Returns what a link of a document becomes in the site: headers and sources have pages of their own."""
        name, _, anchor = link.partition("#")
        if re.match(r"[a-z]+:", link) or not name:
            return link
        file = (page.parent / name).resolve()
        here = self.root if page == self.root / HOME else page.parent
        if file == self.root / HOME:
            return Path(os.path.relpath(self.root / "index.md", here)).as_posix()
        for folder in layout.folders(self.root, "include"):
            if file.is_relative_to(folder) and file.relative_to(folder).as_posix() in self.headers:
                to = self.root / (header_page(file.relative_to(folder).as_posix()) + ".rst")
                return Path(os.path.relpath(to, here)).as_posix()
        if not file.is_file():
            return link
        to = Path(os.path.relpath(file, here)).as_posix() + ("#" + anchor if anchor else "")
        if file.suffix == ".md":
            return to
        self.copy(file)
        if file.suffix in PICTURES or file.suffix == ".ipynb":
            return to
        self.write(file.relative_to(self.root).as_posix() + ".md", source_page(self.root, file))
        return to + ".md"

    def document(self, page, contents=""):
        """Writes a document of the repository as a page of the site; the first one with the tables of contents."""
        text = layout.without_left_out(self.root, page)
        words = self.keywords.get(page.relative_to(self.root).as_posix().removesuffix(".md"), "").split()
        words += american_words(text)
        head = "---\nmyst:\n  html_meta:\n    keywords: " + ", ".join(words) + "\n---\n\n" if words else ""
        text = head + CODE_OR_LINK.sub(lambda m: m[0] if m[1] else f"{m[2]}({self.target(page, m[3])})", text)
        self.write("index.md" if contents else page.relative_to(self.root), text + contents)

    def reference(self):
        """Writes the pages of the public headers, of the Fortran module, and of the Python package."""
        tables, by_module = api_reference.modules(self.root), {}
        for header, folder in self.headers.items():
            page = header_page(header)
            by_module.setdefault(page.split("/")[1], []).append((page.split("/")[2], header, purpose(folder / header)))
            # Out of the tables of contents, which are on every page: the page of the module leads here.
            self.write(page + ".rst", f":orphan:\n\n{header}\n{'=' * len(header)}\n\n"
                       f"Module :doc:`{page.split('/')[1]} <index>`.\n\n.. doxygenfile:: {header}\n")
        for module, pages in by_module.items():
            holds, uses = tables.get(module, ("", "-"))
            used = "" if uses == "-" else "It may use " + ", ".join(f"[{m}](../{m}/index.md)" if m in by_module else m
                                                                    for m in uses.split()) + ".\n\n"
            rows = "".join(f"| [{header.removeprefix('merganser/')}]({page}.rst) | {text} |\n"
                           for page, header, text in sorted(pages))
            self.write(f"api/{module}/index.md", f"# Module {module}\n\n{holds[:1].upper()}{holds[1:]}.\n\n{used}"
                       f"| header | what it is for |\n|---|---|\n{rows}")
        self.write("api/index.md", "# C++ and C\n\nThe public headers, a folder for each module: [how to read them]"
                   "(../docs/api.md). The interface for C is the module capi.\n\n```{toctree}\n:maxdepth: 1\n\n"
                   + "".join(f"{module}/index\n" for module in sorted(by_module)) + "```\n")
        if (self.root / "fortran").is_dir() and importlib.util.find_spec("ford"):
            import fortran_reference
            self.write("reference/fortran.md", fortran_reference.page(self.root))
        if (self.root / "python" / "merganser").is_dir():
            pages = list(python_reference.pages(self.root))
            for name, text in pages:
                self.write(f"reference/python/{name}.rst", text)
            self.write("reference/python/index.md", "# Python package\n\nThe public names of the package `merganser`: "
                       "[how to use them](../../docs/python.md).\n\n```{toctree}\n" + "\n".join(n for n, _ in pages) + "\n```\n")

    def tidy(self):
        """Removes what an earlier build has left in the folder."""
        for file in self.to.rglob("*"):
            if file.is_file() and file not in self.written:
                file.unlink()


def entry(root, page, titles):
    """Returns a line of a table of contents: the name of a page, with a title where it is not the page's own."""
    name, title = page.removesuffix(".md"), titles.get(page)
    heading = re.match(r"# Tutorial: (.)(.*)", (root / page).read_text()) if page != name else None
    if heading:
        title = heading[1].upper() + heading[2]
    return f"{title} <{name}>" if title else name


def navigation(root, documents):
    """Returns the tables of contents of the site. A document that no part names stands in the last part."""
    table = tomllib.loads((HERE / "navigation.toml").read_text())
    left, lists = {d.relative_to(root).as_posix() for d in documents}, []
    for part in table["part"]:
        pages = []
        for pattern in part["pages"]:
            if pattern.startswith(("api/", "reference/")):
                pages.append(pattern)
                continue
            found = sorted(n for n in left if Path(n).match(pattern) and len(Path(n).parts) == len(Path(pattern).parts))
            pages += found
            left -= set(found)
        lists.append((part["caption"], pages))
    lists[-1][1].extend(sorted(left))
    return "\n".join("```{toctree}\n:hidden:\n:caption: " + caption + "\n\n" + "\n".join(entry(root, p, table["titles"]) for p in pages)
                     + "\n```\n" for caption, pages in lists if pages)


def stage(root, to, documents):
    """Writes the sources of the site to a folder, of the documents given."""
    site = Stage(root, to)
    site.reference()
    for page in documents:
        if page != root / HOME:
            site.document(page)
    if root / HOME in documents:
        site.document(root / HOME, "\n" + navigation(root, [page for page in documents if page != root / HOME]))
    site.write("_static/style.css", (HERE / "style.css").read_text())
    site.tidy()
