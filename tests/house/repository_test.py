"""Files by which strangers find their way into the repository are valid and agree with the tree. What needs check-jsonschema
(PyPI), actionlint or shellcheck is skipped where it is missing."""
import functools
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import tomllib
import types
import unittest
from pathlib import Path

try:
    import yaml
except ImportError:
    yaml = None

SOURCE = Path(__file__).resolve().parents[2]
WORKFLOWS = sorted((SOURCE / ".github" / "workflows").glob("*.yml"))
VERSION = re.search(r"project\(merganser VERSION ([0-9.]+)", (SOURCE / "CMakeLists.txt").read_text())[1]


def program(name):
    """Returns the path of a program, also of one that stands beside this Python; None if it is missing."""
    beside = Path(sys.executable).parent / name
    return str(beside) if beside.exists() else shutil.which(name)


def needs(name):
    return unittest.skipUnless(program(name), f"{name} is not installed")


def run(*command):
    return subprocess.run(command, capture_output=True, text=True, timeout=120, cwd=SOURCE, env={**os.environ, "NO_COLOR": "1"})


def steps(workflow):
    """Returns (name, script, shell) of every step of a workflow that runs commands."""
    content = yaml.safe_load(workflow.read_text())
    return [(f"{workflow.name}: {job}: {step.get('name', number)}", step["run"])
            for job, what in content["jobs"].items() for number, step in enumerate(what["steps"], 1) if "run" in step]


class Workflows(unittest.TestCase):
    @needs("check-jsonschema")
    def test_they_fit_the_schema(self):
        done = run(program("check-jsonschema"), "--builtin-schema", "vendor.github-workflows", *WORKFLOWS)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)

    @unittest.skipUnless(yaml, "Python's yaml is not installed (Debian: python3-yaml)")
    @needs("shellcheck")
    def test_shellcheck_finds_nothing_in_their_steps(self):
        with tempfile.TemporaryDirectory() as folder:
            for workflow in WORKFLOWS:
                for name, script in steps(workflow):
                    # What the service puts in for ${{ ... }} is a word.
                    text = "#!/usr/bin/env bash\nset -eo pipefail\n" + re.sub(r"\$\{\{.*?\}\}", "word", script)
                    (Path(folder) / re.sub(r"[^\w.]+", "-", name)).write_text(text)
            done = run("shellcheck", "-s", "bash", *sorted(Path(folder).iterdir()))
            self.assertEqual((done.returncode, done.stdout), (0, ""))

    @needs("actionlint")
    def test_actionlint_finds_nothing(self):
        done = run(program("actionlint"), *WORKFLOWS)
        self.assertEqual((done.returncode, done.stdout + done.stderr), (0, ""))

    @unittest.skipUnless(yaml, "Python's yaml is not installed (Debian: python3-yaml)")
    def test_parts_of_ci_run_and_tasks_of_x_that_they_call_exist(self):
        parts = {line.split()[0] for line in run(".ci/run", "--list").stdout.splitlines()}
        tasks = set(re.findall(r"(?m)^  ([a-z0-9]+) ", run("./x").stdout))
        called = set()
        for workflow in WORKFLOWS:
            for job in yaml.safe_load(workflow.read_text())["jobs"].values():
                matrix = job.get("strategy", {}).get("matrix", {})
                words = set(" ".join([*matrix.get("parts", []), *matrix.get("part", [])]).split())
                self.assertLessEqual(words, parts, workflow.name)
                called |= words
            for name, script in steps(workflow):
                for words in re.findall(r"\.ci/run ([a-z ]+)", script):
                    self.assertLessEqual(set(words.split()), parts, name)
                    called |= set(words.split())
                for task in re.findall(r"\./x ([a-z0-9]+)", script):
                    self.assertIn(task, tasks, name)
        self.assertEqual(called, parts)

    def test_actions_are_named_with_a_version(self):
        for workflow in WORKFLOWS:
            for action in re.findall(r"uses: *(\S+)", workflow.read_text()):
                self.assertRegex(action, r"@(v[0-9]+|[0-9a-f]{40})$", workflow.name)


class Citation(unittest.TestCase):
    def test_it_has_the_version_of_the_sources(self):
        self.assertIn(f"\nversion: {VERSION}\n", (SOURCE / "CITATION.cff").read_text())

    @needs("check-jsonschema")
    def test_it_fits_the_schema(self):
        done = run(program("check-jsonschema"), "--builtin-schema", "vendor.citation-file-format", "CITATION.cff")
        if "invalid choice" in done.stderr.lower() or "invalid value" in done.stderr.lower():
            self.skipTest("this check-jsonschema has no schema of citations")
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)


