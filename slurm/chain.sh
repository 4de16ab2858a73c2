#!/usr/bin/env bash
# A chain of jobs: a run longer than the queue allows. Submit once with: sbatch chain.sh run.toml [options of `atmostr run`]
#
# The configuration needs a table [restart]. Slurm sends SIGUSR1 to the ranks ten minutes before the time is over; they finish the window in
# work, write a restart file and end with exit code 3. The job then puts itself back into the queue and goes on from that file. A job that is
# preempted or loses a node is put back by Slurm (--requeue) and goes on from the last restart file.
#
# ATMOSTR_RESTART=auto (default): a run without restart files begins; latest: it is refused.
# Ranks × threads: see one_node.sh and many_nodes.sh. A piece may run on another number of nodes than the one before.
#
#SBATCH --job-name=atmostr-chain
#SBATCH --nodes=1
#SBATCH --ntasks-per-node=24
#SBATCH --cpus-per-task=2
#SBATCH --time=04:00:00
#SBATCH --signal=USR1@600
#SBATCH --requeue
#SBATCH --open-mode=append
#SBATCH --output=%x-%j.log
set -euo pipefail

config=${1:?usage: sbatch chain.sh run.toml [options of atmostr run]}
atmostr=${ATMOSTR:-atmostr} # a program built with feature mpi
from=${ATMOSTR_RESTART:-auto}
case $from in auto | latest) ;; *) echo "error: ATMOSTR_RESTART=$from: auto and latest are possible" >&2; exit 2 ;; esac

# The site's MPI and parallel netCDF, the same as at build time:
# module load openmpi netcdf-c-parallel

piece=$((${SLURM_RESTART_COUNT:-0} + 1))
# Not SLURM_NTASKS: it does not follow when the number of nodes is changed between pieces.
ranks=$((SLURM_JOB_NUM_NODES * SLURM_NTASKS_PER_NODE))
echo "piece $piece of $config: $ranks ranks on $SLURM_JOB_NODELIST"
if [ "$piece" -gt "${ATMOSTR_PIECES:-1000}" ]; then
    echo "error: more than ${ATMOSTR_PIECES:-1000} pieces: is the time of a job long enough for a window?" >&2
    exit 1
fi

"$atmostr" check "$config" --ranks "$ranks"
# srun does not take --cpus-per-task from the job since Slurm 22.05. Ranks that stop on request end with code 3 and must not be taken for
# failures (--kill-on-bad-exit); a rank that is lost takes the others with it after a minute.
code=0
srun --mpi="${ATMOSTR_SRUN_MPI:-pmix}" --ntasks="$ranks" --cpus-per-task="${SLURM_CPUS_PER_TASK:-1}" --kill-on-bad-exit=0 --wait=60 \
    "$atmostr" run "$config" --restart "$from" "${@:2}" || code=$?
if [ "$code" -eq 3 ]; then
    echo "not finished: back into the queue"
    scontrol requeue "$SLURM_JOB_ID"
fi
exit "$code"
