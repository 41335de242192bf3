"""The bill of materials of a release, in CycloneDX 1.5 (JSON): what the files hold that others have made, and their hashes."""
import hashlib
import json
import re
import time
import uuid

import parts

# Headers of Debian packages that are compiled into the libraries: package, licence of what is used, and why it is not listed by
# the linker.
COMPILED_IN = (("libhwy-dev", "Apache-2.0"), ("libxxhash-dev", "BSD-2-Clause"), ("libboost-dev", "BSL-1.0"))
PYTHON = re.compile(r'(?m)^dependencies = \["([a-z0-9]+)(.*)"\]$')


def component(name, version, licences, **more):
    """Returns an entry of the list of components."""
    entry = {"type": "library", "name": name, "bom-ref": f"{name}@{version}", "version": version}
    if licences:
        entry["licenses"] = [{"license": {"name": licence}} for licence in licences]
    return {**entry, **more}


def debian(package, version, licences):
    return component(package, version, licences, purl=f"pkg:deb/debian/{package}@{version.replace('+', '%2B')}")


def version_of(package):
    done = parts.subprocess.run(["dpkg-query", "-W", "-f", "${Version}", package], capture_output=True, text=True)
    return done.stdout if done.returncode == 0 else "unknown"


def bill(release):
    """Returns the bill of materials as an object, the same for the same files."""
    hashes = {file.name: hashlib.sha256(file.read_bytes()).hexdigest() for file in sorted(release.output.iterdir())}
    found = {(package, version): parts.licence_of(text) for _, package, version, text in release.grafted}
    components = [debian(package, version, licences) for (package, version), licences in sorted(found.items())]
    components += [debian(package, version_of(package), [licence]) for package, licence in COMPILED_IN]
    name, allowed = PYTHON.search((release.work / "pyproject.toml").read_text()).groups()
    components.append(component(name, allowed, [], purl=f"pkg:pypi/{name}", scope="optional",
                                description="needed by the Python package, and not inside it"))
    serial = uuid.uuid5(uuid.NAMESPACE_OID, json.dumps(hashes, sort_keys=True))
    files = [{"type": "file", "name": name, "bom-ref": f"file:{name}", "hashes": [{"alg": "SHA-256", "content": value}]}
             for name, value in hashes.items() if not name.endswith(".cdx.json")]
    return {
        "bomFormat": "CycloneDX", "specVersion": "1.5", "serialNumber": f"urn:uuid:{serial}", "version": 1,
        "metadata": {"timestamp": time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(release.date)),
                     "component": {"type": "library", "name": "merganser", "bom-ref": "merganser", "version": release.version,
                                   "licenses": [{"license": {"id": "BSD-3-Clause"}}], "components": files}},
        "components": components,
        "dependencies": [{"ref": "merganser", "dependsOn": sorted(c["bom-ref"] for c in components)}],
    }


def write(release):
    """Writes merganser-VERSION.cdx.json."""
    print("== bill of materials", flush=True)
    (release.output / f"{release.name}.cdx.json").write_text(json.dumps(bill(release), indent=2) + "\n")
