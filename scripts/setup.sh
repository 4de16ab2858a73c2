#!/usr/bin/env bash
# Installs what is missing for `make run` (argument: run) or `make test` (argument: test).
# Debian and Ubuntu, Fedora, macOS with Homebrew; does nothing where site modules already provide the tools.
set -euo pipefail
cd "$(dirname "$0")/.."
. scripts/environment.sh
purpose=${1:-run}

as_root() {
    if [ "$(id -u)" = 0 ]; then "$@"; elif have sudo; then sudo "$@"; else
        echo "error: '$*' needs root; install the packages named above or load your site's modules" >&2
        exit 1
    fi
}

missing=0
for tool in cc mpicc mpirun nc-config pkg-config make git curl; do have "$tool" || missing=1; done
find_parallel_netcdf || missing=1
ls /usr/lib/llvm-*/lib/libclang*.so* /usr/lib*/libclang*.so* /opt/homebrew/opt/llvm/lib/libclang.dylib \
    "${LIBCLANG_PATH:-/nonexistent}"/libclang* >/dev/null 2>&1 || have llvm-config || have clang || missing=1
if [ "$purpose" = test ]; then
    for tool in ncdump python3 cdo; do have "$tool" || missing=1; done
    python3 -c 'import venv, ensurepip' >/dev/null 2>&1 || missing=1
fi

if [ "$missing" = 1 ]; then
    if have apt-get; then
        packages="build-essential ca-certificates curl git openmpi-bin libopenmpi-dev libclang-dev libnetcdf-dev libnetcdf-mpi-dev pkg-config"
        [ "$purpose" = test ] && packages="$packages netcdf-bin python3 python3-venv cdo"
        as_root apt-get update -qq
        as_root env DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends $packages >/dev/null
    elif have dnf; then
        packages="gcc gcc-c++ make git curl openmpi-devel clang-devel netcdf-devel netcdf-openmpi-devel hdf5-openmpi-devel pkgconf-pkg-config"
        [ "$purpose" = test ] && packages="$packages netcdf python3"
        as_root dnf install -y -q $packages
    elif have brew; then
        brew install open-mpi netcdf hdf5-mpi llvm pkg-config
    else
        echo "error: install a C compiler, MPI, parallel netCDF, libclang and pkg-config (no apt-get, dnf or brew here)" >&2
        exit 1
    fi
fi

if ! have cargo; then
    echo "Installing the Rust toolchain for this user ..."
    curl --proto '=https' --tlsv1.2 -sSf https://sh.rustup.rs | sh -s -- -y --profile minimal
fi

if [ "$purpose" = test ] && [ ! -x target/python/bin/python ]; then
    mkdir -p target
    python3 -m venv target/python
    target/python/bin/pip install --quiet xarray netCDF4 numpy
fi
