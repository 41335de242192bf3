"""Reports and figures of run records: one HTML page that needs no network, or SVG and PDF files. See docs/report.md.

    python -m merganser.report bench.json topo.json -o report.html
    python -m merganser.report figures bench.json -o figures

Needs Altair and vl-convert-python (the extra `report`). Nothing here uses the compiled extension: a copy of this folder alone
can be run with `python3 FOLDER`.
"""
