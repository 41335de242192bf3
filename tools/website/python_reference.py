"""Lists the public names of the Python package, by the module that defines each, as pages for Sphinx's autodoc."""
import ast

PACKAGE = "merganser"


def tree_of(path):
    """Returns the syntax tree of a Python file."""
    return ast.parse(path.read_text())


def definitions(tree):
    """Returns {name: node} of the classes and functions of a module."""
    return {node.name: node for node in tree.body if isinstance(node, (ast.ClassDef, ast.FunctionDef))}


def by_module(package):
    """Returns {module: [names]} of the public names, in the order of the package's imports; a public module has no names."""
    tree, homes = tree_of(package / "__init__.py"), {}
    for node in tree.body:
        if isinstance(node, ast.ImportFrom) and node.module:
            homes.update({alias.name: node.module for alias in node.names})
        if isinstance(node, ast.Assign) and node.targets[0].id == "_LATER":
            homes.update(ast.literal_eval(node.value))
        if isinstance(node, ast.Assign) and node.targets[0].id == "__all__":
            public = ast.literal_eval(node.value)
    found = {}
    for name in homes:
        if name in public and not name.startswith("__"):
            found.setdefault(homes[name] or name, []).append(name)
    return found


def undescribed(root):
    """Yields a line for each public class, function and method of the Python package without a docstring."""
    package = root / "python" / PACKAGE
    if not package.is_dir():
        return
    for module, names in by_module(package).items():
        path = package / (module + ".py") if (package / (module + ".py")).exists() else package / module / "__init__.py"
        found = definitions(tree_of(path))
        for name in found if names == [module] else names:
            node = found.get(name)
            if node is None or name.startswith("_"):
                continue
            methods = [m for m in getattr(node, "body", []) if isinstance(m, ast.FunctionDef) and not m.name.startswith("_")]
            for one in [node, *(methods if isinstance(node, ast.ClassDef) else [])]:
                if not ast.get_docstring(one):
                    yield f"python/{PACKAGE}/{path.name}:{one.lineno}: {one.name} has no docstring"


def pages(root):
    """Yields (name, text) of the pages of the Python reference in reStructuredText: one for each module that defines public
    names."""
    package = root / "python" / PACKAGE
    for module, names in by_module(package).items():
        path = package / (module + ".py") if (package / (module + ".py")).exists() else package / module / "__init__.py"
        title = (ast.get_docstring(tree_of(path)) or module).split("\n\n")[0].replace("\n", " ").split(". ")[0].rstrip(".")
        if names == [module]:
            found = definitions(tree_of(path))
            title, prefix, names = f"{PACKAGE}.{module}", f"{PACKAGE}.{module}", [n for n in found if not n.startswith("_")]
        else:
            found, prefix = definitions(tree_of(path)), PACKAGE
        text = f"{title}\n{'=' * len(title)}\n"
        if prefix != PACKAGE:
            text += f"\n.. automodule:: {prefix}\n"
        for name in names:
            if isinstance(found.get(name), ast.ClassDef):
                text += f"\n.. autoclass:: {prefix}.{name}\n   :members:\n   :inherited-members: object, dict, tuple, Exception\n"
            elif name in found:
                text += f"\n.. autofunction:: {prefix}.{name}\n"
        yield module.lstrip("_"), text
