"""Test that the functions of the C interface are those of a list, in the headers and in the archive, and that no other C name is
exported.

symbols_test.py LIST HEADERS ARCHIVE NM: of the core tests/capi/symbols.txt and include/, of a package those of its own. What is
in a list stays: a program that was linked against an older library must find it."""
import re
import subprocess
import sys
import unittest
from pathlib import Path

SOURCE = Path(__file__).resolve().parents[2]
LIST, HEADERS, ARCHIVE, NM = SOURCE / "tests" / "capi" / "symbols.txt", SOURCE / "include", None, "nm"


def listed():
    lines = LIST.read_text().split("\n")
    return [line for line in lines if line and not line.startswith("#")]


class Symbols(unittest.TestCase):
    def test_the_list_is_sorted_and_names_each_function_once(self):
        self.assertEqual(listed(), sorted(set(listed())))
        self.assertGreater(len(listed()), 2)

    def test_the_headers_declare_them(self):
        text = "\n".join(path.read_text() for path in (HEADERS / "merganser" / "capi").glob("*.h"))
        declared = re.findall(r"^MG_API [^(;]*?\b(mg_\w+)\(", text, flags=re.M)
        self.assertEqual(sorted(declared), listed())

    def test_the_archive_defines_them(self):
        run = subprocess.run([NM, "-g", "--defined-only", ARCHIVE], capture_output=True, text=True, check=True)
        in_c = [name for kind, name in re.findall(r"^[0-9a-f]+ ([A-Z]) (\S+)$", run.stdout, flags=re.M)
                if not name.startswith(("_Z", "__", "_GLOBAL_", "DW.ref."))]
        self.assertEqual(sorted(set(in_c)), listed())

    def test_the_fortran_module_calls_no_other(self):
        if HEADERS != SOURCE / "include":
            return  # the module shows the core
        text = "\n".join(path.read_text() for path in (SOURCE / "fortran").glob("*.[fF]90"))
        text = re.sub(r"abstract interface.*?end interface", "", text, flags=re.S)  # of functions that the caller passes
        called = set(re.findall(r"^ +(?:function|subroutine) (mg_\w+)\(.*\) bind\(c\)", text, flags=re.M))
        self.assertGreater(len(called), 40)
        self.assertEqual(called - set(listed()), set())


if __name__ == "__main__":
    NM = sys.argv.pop()
    ARCHIVE = sys.argv.pop()
    HEADERS = Path(sys.argv.pop()).resolve()
    LIST = Path(sys.argv.pop())
    unittest.main()
