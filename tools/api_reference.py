#!/usr/bin/env python3
"""Builds the API reference from the docstrings of the public headers: api_reference.py ROOT OUTPUT.

Exit 1 names every warning of Doxygen, and every header, room, namespace, class, enumeration and function without a word.
"""
import re
import shutil
import subprocess
import sys
import tempfile
import xml.etree.ElementTree as ElementTree
from pathlib import Path

TABLE_OF_ROOMS = "docs/architecture.md"


def rooms(root):
    """{name: (what it holds, rooms it may use)} of the table of rooms, its Markdown links taken out."""
    found = {}
    for line in (root / TABLE_OF_ROOMS).read_text().split("\n"):
        cells = [cell.strip() for cell in line.strip().strip("|").split("|")]
        if line.startswith("|") and len(cells) >= 3 and (root / "include" / "merganser" / cells[0]).is_dir():
            found[cells[0]] = (re.sub(r",? ?(?:see |: )?\[[^\]]*\]\([^)]*\)", "", cells[1]).rstrip(":; "), cells[2])
    return found


def text_of_rooms(root):
    """Docstrings of folders, of the namespaces that are called as they are, and of the examples, for Doxygen."""
    headers = "\n".join(header.read_text() for header in (root / "include").rglob("*.hpp"))
    text = "/** @dir include/merganser\n@brief The public headers, a folder for each room. */\n"
    for room, (holds, uses) in rooms(root).items():
        uses = "uses no other room" if uses == "-" else "may use " + ", ".join(uses.split())
        text += f"/** @dir merganser/{room}\n@brief Room {room}: {holds}.\n\nIt {uses}. */\n"
        if re.search(rf"^namespace merganser::{room} ", headers, flags=re.M):
            text += f"/** @namespace merganser::{room}\n@brief Room {room}: {holds}. */\n"
    for example in sorted((root / "examples").glob("*.cpp")):
        first = re.match(r"// (.*)\n", example.read_text())
        text += f"/** @example {example.name}\n{first[1] if first else ''} */\n"
    return text


def configuration(root, work, output):
    version = re.search(r"VERSION ([0-9.]+)", (root / "CMakeLists.txt").read_text())
    brief = re.search(r'DESCRIPTION "([^"]*)"', (root / "CMakeLists.txt").read_text())
    rooms_file = work / "rooms.dox"
    rooms_file.write_text(text_of_rooms(root))
    return (root / "tools" / "doxygen" / "Doxyfile").read_text() + f"""
PROJECT_NAME = merganser
PROJECT_NUMBER = {version[1] if version else ''}
PROJECT_BRIEF = "{brief[1] if brief else ''}"
INPUT = include docs/api.md {rooms_file}
EXAMPLE_PATH = examples
OUTPUT_DIRECTORY = {work}
XML_OUTPUT = xml
HTML_OUTPUT = {output}
WARN_LOGFILE = {work / 'warnings'}
"""


def has_words(element):
    return any(text.strip() for name in ("briefdescription", "detaileddescription")
               for text in element.find(name).itertext())


def without_words(xml):
    """Lines that name what is public and has no description."""
    for compound in ElementTree.parse(xml / "index.xml").getroot():
        kind = compound.get("kind")
        if kind not in ("file", "dir", "namespace", "class", "struct", "union"):
            continue
        name = compound.find("name").text
        definition = ElementTree.parse(xml / (compound.get("refid") + ".xml")).getroot().find("compounddef")
        location = definition.find("location")
        where = location.get("file") if location is not None else name
        if kind == "file" and not name.endswith(".hpp") or kind == "dir" and name.rstrip("/") in ("include", "docs"):
            continue
        if definition.get("prot", "public") == "public" and not has_words(definition):
            yield f"{where}: {kind} {name} has no description"
        if kind == "namespace":
            for member in definition.iter("memberdef"):
                at = member.find("location")
                if member.get("kind") in ("function", "enum", "typedef") and not has_words(member):
                    yield (f"{at.get('file')}:{at.get('line')}: {member.get('kind')} {name}::{member.find('name').text} "
                           "has no description")


def build(root, output):
    """Lines that tell what is wrong; none if the reference is complete."""
    if shutil.which("doxygen") is None:
        return ["doxygen is not installed (Debian: doxygen)"]
    shutil.rmtree(output, ignore_errors=True)
    output.mkdir(parents=True)
    with tempfile.TemporaryDirectory() as folder:
        work = Path(folder)
        run = subprocess.run(["doxygen", "-"], cwd=root, input=configuration(root, work, output.resolve()), text=True,
                             capture_output=True)
        warnings = (work / "warnings").read_text() if (work / "warnings").exists() else ""
        lines = [line.replace(f"{root}/", "") for line in (warnings + run.stderr).split("\n") if line.strip()]
        if run.returncode != 0 and not lines:
            lines = [f"doxygen ended with {run.returncode}"]
        if not lines:
            lines = [line.replace(f"{root}/", "") for line in without_words(work / "xml")]
    return lines


def main():
    if len(sys.argv) != 3:
        print(__doc__, file=sys.stderr)
        return 2
    wrong = build(Path(sys.argv[1]).resolve(), Path(sys.argv[2]))
    print("\n".join(wrong) if wrong else f"all public headers are described: {sys.argv[2]}/index.html")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
