#!/usr/bin/env bash
# Formatting and lints. Argument `deny`: warnings are errors; otherwise they are only shown, as a newer clippy has
# lints this program has not met.
set -euo pipefail
cd "$(dirname "$0")/.."
. scripts/environment.sh

flags=
if [ "${1:-}" = deny ]; then flags="-D warnings"; fi
if cargo fmt --version >/dev/null 2>&1; then
    cargo fmt --all -- --check
else
    echo "skipped: formatting (no rustfmt in this toolchain)"
fi
if cargo clippy --version >/dev/null 2>&1; then
    cargo clippy --workspace --all-targets $(optional_features) -- $flags
else
    echo "skipped: lints (no clippy in this toolchain)"
fi
