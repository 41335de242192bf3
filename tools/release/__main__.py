"""Makes the files of a release from a clean clone of the last commit: ./x release --dry-run.

Into FOLDER (dist): the archive of the sources, the source distribution of the Python package, its wheel with the libraries that
it needs and their licences, recipes of Spack and conda-forge with checksums, the bill of materials (CycloneDX), the documents, and
SHA256SUMS. All dates in them are that of the commit.
Nothing is uploaded. --dry-run makes the files alone; without it the tree must be clean, CHANGELOG.md must have a dated section of
the version, and the commit is tagged.
"""
import argparse
import os
import shutil
import subprocess
import sys
from pathlib import Path

sys.dont_write_bytecode = True
sys.path.insert(0, str(Path(__file__).resolve().parent))
import materials  # noqa: E402
import parts  # noqa: E402
import tree  # noqa: E402

PARTS = ("archive", "sdist", "wheel", "docs", "sbom")


def arguments():
    options = argparse.ArgumentParser(prog="./x release", description=__doc__.split("\n")[0])
    options.add_argument("--dry-run", action="store_true", help="make the files, tag nothing")
    options.add_argument("--twice", action="store_true",
                         help="make them twice, from two clones, without a compiler cache the second time, and compare the bytes")
    options.add_argument("--only", default=",".join(PARTS), metavar="A,B,...", help=f"parts, of {', '.join(PARTS)}")
    options.add_argument("--with", dest="objects", metavar="BUILD",
                         help="build the wheel in this tree with the objects of that build (faster; not from a clone, so only with --dry-run)")
    options.add_argument("--output", type=Path, default=Path("dist"), metavar="FOLDER", help="where the files go [dist]")
    asked = options.parse_args()
    asked.only = asked.only.split(",")
    for part in asked.only:
        if part not in PARTS:
            options.error(f'--only "{part}"; allowed: {", ".join(PARTS)}')
    if asked.objects and not asked.dry_run:
        options.error("--with builds in this tree, which may differ from the commit; allowed: with --dry-run")
    if not asked.dry_run and asked.only != list(PARTS):
        options.error("--only makes a part of a release; allowed: with --dry-run")
    return asked


def make(asked, source, commit, work, output):
    """Makes the parts that were asked for into a folder, from a clone in `work`."""
    for folder in (work, output):
        shutil.rmtree(folder, ignore_errors=True)
    work.parent.mkdir(parents=True, exist_ok=True)
    output.mkdir(parents=True)
    tree.clone(source, work, commit)
    release = parts.Release(work, output, tree.version(work), int(tree.git(work, "log", "-1", "--format=%ct")))
    os.environ["SOURCE_DATE_EPOCH"] = str(release.date)
    if "archive" in asked.only:
        parts.archive(release)
    if "sdist" in asked.only:
        parts.source_distribution(release)
    if "wheel" in asked.only:
        parts.wheel(release, source if asked.objects else work, asked.objects)
    parts.check_descriptions(release)
    parts.recipes(release)
    if "docs" in asked.only:
        parts.documents(release)
    if "sbom" in asked.only:
        materials.write(release)
    parts.checksums(release)


def differing(first, second):
    """Returns what differs between two folders of files: names of one alone, and names whose bytes differ."""
    names = sorted({f.name for f in [*first.iterdir(), *second.iterdir()]})
    return [name for name in names if not ((first / name).exists() and (second / name).exists()
                                           and (first / name).read_bytes() == (second / name).read_bytes())]


def main():
    asked = arguments()
    source = Path(tree.git(Path.cwd(), "rev-parse", "--show-toplevel"))
    changed = tree.git(source, "status", "--porcelain", "--untracked-files=no")
    if changed and not asked.dry_run:
        sys.exit(f"release: the tree has changes that are not committed:\n{changed}")
    if changed:
        print("release: changes that are not committed are not in it", file=sys.stderr)
    if not asked.dry_run:
        tree.check_changelog(source)
    # Both clones stand in the same folder, one after the other, since compilers write folders into what they make.
    work = source / "build" / "release" / f"merganser-{tree.version(source)}"
    commit = tree.git(source, "rev-parse", "HEAD")  # of both, whatever is committed meanwhile
    make(asked, source, commit, work, asked.output)
    if asked.twice:
        again = source / "build" / "release" / "again"
        os.environ["CCACHE_RECACHE"] = "1"  # what a compiler cache gives would be the objects of the first time
        make(asked, source, commit, work, again)
        different = differing(asked.output, again)
        if different:
            sys.exit(f"release: made twice, these differ: {', '.join(different)}; compare {asked.output} with {again}")
        print("made twice: the same bytes")
    if not asked.dry_run:
        print(tree.tag(source))
    for file in sorted(asked.output.iterdir()):
        print(f"{file.stat().st_size:>12,}  {file}")


if __name__ == "__main__":
    try:
        main()
    except subprocess.CalledProcessError as error:
        said = ((error.stdout or "") + (error.stderr or "")).strip()[-3000:]
        sys.exit(f"release: {' '.join(map(str, error.cmd))} ended with exit code {error.returncode}:\n{said}")
