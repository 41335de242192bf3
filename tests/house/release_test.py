"""The files of a release: release_test.py checks the tools that make them on small inputs; release_test.py FOLDER installs and
checks those that ./x release has made in a folder (dist)."""
import base64
import hashlib
import importlib.util
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time
import tomllib
import unittest
import zipfile
from pathlib import Path
from unittest import mock

SOURCE = Path(__file__).resolve().parents[2]
sys.dont_write_bytecode = True
sys.path.insert(0, str(SOURCE / "tools" / "release"))
import materials  # noqa: E402
import parts  # noqa: E402
import tree  # noqa: E402
import wheels  # noqa: E402

DIST = None
PATIENCE = int(os.environ.get("MERGANSER_TEST_PATIENCE", "1"))
IDENTITY = {f"GIT_{who}_{what}": "a@localhost" for who in ("AUTHOR", "COMMITTER") for what in ("NAME", "EMAIL")}


def run(*command, **options):
    return subprocess.run([str(word) for word in command], capture_output=True, text=True, timeout=300 * PATIENCE, **options)


class Tools(unittest.TestCase):
    def setUp(self):
        self.kept = tempfile.TemporaryDirectory()
        self.folder = Path(self.kept.name)
        self.addCleanup(self.kept.cleanup)

    def repository(self):
        """Returns a repository with one commit: a version, and a change log without it."""
        folder = self.folder / "source"
        folder.mkdir()
        (folder / "CMakeLists.txt").write_text("project(merganser VERSION 7.1.0 LANGUAGES CXX)\n")
        (folder / "pyproject.toml").write_text('dependencies = ["numpy>=1.23"]\n')
        (folder / "CHANGELOG.md").write_text("## [Unreleased]\n")
        for command in (["init", "-q"], ["add", "-A"], ["commit", "-qm", "all"]):
            self.assertEqual(run("git", "-C", folder, *command, env={**os.environ, **IDENTITY}).returncode, 0)
        return folder

    def release(self, name="out"):
        source = self.folder / "source"
        source = source if source.exists() else self.repository()
        tree.clone(source, self.folder / "clone")
        output = self.folder / name
        output.mkdir()
        return parts.Release(self.folder / "clone", output, tree.version(source), 1795651200)

    def test_options_that_contradict_are_refused(self):
        for options, words in [(["--only", "cake", "--dry-run"], '--only "cake"; allowed: archive'),
                               (["--only", "archive"], "--dry-run"), (["--with", "build"], "--dry-run")]:
            done = run(sys.executable, SOURCE / "tools" / "release", *options, cwd=SOURCE)
            self.assertEqual(done.returncode, 2, options)
            self.assertIn(words, done.stderr)

    def test_the_second_of_two_is_compiled_without_a_compiler_cache(self):
        spec = importlib.util.spec_from_file_location("release_main", SOURCE / "tools" / "release" / "__main__.py")
        command = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(command)
        asked = []

        def make(_options, _source, _commit, _work, output):
            output.mkdir(parents=True)
            (output / "wheel").write_text("the same")
            asked.append(os.environ.get("CCACHE_RECACHE"))

        source, output = self.repository(), self.folder / "dist"
        before = {name: value for name, value in os.environ.items() if name != "CCACHE_RECACHE"}
        self.addCleanup(os.chdir, os.getcwd())
        os.chdir(source)
        with mock.patch.object(command, "make", make), mock.patch.dict(os.environ, before, clear=True), \
                mock.patch.object(sys, "argv", ["release", "--dry-run", "--twice", "--output", str(output)]), \
                mock.patch("builtins.print") as said:
            command.main()
        self.assertEqual(asked, [None, "1"])
        said.assert_any_call("made twice: the same bytes")

    def test_an_archive_has_what_is_committed_and_the_same_bytes_each_time(self):
        source = self.repository()
        (source / "scratch").touch()
        made = []
        for name in ("one", "two"):
            release = self.release(name)
            parts.archive(release)
            parts.checksums(release)
            made.append({file.name: file.read_bytes() for file in release.output.iterdir()})
            done = run("sha256sum", "--check", "SHA256SUMS", cwd=release.output)
            self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(made[0], made[1])
        listed = run("tar", "-tf", self.folder / "one" / "merganser-7.1.0-source.tar.gz").stdout.split()
        self.assertIn("merganser-7.1.0/CMakeLists.txt", listed)
        self.assertNotIn("merganser-7.1.0/scratch", listed)

    def test_package_indexes_get_a_description_without_links_to_files(self):
        settings = tomllib.loads((SOURCE / "pyproject.toml").read_text())["tool"]["hatch"]["metadata"]["hooks"]["fancy-pypi-readme"]
        text = "".join((SOURCE / fragment["path"]).read_text() for fragment in settings["fragments"])
        self.assertRegex(text, r"\]\(docs/")
        for substitution in settings["substitutions"]:
            text = re.sub(substitution["pattern"], substitution["replacement"], text)
        self.assertEqual(re.findall(r"\]\((?!https?:|#).*?\)", text), [])
        self.assertIn("**graph**: minimum spanning forests", text)

    def test_recipes_have_the_checksums_of_what_they_build(self):
        release = self.release()
        for recipe in ("spack/package.py", "conda/recipe.yaml"):
            (release.work / "packaging" / recipe).parent.mkdir(parents=True)
            shutil.copy(SOURCE / "packaging" / recipe, release.work / "packaging" / recipe)
        for name, recipe in (("merganser-7.1.0-source.tar.gz", "spack-package.py"), ("merganser-7.1.0.tar.gz", "conda-recipe.yaml")):
            (release.output / name).write_text(name)
            parts.recipes(release)
            text = (release.output / recipe).read_text()
            self.assertIn(hashlib.sha256(name.encode()).hexdigest(), text)
            self.assertNotIn("0" * 64, text)

    def test_a_release_without_a_dated_section_of_the_change_log_is_refused(self):
        source = self.repository()
        with self.assertRaises(SystemExit) as ended:
            tree.check_changelog(source)
        self.assertIn("[7.1.0] - YYYY-MM-DD", str(ended.exception))
        (source / "CHANGELOG.md").write_text("## [Unreleased]\n\n## [7.1.0] - 2026-11-26\n")
        tree.check_changelog(source)
        self.assertIn("tagged v7.1.0", self.tagged(source))
        self.assertEqual(tree.git(source, "tag"), "v7.1.0")

    def tagged(self, source):
        before = dict(os.environ)
        os.environ.update(IDENTITY)
        try:
            return tree.tag(source)
        finally:
            os.environ.clear()
            os.environ.update(before)

    def wheel(self, *libraries):
        """Returns a wheel as auditwheel leaves it, with these libraries inside."""
        path = self.folder / "merganser-7.1.0-cp311-cp311-manylinux_2_35_x86_64.whl"
        with zipfile.ZipFile(path, "w") as file:
            file.writestr("merganser/__init__.py", "")
            for library in libraries:
                file.writestr(f"merganser.libs/{library}", "ELF")
            file.writestr("merganser-7.1.0.dist-info/METADATA", "Metadata-Version: 2.4\nName: merganser\n\nText\n")
            file.writestr("merganser-7.1.0.dist-info/RECORD", "")
        return path

    def test_licences_of_libraries_are_put_into_a_wheel(self):
        known = {"libhwy.so.1.0.3": ("libhwy1", "1.0.3-3", "License: Apache-2.0\n")}
        wheels.owner_of = lambda name: known[name]
        made = []
        for name in ("one.whl", "two.whl"):
            grafted = wheels.add_licences(self.wheel("libhwy-1a2b3c4d.so.1.0.3"), self.folder / name, 1795651200)
            self.assertEqual(grafted, [("libhwy.so.1.0.3", "libhwy1", "1.0.3-3", "License: Apache-2.0\n")])
            made.append((self.folder / name).read_bytes())
        self.assertEqual(made[0], made[1])
        files = wheels.contents(self.folder / "one.whl")
        self.assertEqual(files["merganser-7.1.0.dist-info/licenses/libraries/libhwy1.txt"][0], b"License: Apache-2.0\n")
        self.assertIn(b"\nLicense-File: libraries/libhwy1.txt\n", files["merganser-7.1.0.dist-info/METADATA"][0])
        for line in files["merganser-7.1.0.dist-info/RECORD"][0].decode().splitlines():
            name, digest, size = line.split(",")
            if size:
                data = files[name][0]
                self.assertEqual(digest, "sha256=" + base64.urlsafe_b64encode(hashlib.sha256(data).digest()).rstrip(b"=").decode())
        self.assertEqual(len(files), files["merganser-7.1.0.dist-info/RECORD"][0].count(b"\n"))

    def test_a_wheel_with_an_mpi_or_without_licences_is_refused(self):
        wheels.auditwheel = lambda *_: wheels.PLATFORM
        for libraries, words in [(["libmpi-1a2b3c4d.so.40.30.4"], "no library of an MPI"),
                                 (["libopen-pal-0a2b3c4d.so.40"], "no library of an MPI"),
                                 (["libhwy-1a2b3c4d.so.1"], "without a licence")]:
            with self.assertRaises(SystemExit) as ended:
                wheels.check(self.wheel(*libraries))
            self.assertIn(words, str(ended.exception))

    def test_the_bill_of_materials_names_what_is_inside(self):
        release = self.release()
        parts.archive(release)
        release.grafted = [("libhwy.so.1", "libhwy1", "1.0.3-3+deb12u1", "License: Apache-2.0\n text\nLicense: BSD-3-clause\n")]
        bill = materials.bill(release)
        self.assertEqual(bill, materials.bill(release))
        self.assertEqual((bill["bomFormat"], bill["specVersion"]), ("CycloneDX", "1.5"))
        highway = next(c for c in bill["components"] if c["name"] == "libhwy1")
        self.assertEqual(highway["purl"], "pkg:deb/debian/libhwy1@1.0.3-3%2Bdeb12u1")
        self.assertEqual([one["license"]["name"] for one in highway["licenses"]], ["Apache-2.0", "BSD-3-clause"])
        self.assertEqual(len({c["bom-ref"] for c in bill["components"]}), len(bill["components"]))
        self.check_schema(bill)

    @staticmethod
    def check_schema(bill):
        """Compares a bill of materials with the schema, where the package cyclonedx-python-lib (PyPI) is installed."""
        try:
            from cyclonedx.schema import SchemaVersion
            from cyclonedx.validation.json import JsonStrictValidator
        except ImportError:
            print("not compared with the schema of CycloneDX: cyclonedx-python-lib is not installed", file=sys.stderr)
            return
        assert JsonStrictValidator(SchemaVersion.V1_5).validate_str(json.dumps(bill)) is None


