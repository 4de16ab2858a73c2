#!/usr/bin/env bash
# Strong scaling: the same run on several numbers of ranks, one after the other. Start on a login node with:
#
#   ./scaling.sh run.toml 6 24 54 96
#
# It submits a job for each number and one that writes the table <name>-scaling.txt: ranks, threads, model days per day, efficiency.
# Ranks on a node: RANKS_PER_NODE (24). Account, partition and time: SBATCH_ACCOUNT, SBATCH_PARTITION, SBATCH_TIMELIMIT.
# The configuration has no table [restart]; every run replaces the output of the one before. Choose a period that takes some minutes on the smallest number.
#
#   ./scaling.sh --table LOG...      the table of any logs of runs
set -euo pipefail

usage="usage: scaling.sh run.toml RANKS... | scaling.sh --table LOG..."

table() {
    printf '%6s %8s %12s %11s\n' ranks threads days/day efficiency
    awk '
        FNR == 1 { report(); ranks = 0; speed = "failed" }
        $1 == "ranks" && $3 == "×" { ranks = $2; threads = $4 }
        /^finished: / && match($0, /\([0-9.]+ days\/day\)/) { speed = substr($0, RSTART + 1, RLENGTH - 11) }
        function report() {
            if (!ranks) return
            if (speed == "failed") { printf "%6d %8d %12s %11s\n", ranks, threads, speed, "-"; failed = 1; return }
            if (!cost) cost = ranks * threads / speed
            printf "%6d %8d %12s %10.0f%%\n", ranks, threads, speed, 100 * cost * speed / (ranks * threads)
        }
        END { report(); exit failed }' "$@"
}

if [ "${1:?$usage}" = --table ]; then
    table "${@:2}"
    exit
fi

config=$1
shift
[ $# -gt 0 ] || { echo "$usage" >&2; exit 2; }
if grep -Eq '^\[restart' "$config"; then
    echo "error: $config has a table [restart]: every number of ranks has to begin anew; measure with a copy without it" >&2
    exit 2
fi
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
name=$(basename "$config" .toml)-scaling
jobs=() logs=()
for ranks in "$@"; do
    per_node=$((ranks < ${RANKS_PER_NODE:-24} ? ranks : ${RANKS_PER_NODE:-24}))
    nodes=$(((ranks + per_node - 1) / per_node))
    # One at a time: they write the same files and would share the network.
    job=$(sbatch --parsable --job-name="$name" --dependency=singleton --output=%x-%j.log --nodes="$nodes" --ntasks="$ranks" \
        --ntasks-per-node="$per_node" "$here/many_nodes.sh" "$config")
    jobs+=("$job") logs+=("$name-$job.log")
done
# A number that fails has its row too.
sbatch --parsable --job-name="$name-table" --dependency="afterany:$(IFS=:; echo "${jobs[*]}")" --ntasks=1 --output="$name.txt" \
    "$here/scaling.sh" --table "${logs[@]}" >/dev/null
echo "submitted ${jobs[*]}; the table will be $name.txt"
