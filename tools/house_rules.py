#!/usr/bin/env python3
"""Checks the rules of the house that a compiler does not: python3 tools/house_rules.py [ROOT]. Exit 1 and one line per breach."""
import posixpath
import re
import subprocess
import sys
from pathlib import Path

# Modules that each module may use. CMakeLists.txt must link the same ones, which is checked too.
MODULES = {
    "base": "",
    "stats": "base",
    "comm": "base",
    "kernels": "base comm",
    "geometry": "base",
    "announce": "base comm geometry",
    "parcels": "base geometry",
    "links": "base comm",
    "nearest": "base comm geometry parcels links",
    "io": "base comm geometry parcels",
    "cluster": "base comm geometry announce parcels links nearest",
    "capi": "base comm geometry announce parcels cluster",
    "loopback": "",
    "graphs": "base comm",
    "msf": "base comm geometry links nearest graphs capi",
    "mnd": "base comm graphs msf",
    "topology": "base stats comm kernels graphs capi",
    "trace": "",
    "flow": "base comm geometry announce parcels cluster",
    "blocks": "base comm announce",
    "studies": "base stats comm announce graphs msf mnd topology",
}
# Modules of each package, in packages/<package>, and the packages it may use; modules of no package belong to the core.
PACKAGES = {
    "graph": ("graphs msf mnd", ""),
    "topology": ("topology trace", "graph"),
    "flow": ("flow", ""),
    "blocks": ("blocks", ""),
    "simulate": ("", ""),
    "studies": ("studies", "graph topology flow"),
}
OPTION_PARSER = "merganser/base/options.hpp"
# Folders that may use all packages: the Python package, and the fuzz targets.
OF_ALL_PACKAGES = ("python/", "tests/fuzz/")
PACKAGE_OF = {module: package for package, (modules, _) in PACKAGES.items() for module in modules.split()}
# Modules that are no library of their own.
NO_LIBRARY = {"trace", "loopback"}
# Modules whose private headers (src/MODULE/) a module may use besides its own: kernels call the libraries that comm has started,
# and are in one plug-in with it.
INSIDE = {"kernels": "comm"}
MAX_LINES = 450
CODE = {".cpp", ".hpp", ".h", ".c", ".cpp.in"}
SHORT = CODE | {".f90", ".F90", ".py", ".sh", ".cmake", ".in", ""}
TEXT = SHORT | {".txt", ".md", ".json"}
UNFINISHED = re.compile(r"\b(TO" r"DO|FIX" r"ME|XX" r"X|HA" r"CK)\b|\b(place" r"holder|not im" r"plemented|st" r"ub)\b")
LIBRARY_TALKS = re.compile(
    r"std::(cout|cerr|clog)\b|\b(fmt|std)::print|(?<![\w:])(std::)?(printf|fprintf|vprintf|puts|fputs|putchar)\s*\("
)
LIBRARY_ENDS = re.compile(r"(?<![\w.>:])(std::|::)?(exit|_exit|_Exit|quick_exit|abort|terminate)\s*\(|\b(MPI_Abort|shmem_global_exit)\s*\(")
# A text that a shell reads can come from outside; programs are started from argument vectors (apps/frame/process.hpp).
SHELL = re.compile(r"(?<![\w.>])(std::|::)?(popen|system|wordexp)\s*\(")
SHELL_WORD = re.compile(r'"(/usr)?(/bin/)?(ba|da)?sh"')
SHELL_FREE = ("src/", "apps/", "include/")
# comm::abort, which main() calls, must end every process of a job.
MAY_END = {"include/merganser/comm/runtime.hpp"}
MAY_END_MODULE = ("src/comm/", "src/trace/", "src/loopback/")
# Only base/output_file writes files; other programs must not decide where a name leads.
WRITES_FILES = re.compile(r"\bO_TRUNC\b|\bO_CREAT\b(?!.*\bO_EXCL\b)|\b(std::)?(ofstream|fopen|creat|mkstemp|tmpfile|tmpnam)\b|\bweakly_canonical\b")
WRITTEN_BY = "base/output_file.hpp"
MESSAGE_PASSING = re.compile(r"(?:.*/)?((?:mpi|mpi-ext|shmem|shmemx|pshmem)\.h)")
MAY_PASS_MESSAGES = (
    "src/comm/", "src/kernels/", "src/trace/", "include/merganser/comm/mpi.hpp", "cmake/plugin_table.cpp.in",
    "tests/comm/", "tests/io/", "tests/kernels/", "tests/trace/", "tests/capi/", "tests/simulate/", "simulate/", "examples/",
)
# Comments, raw strings, strings and characters.
PARTS = re.compile(
    r'//[^\n]*|/\*.*?\*/|(?<!\w)(?:u8|[uUL])?R"(?P<end>[^()\s\\]{0,16})\(.*?\)(?P=end)"'
    r"""|"(?:\\.|[^"\\\n])*"|'(?:\\(?:x[0-9a-fA-F]+|[0-7]+|.)|[^'\\\n])'""",
    re.S,
)
# An inclusion in text with blanked comments: a directive in any spelling, or C++20's import of a header.
DIRECTIVE = re.compile(r"\s*(?:#|%:|\?\?=)\s*(include_next|include|import)\b\s*(.*)")
IMPORT = re.compile(r'\s*(?:export\s+)?(import)\s*([<"].*)')
HEADER = re.compile(r'"([^"]*)"|<([^>]*)>')
# Highway includes a file again for each instruction set: HWY_TARGET_INCLUDE must name the file itself.
AGAIN = re.compile(r"\s*(?:#|%:|\?\?=)\s*define\s+HWY_TARGET_INCLUDE\b\s*(.*)")
# Modules of the tables that CMake generates; those of kernels may use private headers of comm.
TABLES = {"cmake/backend_table.cpp.in": "comm", "cmake/kernel_table.cpp.in": "kernels", "cmake/plugin_table.cpp.in": "kernels"}
# Modules whose names are in namespace merganser itself, because users of every other module need them. Names of other modules are
# in merganser::MODULE, those of the command in merganser::app; private ones may be in inner namespaces.
COMMON = {"base", "stats", "geometry", "parcels", "cluster"}
NAMESPACE = re.compile(r"^(?:inline )?namespace (merganser(?:::\w+)*)")
# One form of including: the path from include/ or from the root of the tree.
ROOTS = ("merganser/", "src/", "apps/", "python/src/", "tests/", "examples/")
# Other extensions that a compiler would find there.
OURS = ROOTS + ("include/", "packages/", "python/", "tools/", "cmake/", "fortran/", "docs/")
# Words of our own that have given way to those of the field (docs/glossary.md), and what to say instead; * stands for any
# letters, digits and underscores.
WORDS = {
    "kMost*": "kMax...", "kLeast*": "kMin...",
    "*courtesy*": "enable_yielding, ScopedYield", "Courtesy*": "ScopedYield",
    "leave_alone": "mark_local_failure", "left_alone": "failed_locally",
    "receiving_cards": "receiver_descriptors", "sending_cards": "sender_descriptors",
    "introduce(*": "handshake()", "Introduction": "RemoteDescriptors",
    "Keeper": "CollectivePool", "cure_environment": "apply_runtime_workarounds",
    "prove_settings": "measure_settings", "settings_proof*": "settings_comparison",
    "check_same": "check_uniform_across_ranks", "same_of": "uniform_values",
    "throw_together": "throw_on_every_rank", "TogetherError": "CollectiveError",
    "Sight": "SearchCutoff", "least_sight": "min_cutoff", "sight2": "cutoff2",
    "lonely": "unmatched", "*rehom*": "redistribute", "Rehom*": "Redistribution", "Cargo": "Payload",
    "Ledger": "ConservationCheck", "BlockLedger": "BlockDirectory",
    "refuse_twin": "check_distinct", "twin_ids": "consecutive_ids",
    "crowding": "load per core", "kernel_of": "null_vector",
    "*keep_centre": "centre", "*keep_largest": "largest", "MG_KEEP_*": "MG_CENTRE, MG_LARGEST",
    "far_vertex": "remote_vertex", "far_id": "remote_id", "far_rank": "remote_rank", "far_position": "remote_position",
    "StarArrival": "StarReceive", "mg_arrival": "mg_receive",
    "mg_finder_leaving": "mg_finder_sends", "mg_finder_arrivals": "mg_finder_receives",
    "mg_settle": "mg_return_status", "check_room": "check_memory, check_disk_space, check_capacity",
}
# Openings of docstrings that are clauses without a verb, or that mean nothing away from their neighbours.
OPENING = re.compile(r"\s*/// (What|How many|Whose|Who|As given|As above|As before|Same as|The same as|The same in|See above)\b")
# The change log has the old names, the glossary explains them, measurements are as their programs wrote them.
OLD_WORDS = ("CHANGELOG.md", "CHANGELOG-names.md", "docs/glossary.md", "docs/measurements/", "tools/house_rules.py", "tests/house/house_rules_test.py")


