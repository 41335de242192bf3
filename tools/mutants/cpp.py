"""Finds the places of C++ sources that can be mutated, with libclang and compile_commands.json."""
import json
import re
import shlex

from clang.cindex import CursorKind as K
from clang.cindex import Index, TypeKind

from .sites import Site, without_comments

COMPARISONS = {"<": "<=", "<=": "<", ">": ">=", ">=": ">", "==": "!=", "!=": "=="}
ARITHMETIC = {"+": "-", "-": "+", "*": "/", "/": "*"}
LOGIC = {"&&": "||", "||": "&&"}
ASSIGNING = {"+=": "-=", "-=": "+=", "*=": "/=", "/=": "*="}
STEPS = {"++": "--", "--": "++"}
FUNCTIONS = {K.FUNCTION_DECL, K.CXX_METHOD, K.CONSTRUCTOR, K.DESTRUCTOR, K.CONVERSION_FUNCTION, K.FUNCTION_TEMPLATE}
# Nothing in these is run, or it says nothing of correctness (what is thrown: texts of errors).
PASSED_OVER = {K.STATIC_ASSERT, K.CXX_THROW_EXPR, K.ENUM_DECL, K.DECL_REF_EXPR, K.CXX_UNARY_EXPR, K.PARM_DECL, K.TYPE_REF,
               K.TEMPLATE_REF, K.NAMESPACE_REF, K.CONCEPT_DECL if hasattr(K, "CONCEPT_DECL") else K.ENUM_DECL}
INTEGER = re.compile(r"(0[xX][0-9a-fA-F']+|[0-9][0-9']*)[uUlL]*")
NUMBERS = range(TypeKind.BOOL.value, TypeKind.LONGDOUBLE.value + 1)


def is_number(expression, dependent=True):
    kind = expression.type.get_canonical().kind
    return kind.value in NUMBERS or (dependent and kind in (TypeKind.DEPENDENT, TypeKind.UNEXPOSED))


