#!/usr/bin/env bash
# Twin runs: an array of runs that are compared with the first one, bit by bit. Start on a login node with configurations and ranks:
#
#   ./twins.sh run.toml:6 run.toml:24 run.toml:54         layouts: no difference is expected
#   ./twins.sh double.toml:24 single.toml:24              precisions: how much do they differ?
#
# So that twins do not write the same files, output.path has to contain $ATMOSTR_TWIN, which is twin0, twin1, … : path = "out/$ATMOSTR_TWIN.nc".
# The comparison is in <name>-twins.txt; its job ends with exit code 1 if files differ.
# Ranks on a node: RANKS_PER_NODE (24). Account, partition and time: SBATCH_ACCOUNT, SBATCH_PARTITION, SBATCH_TIMELIMIT.
set -euo pipefail

usage="usage: twins.sh CONFIG:RANKS CONFIG:RANKS..."
atmostr=${ATMOSTR:-atmostr} # a program built with feature mpi

# The site's MPI and parallel netCDF, the same as at build time:
# module load openmpi netcdf-c-parallel

# One twin, in a task of the array.
run_twin() {
    local twins=("$@")
    local config=${twins[$SLURM_ARRAY_TASK_ID]%:*} ranks=${twins[$SLURM_ARRAY_TASK_ID]##*:}
    export ATMOSTR_TWIN=twin$SLURM_ARRAY_TASK_ID
    "$atmostr" check "$config" --ranks "$ranks"
    srun --mpi="${ATMOSTR_SRUN_MPI:-pmix}" --ntasks="$ranks" --cpus-per-task="${SLURM_CPUS_PER_TASK:-1}" --kill-on-bad-exit=0 --wait=60 \
        "$atmostr" run "$config"
}

# NetCDF files that a run says it has written.
written() { sed -n 's/^written: \(.*\.nc\)$/\1/p' "$1"; }

# Every twin with the first one, from their logs.
compare() {
    local first=$1 log code=0 k
    local expected files
    for log in "$@"; do [ -e "$log" ] || { echo "error: $log is not there" >&2; return 1; }; done
    mapfile -t expected < <(written "$first")
    [ "${#expected[@]}" -gt 0 ] || { echo "error: no output in $first" >&2; return 1; }
    for log in "${@:2}"; do
        mapfile -t files < <(written "$log")
        [ "${#files[@]}" -eq "${#expected[@]}" ] || { echo "error: not as many files in $log" >&2; code=1; continue; }
        for k in "${!files[@]}"; do
            echo "${expected[$k]} ${files[$k]}"
            "$atmostr" diff "${expected[$k]}" "${files[$k]}" || code=1
        done
    done
    return "$code"
}

case ${1:?$usage} in
    --run) run_twin "${@:2}"; exit ;;
    --compare) compare "${@:2}"; exit ;;
esac

[ $# -gt 1 ] || { echo "$usage" >&2; exit 2; }
most=1
for twin in "$@"; do
    config=${twin%:*} ranks=${twin##*:}
    [[ $ranks =~ ^[1-9][0-9]*$ && $twin == *:* ]] || { echo "error: $twin is not CONFIG:RANKS" >&2; exit 2; }
    # shellcheck disable=SC2016
    grep -Eq '^[^#]*\$\{?ATMOSTR_TWIN' "$config" || { echo "error: $config: output.path has to contain \$ATMOSTR_TWIN" >&2; exit 2; }
    most=$((ranks > most ? ranks : most))
done
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
config=${1%:*}
name=$(basename "$config" .toml)-twins
per_node=$((most < ${RANKS_PER_NODE:-24} ? most : ${RANKS_PER_NODE:-24}))
job=$(sbatch --parsable --job-name="$name" --array="0-$(($# - 1))" --output=%x-%A_%a.log --nodes="$(((most + per_node - 1) / per_node))" \
    --ntasks="$most" --ntasks-per-node="$per_node" "$here/twins.sh" --run "$@")
logs=()
for k in $(seq 0 $(($# - 1))); do logs+=("$name-${job}_$k.log"); done
sbatch --parsable --job-name="$name-compare" --dependency="afterany:$job" --ntasks=1 --output="$name.txt" \
    "$here/twins.sh" --compare "${logs[@]}" >/dev/null
echo "submitted $job; the comparison will be $name.txt"
