#!/usr/bin/env bash
# A chain of jobs: a run longer than the queue allows. Submit once with: sbatch chain.sh run.toml
#
# The configuration needs a table [restart]. Slurm sends SIGUSR1 to the ranks ten minutes before the time is over; they finish the window in
# work, write a restart file and end with exit code 3. The job then puts itself back into the queue and goes on from that file. A job that is
# preempted or loses a node is put back by Slurm (--requeue) and goes on from the last restart file.
#
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
set -uo pipefail

config=${1:?usage: sbatch chain.sh run.toml}
atmostr=${ATMOSTR:-atmostr} # a program built with feature mpi

# The site's MPI and parallel netCDF, the same as at build time:
# module load openmpi netcdf-c-parallel

echo "piece $((${SLURM_RESTART_COUNT:-0} + 1)) of $config on $SLURM_JOB_NODELIST"
"$atmostr" check "$config" --ranks "$SLURM_NTASKS" || exit
# srun does not take --cpus-per-task from the job since Slurm 22.05.
srun --mpi="${ATMOSTR_SRUN_MPI:-pmix}" --cpus-per-task="${SLURM_CPUS_PER_TASK:-1}" "$atmostr" run "$config" --restart auto
code=$?
if [ "$code" -eq 3 ]; then
    echo "not finished: back into the queue"
    scontrol requeue "$SLURM_JOB_ID"
fi
exit "$code"
