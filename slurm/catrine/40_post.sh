#!/usr/bin/env bash
# What is done with the output of a month, a month for every task of the array. December 2021 to December 2023:
#
#   CATRINE_POST=/path/to/results sbatch --array=0-24%4 40_post.sh 2021-12 '/path/to/output/catrine_{date}.nc'
#
# The pattern is output.path of the run. Every day file of the month has to be there: a run gives a daily file its name when it is complete.
# Column means and column air mass go to a grid of 1° x 1°, one file a day (mass-conserving; VARIABLES names others), and the last
# snapshot of the month is drawn. What is there already is left as it is.
# Budgets of every window are in <name>.budget.csv beside the output; nothing is to be done with them.
#
#SBATCH --job-name=catrine-post
#SBATCH --nodes=1
#SBATCH --ntasks=1
#SBATCH --cpus-per-task=4
#SBATCH --time=02:00:00
#SBATCH --requeue
#SBATCH --output=%x-%A_%a.log
set -euo pipefail

usage="usage: sbatch --array=0-LAST 40_post.sh FIRST-MONTH 'OUTPUT_{date}.nc'"
first=${1:?$usage}
pattern=${2:?$usage}
results=${CATRINE_POST:?set CATRINE_POST to the folder of the results}
read -ra variables <<<"${VARIABLES:-co2_natural_column_mean sf6_column_mean column_air_mass_per_area}"
atmostr=${ATMOSTR:-atmostr}

# module load netcdf-c

month=$(date -u -d "$first-01 + $SLURM_ARRAY_TASK_ID months" +%Y-%m)
end=$(date -u -d "$month-01 + 1 month" +%F)
mkdir -p "$results"

files=()
missing=0
for ((n = 0; ; n++)); do
    day=$(date -u -d "$month-01 + $n days" +%F)
    [ "$day" != "$end" ] || break
    file=${pattern//'{date}'/${day//-/}}
    if [ -e "$file" ]; then files+=("$file"); else
        echo "error: $file is missing" >&2
        missing=1
    fi
done
[ "$missing" -eq 0 ] || exit 1

for file in "${files[@]}"; do
    gridded=$results/$(basename "$file" .nc)_1x1.nc
    [ -e "$gridded" ] || "$atmostr" regrid "$file" --to latlon:1x1 "${variables[@]/#/--var=}" --weights-dir "$results/weights" -o "$gridded"
done
for variable in "${variables[@]}"; do
    map=$results/$variable-$month.png
    [ -e "$map" ] || "$atmostr" plot "${files[-1]}" --var "$variable" -o "$map"
done
echo "$month: ${#files[@]} days"
