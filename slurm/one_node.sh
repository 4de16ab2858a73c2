#!/usr/bin/env bash
# One node, CPU. Submit with: sbatch one_node.sh run.toml [options of `atmostr run`]
#
# ranks × threads = cores of the node. Multiples of 6 ranks give every rank the same share of the sphere; take the largest one
# that fits and give the remaining cores to threads. 48 cores: 48 × 1, 24 × 2 or 12 × 4. Compare with
# `atmostr decompose --nc 90 --ranks 24`. Neither number changes a result.
#
# Set the same number of threads in the configuration:
#
#   [architecture]
#   threads = 2
#
#SBATCH --job-name=atmostr
#SBATCH --nodes=1
#SBATCH --ntasks-per-node=24
#SBATCH --cpus-per-task=2
#SBATCH --time=02:00:00
#SBATCH --no-requeue
#SBATCH --output=%x-%j.log
set -euo pipefail

config=${1:?usage: sbatch one_node.sh run.toml [options of atmostr run]}
atmostr=${ATMOSTR:-atmostr} # a program built with feature mpi

# The site's MPI and parallel netCDF, the same as at build time:
# module load openmpi netcdf-c-parallel

"$atmostr" check "$config" --ranks "$SLURM_NTASKS"
# srun does not take --cpus-per-task from the job since Slurm 22.05. A rank that is lost takes the others with it after a minute.
srun --mpi="${ATMOSTR_SRUN_MPI:-pmix}" --cpus-per-task="${SLURM_CPUS_PER_TASK:-1}" --cpu-bind=cores --kill-on-bad-exit=0 --wait=60 \
    "$atmostr" run "$config" "${@:2}"