USE = """
import sys
import numpy
import merganser
random = numpy.random.default_rng(1)
points = numpy.concatenate([random.normal(centre, 0.1, (200, 2)) for centre in (0, 5, 10)])
labels = merganser.HDBSCAN().fit_predict(points)
maps = open("/proc/self/maps").read()
print(len(set(labels) - {-1}), merganser.__version__, "libmpi" in maps, "mpi4py" in sys.modules)
"""


@unittest.skipUnless(len(sys.argv) > 1, "no folder with the files of a release was given")
class Made(unittest.TestCase):
    """What ./x release has made."""

    def test_checksums_are_those_of_the_files(self):
        done = run("sha256sum", "--check", "SHA256SUMS", cwd=DIST)
        self.assertEqual(done.returncode, 0, done.stderr)

    def test_the_wheel_has_no_mpi_and_all_licences(self):
        for wheel in DIST.glob("*.whl"):
            names = list(wheels.contents(wheel))
            self.assertEqual([name for name in names if wheels.NEVER_INSIDE.search(Path(name).name)], [])
            needed = 1 + any(name.startswith("merganser.libs/") for name in names)
            self.assertGreaterEqual(sum("/licenses/" in name for name in names), needed)

    def test_the_wheel_is_installed_within_ten_seconds_and_works_without_mpi(self):
        wheel, = DIST.glob("*.whl")
        with tempfile.TemporaryDirectory() as folder:
            python = Path(folder) / "env" / "bin" / "python"
            self.assertEqual(run(sys.executable, "-m", "venv", Path(folder) / "env").returncode, 0)
            self.assertEqual(run(python, "-m", "pip", "install", "--disable-pip-version-check", "numpy").returncode, 0)
            began = time.monotonic()
            done = run(python, "-m", "pip", "install", "--disable-pip-version-check", wheel)
            seconds = time.monotonic() - began
            self.assertEqual(done.returncode, 0, done.stderr)
            print(f"pip install of the wheel, NumPy being there: {seconds:.1f} s")
            self.assertLess(seconds, 10 * PATIENCE)
            # Without any folder in which an MPI may be found by its name.
            done = run(python, "-I", "-c", USE, cwd=folder, env={"PATH": "/usr/bin:/bin", "HOME": folder})
            self.assertEqual((done.stdout, done.stderr), (f"3 {tree.version(SOURCE)} False False\n", ""))


if __name__ == "__main__":
    if len(sys.argv) > 1 and not sys.argv[1].startswith("-"):
        DIST = Path(sys.argv.pop(1)).resolve()
    unittest.main()
