"""Layout of the repository: the core at the root, a package in packages/NAME, with the same folders."""
import re

from house_rules import PACKAGES

LINK = re.compile(r"(!?)\[([^\]]*)\]\(([^)\s]+)\)")


def packages(root):
    """Returns the names of the packages that this checkout has. Any may be deleted, and the folder packages/ too."""
    folder = root / "packages"
    return sorted(p.name for p in folder.iterdir() if p.is_dir()) if folder.is_dir() else []


def roots(root):
    """Returns the root of the repository, whose folders are those of the core, and the folders of packages."""
    return [root, *(root / "packages" / name for name in packages(root))]


def folders(root, name):
    """Returns the folders of this name in the core and in packages, as include/ and packages/graph/include/."""
    return [r / name for r in roots(root) if (r / name).is_dir()]


def is_left_out(root, file):
    """Returns True if a file belongs to a package that this checkout lacks, or to packages/ itself where it was deleted."""
    if not file.is_relative_to(root / "packages"):
        return False
    parts = file.relative_to(root / "packages").parts
    if not (root / "packages").is_dir():
        return True
    return len(parts) > 1 and parts[0] in PACKAGES and not (root / "packages" / parts[0]).is_dir()


def without_left_out(root, page, text=None):
    """Returns the text of a Markdown page, or the one given in its place, with links into packages that are not there replaced by
    their words."""
    def word(link):
        name = link[3].partition("#")[0]
        outside = re.match(r"[a-z]+:", link[3]) or not name
        return link[2] if not outside and is_left_out(root, (page.parent / name).resolve()) else link[0]

    return LINK.sub(word, page.read_text() if text is None else text)
