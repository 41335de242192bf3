"""house_rules.py finds every kind of breach it is there for, and nothing in clean code."""
import sys
import tempfile
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "tools"))
import house_rules  # noqa: E402

CLEAN = """#pragma once
/// Says "printf(" and exit( in a comment only.
#include <cstdio>
#include "merganser/base/error.hpp"
namespace merganser { inline const char* text() { return "std::cout << abort() mpi.h"; } }
"""


class HouseRules(unittest.TestCase):
    def breaches(self, name, text):
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text)
            return house_rules.check(Path(folder))

    def assert_breach(self, name, text, word):
        found = self.breaches(name, text)
        self.assertEqual(len(found), 1, found)
        self.assertIn(word, found[0])
        self.assertTrue(found[0].startswith(name + ":"), found[0])

    def test_clean_code_breaks_no_rule(self):
        self.assertEqual(self.breaches("include/merganser/geometry/clean.hpp", CLEAN), [])

    def test_an_include_upward_is_found_in_headers_and_sources(self):
        upward = '#pragma once\n#include "merganser/cluster/cluster.hpp"\n'
        self.assert_breach("include/merganser/parcels/a.hpp", upward, "may not use cluster")
        self.assert_breach("src/links/detail/a.cpp", '#include "merganser/nearest/leaf_scan.hpp"\n', "may not use nearest")

    def test_a_package_that_needs_what_is_not_installed_is_found(self):
        with tempfile.TemporaryDirectory() as folder:
            test = Path(folder) / "packages/graph/tests/graphs/a_test.cpp"
            header = Path(folder) / "tests/io/a.hpp"
            for path in (test, header):
                path.parent.mkdir(parents=True)
            test.write_text('#include "tests/io/b.hpp"\n')
            (header.parent / "b.hpp").write_text('#pragma once\n#include "tests/io/a.hpp"\n')
            for private, count in (("src/io/layout.hpp", 1), ("src/base/system_root.hpp", 0)):
                header.write_text(f'#pragma once\n#include "{private}"\n')
                found = [line for line in house_rules.check(Path(folder)) if "no installation has" in line]
                self.assertEqual(len(found), count, found)

    def test_a_package_that_needs_what_another_one_does_not_install_is_found(self):
        with tempfile.TemporaryDirectory() as folder:
            packages = Path(folder) / "packages"
            for header in ("graph/apps/graph/input.hpp", "graph/tests/msf/points.hpp", "flow/apps/flow/own.hpp"):
                (packages / header).parent.mkdir(parents=True)
                (packages / header).write_text("#pragma once\n")
            for name, included, count in (("studies", "apps/graph/input.hpp", 0), ("flow", "apps/graph/input.hpp", 1), ("flow", "apps/flow/own.hpp", 0),
                                          ("studies", "tests/msf/points.hpp", 1), ("graph", "tests/msf/points.hpp", 0)):
                program = packages / name / "tests/all/a.cpp"
                program.parent.mkdir(parents=True, exist_ok=True)
                program.write_text(f'#include "{included}"\n')
                found = [line for line in house_rules.check(Path(folder)) if "neither of the core nor" in line]
                self.assertEqual(len(found), count, (name, included, found))
                program.unlink()

    def test_a_private_header_of_another_module_is_found(self):
        line = '#include "src/links/scan.hpp"\n'
        for name in ("src/cluster/a.cpp", "apps/cluster/a.cpp", "include/merganser/msf/a.cpp"):
            self.assert_breach(name, line, "private to module links")
        for name in ("src/links/detail/a.cpp", "tests/cluster/a.cpp"):
            self.assertEqual(self.breaches(name, line), [])

    def test_the_core_uses_no_package_and_a_package_those_of_the_table(self):
        line = '#include "merganser/msf/forest.hpp"\n'
        for name in ("apps/cluster/a.cpp", "tests/cluster/a.cpp"):
            self.assert_breach(name, line, "of the package graph; the core uses none")
        self.assert_breach("packages/flow/apps/flow/a.cpp", line, "of the package graph; package flow may use no other")
        self.assertEqual(self.breaches("packages/graph/apps/msf/a.cpp", line), [])
        self.assertEqual(self.breaches("packages/studies/tests/studies/a.cpp", line), [])
        self.assertEqual(self.breaches("python/src/a.cpp", line), [])
        self.assert_breach("examples/a.cpp", "#include <merganser/msf/forest.hpp>\n", "the core uses none")
        self.assert_breach("packages/graph/CMakeLists.txt", 'merganser_package(graph "forests" USES flow)\n', 'uses "flow"')
        self.assert_breach("packages/flow/CMakeLists.txt", "merganser_module(graphs USES base comm PIECES)\n", "is of graph")

    def test_a_public_header_with_the_option_parser_is_found(self):
        line = '#pragma once\n#include "merganser/base/options.hpp"\n'
        for name in ("include/merganser/links/a.hpp", "packages/graph/include/merganser/msf/a.hpp"):
            self.assert_breach(name, line, "plain structures")
        for name in ("packages/graph/include/merganser/msf/detail/a.hpp", "src/links/a.hpp", "apps/frame/a.hpp"):
            self.assertEqual(self.breaches(name, line), [])

    def test_every_form_of_include_but_one_is_found(self):
        for path in ("scan.hpp", "../links/scan.hpp", "links/scan.hpp", "./scan.hpp"):
            for name in ("src/links/a.cpp", "apps/cluster/a.cpp", "tests/links/a.cpp"):
                self.assert_breach(name, f'#include "{path}"\n', "write the path")
        self.assert_breach("src/links/a.cpp", '#include "apps/frame/table.hpp"\n', "is not for src/")
        self.assert_breach("apps/run/a.cpp", '#include "tests/support/ranks.hpp"\n', "is not for apps/")

    def test_ours_in_angle_brackets_is_found_outside_examples(self):
        for path in ("merganser/cluster/cluster.hpp", "src/links/scan.hpp", "apps/frame/table.hpp", "include/merganser/base/error.hpp",
                     "packages/simulate/simulate/costs.hpp"):
            for name in ("src/nearest/a.cpp", "apps/cluster/a.cpp", "tests/capi/a.c", "include/merganser/msf/a.h"):
                self.assert_breach(name, f"#include <{path}>\n", "what is ours")
        for path in ("../src/links/scan.hpp", "./scan.hpp", "/usr/include/stdio.h", "sys/../src/links/scan.hpp"):
            for name in ("src/nearest/a.cpp", "examples/01_a.cpp"):
                self.assert_breach(name, f"#include <{path}>\n", "without . and ..")
        self.assert_breach("examples/01_a.cpp", "#include <src/links/scan.hpp>\n", "what is ours")

    def test_a_way_around_in_a_path_is_found(self):
        for path in ("merganser/base/../cluster/cluster.hpp", "merganser/./cluster/cluster.hpp", "merganser//cluster/cluster.hpp",
                     "apps/../src/links/scan.hpp"):
            for name in ("src/nearest/a.cpp", "apps/cluster/a.cpp"):
                self.assert_breach(name, f'#include "{path}"\n', "write the path")

    def test_an_include_is_found_in_every_spelling(self):
        for line in ('#include"scan.hpp"', '#  include  "scan.hpp"', '/**/ #include "scan.hpp"', '/*\n*/ #/**/include/**/"scan.hpp"',
                     '%:include "scan.hpp"', '??=include "scan.hpp"', '#include \\\n  "scan.hpp"', '#inc\\\nlude "scan.hpp"',
                     '#include "scan.hpp"  // mine', "const char q = '\"';\n#include \"scan.hpp\"", 'f("/*");\n#include "scan.hpp"',
                     "f('\\x22','/');\n#include \"scan.hpp\"", 'f(R"x(" /* )x");\n#include "scan.hpp"'):
            for name in ("src/nearest/a.cpp", "tests/links/a.c", "apps/table.cpp.in"):
                self.assert_breach(name, line + "\n", "write the path")

    def test_what_only_looks_like_an_include_is_none(self):
        for text in ('// #include "scan.hpp"\n', '/*\n#include "scan.hpp"\n*/\n', '// a \\\n#include "scan.hpp"\n',
                     'f(R"(\n#include "scan.hpp"\n)");\n', '#define SCAN "scan.hpp"\n', "#ifdef INCLUDED  // include\n"):
            self.assertEqual(self.breaches("src/nearest/a.cpp", text), [])

    def test_headers_that_are_not_named_or_not_included_are_found(self):
        for line in ("#include SCAN", "#include SCAN(links)", "#include /* links */ SCAN", "#include"):
            self.assert_breach("src/nearest/a.cpp", line + "\n", "no macro")
            self.assert_breach("examples/01_a.cpp", line + "\n", "no macro")
        for line in ('#include_next "scan.hpp"', "#include_next <stdio.h>", '#import "scan.hpp"', 'import "scan.hpp";',
                     "export import <vector>;"):
            self.assert_breach("src/nearest/a.cpp", line + "\n", "by #include")

    def test_highway_includes_the_same_file_again_and_no_other(self):
        text = '#undef HWY_TARGET_INCLUDE\n#define HWY_TARGET_INCLUDE {}\n#include <hwy/foreach_target.h>\n'
        self.assertEqual(self.breaches("src/nearest/a.cpp", text.format('"src/nearest/a.cpp"')), [])
        for what in ('"src/links/scan.cpp"', '"a.cpp"', "<src/nearest/a.cpp>", "SCAN", ""):
            self.assert_breach("src/nearest/a.cpp", text.format(what), "include again")

    def test_a_table_that_cmake_writes_is_of_its_module(self):
        inside_comm = '#include "src/comm/detail/plugin.hpp"\n'
        inside_kernels = '#include "src/kernels/families/support/family.hpp"\n'
        self.assertEqual(self.breaches("cmake/backend_table.cpp.in", inside_comm), [])
        self.assertEqual(self.breaches("cmake/plugin_table.cpp.in", inside_comm + inside_kernels), [])
        self.assert_breach("cmake/backend_table.cpp.in", inside_kernels, "private to module kernels")
        self.assert_breach("cmake/other_table.cpp.in", inside_comm, "private to module comm")

    def test_the_header_for_c_is_of_the_room_capi(self):
        line = '#include "merganser/merganser.h"\n'
        self.assert_breach("src/links/a.cpp", line, "may not use capi")
        for name in ("src/capi/a.cpp", "tests/capi/a.c", "apps/run/a.cpp"):
            self.assertEqual(self.breaches(name, line), [])

    def test_an_example_uses_public_headers_and_its_own_only(self):
        for path in ("src/links/scan.hpp", "apps/frame/table.hpp", "tests/support/ranks.hpp", "../apps/frame/table.hpp",
                     "merganser/links/links.hpp"):
            self.assert_breach("examples/01_a.cpp", f'#include "{path}"\n', "an example includes")
        own = '#include <merganser/links/links.hpp>\n#include "simulations/halo.hpp"\n'
        self.assertEqual(self.breaches("examples/01_a.cpp", own), [])
        self.assertEqual(self.breaches("apps/run/a.cpp", '#include "examples/simulations/halo.hpp"\n'), [])
        self.assert_breach("src/links/a.cpp", '#include "examples/simulations/halo.hpp"\n', "is not for src/")

    def test_an_include_downward_is_allowed(self):
        self.assertEqual(self.breaches("src/cluster/a.cpp", '#include "merganser/links/links.hpp"\n'), [])

    def test_builds_in_a_folder_without_git_are_not_looked_at(self):
        long = "x\n" * 1000
        self.assertEqual(self.breaches("build-mpich/made.cpp", long), [])
        self.assert_breach("src/links/build/made.cpp", long, "1000 lines")
        self.assert_breach("made.cpp", long, "1000 lines")

    def test_a_docstring_that_does_not_stand_alone_is_found(self):
        for opening in ("What carries the packages.", "The same in 32 bits.", "As given.", "How many there are.", "As above, sorted."):
            self.assert_breach("src/base/x.cpp", f"/// {opening}\nint f();\n", "stand alone")
            self.assert_breach("packages/flow/src/flow/x.cpp", f"  /// {opening}\n  int f();\n", "stand alone")
            self.assertEqual(self.breaches("src/base/x.cpp", f"/// Returns a number.\n/// {opening}\nint f();\n"), [])
            self.assertEqual(self.breaches("tests/base/x.cpp", f"/// {opening}\nint f();\n"), [])

    def test_an_unknown_room_is_found(self):
        self.assert_breach("src/attic/a.cpp", "int a;\n", "not in the table")

    def test_a_name_in_the_namespace_of_another_room_is_found(self):
        self.assert_breach("src/kernels/a.cpp", "namespace merganser::comm {}\n", "merganser::kernels")
        self.assert_breach("src/msf/a.cpp", "namespace merganser {}\n", "merganser::msf")
        self.assert_breach("src/parcels/a.cpp", "namespace merganser::parcels_of_mine {}\n", "names in merganser")
        self.assert_breach("apps/topo/a.cpp", "namespace merganser::topology {}\n", "merganser::app")
        for name, good in (("src/msf/a.cpp", "merganser::msf::euclidean"), ("src/cluster/a.cpp", "merganser::cluster"),
                           ("src/base/a.cpp", "merganser"), ("apps/topo/a.cpp", "merganser::app")):
            self.assertEqual(self.breaches(name, f"namespace {good} {{}}\n"), [])

    def test_message_passing_outside_comm_is_found(self):
        for line in ("#include <mpi.h>\n", '# include "shmem.h"\n', "#include <mpp/shmem.h>\n", "/**/ #include <mpi-ext.h>\n",
                     "#include <x86_64-linux-gnu/mpich/mpi.h>\n", "#include \\\n<mpi.h>\n"):
            for name in ("src/links/a.cpp", "apps/a.cpp", "apps/a.cpp.in", "tests/links/a.c", "tools/hosts/a.c",
                         "include/merganser/comm/a.hpp", "cmake/backend_table.cpp.in"):
                text = "#pragma once\n" + line if name.endswith(".hpp") else line
                self.assert_breach(name, text, "only comm, kernels")
            for folder in ("src/comm/backends", "src/kernels", "src/trace", "tests/comm", "tests/kernels", "tests/trace", "tests/capi",
                           "packages/simulate/tests/simulate", "packages/simulate/simulate", "examples/c"):
                self.assertEqual(self.breaches(f"{folder}/a.cpp", line), [])
                self.assertEqual(self.breaches(f"{folder}/a.c", line), [])
            self.assertEqual(self.breaches("cmake/plugin_table.cpp.in", line), [])
        self.assert_breach("src/comm/a.cpp", '#include "src/links/mpi.h"\n', "private to module links")

    def test_a_printing_library_is_found(self):
        for line in ("std::cout << 1;", "std::cerr << 1;", 'printf("a");', 'std::fprintf(stderr, "a");', 'fmt::print("a");'):
            self.assert_breach("src/parcels/a.cpp", f"void f() {{ {line} }}\n", "never prints")
            self.assertEqual(self.breaches("apps/a.cpp", f"void f() {{ {line} }}\n"), [])
        self.assertEqual(self.breaches("src/parcels/a.cpp", 'void f(char* c) { std::snprintf(c, 9, "a"); }\n'), [])

    def test_a_library_that_ends_the_program_is_found(self):
        for line in ("exit(1);", "std::exit(1);", "std::abort();", "::_exit(1);", "std::terminate();", "MPI_Abort(c, 1);"):
            self.assert_breach("src/parcels/a.cpp", f"void f() {{ {line} }}\n", "never ends")

    def test_files_written_past_the_one_way_are_found(self):
        for line in ("open(p, O_CREAT | O_WRONLY);", "open(p, O_WRONLY | O_TRUNC);", "std::ofstream f(p);", 'fopen(p, "w");',
                     "mkstemp(p);", "fs::weakly_canonical(p);"):
            self.assert_breach("src/io/a.cpp", f"void f() {{ {line} }}\n", "base/output_file.hpp")
            self.assert_breach("apps/a.cpp", f"void f() {{ {line} }}\n", "base/output_file.hpp")
            self.assertEqual(self.breaches("tests/io/a.cpp", f"void f() {{ {line} }}\n"), [])
        self.assertEqual(self.breaches("src/io/a.cpp", "int f = open(p, O_CREAT | O_EXCL | O_WRONLY);\n"), [])

    def test_a_shell_in_programs_is_found(self):
        for line in ('popen(c, "r");', '::popen(c, "r");', "std::system(c);", "system (c);", 'execl("/bin/sh", c);', 'f("bash");'):
            for name in ("apps/a.cpp", "src/links/a.cpp"):
                self.assert_breach(name, f"void f(char* c) {{ {line} }}\n", "no shell")
            self.assertEqual(self.breaches("tests/apps/a.cpp", f"void f(char* c) {{ {line} }}\n"), [])
        clean = 'void f(S s) { s.system(1); file_system(2); say("as typed in a shell"); }  // popen(\n'
        self.assertEqual(self.breaches("apps/a.cpp", clean), [])

    def test_a_long_file_is_found(self):
        for name in ("a.cpp", "a.hpp", "a.h", "a.c", "a.cpp.in", "a.f90", "a.F90", "a.py", "a.sh", "a.cmake", "a", "CMakeLists.txt"):
            first = "#pragma once\n" if name == "a.hpp" else "\n"
            self.assert_breach(f"tests/links/{name}", first + "\n" * house_rules.MAX_LINES, "at most")
            self.assertEqual(self.breaches(f"tests/links/{name}", first + "\n" * (house_rules.MAX_LINES - 1)), [])
        self.assertEqual(self.breaches("docs/a.md", "\n" * 1000), [])

    def test_marks_of_unfinished_work_are_found(self):
        for mark in ("TO" "DO", "FIX" "ME", "not im" "plemented"):
            self.assert_breach("apps/a.cpp", f"// {mark}: later\n", "unfinished")
            self.assert_breach("docs/a.md", f"{mark}\n", "unfinished")
            self.assertEqual(self.breaches("CHANGELOG.md", f"{mark}\n"), [])

    def test_words_that_were_given_up_are_found(self):
        for word in ("kMost" "Ranks", "kLeast", "begin_courtesy", "leave_alone", "receiving_cards", "introduce(graph)", "refuse_twin",
                     "cure_environment", "check_same", "lonely", "Rehoming", "mg_clusterer_rehome", "MG_KEEP_CENTRE", "keep_largest",
                     "far_id", "BlockLedger", "mg_finder_arrivals"):
            with self.subTest(word):
                for name in ("src/links/a.cpp", "docs/a.md", "python/merganser/a.py", "fortran/a.f90", "apps/a.hpp"):
                    first = "#pragma once\n" if name.endswith(".hpp") else "\n"
                    self.assert_breach(name, f"{first}{word}\n", "given up; say ")
                for name in ("CHANGELOG.md", "docs/glossary.md", "docs/measurements/a.json"):
                    self.assertEqual(self.breaches(name, f"{word}\n"), [])
        clean = "almost kMaximum ledger introduced keepers far_link sighted crowded\n"
        self.assertEqual(self.breaches("docs/a.md", clean), [])

    def test_a_header_without_pragma_once_is_found(self):
        self.assert_breach("include/merganser/base/a.hpp", "int a();\n", "#pragma once")

    def test_a_link_of_rooms_that_the_table_does_not_know_is_found(self):
        self.assert_breach("CMakeLists.txt", "merganser_module(comm USES base cluster)\n", "the table says")
        self.assertEqual(self.breaches("CMakeLists.txt", "merganser_module(comm USES base)\n"), [])


if __name__ == "__main__":
    unittest.main()
