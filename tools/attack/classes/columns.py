"""Attacks by tables in random dialects, with known content and perhaps one fault: they must be read like the plain table, or
be refused by row and column."""
import io
import struct

from ..attack import Attack
from ..case import Case, Finding, Part

NAMES = [["x", "y", "z", "w"], ["x1", "x2", "x3", "x4"], ["PC1", "PC2", "PC3", "PC4"], ["x (m)", "y (m)", "z (m)", "w (m)"]]
MISSING = ["nan", "NaN", "NA", "<NA>", "null", "None", "inf", "-inf", "?", "-"]
TEXT = ["abc", "1.2.3", "1e", "0x1f", "1 2", "12:30", "\"1\"2", "\"1", "--1", "1_000"]
SEPARATORS = [",", ";", "\t", " ", ", ", " ; ", "  ", " \t"]


class Dialect:
    """Syntax in which a table is written."""

    def __init__(self, random, columns):
        self.separator = random.choice(SEPARATORS)
        self.quoted = random.random() < 0.2
        self.heading = random.choice(NAMES)[:columns] if random.random() < 0.5 else None
        if self.heading and (" " in self.heading[0]) and not self.separator.strip() and not self.quoted:
            self.heading = [name.split()[0] for name in self.heading]
        # A table with both commas and blanks does not show which of them is the separator.
        tells = ";" in self.separator or self.separator == "\t" or (self.heading and not self.separator.strip())
        self.comma = bool(tells) and random.random() < 0.3
        self.mark = random.random() < 0.2
        self.end = random.choice(["\n", "\r\n"])
        self.comments = random.random() < 0.3
        self.last = random.random() < 0.8

    def cell(self, value):
        text = value if isinstance(value, str) else repr(value)
        if self.comma and not isinstance(value, str):
            text = text.replace(".", ",")
        return f'"{text}"' if self.quoted and '"' not in text else text

    def text(self, rows):
        lines = [self.separator.join(map(self.cell, row)) for row in ([self.heading] if self.heading else []) + rows]
        if self.comments:
            lines = ["# a table", "", *lines[:2], "  # between", *lines[2:]]
        return ("\ufeff" if self.mark else "") + self.end.join(lines) + (self.end if self.last else "")


def cell_fault(values):
    """Replaces the text of one table cell."""
    def spoil(random, rows, dialect):
        row, column = random.randrange(len(rows)), random.randrange(len(rows[0]))
        rows[row][column] = random.choice(values)
        return f"row {row + 1}, column {column + 1} is {rows[row][column]!r}"
    return spoil


def missing_row(random, rows, dialect):
    rows[0] = [random.choice(["nan", "NA", "" if dialect.separator.strip(" ") else "NaN"])] * len(rows[0])
    dialect.heading = None
    return f"row 1 is {rows[0]}"


def longer(random, rows, dialect):
    row = random.randrange(len(rows))
    rows[row].insert(random.randrange(len(rows[row]) + 1), 7.5)
    return f"row {row + 1} has a cell more"


def shorter(random, rows, dialect):
    row = random.randrange(len(rows))
    del rows[row][random.randrange(len(rows[row]))]
    return f"row {row + 1} has a cell less"


def index(random, rows, dialect):
    for i, row in enumerate(rows):
        row.insert(0, str(i))
    if dialect.heading:
        one = dialect.quoted or dialect.separator.strip(" ")  # between blanks alone a name with a blank is two
        dialect.heading = [random.choice(["", "Unnamed: 0" if one else "index"]), *dialect.heading]
    return "an index before the columns"


def has_named_index(fault, dialect):
    """Returns whether an index is a column as others are: it has a name."""
    return fault == "index" and dialect.heading is not None and dialect.heading[0] == "index"


def mark(random, rows, dialect):
    dialect.comma, row = True, random.randrange(len(rows))
    rows[row] = [repr(value) for value in rows[row]]
    return f"row {row + 1} has decimal points, the others commas"


# Functions that spoil the rows or the dialect, and return a description.
FAULTS = {"missing": cell_fault(MISSING), "empty": cell_fault([""]), "text": cell_fault(TEXT), "missing row": missing_row,
          "longer": longer, "shorter": shorter, "index": index, "mark": mark}
BYTES = {"CR": lambda text: text.replace("\r\n", "\n").replace("\n", "\r").encode(),
         "UTF-16": lambda text: text.lstrip("\ufeff").encode("utf-16"), "UTF-16LE": lambda text: text.lstrip("\ufeff").encode("utf-16-le")}


def random_points(random, columns):
    """Returns coordinates that are multiples of 1/8 plus an odd part, so that each has a fraction of few, exact decimal
    digits."""
    return [[random.randrange(-400, 400) + random.choice([0.125, 0.5, 0.75]) for _ in range(columns)]
            for _ in range(random.randrange(3, 40))]


def plain_text(rows):
    return "".join(" ".join(map(str, row)) + "\n" for row in rows).encode()