# Private headers that the component `development` installs (cmake/development.cmake).
INSTALLED = {"src/base/system_root.hpp"}


def files(root):
    """Returns the tracked and new files of a checkout, or all files of a plain folder except those of builds."""
    listed = subprocess.run(["git", "-C", str(root), "ls-files", "-z", "-co", "--exclude-standard"], capture_output=True)
    top = subprocess.run(["git", "-C", str(root), "rev-parse", "--show-toplevel"], capture_output=True, text=True)
    if listed.returncode == 0 and Path(top.stdout.strip()).resolve() == root.resolve():
        names = listed.stdout.decode().split("\0")
        return sorted(root / n for n in names if n and (root / n).is_file())
    own = [p for p in root.iterdir() if p.name != ".git" and not (p.is_dir() and p.name.startswith("build"))]  # as .gitignore
    return sorted(p for top in own for p in [top, *top.rglob("*")] if p.is_file() and ".git" not in p.parts)


def spliced(text):
    """Joins lines of C++ that end in a backslash with the next ones, keeping the number of lines."""
    return re.sub(r"(?:[^\n]*\\\n)+[^\n]*", lambda m: m[0].replace("\\\n", "") + "\n" * m[0].count("\\\n"), text)


def blanked(text, strings):
    """Blanks in C++ comments and the insides of raw strings, and of other strings if asked, keeping the number of lines."""

    def instead(found):
        if found[0][0] == "/":
            return re.sub(r"[^\n]", " ", found[0])
        if found["end"] is not None:
            return '""' + "\n" * found[0].count("\n")
        return '""' if strings else found[0]

    return PARTS.sub(instead, text)


