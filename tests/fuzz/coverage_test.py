"""tools/coverage counts lines by module, joins what several processes of one line have counted, and names what was not run."""
import importlib.machinery
import importlib.util
import sys
import unittest
from pathlib import Path

sys.dont_write_bytecode = True
path = str(Path(__file__).resolve().parents[2] / "tools" / "coverage")
loader = importlib.machinery.SourceFileLoader("coverage_tool", path)
spec = importlib.util.spec_from_loader("coverage_tool", loader)
coverage = importlib.util.module_from_spec(spec)
loader.exec_module(coverage)


def file(name, counts):
    return {"file": name, "lines": [{"line_number": n, "count": c} for n, c in counts]}


class Coverage(unittest.TestCase):
    def test_modules_are_sources_with_headers_and_folders_of_apps(self):
        for name, module in [("src/io/netcdf/read.cpp", "io"), ("include/merganser/io/parcel_file.hpp", "io"),
                           ("apps/commands/msf.cpp", "apps/commands"), ("apps/merganser.cpp", "apps"),
                           ("apps/support/minis/a.cpp", "apps/support/minis"),
                             ("packages/graph/src/msf/local/forest.cpp", "msf"),
                             ("packages/graph/include/merganser/msf/forest.hpp", "msf"),
                             ("packages/graph/apps/msf/report.cpp", "apps/msf")]:
            self.assertEqual(coverage.module_name(name), module)

    def test_lines_are_counted_by_module_and_file(self):
        found = coverage.summary([file("src/io/a.cpp", [(1, 3), (2, 0), (3, 0), (4, 0), (9, 0)]),
                                  file("include/merganser/io/a.hpp", [(5, 1)]), file("src/base/b.cpp", [(1, 1)]),
                                  file("src/base/empty.cpp", [])])
        self.assertEqual(found["modules"]["io"]["lines"], 6)
        self.assertAlmostEqual(found["modules"]["io"]["percent"], 100 / 3)
        self.assertEqual(found["files"]["src/io/a.cpp"]["not_run"], "2-4 9")
        self.assertEqual(found["all"], {"lines": 7, "covered": 3, "percent": 300 / 7})
        self.assertEqual(coverage.low_files(found), " 20.0 %  src/io/a.cpp: 2-4 9\n")
        self.assertIn("io          6    2   33.3", coverage.table(found))

    def test_a_line_that_one_of_several_copies_ran_was_run(self):
        found = coverage.summary([file("src/io/a.hpp", [(1, 0), (1, 2), (2, 0)])])
        self.assertEqual(found["files"]["src/io/a.hpp"], {"lines": 2, "covered": 1, "percent": 50.0, "not_run": "2"})

    def test_lines_without_code_do_not_count(self):
        lines = {"file": "src/io/a.cpp", "lines": [{"line_number": 1, "count": 0, "gcovr/noncode": True}]}
        self.assertEqual(coverage.summary([lines])["all"]["lines"], 0)


if __name__ == "__main__":
    unittest.main()
