#!/usr/bin/env bash
# The flux series of the protocol on the cells of the run: sbatch 20_fluxes.sh fluxes.toml
#
# fluxes.toml is a configuration of `atmostr prepare-fluxes` with the table [catrine]. Files take their places when all are complete.
#
#SBATCH --job-name=catrine-fluxes
#SBATCH --nodes=1
#SBATCH --ntasks=1
#SBATCH --cpus-per-task=4
#SBATCH --time=01:00:00
#SBATCH --requeue
#SBATCH --output=%x-%j.log
set -euo pipefail

config=${1:?usage: sbatch 20_fluxes.sh fluxes.toml}
atmostr=${ATMOSTR:-atmostr}

# module load netcdf-c

"$atmostr" prepare-fluxes "$config"