def split_package(name):
    """Returns the package that a file belongs to (None: the core), and its path below the folder of that package."""
    parts = name.split("/")
    if parts[0] == "packages" and len(parts) > 2:
        return parts[1], "/".join(parts[2:])
    return None, name


def check_package(package, name, included):
    """Checks an include of a package's header: the core includes none, and a package those of packages that the table names."""
    parts = included.split("/")
    if parts[0] not in ("merganser", "src") or len(parts) < 3 or name.startswith(OF_ALL_PACKAGES):
        return
    owner = PACKAGE_OF.get(parts[1])
    if owner and owner != package and owner not in PACKAGES.get(package, ("", ""))[1].split():
        allowed = f"package {package} may use {PACKAGES[package][1] or 'no other'}" if package in PACKAGES else "the core uses none"
        yield f"{included} is of the package {owner}; {allowed}"


def module_name(name):
    """Returns the module of a file in src/MODULE or include/merganser/MODULE; None for other files."""
    parts = name.split("/")
    if parts[0] == "src" and len(parts) > 2:
        return parts[1]
    if parts[:2] == ["include", "merganser"] and len(parts) > 3:
        return parts[2]
    return None


def check_included(name, module, line):
    """Yields the breaches of one line of C++ without comments that is an include: its form, and the right to the header."""
    again = AGAIN.match(line)
    if again and again[1].strip() != f'"{name}"':
        yield f'HWY_TARGET_INCLUDE is "{name}", the file that Highway is to include again'
    directive = DIRECTIVE.match(line) or IMPORT.match(line)
    if not directive:
        return
    how, what = directive[1], directive[2].strip()
    header = HEADER.match(what)
    if how != "include":
        yield f"{how} {what}: headers are included, by #include"
        return
    if not header:
        yield f"include {what}: write the name of the header, no macro"
        return
    quoted = header[1] is not None
    path = header[1] if quoted else header[2]
    passing = MESSAGE_PASSING.fullmatch(path)
    if passing and not name.startswith(MAY_PASS_MESSAGES):
        yield f"only comm, kernels and trace include {passing[1]}"
    elif quoted and (not passing or "/" in path):
        yield from check_include(name, module, path)
    elif path.startswith((".", "/")) or path != posixpath.normpath(path):
        yield f"include <{path}>: write the path without . and .."
    elif path.startswith(OURS) and not (name.startswith("examples/") and path.startswith("merganser/")):
        yield f'include <{path}>: what is ours is included in "", and in <merganser/...> by examples'


