"""The folder that a case runs in, and detection of changes in it."""
import hashlib
import os
import shutil
import tempfile

# Files that launchers, not the program, leave in $TMPDIR.
OF_THE_LAUNCHER = ("ompi.", "openmpi-sessions", "pmix-", "prte")


def state(path):
    """Returns a short, comparable description of the object at a path."""
    if os.path.islink(path):
        return ("link", os.readlink(path))
    if os.path.isdir(path):
        return ("folder",)
    if not os.path.isfile(path):
        return ("special",)
    digest = hashlib.blake2b(digest_size=16)
    with open(path, "rb") as file:
        while block := file.read(1 << 20):
            digest.update(block)
    return ("file", os.path.getsize(path), digest.hexdigest())


class Folder:
    """Folder of a case: work (where the program runs), outside (nothing in it may change), tmp ($TMPDIR), home."""
    PARTS = ("work", "outside", "tmp", "home")

    def __init__(self, parent):
        self.path = tempfile.mkdtemp(prefix="case-", dir=parent)
        for part in self.PARTS:
            os.mkdir(self.at(part))

    def at(self, name):
        return os.path.join(self.path, name)

    def lay(self, case):
        """Creates the files, links and owners of a case."""
        for name in case.folders:
            os.makedirs(self.at(name), exist_ok=True)
        for name, content in case.files.items():
            os.makedirs(os.path.dirname(self.at(name)), exist_ok=True)
            with open(self.at(name), "wb") as file:
                file.write(content if isinstance(content, bytes) else content.bytes())
        for name, target in case.links.items():
            os.symlink(target, self.at(name))
        for name, target in case.hard_links.items():
            os.link(self.at(target), self.at(name))

    def states(self):
        """Returns the state of every object in the folder, by name."""
        found = {}
        for part in self.PARTS:
            top = self.at(part)
            for folder, folders, files in os.walk(top):
                if folder == self.at("tmp"):
                    folders[:] = [f for f in folders if not f.startswith(OF_THE_LAUNCHER)]
                for name in folders + files:
                    full = os.path.join(folder, name)
                    try:
                        found[os.path.relpath(full, self.path)] = state(full)
                    except OSError:
                        found[os.path.relpath(full, self.path)] = ("gone",)
        return found

    def remove(self):
        shutil.rmtree(os.fsencode(self.path), ignore_errors=True)


def changes(before, after):
    """Returns {name: "new" or "gone" or "changed"} since the last state."""
    out = {name: "gone" for name in before.keys() - after.keys()}
    out |= {name: "new" for name in after.keys() - before.keys()}
    out |= {name: "changed" for name in before.keys() & after.keys() if before[name] != after[name]}
    return out
