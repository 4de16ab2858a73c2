#!/usr/bin/env bash
# Runs the quickstart in run/ on RANKS ranks (one, if the program has no MPI) and draws a map.
set -euo pipefail
cd "$(dirname "$0")/.."
. scripts/environment.sh

mkdir -p run
# Relative paths of a configuration start at its folder.
cp configs/quickstart.toml run/
cd run
if can_build_mpi; then
    program=../target/mpi/release/atmostr
    mpirun -n "${RANKS:-6}" "$program" run quickstart.toml
else
    program=../target/release/atmostr
    "$program" run quickstart.toml
fi
"$program" plot quickstart.nc --var plume_column_mean -o quickstart.png
echo "Result: run/quickstart.nc   Map: run/quickstart.png"
