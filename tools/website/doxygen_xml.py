"""Prepares Doxygen's XML of the public headers for Breathe, which renders one header after the other.

Doxygen lists functions of a namespace in the namespace; Breathe would look through all of them for every header, and declare the
namespace in each. So each header gets the members that stand in it.
"""
import re
import xml.etree.ElementTree as ElementTree

# Values of constants that are no single literal; the C++ parser of Sphinx refuses some of them.
LONG_VALUE = re.compile(r'["{(\n]')


def qualify(member, scope):
    """Puts the namespace of a function, constant, type or enumeration before its name."""
    name = member.find("name")
    name.text = f"{scope}::{name.text}"


def shorten(member):
    """Removes values that are no single literal from the declaration of a constant."""
    value = member.find("initializer")
    if value is not None and LONG_VALUE.search("".join(value.itertext())):
        member.remove(value)


def move_to_headers(files, namespaces):
    """Moves the members of namespaces to the headers that declare them, and the links to classes behind them."""
    by_file = {definition.find("location").get("file"): definition for definition in files}
    for definition in files:
        for link in definition.findall("innernamespace"):
            definition.remove(link)
    for namespace in namespaces:
        scope = namespace.find("compoundname").text
        for section in namespace.findall("sectiondef"):
            for member in list(section):
                header = by_file.get(member.find("location").get("file")) if member.tag == "memberdef" else None
                if header is None:
                    continue
                section.remove(member)
                qualify(member, scope)
                own = header.find(f"sectiondef[@kind='{section.get('kind')}']")
                if own is None:
                    own = ElementTree.Element("sectiondef", kind=section.get("kind"))
                    header.insert(list(header).index(header.find("briefdescription")), own)
                own.append(member)


def without_twins(header):
    """Removes typedefs of C that give a structure its own name, since Doxygen lists the structure too, and macros that are no
    interface: those without parameters that wrap a declaration, and twins for other compilers."""
    structures = {link.text for link in header.findall("innerclass")}
    macros = set()
    for section in header.findall("sectiondef"):
        for member in list(section.findall("memberdef")):
            name = member.find("name").text
            twin = member.get("kind") == "typedef" and name in structures
            if member.get("kind") == "define":
                twin = name in macros or name == "MG_API"
                macros.add(name)
            if twin:
                section.remove(member)


def prepare(xml):
    """Changes Doxygen's XML in a folder so that Breathe finds each header by its path, with all that it declares."""
    index = ElementTree.parse(xml / "index.xml")
    trees = {}
    for compound in index.getroot():
        if compound.get("kind") in ("file", "namespace"):
            path = xml / (compound.get("refid") + ".xml")
            trees[path] = ElementTree.parse(path)
            definition = trees[path].getroot().find("compounddef")
            if compound.get("kind") == "file":
                compound.find("name").text = definition.find("location").get("file")
    definitions = [tree.getroot().find("compounddef") for tree in trees.values()]
    files = [definition for definition in definitions if definition.get("kind") == "file"]
    move_to_headers(files, [definition for definition in definitions if definition.get("kind") == "namespace"])
    for header in files:
        if header.find("compoundname").text.endswith(".h"):
            without_twins(header)
    for definition in definitions:
        for member in definition.iter("memberdef"):
            shorten(member)
    for path, tree in trees.items():
        tree.write(path, encoding="unicode", xml_declaration=False)
    index.write(xml / "index.xml", encoding="unicode")