class Finder:
    """Sites of the files below some folders of a tree."""

    def __init__(self, tree, folders):
        self.tree, self.folders = f"{tree}/", tuple(f"{tree}/{f}/" for f in folders)
        self.texts, self.found = {}, {}

    def parse(self, commands, targets):
        """Reads the translation units of these targets of CMake."""
        index = Index.create()
        for entry in json.loads(commands.read_text()):
            if not any(f"/{t}.dir/" in entry["command"] for t in targets):
                continue
            words, flags = shlex.split(entry["command"]), ["-w"]
            for word, following in zip(words, words[1:]):
                flags += [word] if re.match(r"-[DI].|-std=", word) else [word, following] if word == "-isystem" else []
            unit = index.parse(entry["file"], flags)
            errors = [str(d) for d in unit.diagnostics if d.severity >= 3]
            if errors:
                print(f"mutants: libclang on {entry['file']}: {errors[0]} ({len(errors)} errors; their lines are not mutated)")
            for child in unit.cursor.get_children():
                if child.location.file and child.location.file.name.startswith(self.folders):
                    self.outside(child)
        return list(self.found.values())

    def text(self, cursor):
        name = cursor.location.file.name
        if name not in self.texts:
            with open(name, encoding="latin-1", newline="") as file:
                self.texts[name] = file.read()
        return self.texts[name]

    def outside(self, cursor):
        """Declarations: of functions, what may be run when the program runs."""
        if cursor.kind not in FUNCTIONS:
            for child in cursor.get_children():
                self.outside(child)
            return
        children = list(cursor.get_children())
        if not cursor.is_definition() or not children or children[-1].kind not in (K.COMPOUND_STMT, K.CXX_TRY_STMT):
            return
        head = self.text(cursor)[cursor.extent.start.offset:children[-1].extent.start.offset]
        if re.search(r"\b(constexpr|consteval)\b", head):
            return
        for child in children if cursor.kind == K.CONSTRUCTOR else children[-1:]:
            self.inside(child)

    def inside(self, cursor):
        if cursor.kind in PASSED_OVER or cursor.location.file is None:
            return
        children, text = list(cursor.get_children()), self.text(cursor)
        if cursor.kind == K.VAR_DECL:
            head = text[cursor.extent.start.offset:cursor.location.offset]
            after = cursor.location.offset + len(cursor.spelling)
            if "constexpr" in head or text[after:after + 1] == "[":
                return
            children = [c for c in children if c.extent.start.offset >= after]  # without the arguments of its type
        elif cursor.kind == K.CASE_STMT:
            children = children[1:]
        elif cursor.kind in (K.IF_STMT, K.WHILE_STMT) and children:
            start = text[cursor.extent.start.offset:children[0].extent.start.offset]
            if "constexpr" in start:
                children = children[1:]
            elif children[0].kind.is_expression() and re.fullmatch(r"(if|while)\s*\(\s*", start):
                self.add(children[0], "condition", "flip")
        elif cursor.kind == K.COMPOUND_STMT:
            for child in children:
                self.statement(child, text)
        self.expression(cursor, children, text)
        for child in children:
            self.inside(child)

    def statement(self, cursor, text):
        inner = cursor
        while inner.kind == K.UNEXPOSED_EXPR and len(list(inner.get_children())) == 1:
            inner = next(inner.get_children())
        assigns = inner.kind == K.BINARY_OPERATOR or inner.kind == K.COMPOUND_ASSIGNMENT_OPERATOR or inner.kind == K.UNARY_OPERATOR
        if (assigns or inner.kind == K.CALL_EXPR) and re.match(r"\s*;", text[cursor.extent.end.offset:]):
            self.add(cursor, "statement", "skip")

    def expression(self, cursor, children, text):
        kind, start, end = cursor.kind, cursor.extent.start.offset, cursor.extent.end.offset
        if kind in (K.BINARY_OPERATOR, K.COMPOUND_ASSIGNMENT_OPERATOR) and len(children) == 2:
            self.operator(cursor, *children, text)
        elif kind == K.CALL_EXPR and re.fullmatch(r"operator(==|!=|<|<=|>|>=)", cursor.spelling):
            operands = list(cursor.get_arguments())
            if len(operands) == 2:
                self.operator(cursor, *operands, text)
        elif kind == K.UNARY_OPERATOR and len(children) == 1:
            x = children[0].extent.start.offset, children[0].extent.end.offset
            before, after = text[start:x[0]].strip(), text[x[1]:end].strip()
            if before in STEPS:
                self.add(cursor, "step", "choose", [STEPS[before], x])
            elif after in STEPS:
                self.add(cursor, "step", "choose", [x, STEPS[after]])
        elif kind == K.INTEGER_LITERAL and INTEGER.fullmatch(text[start:end]) and not re.match(r"\s*>", text[end:end + 9]):
            self.add(cursor, "number", "choose", [(start, end), " + 1"])
        elif kind == K.RETURN_STMT and children and children[0].kind != K.INTEGER_LITERAL:
            value = children[0]
            if value.type.get_canonical().kind == TypeKind.BOOL:
                self.add(value, "return", "flip")
            elif is_number(value, dependent=False):
                self.add(value, "return", "choose", [(value.extent.start.offset, value.extent.end.offset), " + 1"])

    def operator(self, cursor, left, right, text):
        l = left.extent.start.offset, left.extent.end.offset
        r = right.extent.start.offset, right.extent.end.offset
        word = without_comments(text[l[1]:r[0]], "c++").strip()
        numbers = is_number(left) and is_number(right)
        for kind, swaps, fits in (("comparison", COMPARISONS, True), ("logic", LOGIC, True), ("arithmetic", ARITHMETIC, numbers),
                                  ("assignment", ASSIGNING, numbers)):
            if word in swaps and fits:
                self.add(cursor, kind, "choose", [l, f" {swaps[word]} ", r])

    def add(self, cursor, kind, how, mutant=()):
        at = cursor.extent.start
        if at.file is None or not at.file.name.startswith(self.folders) or cursor.extent.end.offset <= at.offset:
            return
        path = at.file.name.removeprefix(self.tree)
        site = Site(path, at.line, at.column, at.offset, cursor.extent.end.offset, kind, how, list(mutant))
        self.found.setdefault((path, site.start, site.end, kind), site)
