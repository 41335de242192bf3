"""Writes the page of the Fortran module: FORD reads types, the procedures bound to them, constants, and their comments."""
import functools
import itertools
import re
from pathlib import Path

from ford.settings import ProjectSettings
from ford.sourceform import FortranFunction, FortranInterface, FortranSourceFile, FortranType, FortranVariable

# Of a module also what is private: procedures that are bound to a public type are.
SETTINGS = ProjectSettings(display=["public", "protected", "private"])
MAIN = "merganser"  # the module that programs use
INTERNAL = "for modules of the library only"  # comment behind what is public and no part of the interface


def comment(entity):
    """Returns the comment of an entity as Markdown."""
    return "\n".join(line.removeprefix(" ") for line in entity.doc_list).strip()


@functools.cache
def read(folder):
    """Returns {name: module} of the Fortran sources in a folder. Lines for the preprocessor are comments: all branches count."""
    files = [FortranSourceFile(str(file), SETTINGS) for file in sorted(Path(folder).glob("*.[fF]90"))]
    return {module.name: module for file in files for module in file.modules}


def used(module):
    """Returns {name of another module: {name here: name there}} of what the statements `use` of a module list."""
    found = {}
    for name, only in module.uses:
        pairs = [entry.partition("=>") for entry in re.sub(r"^,(\s*only\s*:)?", "", only, flags=re.I).split(",")]
        found.setdefault(name, {}).update({here.strip(): (there or here).strip() for here, _, there in pairs if here.strip()})
    return found


def find(modules, module, name):
    """Returns the entity that a module calls by a name, its own or one of a module that it uses; None if there is none."""
    for entity in (*module.types, *module.variables, *module.routines, *module.absinterfaces):
        if entity.name.lower() == name.lower():
            return entity
    for other, names in used(module).items():
        found = find(modules, modules[other], names.get(name, name)) if other in modules else None
        if found:
            return found
    return None  # the module is none of ours


def exported_by(modules, module, name):
    """Returns the entity behind a name that a module of this library exports. Raises ValueError for a kind that this page does not show."""
    if module not in modules:
        raise ValueError(f"fortran: {name} is exported from {module}; allowed: modules of this folder")
    entity = find(modules, modules[module], name)
    if entity is None:
        raise ValueError(f"fortran: {name} of {module} is no type, constant, procedure or abstract interface; allowed: these")
    return entity


def exports(modules):
    """Yields (module, names) of what programs get from each module. Raises ValueError for a module that is used without a list."""
    for name, names in used(modules[MAIN]).items() if MAIN in modules else ():
        if name in modules and not names:
            raise ValueError(f"fortran: `use {name}` of {MAIN} names nothing; allowed: with `only`")
        if name in modules:
            yield name, names


def declarations(variables):
    """Yields lines that declare variables. Neighbours of one type and comment share a line."""
    def declared(variable):
        parts = [variable.full_type, *variable.attribs, f"intent({variable.intent})" if variable.intent else "",
                 "optional" if variable.optional else "", "parameter" if variable.parameter else ""]
        return ", ".join(part for part in parts if part), comment(variable)

    for (kind, text), group in itertools.groupby(variables, declared):
        names = ", ".join(v.name + v.dimension + (f" = {v.initial}" if v.initial else "") for v in group)
        yield f"{kind} :: {names}", text


def signature(procedure, name, bound=False):
    """Returns the declaration of a procedure under a name, with those of its arguments; of one that is bound without the object."""
    result = procedure.retvar if isinstance(procedure, FortranFunction) else None
    head = f"{procedure.proctype.lower()} {name}({', '.join(argument.name for argument in procedure.args)})"
    arguments = procedure.args[1:] if bound else procedure.args
    lines = [f"  {line}" for line, _ in declarations([*arguments, *([result] if result else [])])]
    return "\n".join([head + (f" result({result.name})" if result else ""), *lines])


def code(text):
    """Returns a block of Fortran as Markdown."""
    return f"```fortran\n{text}\n```\n"


def bindings(kind, modules, module):
    """Returns {name: procedures} of what is bound to a type and public."""
    methods = {}
    for binding in kind.boundprocs:
        if binding.permission != "private" and comment(binding) != INTERNAL:
            methods.setdefault(binding.name, []).extend(find(modules, module, name) for name in binding.bindings)
    return methods


def of_type(kind, name, modules):
    """Yields the section about a type: its members, and every procedure that is bound to it."""
    yield f"### {name}\n\n{comment(kind)}\n"
    members = [f"{line}  ! {text}" if text else line for line, text in declarations(kind.variables)]
    if members:
        yield code("\n".join(members))
    for method, procedures in bindings(kind, modules, kind.parent).items():
        yield f"#### {name} % {method}\n"
        for procedure in procedures:
            yield f"{comment(procedure)}\n\n{code(signature(procedure, method, bound=True))}"


def sections(modules, module, names):
    """Yields the sections about what programs get from a module, in the order of their names in `use`; constants in one."""
    found = [(name, exported_by(modules, module.name, name)) for name in names]
    constants = [entity for _, entity in found if isinstance(entity, FortranVariable)]
    for text, group in itertools.groupby(constants, comment):
        yield f"{text}\n\n" + code("\n".join(line for line, _ in declarations(group)))
    for name, entity in found:
        if isinstance(entity, FortranType):
            yield from of_type(entity, name, modules)
        elif not isinstance(entity, FortranVariable):
            procedure = entity.procedure if isinstance(entity, FortranInterface) else entity
            yield f"### {name}\n\n{comment(procedure)}\n\n{code(signature(procedure, name))}"


def undescribed(root):
    """Yields a line for each name of the Fortran module without a comment."""
    modules = read(root / "fortran")
    for name, names in exports(modules):
        for exported in names:
            entity = exported_by(modules, name, exported)
            where = f"fortran/{entity.filename}"
            if not comment(entity.procedure if isinstance(entity, FortranInterface) else entity):
                yield f"{where}: {exported} has no description"
            methods = bindings(entity, modules, entity.parent) if isinstance(entity, FortranType) else {}
            for method, procedures in methods.items():
                if not all(comment(procedure) for procedure in procedures):
                    yield f"{where}: {exported} % {method} has no description"


def page(root):
    """Returns the Fortran reference as Markdown: what the module exports, by the modules that it is from."""
    modules = read(root / "fortran")
    text = f"# Fortran module\n\n{comment(modules[MAIN])}\n"
    for name, names in exports(modules):
        title = re.sub(r" Programs use the module\s+merganser\.", "", comment(modules[name]))
        text += f"\n## {name}\n\n{title}\n\n" + "\n".join(sections(modules, modules[name], names))
    return re.sub(r"\b(docs/[a-z-]+)\.md", r"[\1.md](../\1.md)", text)


if __name__ == "__main__":
    print(page(Path(__file__).resolve().parents[2]))
