#!/usr/bin/env bash
# One node, CPU. Submit with: sbatch one_node.sh run.toml
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
#SBATCH --output=%x-%j.log
set -euo pipefail

config=${1:?usage: sbatch one_node.sh run.toml}
atmostr=${ATMOSTR:-atmostr} # a program built with feature mpi

# The site's MPI and parallel netCDF, the same as at build time:
# module load openmpi netcdf-c-parallel

"$atmostr" check "$config" --ranks "$SLURM_NTASKS"
mpirun -n "$SLURM_NTASKS" --map-by "slot:PE=$SLURM_CPUS_PER_TASK" --bind-to core "$atmostr" "$config"
