"""Run records: reading them, recognising their kind and version, and naming those that cannot be shown."""
from __future__ import annotations

import json
import math
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

VERSION = 1
"""Version of the formats that are read: that of kRecordVersion in apps/frame/record.hpp."""
MOST_BYTES = 64 << 20
"""Size in bytes of the largest record that is read."""
SCHEMAS = {"merganser-simulation": "simulation", "merganser-simulated-study": "simulated study", "merganser-doctor": "doctor",
           "merganser-calibration": "calibration", "merganser-traffic": "topo extract"}
"""Kinds of the files that are not run records, by their schema."""
COMMANDS = ("announce bench", "announce demo", "announce table2", "announce table3", "bench files", "bench growth", "bench msf",
            "bench random", "cluster", "compare", "convert", "flow", "gen random", "graph convert", "linkage", "msf", "topo advise",
            "topo bench", "topo convert",
            "topo gen", "topo replay", "topo table2", "topo tail", "verify")
"""Commands whose run records are known."""


@dataclass(frozen=True)
class Record:
    """A record that was read: its label (name of the file, made unique), kind and content."""
    label: str
    kind: str
    data: dict[str, Any]

    def get(self, *keys: str | int, default: Any = None) -> Any:
        """Returns the value below a path of keys, such as get("result", "growth"); `default` where there is none."""
        return dig(self.data, *keys, default=default)

    @property
    def provenance(self) -> dict[str, Any]:
        """Returns what names machine and program: `provenance` of a run record, `work.measured_on` of a study, all of a record of
        doctor; {} if there is none."""
        if self.kind == "doctor":
            return self.data
        found = self.get("provenance") or self.get("work", "measured_on") or {}
        return found if isinstance(found, dict) else {}


@dataclass(frozen=True)
class Problem:
    """A file that is not shown, or not in full, and why."""
    label: str
    reason: str


def dig(value: Any, *keys: str | int, default: Any = None) -> Any:
    """Returns the value below a path of keys in nested objects and lists; `default` where there is none or it is null."""
    for key in keys:
        if isinstance(value, dict) and key in value:
            value = value[key]
        elif isinstance(value, list) and isinstance(key, int) and -len(value) <= key < len(value):
            value = value[key]
        else:
            return default
    return default if value is None else value


def number(value: Any) -> float | None:
    """Returns a finite number as it is, None for everything else: truth values, text, infinity."""
    if isinstance(value, bool) or not isinstance(value, (int, float)) or not math.isfinite(value):
        return None
    return value


def objects(value: Any) -> Iterator[dict[str, Any]]:
    """Lists the objects of a list; nothing for everything else."""
    if isinstance(value, list):
        yield from (entry for entry in value if isinstance(entry, dict))


def _parse(path: Path) -> dict[str, Any]:
    """Returns the JSON object in a file. Raises ValueError or OSError."""
    size = path.stat().st_size
    if size > MOST_BYTES:
        raise ValueError(f"{size:,} bytes; allowed: at most {MOST_BYTES:,}")
    try:
        data = json.loads(path.read_bytes().decode("utf-8"))
    except UnicodeDecodeError as error:
        raise ValueError(f"no text in UTF-8 (byte {error.start:,})") from None
    except json.JSONDecodeError as error:
        raise ValueError(f"broken JSON in line {error.lineno}: {error.msg}") from None
    except RecursionError:
        raise ValueError("JSON nested too deeply") from None
    if not isinstance(data, dict):
        raise ValueError("no JSON object; allowed: records that --json writes")
    return data


def _kind(data: dict[str, Any]) -> str:
    """Returns the kind of a record. Raises ValueError for a schema, version or command that is not known."""
    schema, version = data.get("schema"), data.get("schema_version")
    if not isinstance(schema, str):
        raise ValueError("no record: it has no schema")
    if schema != "merganser-run-record" and schema not in SCHEMAS:
        raise ValueError(f"unknown schema {schema[:60]!r}; known: merganser-run-record, {', '.join(SCHEMAS)}")
    if number(version) is None:
        raise ValueError(f"no version of its format; allowed: {VERSION}")
    if version != VERSION:
        age = "older" if version < VERSION else "newer"
        raise ValueError(f"format of version {version}, {age} than this program reads; allowed: {VERSION}")
    if schema in SCHEMAS:
        return SCHEMAS[schema]
    command = data.get("command")
    if command not in COMMANDS:
        raise ValueError(f"record of an unknown command {str(command)[:60]!r}")
    return command


def _labels(paths: list[Path]) -> list[str]:
    """Returns a label for each file: its name without .json, with its folders where names are equal, and with a number last."""
    labels = [path.stem for path in paths]
    labels = [f"{path.parent.name}/{label}" if labels.count(label) > 1 else label for path, label in zip(paths, labels)]
    return [f"{label} ({labels[:at].count(label) + 1})" if labels.count(label) > 1 else label for at, label in enumerate(labels)]


def read_records(paths: Iterable[str | Path]) -> tuple[list[Record], list[Problem]]:
    """Reads records. Returns those of known kinds, in the order given, and a problem for every other file."""
    files = [Path(path) for path in paths]
    records, problems = [], []
    for path, label in zip(files, _labels(files)):
        try:
            data = _parse(path)
            records.append(Record(label, _kind(data), data))
        except ValueError as error:
            problems.append(Problem(label, str(error)))
        except OSError as error:
            problems.append(Problem(label, error.strerror or str(error)))
    return records, problems
