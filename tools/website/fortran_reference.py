"""Reads the comments of the Fortran module: types, the procedures bound to them, and constants, as a page of Markdown."""
import re
from pathlib import Path

BEGIN = re.compile(r"^  (?:pure |elemental |impure |recursive )*(?:subroutine|function) (\w+)", re.I)
TYPE = re.compile(r"^  type(?:, [\w()]+)* :: (\w+)", re.I)


def joined(lines):
    """Returns lines of Fortran with continued ones joined, without directives of the preprocessor."""
    whole = []
    for line in lines:
        if line.startswith("#"):
            continue
        if whole and whole[-1].endswith("&"):
            whole[-1] = whole[-1][:-1].rstrip() + " " + line.strip().removeprefix("&").strip()
        else:
            whole.append(line.rstrip())
    return whole


def comment_above(lines, i):
    """Returns the text of the comment that stands directly above line i: a line with !> and those with !! behind it."""
    text = []
    while i > 0 and re.match(r"^\s*!!", lines[i - 1]):
        i -= 1
        text.insert(0, re.sub(r"^\s*!! ?", "", lines[i]))
    if i > 0 and re.match(r"^\s*!>", lines[i - 1]):
        text.insert(0, re.sub(r"^\s*!> ?", "", lines[i - 1]))
        return "\n".join(text)
    return ""


def procedures(lines):
    """Returns {name: (comment, declaration)} of the procedures of a module; the declaration has the dummy arguments."""
    found = {}
    for i, line in enumerate(lines):
        begin = BEGIN.match(line)
        if begin and begin[1] not in found:
            arguments = [a.strip() for a in (re.search(r"\(([^)]*)\)", line[begin.end(1):]) or ["", ""])[1].split(",")]
            declared = []
            for later in lines[i + 1:]:
                if re.match(r"^  end (subroutine|function)", later):
                    break
                names = re.match(r"^    ([^!:]*[^!: ]) :: ([^!]*)", later)
                if names and any(re.search(rf"\b{a}\b", names[2]) for a in arguments[1:] if a):
                    declared.append(f"  {names[1]} :: {names[2].strip()}")
            found[begin[1]] = comment_above(lines, i), "\n".join([line.strip(), *declared])
    return found


def bound(lines, begin):
    """Returns the members of a type as lines of Fortran, and {name: procedures} of what is bound to it and public."""
    members, methods, contains = [], {}, False
    for line in lines[begin + 1:]:
        if re.match(r"^  end type", line):
            break
        contains = contains or line.strip() == "contains"
        code = line.strip()
        method = re.match(r"(procedure|generic)(, \w+)*\s*::\s*([^!]*)(!.*)?", code)
        if not contains and code and not code.startswith("!") and code != "private":
            members.append(code)
        if method and method[2] != ", private" and "of the library only" not in code:
            name, _, to = method[3].partition("=>")
            names = [name.strip()] if to else [n.strip() for n in name.split(",")]
            for one in names:
                methods.setdefault(one, []).extend(n.strip() for n in (to or one).split(","))
    return members, methods


def of_type(lines, begin, name, defined):
    """Yields the section about a type: its members, and every procedure that is bound to it."""
    yield f"### {name}\n\n{comment_above(lines, begin)}\n"
    members, methods = bound(lines, begin)
    if members:
        yield "```fortran\n" + "\n".join(members) + "\n```\n"
    for method, names in methods.items():
        yield f"#### {name} % {method}\n"
        for procedure in names:
            comment, declaration = defined.get(procedure, ("", ""))
            if declaration:
                yield f"{comment}\n\n```fortran\n{declaration.replace(procedure, method, 1)}\n```\n"


def public_names(lines):
    """Returns the names that statements `public ::` of a module list."""
    lists = [line.split("::")[1] for line in lines if re.match(r"^  public ::", line)]
    return [name.strip() for names in lists for name in names.split(",")]


def undescribed(root):
    """Yields a line for each type and bound procedure of the Fortran module without a comment."""
    for file in sorted((root / "fortran").glob("*.[fF]90")):
        lines = joined(file.read_text().split("\n"))
        defined = procedures(lines)
        for i, line in enumerate(lines):
            begin = TYPE.match(line)
            if not begin or begin[1] not in public_names(lines):
                continue
            if not comment_above(lines, i):
                yield f"{file.relative_to(root)}: type {begin[1]} has no description"
            for method, names in bound(lines, i)[1].items():
                if not any(defined.get(procedure, ("",))[0] for procedure in names):
                    yield f"{file.relative_to(root)}: {begin[1]} % {method} has no description"


def page(root):
    """Returns the Fortran reference as Markdown: what the module exports, file by file."""
    main = joined((root / "fortran" / "merganser.f90").read_text().split("\n"))
    head = comment_above(main, next(i for i, line in enumerate(main) if line.startswith("module ")))
    exported = {name.strip() for line in main if line.strip().startswith("use ")
                for name in line.partition("only:")[2].split(",")}
    text = f"# Fortran module\n\n{head}\n"
    for file in sorted((root / "fortran").glob("*.[fF]90")):
        lines = joined(file.read_text().split("\n"))
        defined, sections = procedures(lines), []
        for i, line in enumerate(lines):
            begin = TYPE.match(line)
            constants = re.match(r"^  integer, parameter, public :: (.*)", line)
            if begin and begin[1] in exported:
                sections += of_type(lines, i, begin[1], defined)
            elif constants:
                sections.append(f"{comment_above(lines, i)}\n\n```fortran\n{line.strip()}\n```\n")
        for name in public_names(lines):
            if name in exported and name in defined:
                sections.append(f"### {name}\n\n{defined[name][0]}\n\n```fortran\n{defined[name][1]}\n```\n")
        if sections and file.name != "merganser.f90":
            title = comment_above(lines, next(i for i, line in enumerate(lines) if line.startswith("module ")))
            title = title.replace(" Programs use the module merganser.", "")
            text += f"\n## {file.stem}\n\n{title}\n\n" + "\n".join(sections)
    return re.sub(r"\b(docs/[a-z-]+)\.md", r"[\1.md](../\1.md)", text)


if __name__ == "__main__":
    print(page(Path(__file__).resolve().parents[2]))
