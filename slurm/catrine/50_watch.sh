#!/usr/bin/env bash
# Where a chain of jobs is. Start on a login node, in the folder from which it was submitted:
#
#   ./50_watch.sh [FOLDER-OF-RESTART-FILES]
#
# Jobs that wait and run, the last word of every log, and the model time of the latest restart file. `watch -n 60 ./50_watch.sh …` repeats it.
set -euo pipefail
shopt -s nullglob

squeue --me --format='%.10i %.20j %.10T %.10M %.10l %.6D %R'

for log in catrine-*.log atmostr-chain-*.log; do
    # Progress, how a piece ended, or an error: whatever came last.
    word=$(grep -aE '^(\[[0-9]+/[0-9]+\]|finished: |stopped at|error: |srun: error: )' "$log" | tail -n 1 | cut -c 1-160 || true)
    echo "$log: ${word:-nothing yet}"
done

if [ $# -gt 0 ]; then
    files=("$1"/*.restart-*.nc)
    if [ "${#files[@]}" -eq 0 ]; then
        echo "no restart file in $1"
    else
        seconds=${files[-1]##*.restart-}
        seconds=$((10#${seconds%.nc}))
        echo "latest restart file: ${files[-1]}, day $((seconds / 86400)), hour $((seconds % 86400 / 3600))"
    fi
fi
