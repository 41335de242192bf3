#!/usr/bin/env bash
# Opens files that merganser writes with the libraries of others: VTK of PyPI and of Debian, openPMD-api, -viewer
# and -validator, h5py, pandas, xarray.
#   tests/io/readers.sh BUILD     called by .ci/run readers; by ctest they are skipped where Python lacks the libraries
# Debian's VTK is 9.1, older than VTKHDF's points.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."
command=$(realpath "${1:?readers.sh: BUILD, the folder of a build}")/bin/merganser
folder=$1/readers
python3 -m venv "$folder"
"$folder/bin/pip" install -q vtk openpmd-api openpmd-viewer openpmd-validator h5py pandas xarray netCDF4
"$folder/bin/python" tests/io/outside_readers.py "$command"
"$folder/bin/python" tests/io/table_readers.py "$command"
[ ! -d packages/flow ] || "$folder/bin/python" packages/flow/tests/flow_apps/cf_readers.py "$command"
/usr/bin/python3 tests/io/table_readers.py "$command"