class Templates(unittest.TestCase):
    def test_reports_and_changes_are_asked_for_what_doctor_says(self):
        asked = [*(SOURCE / ".github" / "ISSUE_TEMPLATE").glob("bug*"), SOURCE / ".github" / "pull_request_template.md"]
        self.assertEqual(len(asked), 2)
        for template in asked:
            self.assertIn("merganser doctor --json", template.read_text(), template.name)

    @needs("check-jsonschema")
    def test_forms_fit_the_schema(self):
        folder = SOURCE / ".github" / "ISSUE_TEMPLATE"
        for schema, files in (("issue-forms", [folder / "bug.yml", folder / "question.yml"]),
                              ("issue-config", [folder / "config.yml"])):
            done = run(program("check-jsonschema"), "--builtin-schema", f"vendor.github-{schema}", *files)
            if "invalid choice" in done.stderr.lower() or "invalid value" in done.stderr.lower():
                self.skipTest("this check-jsonschema has no schemas of forms")
            self.assertEqual(done.returncode, 0, done.stdout + done.stderr)

    def test_there_is_a_page_for_each_question_of_a_stranger(self):
        for name, words in [("SECURITY.md", "private"), ("CODE_OF_CONDUCT.md", "maintainers"),
                            ("CONTRIBUTING.md", "## How a release is made"),
                            ("CONTRIBUTING.md", "## How to report a bug"), ("CONTRIBUTING.md", "## How a change gets in")]:
            self.assertIn(words, (SOURCE / name).read_text(), name)


class Spack(dict):
    """Names that a recipe of Spack finds in spack.package: directives note what they are told."""

    def __init__(self):
        names = ("license", "version", "variant", "depends_on", "requires", "conflicts", "generator")
        self.said, self.conditions = {name: [] for name in names}, {name: [] for name in names}
        base = type("CMakePackage", (), {"define": lambda _, name, value: (name, value),
                                         "define_from_variant": lambda _, name, variant: (name, variant)})
        package = types.ModuleType("spack.package")
        package.CMakePackage = base
        for name in names:
            setattr(package, name, functools.partial(self.note, name))
        sys.modules["spack"], sys.modules["spack.package"] = types.ModuleType("spack"), package
        super().__init__()

    def note(self, name, first, *_, when="", **__):
        self.said[name].append(first)
        self.conditions[name].append(when)


class Recipes(unittest.TestCase):
    """Packages of other systems name the version of the sources, and say what has not been tested."""

    def test_they_have_the_version_of_the_sources(self):
        for name, line in [("spack/package.py", f'version("{VERSION}"'), ("conda/recipe.yaml", f'version: "{VERSION}"'),
                           ("debian/changelog", f"merganser ({VERSION}-1)")]:
            self.assertIn(line, (SOURCE / "packaging" / name).read_text(), name)

    def test_they_say_what_is_not_tested(self):
        for name in ("spack/package.py", "conda/recipe.yaml", "Containerfile"):
            self.assertRegex((SOURCE / "packaging" / name).read_text(), r"(?i)not tested|untested", name)

    def test_the_recipe_of_spack_passes_options_that_exist(self):
        recipe = Spack()
        exec(compile((SOURCE / "packaging" / "spack" / "package.py").read_text(), "package.py", "exec"), recipe)  # noqa: S102
        made = recipe["Merganser"]()
        cmake = "".join(file.read_text() for file in [SOURCE / "CMakeLists.txt", *(SOURCE / "cmake").glob("*.cmake")])
        passed = made.cmake_args()
        self.assertGreater(len(passed), 5)
        for name, variant in passed:
            if name != "BUILD_TESTING":
                self.assertRegex(cmake, rf"\b{name}\b")
            self.assertTrue(variant is False or variant in recipe.said["variant"], variant)
        conditions = [word for name in ("depends_on", "requires", "conflicts") for word in recipe.conditions[name]]
        for condition in conditions:
            for variant in re.findall(r"[+~](\w+)", condition):
                self.assertIn(variant, recipe.said["variant"], condition)

    def test_the_recipe_of_conda_needs_what_the_build_needs(self):
        recipe = (SOURCE / "packaging" / "conda" / "recipe.yaml").read_text()
        project = tomllib.loads((SOURCE / "pyproject.toml").read_text())
        for needed in [*project["build-system"]["requires"], *project["project"]["dependencies"]]:
            name, least = needed.split(">=")
            self.assertIn(f"- {name} >={least}\n", recipe)

    def test_rattler_build_renders_the_recipe_of_conda(self):
        try:
            from rattler_build import PlatformConfig, RenderConfig, Stage0Recipe, VariantConfig
        except ImportError:
            self.skipTest("py-rattler-build (PyPI) is not installed")
        recipe = Stage0Recipe.from_file(str(SOURCE / "packaging" / "conda" / "recipe.yaml"))
        variants = VariantConfig({"python": ["3.11", "3.12"], "cxx_compiler": ["gxx"], "c_stdlib": ["sysroot"]})
        rendered = recipe.render(variants, RenderConfig(platform=PlatformConfig(target_platform="linux-64")))
        self.assertEqual(len(rendered), 2)
        made = rendered[0].recipe() if callable(rendered[0].recipe) else rendered[0].recipe
        self.assertEqual((made.package.name, made.package.version), ("merganser", VERSION))
        self.assertIn("gxx_linux-64", str(made.requirements.build[0]))

    @unittest.skipUnless(yaml, "Python's yaml is not installed (Debian: python3-yaml)")
    def test_the_recipe_of_conda_is_yaml_with_the_options_of_the_build(self):
        recipe = yaml.safe_load((SOURCE / "packaging" / "conda" / "recipe.yaml").read_text())
        self.assertEqual(json.dumps(recipe["about"]["license"]), '"BSD-3-Clause"')


if __name__ == "__main__":
    unittest.main()