def check_include(name, module, included):
    """Yields the breaches of a quoted include: its form, and the module that owns the header."""
    if name.startswith("examples/"):  # made to be copied: its own headers by their place, the library's in <>
        if included.startswith(OURS + (".", "/")) or included != posixpath.normpath(included):
            yield f'include "{included}": an example includes its own headers by their place, <merganser/...>, and no other'
        return
    if not included.startswith(ROOTS) or included != posixpath.normpath(included):
        yield f'include "{included}": write the path from include/ or from the root of the tree: {" ".join(ROOTS)}'
        return
    if included.startswith("python/") and not name.startswith("python/"):
        yield f"{included} is not for {name.split('/')[0]}/"
        return
    if included.startswith(("apps/", "tests/", "examples/")):
        if not name.startswith(("apps/", "tests/")) or (name.startswith("apps/") and included.startswith("tests/")):
            yield f"{included} is not for {name.split('/')[0]}/"
        return
    parts = included.split("/")
    used = parts[1] if len(parts) > 2 else "capi" if included == "merganser/merganser.h" else None
    if name.startswith("tests/"):
        return
    if included.startswith("src/") and (module is None or used not in (module, INSIDE.get(module))):
        yield f"{included} is private to module {used}"
    elif module is not None and used in MODULES and used != module and used not in MODULES[module].split():
        yield f"module {module} may not use {used}; allowed: {MODULES[module] or 'none'}"


def check_namespace(module, below):
    """Yields a breach if a file of a module opens another namespace below merganser than the module may."""
    if module in COMMON:
        if below and below[0] not in ("detail", "HWY_NAMESPACE", module):
            yield f"module {module} has its names in merganser, private ones in merganser::detail or merganser::{module}"
    elif below[:1] != [module]:
        yield f"module {module} has its names in merganser::{module}"


def check_code(name, text, package=None):
    """Yields the breaches of a C or C++ file, with their lines: openings of docstrings, includes, namespaces, forbidden calls."""
    text = spliced(text)
    lines = zip(*(form.split("\n") for form in (text, blanked(text, False), blanked(text, True))))
    module = module_name(name)
    if module is not None and module not in MODULES:
        yield 1, f"module {module} is not in the table; known: {' '.join(MODULES)}"
        module = None
    before = ""
    for number, (line, code, bare) in enumerate(lines, 1):
        opening = None if before.lstrip().startswith("///") or name.startswith("tests/") else OPENING.match(line)
        if opening:
            yield number, f"a docstring that opens with \"{opening[1]}\": begin with a verb or a noun, and let it stand alone"
        before = line
        for what in check_included(name, module or TABLES.get(name), code):
            yield number, what
        header = re.match(r'\s*#\s*include\s*["<]([^">]+)[">]', code)
        for what in check_package(package, name, header[1]) if header else ():
            yield number, what
        if header and header[1] == OPTION_PARSER and name.startswith("include/") and "/detail/" not in name:
            yield number, "options of the library are plain structures; what describes them to the command stands in detail/"
        if module is not None or name.startswith("apps/"):
            if WRITES_FILES.search(bare):
                yield number, f"{WRITES_FILES.search(bare)[0]} may write where a link leads; files are written by {WRITTEN_BY}"
        if name.startswith(SHELL_FREE) and (SHELL.search(bare) or SHELL_WORD.search(line)):
            yield number, "no shell: start programs from argument vectors, by start_process() of apps"
        if NAMESPACE.match(bare) and (module is not None or name.startswith("apps/")):
            for what in check_namespace("capi" if "/capi/" in name else module or "app", NAMESPACE.match(bare)[1].split("::")[1:]):
                yield number, what
        if module is None:
            continue
        if LIBRARY_TALKS.search(bare):
            yield number, "the library never prints"
        if LIBRARY_ENDS.search(bare) and name not in MAY_END and not name.startswith(MAY_END_MODULE):
            yield number, "the library never ends the program; throw an error of base/error.hpp"
    if name.endswith(".hpp") and "#pragma once" not in text and "HWY_TARGET_TOGGLE" not in text:
        yield 1, "a header starts with #pragma once"


def check_words(text):
    """Yields each word of a file that has given way to one of the field, with its line."""
    for word, say in WORDS.items():
        if word.strip("*") not in text:
            continue
        before = r"\b\w*" if word[0] == "*" else r"\b"
        for found in re.finditer(before + re.escape(word.strip("*")) + (r"\w*" if word[-1] == "*" else r"\b"), text):
            yield text.count("\n", 0, found.start()) + 1, f"{found[0]}: a word that was given up; say {say}"


