#!/usr/bin/env python3
"""Reads the docstrings of the public headers: api_reference.py ROOT XML writes them to the folder XML, in Doxygen's format.

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
    """Returns comments for Doxygen that describe folders and the namespaces named after modules."""
    headers = "\n".join(header.read_text() for folder in layout.folders(root, "include") for header in folder.rglob("*.hpp"))
    text = "/** @dir merganser\n@brief The public headers, a folder for each module. */\n"
    text += f"/** @namespace merganser\n@brief {title}. */\n"
    for module, (holds, uses) in modules(root).items():
        uses = "It uses no other module" if uses == "-" else "Modules that it may use: " + ", ".join(uses.split())
        text += f"/** @dir merganser/{module}\n@brief Module {module}: {holds}.\n\n{uses}. */\n"
        if re.search(rf"^namespace merganser::{module} ", headers, flags=re.M):
            text += f"/** @namespace merganser::{module}\n@brief Module {module}: {holds}. */\n"
    return text


def configuration(root, work, output):
    """Returns the configuration of Doxygen. Headers are copied to one folder, at which names in the output begin, so that no path
    tells where the reference was made."""
    project = re.search(r'project\(\w+ VERSION ([0-9.]+)[^)]*DESCRIPTION "([^"]*)"', (root / "CMakeLists.txt").read_text())
    for folder in layout.folders(root, "include"):
        shutil.copytree(folder, work / "include", dirs_exist_ok=True)
    (work / "include" / "modules.dox").write_text(text_of_modules(root, project[2]))
    return (root / "tools" / "doxygen" / "Doxyfile").read_text() + f"""
PROJECT_NAME = merganser
PROJECT_NUMBER = {project[1]}
PROJECT_BRIEF = "{project[2]}"
INPUT = {work}/include
STRIP_FROM_PATH = {work}/include
STRIP_FROM_INC_PATH = {work}/include
OUTPUT_DIRECTORY = {work}
XML_OUTPUT = {output}
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
        if kind not in ("dir", "file", "namespace", "class", "struct", "union") or name.endswith(".dox"):
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


def broken_links(root, xml):
    """Yields a line for each document that a docstring names and that does not exist, but those of packages that are not there."""
    for path in sorted(xml.glob("*.xml")):
        definition = ElementTree.parse(path).getroot().find("compounddef")
        for link in definition.iter("ulink") if definition is not None else ():
            name = re.fullmatch(r"\.\./\.\./(.*)\.html", link.get("url"))
            file = root / (name[1] + ".md") if name else root
            if not file.exists() and not layout.is_left_out(root, file):
                yield f"include/{definition.find('location').get('file')}: {name[1]}.md leads nowhere"


def with_origin(root, line):
    """Replaces the path of a header's copy in a warning of Doxygen by its path in the repository."""
    def origin(header):
        found = (f / header[1] for f in layout.folders(root, "include"))
        return next((f.relative_to(root).as_posix() for f in found if f.exists()), header[0])

    return re.sub(r"\binclude/(merganser/[\w/.]+)", origin, line)


def build(root, output):
    """Writes Doxygen's XML of the public headers to a folder. Returns its warnings and the entities without a description; none if
    complete."""
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
        lines = lines or list(dict.fromkeys([*without_words(output), *broken_links(root, output)]))
        return [with_origin(root, line.replace(f"{work}/", "")) for line in lines]


def main():
    if len(sys.argv) != 3:
        print(__doc__, file=sys.stderr)
        return 2
    wrong = build(Path(sys.argv[1]).resolve(), Path(sys.argv[2]))
    print("\n".join(wrong) if wrong else f"all public headers are described: {sys.argv[2]}/index.xml")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
