"""Pictures of --picture: one of a record or of a drawing, as SVG, PNG or PDF; and traffic that records hold packed."""
import json
from pathlib import Path

import pytest

pytest.importorskip("altair", reason="reports need the extra report")
pytest.importorskip("vl_convert", reason="reports need the extra report")

from merganser.report.command import main
from merganser.report.packed import unpack_flows
from merganser.report.picture import TITLES
from merganser.report.records import Record
from merganser.report.topo import traffic

RECORDS = Path(__file__).resolve().parent / "data/records"
BEGIN = {".svg": b"<svg", ".png": b"\x89PNG\r\n\x1a\n", ".pdf": b"%PDF-"}
DIGITS = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/"


@pytest.mark.parametrize("suffix", BEGIN)
@pytest.mark.parametrize("record", ["topo-bench", "topo-advise", "topo-extract", "msf", "cluster", "flow"])
def test_a_record_becomes_a_picture(record, suffix, tmp_path, capsys):
    out = tmp_path / f"p{suffix}"
    assert main(["picture", str(RECORDS / f"{record}.json"), "-o", str(out)]) == 0
    assert capsys.readouterr().out == f"{out}: drawn\n"
    content = out.read_bytes()
    assert content.startswith(BEGIN[suffix]) and len(content) > 3000
    if suffix == ".svg":
        text = content.decode()
        kind = json.loads((RECORDS / f"{record}.json").read_text()).get("command", "topo extract")
        assert TITLES.get(kind, "") in text
        assert text.count("<path") > 10


def test_a_drawing_is_converted(tmp_path):
    drawing = tmp_path / "d.svg"
    drawing.write_text('<svg xmlns="http://www.w3.org/2000/svg" width="30" height="20"><rect width="30" height="20"/></svg>')
    out = tmp_path / "d.png"
    assert main(["picture", str(drawing), "-o", str(out)]) == 0
    content = out.read_bytes()
    assert content.startswith(BEGIN[".png"])
    assert [int.from_bytes(content[at:at + 4], "big") for at in (16, 20)] == [60, 40]


@pytest.mark.parametrize("content", ["{}", "[", '{"schema": "merganser-run-record", "schema_version": 1, "command": "msf"}'])
def test_what_cannot_be_drawn_is_refused_and_the_old_file_stays(content, tmp_path, capsys):
    source, out = tmp_path / "r.json", tmp_path / "r.png"
    source.write_text(content)
    out.write_text("old")
    assert main(["picture", str(source), "-o", str(out)]) == 3
    assert capsys.readouterr().err.startswith("input: ")
    assert out.read_text() == "old"


def test_another_suffix_is_refused(tmp_path, capsys):
    assert main(["picture", str(RECORDS / "msf.json"), "-o", str(tmp_path / "p.jpg")]) == 3
    assert ".svg, .png, .pdf" in capsys.readouterr().err


def pack(flows):
    """An obvious writer of packed traffic: sender, receiver, operations, bytes, number of size classes."""
    numbers, sender, receiver = [], 0, 0
    for a, b, operations, size, classes in flows:
        numbers += [a - sender, b - receiver if a == sender else b, 4 * classes, operations, size]
        if classes > 1:
            numbers += [3] + [1] * (classes - 1)
        sender, receiver = a, b
    bits = ""
    for number in numbers:
        while True:
            low, number = number % 128, number // 128
            bits += f"{low + (128 if number else 0):08b}"
            if not number:
                break
    bits += "0" * (-len(bits) % 6)
    return "".join(DIGITS[int(bits[at:at + 6], 2)] for at in range(0, len(bits), 6))


FLOWS = [(0, 1, 3, 24, 1), (0, 200, 7, 1 << 40, 4), (5, 0, 1, 0, 1), (5, 3, 1000000, 8000000, 2), (300, 299, 2, 128, 0)]


def test_packed_traffic_is_read():
    assert unpack_flows(pack(FLOWS)) == [flow[:4] for flow in FLOWS]
    assert unpack_flows("") == []


@pytest.mark.parametrize("text", ["gICA", "AAEgICA", "AB*", pack(FLOWS)[:-4], pack([(0, 1, 1 << 63, 8, 1)]),
                                  "gICA" * 100_000])
def test_damaged_packed_traffic_is_refused(text):
    with pytest.raises(ValueError, match="packed traffic"):
        unpack_flows(text)


def test_packed_traffic_of_a_record_is_drawn():
    record = Record("many", "cluster", {"schema": "merganser-run-record", "schema_version": 1, "command": "cluster",
                                        "traffic": {"ranks": 301, "packed": pack(FLOWS)}})
    found = traffic(record)
    assert found is not None
    ranks, arcs = found
    assert ranks == 301 and arcs[0, 200] == {"bytes": 1 << 40, "operations": 7}
