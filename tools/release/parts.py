"""The files of a release, each from a clone, with the date of its commit."""
import gzip
import hashlib
import io
import os
import re
import subprocess
import sys
import tarfile
from dataclasses import dataclass, field
from pathlib import Path

import wheels


@dataclass
class Release:
    """What is made: from where, to where, version, date in seconds since 1970, and what was put into the wheel."""

    work: Path
    output: Path
    version: str
    date: int
    grafted: list = field(default_factory=list)

    @property
    def name(self):
        return f"merganser-{self.version}"


def call(*command, **options):
    """Runs a command; what it prints is shown only if it fails."""
    return subprocess.run(list(map(str, command)), check=True, capture_output=True, text=True, **options)


def zipped(data, date):
    """Returns bytes in gzip, with a date and without a name."""
    out = io.BytesIO()
    with gzip.GzipFile(filename="", mode="wb", fileobj=out, mtime=date, compresslevel=9) as file:
        file.write(data)
    return out.getvalue()


def archive(release):
    """Writes the sources as git has them: merganser-VERSION-source.tar.gz."""
    print("== archive of the sources", flush=True)
    done = subprocess.run(["git", "-C", str(release.work), "archive", "--format=tar", f"--prefix={release.name}/", "HEAD"],
                          check=True, capture_output=True)
    (release.output / f"{release.name}-source.tar.gz").write_bytes(zipped(done.stdout, release.date))


def source_distribution(release):
    """Writes the source distribution of the Python package: merganser-VERSION.tar.gz."""
    print("== source distribution of the Python package", flush=True)
    call("tools/sdist", release.output.resolve(), cwd=release.work, env={**os.environ, "PYTHON": sys.executable})


def wheel(release, folder, objects):
    """Writes the wheel for this Python, with the libraries that it needs, and their licences."""
    print(f"== wheel{' with objects of ' + objects if objects else ''}", flush=True)
    built = release.work.parent / "wheel"
    call("rm", "-rf", built)
    # Warnings are errors, as where the build is checked, so that objects of a compiler cache are found.
    options = ["-C", "build-dir=build-wheel", "-C", "cmake.define.MERGANSER_WERROR=ON"]
    if objects:
        options = ["-C", f"cmake.define.MERGANSER_OBJECTS_OF={Path(objects).resolve()}"]
    call(sys.executable, "-m", "pip", "wheel", "--disable-pip-version-check", "--no-deps", "--wheel-dir", built, *options, folder)
    made, = built.glob("*.whl")
    repaired = wheels.repair(made, built / "repaired")
    release.grafted = wheels.add_licences(repaired, release.output / repaired.name, release.date)
    wheels.check(release.output / repaired.name)


def check_descriptions(release):
    """Ends the program unless package indexes would show what the wheel and the source distribution say of themselves."""
    made = [file for file in sorted(release.output.iterdir())
            if file.suffix == ".whl" or file.name == f"{release.name}.tar.gz"]
    if made:
        print("== descriptions of the Python package, by twine", flush=True)
        call(sys.executable, "-m", "twine", "check", "--strict", *made)


def recipes(release):
    """Writes the recipes of Spack and conda-forge with the checksums of the archive and the source distribution that were made."""
    for recipe, source, name in (("spack/package.py", f"{release.name}-source.tar.gz", "spack-package.py"),
                                 ("conda/recipe.yaml", f"{release.name}.tar.gz", "conda-recipe.yaml")):
        if (release.output / source).exists():
            text = (release.work / "packaging" / recipe).read_text()
            checksum = hashlib.sha256((release.output / source).read_bytes()).hexdigest()
            assert text.count("0" * 64) == 1, f"packaging/{recipe} has no place for a checksum"
            (release.output / name).write_text(text.replace("0" * 64, checksum))


def documents(release):
    """Writes the site, as ./x docs makes it: merganser-VERSION-docs.tar.gz."""
    print("== documents", flush=True)
    call("./x", "docs", cwd=release.work, env={**os.environ, "MERGANSER_BUILD": "build"})
    site = release.work / "build" / "docs"
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode="w", format=tarfile.PAX_FORMAT) as tar:
        for file in sorted(path for path in site.rglob("*") if path.is_file()):
            if file.suffix in (".pickle", ".doctree", ".buildinfo") or file.name == ".buildinfo":
                continue  # the builder's own, which hold folders
            entry = tarfile.TarInfo(f"{release.name}-docs/{file.relative_to(site).as_posix()}")
            entry.size, entry.mtime, entry.mode = file.stat().st_size, release.date, 0o644
            with file.open("rb") as data:
                tar.addfile(entry, data)
    (release.output / f"{release.name}-docs.tar.gz").write_bytes(zipped(out.getvalue(), release.date))


def checksums(release):
    """Writes SHA256SUMS of all other files, as sha256sum --check reads it."""
    lines = [f"{hashlib.sha256(file.read_bytes()).hexdigest()}  {file.name}\n"
             for file in sorted(release.output.iterdir()) if file.name != "SHA256SUMS"]
    (release.output / "SHA256SUMS").write_text("".join(lines))


def licence_of(text):
    """Returns the names of the licences in a machine-readable copyright file of Debian."""
    return sorted(set(re.findall(r"(?m)^License: *(\S.*?) *$", text)))
