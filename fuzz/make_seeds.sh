#!/usr/bin/env bash
# Fills fuzz/corpus/header with headers of files that the program writes. Argument: the program.
set -euo pipefail
program=$(realpath "${1:-target/release/atmostr}")
cd "$(dirname "$0")"
mkdir -p corpus/header
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# seed NAME ARGUMENTS...: keeps the header up to its zero byte and no more, without the checksum that any change breaks.
seed() {
    local name=$1
    shift
    "$program" synth "$work/$name.bin" --nc 4 --levels 2 --windows 2 "$@" >"$work/log" 2>&1 || {
        cat "$work/log" >&2
        exit 1
    }
    head -c 16384 "$work/$name.bin" | tr '\0' '\n' | head -n 1 | sed 's/,"header_crc32c":"[0-9a-f]*"//' | tr '\n' '\0' \
        >"corpus/header/$name"
}

seed plain
seed dated --start-time 2021-12-01T06:00:00Z --window-seconds 1800
seed physics --physics all --float Float64
seed gnomonic --convention gnomonic --physics all
seed turned --flow solid-body --angle 45
ls -l corpus/header
