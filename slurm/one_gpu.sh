#!/usr/bin/env bash
# One GPU. Submit with: sbatch one_gpu.sh run.toml [options of `atmostr run`]
#
# One rank with the cores that belong to the GPU: closures of vertical physics and output run on them. The configuration chooses the device:
#
#   [architecture]
#   backend = "cuda"
#   threads = 8
#
# Several GPUs: many_nodes.sh or chain.sh with one rank per GPU,
#   sbatch --nodes=2 --ntasks-per-node=4 --gpus-per-node=4 --cpus-per-task=8 many_nodes.sh run.toml
#
#SBATCH --job-name=atmostr
#SBATCH --nodes=1
#SBATCH --ntasks-per-node=1
#SBATCH --gpus-per-node=1
#SBATCH --cpus-per-task=8
#SBATCH --time=02:00:00
#SBATCH --no-requeue
#SBATCH --output=%x-%j.log
set -euo pipefail

config=${1:?usage: sbatch one_gpu.sh run.toml [options of atmostr run]}
atmostr=${ATMOSTR:-atmostr} # any build will do: one rank needs no MPI

# The driver's library and NVRTC, see docs/src/devices.md:
# module load cuda

"$atmostr" check "$config"
# srun does not take --cpus-per-task from the job since Slurm 22.05.
srun --mpi="${ATMOSTR_SRUN_MPI:-pmix}" --cpus-per-task="${SLURM_CPUS_PER_TASK:-1}" "$atmostr" run "$config" "${@:2}"