def table(random):
    columns = random.randrange(2, 5)
    rows = random_points(random, columns)
    plain = plain_text(rows)
    dialect, fault, what = Dialect(random, columns), None, "no fault"
    if random.random() < 0.6:
        fault = random.choice([*FAULTS, *BYTES])
        spoiled = [list(row) for row in rows]
        what = FAULTS[fault](random, spoiled, dialect) if fault in FAULTS else fault
        plain = plain_text(spoiled) if has_named_index(fault, dialect) else plain
        text = dialect.text(spoiled)
        content = BYTES[fault](text) if fault in BYTES else text.encode()
    else:
        content = dialect.text(rows).encode()
    return "p.csv", content, plain, fault, f"separator {dialect.separator!r}, heading {dialect.heading}: {what}"


def array(random):
    """Returns the table as .npy: in any byte order, by rows or columns, or of a type that is refused."""
    columns = random.randrange(1, 5)
    rows = random_points(random, columns)
    plain = plain_text(rows)
    kind = random.choice(["<f8", ">f8", "<f4", ">f4", "<f8", "<f8", "|O", "<c16", "|b1", "[('x', '<f8')]"])
    good = kind[-2:] in ("f8", "f4") and kind[0] in "<>"
    by_columns = random.random() < 0.5
    numbers = [row[c] for c in range(columns) for row in rows] if by_columns else [x for row in rows for x in row]
    code = (kind[0] + ("d" if kind[-1] == "8" else "f")) if good else "<d"
    descr = kind if kind.startswith("[") else repr(kind)
    head = f"{{'descr': {descr}, 'fortran_order': {by_columns}, 'shape': ({len(rows)}, {columns}), }}".encode()
    head += b" " * (-(len(head) + 11) % 64) + b"\n"
    out = io.BytesIO()
    out.write(b"\x93NUMPY\x01\x00" + struct.pack("<H", len(head)) + head)
    for x in numbers:
        out.write(struct.pack(code[0] + code[1], x))
    return "p.npy", out.getvalue(), plain, None if good else "type", f"{kind}, columns first: {by_columns}"


def edges(random):
    vertices = random.randrange(4, 20)
    rows = [[a, random.randrange(vertices), random.randrange(1, 99) + 0.5] for a in range(vertices)]
    plain = plain_text(rows)
    dialect, fault, what = Dialect(random, 3), None, "no fault"
    dialect.comma = False
    if dialect.heading:
        dialect.heading = random.choice([["source", "target", "weight"], ["x1", "x2", "x3"], ["a", "b", "cost"]])
    if random.random() < 0.6:
        fault = random.choice(["missing", "empty", "text", "longer", "shorter", "index", "CR", "UTF-16"])
        if fault == "missing":  # an infinite weight is a number here
            rows[random.randrange(vertices)][random.randrange(3)] = what = random.choice(["nan", "NA", "null", "?"])
        elif fault in FAULTS:
            what = FAULTS[fault](random, rows, dialect)
        if fault == "longer":  # an edge list may have a fourth column, in all rows or in none
            fault = "shorter"
        if fault == "index" and not dialect.heading:
            dialect.heading = ["", "source", "target", "weight"]
        plain = plain_text(rows) if has_named_index(fault, dialect) else plain
    text = dialect.text(rows)
    return "g.csv", BYTES[fault](text) if fault in BYTES else text.encode(), plain, fault, \
        f"separator {dialect.separator!r}, heading {dialect.heading}: {what}"


class Columns(Attack):
    name = "columns"
    text = "tables and arrays in random dialects, with a fault or none: read as the plain one is, or refused by row and column"
    weight = 1.0

    def make(self, random, world):
        name, content, plain, fault, what = random.choices([table, array, edges], [5, 1, 2])[0](random)
        case = Case(what=what, files={f"work/{name}": content, "work/plain.txt": plain}, inputs=[f"work/{name}"], codes=(0, 3))
        case.verb = "msf" if name == "g.csv" else random.choice(["linkage", "msf"])
        case.data = {"fault": fault, "name": name}
        source = [name] if name == "g.csv" else ["--points", name]
        case.parts = [Part([case.verb, *source, *(["--clusters", "3"] if case.verb == "linkage" else [])])]
        case.parts.append(Part(["--ranks", str(random.choice([1, 2, 3, 7]))], True))
        return case

    def check(self, case, result, folder, world):
        if result.code == 3:
            return self.refused(case, result)
        if result.code != 0 or case.data["fault"] == "index" and b"warning: " in result.err:
            return []
        words = ["plain.txt" if word == case.data["name"] else word for word in case.words()]
        plain = world.run(words, folder)
        if parse_facts(plain.out) != parse_facts(result.out):
            return [Finding("read otherwise", f"{parse_facts(result.out)}; the plain table gives {parse_facts(plain.out)}")]
        return []

    @staticmethod
    def refused(case, result):
        fault, text = case.data["fault"], result.err.decode(errors="replace")
        if fault is None:
            return [Finding("refused", f"a table without a fault is refused: {text[:300]}")]
        named = {"CR": ["CR"], "UTF-16": ["UTF-16"], "UTF-16LE": ["UTF-16"], "type": ["allowed"],
                 "mark": ["line "]}.get(fault, ["line ", "column"])
        if not all(word in text for word in named):
            return [Finding("not named", f"the refusal of {fault!r} does not say {named}: {text[:300]}")]
        return []


def parse_facts(out):
    """Returns digests, and number and dimension of points, from the output of the program."""
    lines = out.decode(errors="replace").split("\n")
    return [line for line in lines if "digest " in line] + [line.partition(": ")[2] for line in lines if " dimension" in line]


ATTACK = Columns()
