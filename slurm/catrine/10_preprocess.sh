#!/usr/bin/env bash
# Archived winds to transport files, a day for every task of the array. 2021-12-01 to 2023-12-31, twenty days at a time:
#
#   sbatch --array=0-760%20 10_preprocess.sh met.toml 2021-12-01
#
# met.toml is a configuration like those in configs/met; it takes the folders of the archive and of the transport files from the environment
# ($MERRA2 or $ERA5, $OUT). Days do not depend on each other; each needs the archive's files of the next day (ERA5: of the one before too).
# Days that are there are left as they are: submit the same command again for those that failed. %20 spares the file system of the archive.
#
#SBATCH --job-name=catrine-met
#SBATCH --nodes=1
#SBATCH --ntasks=1
#SBATCH --cpus-per-task=12
#SBATCH --time=01:00:00
#SBATCH --requeue
#SBATCH --output=%x-%A_%a.log
set -euo pipefail

config=${1:?usage: sbatch --array=0-LAST 10_preprocess.sh met.toml FIRST-DATE}
first=${2:?usage: sbatch --array=0-LAST 10_preprocess.sh met.toml FIRST-DATE}
atmostr=${ATMOSTR:-atmostr} # with feature grib for ERA5

# module load netcdf-c eccodes

day=$(date -u -d "$first + $SLURM_ARRAY_TASK_ID days" +%F)
"$atmostr" preprocess "$config" --day "$day" --threads "${SLURM_CPUS_PER_TASK:-1}"
