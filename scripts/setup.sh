#!/usr/bin/env bash
# Installs what is missing for `make run` (argument: run) or `make test` (argument: test).
# Debian and Ubuntu, Fedora, macOS with Homebrew; does nothing where site modules already provide the tools.
set -euo pipefail
cd "$(dirname "$0")/.."
. scripts/environment.sh
purpose=${1:-run}
oldest_rust=$(sed -n 's/^rust-version = "\(.*\)"/\1/p' Cargo.toml)

can_be_root() { [ "$(id -u)" = 0 ] || have sudo; }
as_root() { if [ "$(id -u)" = 0 ]; then "$@"; else sudo "$@"; fi; }

# Names what the build lacks, one a line.
missing_for_build() {
    local tool
    for tool in cc c++ nc-config pkg-config git; do have "$tool" || echo "$tool"; done
    have cargo || have curl || echo curl
    # Homebrew has no parallel netCDF: there the program is built without MPI.
    if [ "$(uname -s)" != Darwin ]; then
        for tool in mpicc mpirun; do have "$tool" || echo "$tool"; done
        find_parallel_netcdf || echo "parallel netCDF"
        have_libclang || echo libclang
    fi
}

# A loader and the driver of some device; macOS brings its own.
have_opencl() {
    [ "$(uname -s)" = Darwin ] && return 0
    # The loader's list is in root's search path only; it is read to its end, since a broken pipe counts as failure.
    PATH=$PATH:/sbin:/usr/sbin ldconfig -p 2>/dev/null | grep 'libOpenCL\.so\.1' >/dev/null || return 1
    compgen -G '/etc/OpenCL/vendors/*.icd' >/dev/null
}

# Names the other programs' readers and the device that tests ask for; tests skip those they do not find.
missing_for_tests() {
    local tool
    for tool in ncdump cdo python3; do have "$tool" || echo "$tool"; done
    have_opencl || echo OpenCL
    [ -n "$(optional_features)" ] || echo ecCodes
    # Apple's command line tools have one.
    [ -n "$(compgen -c clang++)" ] || echo clang
    if have python3; then python3 -c 'import venv, ensurepip' >/dev/null 2>&1 || echo "python3 venv"; fi
}

install_packages() {
    local packages
    if have apt-get; then
        packages="build-essential ca-certificates curl git libclang-dev libeccodes-dev libnetcdf-dev libnetcdf-mpi-dev libopenmpi-dev openmpi-bin pkg-config"
        if [ "$purpose" = test ]; then packages="$packages cdo clang netcdf-bin ocl-icd-libopencl1 pocl-opencl-icd python3 python3-venv"; fi
        as_root apt-get update -qq
        # No terminal, no questions: some packages ask for the time zone.
        as_root env DEBIAN_FRONTEND=noninteractive \
            apt-get install -y -qq --no-install-recommends $packages </dev/null >/dev/null
    elif have dnf; then
        packages="clang-devel curl eccodes-devel gcc gcc-c++ git hdf5-openmpi-devel netcdf-devel netcdf-openmpi-devel openmpi-devel pkgconf-pkg-config"
        if [ "$purpose" = test ]; then packages="$packages cdo clang netcdf ocl-icd pocl python3"; fi
        as_root dnf install -y -q --skip-unavailable $packages
    elif have brew; then
        packages="eccodes hdf5 netcdf pkg-config"
        if [ "$purpose" = test ]; then packages="$packages cdo python"; fi
        brew install --quiet $packages
    else
        return 1
    fi
    hash -r
    use_fedora_openmpi
}

list() { paste -s -d , - | sed 's/,/, /g'; }

missing=$(missing_for_build | list)
extra=
if [ "$purpose" = test ]; then extra=$(missing_for_tests | list); fi
if [ -n "$missing$extra" ]; then
    if { have apt-get || have dnf; } && ! can_be_root; then
        echo "not installed, and installing needs root: $missing${missing:+${extra:+, }}$extra"
    else
        echo "Installing packages for: $missing${missing:+${extra:+, }}$extra ..."
        install_packages || echo "error: the packages could not be installed" >&2
    fi
    missing=$(missing_for_build | list)
    if [ -n "$missing" ]; then
        echo "error: still missing: $missing" >&2
        echo "help: install them by your package manager, or load your site's modules, and try again" >&2
        exit 1
    fi
fi

have_slurm() { PATH=$PATH:/usr/sbin:/sbin have slurmctld && PATH=$PATH:/usr/sbin:/sbin have munged && have sbatch; }

# Jobs are tested on a Slurm that the tests start and end themselves, which takes root. No service of the machine is to start.
if [ "$purpose" = test ] && [ "$(id -u)" = 0 ] && have apt-get && ! have_slurm; then
    echo "Installing Slurm ..."
    policy=/usr/sbin/policy-rc.d
    if [ -e "$policy" ]; then policy=; else
        printf '#!/bin/sh\nexit 101\n' >"$policy"
        chmod +x "$policy"
        trap 'rm -f "$policy"' EXIT
    fi
    { apt-get update -qq && env DEBIAN_FRONTEND=noninteractive \
        apt-get install -y -qq --no-install-recommends slurmctld slurmd slurm-client munge </dev/null >/dev/null; } \
        || echo "warning: no Slurm; the tests that run jobs are skipped" >&2
    if have systemctl; then systemctl disable --quiet munge slurmctld slurmd >/dev/null 2>&1 || true; fi
    if [ -n "$policy" ]; then rm -f "$policy"; trap - EXIT; fi
fi

rust_is_recent() {
    local version
    version=$(cargo --version 2>/dev/null | cut -d ' ' -f 2 | cut -d - -f 1)
    [ -n "$version" ] && [ "$(printf '%s\n' "$oldest_rust" "$version" | sort -V | head -n 1)" = "$oldest_rust" ]
}

if ! rust_is_recent; then
    if have rustup; then
        echo "Updating the Rust toolchain to $oldest_rust or later ..."
        rustup toolchain install stable --profile minimal --no-self-update
        rustup default stable
    else
        echo "Installing the Rust toolchain for this user ..."
        curl --proto '=https' --tlsv1.2 -sSf https://sh.rustup.rs | sh -s -- -y --profile minimal --no-modify-path
    fi
fi

python=target/python/bin/python
if [ "$purpose" = test ] && have python3 && ! "$python" -c 'import xarray, netCDF4' >/dev/null 2>&1; then
    echo "Installing xarray and netCDF4 into target/python ..."
    mkdir -p target
    { python3 -m venv --clear target/python && "$python" -m pip install --quiet xarray netCDF4 </dev/null; } \
        || echo "warning: no xarray; the tests that read files with it are skipped" >&2
fi

if [ "$purpose" = test ] && [ -x "$python" ] && ! "$python" -c 'import pyshtools' >/dev/null 2>&1; then
    echo "Installing pyshtools into target/python ..."
    "$python" -m pip install --quiet --only-binary :all: pyshtools </dev/null \
        || echo "warning: no pyshtools; the tests that compare spherical harmonics with it are skipped" >&2
fi

# Linux is where the program can have CUDA.
if [ "$purpose" = test ] && [ "$(uname -s)" = Linux ] && [ -x "$python" ] \
    && ! compgen -G 'target/python/lib/python*/site-packages/nvidia/cuda_nvcc/bin/ptxas' >/dev/null; then
    echo "Installing CUDA's compilers into target/python ..."
    "$python" -m pip install --quiet nvidia-cuda-nvrtc-cu12 nvidia-cuda-nvcc-cu12 </dev/null \
        || echo "warning: no CUDA compilers; the tests that compile kernels with them are skipped" >&2
fi
