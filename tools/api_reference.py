#!/usr/bin/env python3
"""Builds the API reference from the docstrings of the public headers: api_reference.py ROOT OUTPUT.

Exit 1 names every warning of Doxygen, and every header, module, namespace, class, enumeration and function without a word.
"""
import re
import shutil
import subprocess
import sys
import tempfile
import xml.etree.ElementTree as ElementTree
from pathlib import Path

import layout

TABLE_OF_MODULES = "docs/architecture.md"
FIRST_PAGE = "docs/api.md"


def modules(root):
    """Returns {name: (contents, modules it may use)} of the modules that are there, from the tables of docs/architecture.md,
    without Markdown links."""
    found = {}
    tables = re.findall(r"^\| module \|.*?\n\n", (root / TABLE_OF_MODULES).read_text() + "\n\n", flags=re.S | re.M)
    for line in "".join(tables).split("\n"):
        cells = [cell.strip() for cell in line.strip("| ").split("|")]
        if any((f / "merganser" / cells[0]).is_dir() for f in layout.folders(root, "include")) and len(cells) >= 3:
            found[cells[0]] = (re.sub(r"[:,]?( see)? \[[^\]]*\]\([^)]*\)", "", cells[1]), cells[2])
    return found


def text_of_modules(root, title):
    """Returns comments for Doxygen that describe folders, the namespaces named after modules, and the examples."""
    headers = "\n".join(header.read_text() for folder in layout.folders(root, "include") for header in folder.rglob("*.hpp"))
    text = "/** @dir merganser\n@brief The public headers, a folder for each module. */\n"
    text += f"/** @namespace merganser\n@brief {title}. */\n"
    for module, (holds, uses) in modules(root).items():
        uses = "It uses no other module" if uses == "-" else "Modules that it may use: " + ", ".join(uses.split())
        text += f"/** @dir merganser/{module}\n@brief Module {module}: {holds}.\n\n{uses}. */\n"
        if re.search(rf"^namespace merganser::{module} ", headers, flags=re.M):
            text += f"/** @namespace merganser::{module}\n@brief Module {module}: {holds}. */\n"
    for example in sorted(e for folder in layout.folders(root, "examples") for e in folder.glob("*.cpp")):
        first = re.match(r"// (.*)\n", example.read_text())
        text += f"/** @example {example.name}\n{first[1] if first else ''} */\n"
    return text


def configuration(root, work, output):
    """Returns the configuration of Doxygen. Headers, first page and modules are copied to one folder, at which names in the
    output begin: so the first page is in no folder, and no path tells where the reference was made."""
    project = re.search(r'project\(\w+ VERSION ([0-9.]+)[^)]*DESCRIPTION "([^"]*)"', (root / "CMakeLists.txt").read_text())
    for folder in layout.folders(root, "include"):
        shutil.copytree(folder, work / "include", dirs_exist_ok=True)
    (work / "include" / Path(FIRST_PAGE).name).write_text(layout.without_left_out(root, root / FIRST_PAGE))
    (work / "include" / "modules.dox").write_text(text_of_modules(root, project[2]))
    return (root / "tools" / "doxygen" / "Doxyfile").read_text() + f"""
PROJECT_NAME = merganser
PROJECT_NUMBER = {project[1]}
PROJECT_BRIEF = "{project[2]}"
INPUT = {work}/include
STRIP_FROM_PATH = {work}/include
STRIP_FROM_INC_PATH = {work}/include
USE_MDFILE_AS_MAINPAGE = {work}/include/{Path(FIRST_PAGE).name}
EXAMPLE_PATH = {" ".join(str(folder.relative_to(root)) for folder in layout.folders(root, "examples"))}
OUTPUT_DIRECTORY = {work}
XML_OUTPUT = xml
HTML_OUTPUT = {output}
WARN_LOGFILE = {work}/warnings
"""


def has_brief(element):
    """Returns True if an entity in Doxygen's XML has a brief description."""
    return any(text.strip() for text in element.find("briefdescription").itertext())


def without_words(xml):
    """Yields a line for each public entity of the headers that has no brief description in Doxygen's XML. Constructors,
    operators, overriding functions and overloads of a described function need none."""
    for compound in ElementTree.parse(xml / "index.xml").getroot():
        kind, name = compound.get("kind"), compound.find("name").text
        if kind not in ("dir", "file", "namespace", "class", "struct", "union") or name.endswith((".md", ".dox")):
            continue
        definition = ElementTree.parse(xml / (compound.get("refid") + ".xml")).getroot().find("compounddef")
        if definition.get("prot", "public") == "public" and not has_brief(definition):
            yield f"include/{definition.find('location').get('file')}: {kind} {name} has no description"
        if kind == "dir" or (kind == "file" and not name.endswith(".h")):  # what C++ declares is in namespaces
            continue
        members = [member for member in definition.iter("memberdef")
                   if member.get("kind") in ("function", "enum", "typedef") and member.get("prot", "public") == "public"]
        described = {member.find("name").text for member in members if has_brief(member)}
        for member in members:
            own, at = member.find("name").text, member.find("location")
            clear = own.startswith(("operator", "~")) or own == name.split("::")[-1] or member.find("reimplements") is not None
            if own not in described and not clear:
                yield f"include/{at.get('file')}:{at.get('line')}: {member.get('kind')} {name}::{own} has no description"


def mend(output):
    """Removes from the HTML of the API reference links to a list of nested classes that is missing: Doxygen 1.9.4 writes them
    where all nested classes are private."""
    for page in output.glob("*.html"):
        text = page.read_text()
        if '"#nested-classes"' in text and 'name="nested-classes"' not in text:
            page.write_text(re.sub(r'<a href="#nested-classes">Classes</a>( &#124;)?\n?', "", text))


def with_origin(root, line):
    """Replaces the path of a header's copy in a warning of Doxygen by its path in the repository."""
    def origin(header):
        found = (f / header[1] for f in layout.folders(root, "include"))
        return next((f.relative_to(root).as_posix() for f in found if f.exists()), header[0])

    return re.sub(r"\binclude/(merganser/[\w/.]+)", origin, line)


def build(root, output):
    """Builds the API reference by Doxygen. Returns its warnings and the entities without a description; none if complete."""
    if shutil.which("doxygen") is None:
        return ["doxygen is not installed (Debian: doxygen)"]
    shutil.rmtree(output, ignore_errors=True)
    output.mkdir(parents=True)
    with tempfile.TemporaryDirectory() as folder:
        work = Path(folder).resolve()
        run = subprocess.run(["doxygen", "-"], cwd=root, input=configuration(root, work, output.resolve()), text=True,
                             capture_output=True)
        warnings = (work / "warnings").read_text() if (work / "warnings").exists() else ""
        lines = list(dict.fromkeys(line for line in (warnings + run.stderr).split("\n") if line.strip()))
        if run.returncode != 0 and not lines:
            lines = [f"doxygen ended with {run.returncode}"]
        lines = lines or list(without_words(work / "xml"))
        mend(output)
        return [with_origin(root, line.replace(f"{work}/include/{Path(FIRST_PAGE).name}", FIRST_PAGE).replace(f"{work}/", ""))
                for line in lines]


def main():
    if len(sys.argv) != 3:
        print(__doc__, file=sys.stderr)
        return 2
    wrong = build(Path(sys.argv[1]).resolve(), Path(sys.argv[2]))
    print("\n".join(wrong) if wrong else f"all public headers are described: {sys.argv[2]}/index.html")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
