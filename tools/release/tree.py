"""The tree of which a release is made: its version, clone, change log and tag."""
import re
import shutil
import subprocess
import sys


def git(folder, *arguments):
    """Returns what git prints for a folder."""
    done = subprocess.run(["git", "-C", str(folder), *arguments], capture_output=True, text=True, check=True)
    return done.stdout.strip()


def clone(source, folder, commit="HEAD"):
    """Clones a commit of a tree, with nothing that is not committed."""
    shutil.rmtree(folder, ignore_errors=True)
    git(source, "clone", "--quiet", "--no-hardlinks", str(source), str(folder))
    git(folder, "checkout", "--quiet", "--detach", git(source, "rev-parse", commit))


def version(folder):
    """Returns the version that CMakeLists.txt gives."""
    return re.search(r"project\(merganser VERSION ([0-9.]+)", (folder / "CMakeLists.txt").read_text())[1]


def check_changelog(source):
    """Ends the program unless CHANGELOG.md has a dated section of the version."""
    now = version(source)
    if not re.search(rf"(?m)^## \[{re.escape(now)}\] - \d{{4}}-\d\d-\d\d$", (source / "CHANGELOG.md").read_text()):
        sys.exit(f'release: CHANGELOG.md has no section of this version; allowed: "## [{now}] - YYYY-MM-DD"')


def tag(source):
    """Tags the commit with the version, and returns what to do next."""
    name = "v" + version(source)
    git(source, "tag", "--annotate", "--message", f"merganser {version(source)}", name)
    return f"tagged {name}; git push --tags, and upload the files below"
