#!/usr/bin/env bash
# The run in segments of a month, each a job that waits for the one before. Start on a login node with:
#
#   ./30_run.sh run.toml 2021-12 2023-12 [options of sbatch]      for instance --nodes=4 --ntasks-per-node=24
#
# run.toml has input.folder with start_date and end_date, daily output, and a table [restart]. A segment is the same configuration with
# end_date at the end of its month, in a folder of its own below CATRINE_SEGMENTS (./segments); therefore all paths in it are absolute or
# begin with a variable. A segment goes on from the restart file at the end of the one before; if its time is too short it puts itself back into
# the queue (../chain.sh). One that fails ends the chain: mend the cause and start again from its month. The months need not be those of
# the first time; a run is made longer by later ones.
set -euo pipefail

usage="usage: 30_run.sh run.toml FIRST-MONTH LAST-MONTH [options of sbatch]"
config=${1:?$usage}
month=${2:?$usage}
last=${3:?$usage}
segments=${CATRINE_SEGMENTS:-segments}
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)

for one in "$month" "$last"; do
    [[ $one =~ ^[0-9]{4}-(0[1-9]|1[0-2])$ ]] || { echo "error: $one is not a month such as 2021-12" >&2; exit 2; }
done
beginning=$(sed -n 's/^start_date *= *"\([0-9-]*\)".*/\1/p' "$config")
for key in start_date end_date; do
    grep -q "^$key *=" "$config" || { echo "error: $config has no line $key = …" >&2; exit 2; }
done
grep -q '^\[restart\]' "$config" || { echo "error: $config has no table [restart]" >&2; exit 2; }

previous=
while [[ ! $month > $last ]]; do
    end=$(date -u -d "$month-01 + 1 month - 1 day" +%F)
    segment=$segments/$month/$(basename "$config")
    mkdir -p "$segments/$month"
    # A job that runs must not read half a file.
    sed "s/^end_date *=.*/end_date = \"$end\"/" "$config" >"$segment.new"
    mv "$segment.new" "$segment"
    # Only the first month of the run may begin it.
    from=latest
    if [ "$month" = "${beginning%-*}" ]; then from=auto; fi
    job=$(ATMOSTR_RESTART=$from sbatch --parsable --job-name="catrine-$month" \
        ${previous:+--dependency=afterok:$previous --kill-on-invalid-dep=yes} "${@:4}" "$here/../chain.sh" "$segment")
    echo "$month: job $job"
    previous=$job
    month=$(date -u -d "$month-01 + 1 month" +%Y-%m)
done
