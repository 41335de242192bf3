"""Results as JSON files, written atomically: to a temporary file that is synced to disk before it is renamed."""
import contextlib
import json
import os
import tempfile

from .runner import Failed


def write(path, record, option="--json"):
    """Writes a record of a simulation, study or calibration as JSON. @param option  the option that gave the path, for errors
    @throws Failed if the file cannot be written"""
    folder, name = os.path.split(os.path.realpath(path))
    draft = None
    try:
        with tempfile.NamedTemporaryFile("w", encoding="utf-8", dir=folder, prefix=f".{name}.", delete=False) as file:
            draft = file.name
            json.dump(record, file, indent=1)
            file.write("\n")
            file.flush()
            os.fchmod(file.fileno(), _mode(path))
            os.fsync(file.fileno())
        os.replace(draft, os.path.join(folder, name))
        draft = None
        at = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
        try:
            os.fsync(at)
        finally:
            os.close(at)
    except OSError as e:
        raise Failed(f"{option} {path}: {e.strerror}", 2) from e
    finally:
        if draft is not None:
            with contextlib.suppress(OSError):
                os.unlink(draft)


def _mode(path):
    """Returns the permissions for the record file: those of the existing file, or those of a new one."""
    with contextlib.suppress(OSError):
        return os.stat(path).st_mode & 0o7777
    mask = os.umask(0)
    os.umask(mask)
    return 0o666 & ~mask
