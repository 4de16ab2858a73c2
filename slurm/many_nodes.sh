#!/usr/bin/env bash
# Several nodes. Submit with: sbatch many_nodes.sh run.toml [options of `atmostr run`]
#
# ranks × threads = cores of all nodes. Here: 4 nodes × 24 ranks × 2 threads = 192 cores, 96 ranks (4 × 4 tiles per panel).
# Ranks 6, 24, 54, 96, 216, 384 … give square tiles of equal size. Fewer ranks with more threads send fewer and larger messages;
# more ranks keep the data of a rank nearer to its cores. Measure with scaling.sh. Neither number changes a result:
# `atmostr diff a.nc b.nc` finds no difference.
#
# Set the same number of threads in the configuration:
#
#   [architecture]
#   threads = 2
#
# The transport files, the output and the configuration must lie on a file system that all nodes share.
#
#SBATCH --job-name=atmostr
#SBATCH --nodes=4
#SBATCH --ntasks-per-node=24
#SBATCH --cpus-per-task=2
#SBATCH --time=06:00:00
#SBATCH --no-requeue
#SBATCH --output=%x-%j.log
set -euo pipefail

config=${1:?usage: sbatch many_nodes.sh run.toml [options of atmostr run]}
atmostr=${ATMOSTR:-atmostr} # a program built with feature mpi

# The site's MPI and parallel netCDF, the same as at build time:
# module load openmpi netcdf-c-parallel

"$atmostr" check "$config" --ranks "$SLURM_NTASKS"
# srun does not take --cpus-per-task from the job since Slurm 22.05. A rank that is lost takes the others with it after a minute.
srun --mpi="${ATMOSTR_SRUN_MPI:-pmix}" --cpus-per-task="${SLURM_CPUS_PER_TASK:-1}" --cpu-bind=cores --kill-on-bad-exit=0 --wait=60 \
    "$atmostr" run "$config" "${@:2}"