def check_modules_of_cmake(text, package):
    """Checks that the modules and packages named in a CMakeLists.txt are those of the tables."""
    for number, line in enumerate(text.split("\n"), 1):
        module = re.match(r"\s*merganser_module\((\w+)(?:\s+USES\s+([a-z ]+?))?(?:\s+(?:NOT_INSTALLED|PIECES))*\)", line)
        if module and (module[2] or "").split() != MODULES.get(module[1], "?").split():
            yield number, f"module {module[1]} links \"{module[2] or ''}\", the table says \"{MODULES.get(module[1], 'no such module')}\""
        elif module and PACKAGE_OF.get(module[1]) != package:
            yield number, f"module {module[1]} is of {PACKAGE_OF.get(module[1]) or 'the core'}, the table says"
        used = re.match(r'merganser_package\((\w+) "[^"]*"(?: USES ([a-z ]+))?\)', line)
        if used and (used[1] != package or (used[2] or "") != PACKAGES.get(package, ("", "?"))[1]):
            yield number, f"package {used[1]} uses \"{used[2] or ''}\", the table says \"{PACKAGES.get(package, ('', 'no such package'))[1]}\""


def private_headers(root, name, seen):
    """Yields the private headers that a header of tests or commands includes, itself or by another one of the same folder root."""
    if name in seen or not (root / name).is_file():
        return
    seen.add(name)
    for line in (root / name).read_text().split("\n"):
        directive = DIRECTIVE.match(line)
        header = HEADER.match(directive[2].strip()) if directive else None
        included = header[1] if header else None
        if included and included.startswith("src/"):
            yield included
        elif included and included.startswith(("tests/", "apps/")):
            yield from private_headers(root, included, seen)


def check_installed(root, text, package):
    """Yields the breaches of a package's file: includes of tests and commands of others that are not installed, or need what is not."""
    used = [root / "packages" / other for other in PACKAGES.get(package, ("", ""))[1].split()]
    for number, line in enumerate(text.split("\n"), 1):
        directive = DIRECTIVE.match(line)
        header = HEADER.match(directive[2].strip()) if directive else None
        included = header[1] if header else None
        if not included or not included.startswith(("tests/", "apps/")) or (root / "packages" / package / included).is_file():
            continue
        owner = next((o for o in [root, *used] if (o / included).is_file()), None)
        if owner is None or (owner != root and included.startswith("tests/")):
            yield number, f"{included} is neither of the core nor of {package}, nor of the commands of packages that it uses"
            continue
        for private in private_headers(owner, included, set()):
            if private not in INSTALLED:
                yield number, f"{included} needs {private}, which no installation has: a package built alone has not either"


def check(root):
    """Returns a line for each breach of a house rule in the files of a checkout."""
    breaches = []
    for path in files(root):
        name = path.relative_to(root).as_posix()
        kind = ".cpp.in" if name.endswith(".cpp.in") else path.suffix
        if kind not in TEXT or name == "LICENSE":
            continue
        try:
            text = path.read_text()
        except UnicodeDecodeError:
            continue
        package, inner = split_package(name)
        found = []
        count = text.count("\n")
        if count > MAX_LINES and (kind in SHORT or path.name == "CMakeLists.txt"):
            found.append((count, f"{count} lines; at most {MAX_LINES}, split by idea"))
        if not name.startswith(("CHANGELOG", "docs/decisions/")):
            for number, line in enumerate(text.split("\n"), 1):
                if UNFINISHED.search(line):
                    found.append((number, f"mark of unfinished work: {UNFINISHED.search(line)[0]}"))
        if not name.startswith(OLD_WORDS):
            found += check_words(text)
        if kind in CODE:
            found += check_code(inner, text, package)
            if package:
                found += check_installed(root, text, package)
        if inner == "CMakeLists.txt":
            found += check_modules_of_cmake(text, package)
        breaches += [f"{name}:{number}: {what}" for number, what in found]
    return breaches


def main():
    root = Path(sys.argv[1] if len(sys.argv) > 1 else ".")
    if not root.is_dir():
        print(f"no such folder: {root}", file=sys.stderr)
        return 2
    breaches = check(root)
    print("\n".join(breaches) if breaches else "no rule of the house is broken")
    return 1 if breaches else 0


if __name__ == "__main__":
    sys.exit(main())
