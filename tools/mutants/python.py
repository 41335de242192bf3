"""Finds the places of Python sources that can be mutated, with ast."""
import ast

from .sites import Site

COMPARISONS = {ast.Lt: "<=", ast.LtE: "<", ast.Gt: ">=", ast.GtE: ">", ast.Eq: "!=", ast.NotEq: "==", ast.Is: "is not",
               ast.IsNot: "is", ast.In: "not in", ast.NotIn: "in"}
ARITHMETIC = {ast.Add: "-", ast.Sub: "+", ast.Mult: "/", ast.Div: "*"}


def sites_below(root, folders):
    files = sorted(p for folder in folders for p in (root / folder).rglob("*.py"))
    return [site for path in files for site in sites_of(path.relative_to(root).as_posix(), path.read_bytes())]


def sites_of(path, content):
    starts = [0]
    for row in content.split(b"\n"):
        starts.append(starts[-1] + len(row) + 1)
    found = []

    def place(node):
        return starts[node.lineno - 1] + node.col_offset, starts[node.end_lineno - 1] + node.end_col_offset

    def add(node, kind, how, mutant=()):
        found.append(Site(path, node.lineno, node.col_offset + 1, *place(node), kind, how, list(mutant)))

    def visit(node, inside):
        if isinstance(node, (ast.Raise, ast.JoinedStr, ast.Assert, ast.arguments)):
            return  # what is raised says nothing of correctness; a text with names in it has no places of its own
        if isinstance(node, (ast.FunctionDef, ast.Lambda)):
            for child in node.body if isinstance(node.body, list) else [node.body]:
                visit(child, True)
            return
        if inside:
            expression(node)
        for child in ast.iter_child_nodes(node):
            visit(child, inside)

    def expression(node):
        if isinstance(node, (ast.If, ast.While, ast.IfExp)):
            add(node.test, "condition", "flip")
        elif isinstance(node, ast.Compare) and len(node.ops) == 1 and type(node.ops[0]) in COMPARISONS:
            add(node, "comparison", "choose", [place(node.left), f" {COMPARISONS[type(node.ops[0])]} ", place(node.comparators[0])])
        elif isinstance(node, ast.BoolOp) and len(node.values) == 2:
            add(node, "logic", "choose", [place(node.values[0]), " or " if isinstance(node.op, ast.And) else " and ", place(node.values[1])])
        elif isinstance(node, ast.BinOp) and type(node.op) in ARITHMETIC and not is_text(node.left) and not is_text(node.right):
            add(node, "arithmetic", "choose", [place(node.left), f" {ARITHMETIC[type(node.op)]} ", place(node.right)])
        elif isinstance(node, ast.Constant) and type(node.value) is int:
            add(node, "number", "choose", [place(node), " + 1"])
        elif isinstance(node, ast.Expr) and isinstance(node.value, ast.Call):
            add(node.value, "statement", "skip")
        elif isinstance(node, ast.Return) and isinstance(node.value, (ast.Compare, ast.BoolOp)):
            add(node.value, "return", "flip")

    visit(ast.parse(content), False)
    return found


def is_text(node):
    return isinstance(node, ast.JoinedStr) or (isinstance(node, ast.Constant) and isinstance(node.value, str))
