# Sourced by the Makefile's recipes: finds MPI and parallel netCDF and tells cargo where they are.
# Site modules win: whatever mpicc, nc-config and pkg-config answer is used before any package is installed.

have() { command -v "$1" >/dev/null 2>&1; }

# Fedora and its relatives keep MPI programs off the PATH until their module is loaded.
use_fedora_openmpi() {
    if ! have mpicc && [ -x /usr/lib64/openmpi/bin/mpicc ]; then
        export PATH="/usr/lib64/openmpi/bin:$PATH"
        export LD_LIBRARY_PATH="/usr/lib64/openmpi/lib${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}"
    fi
}

prefix_of() { dirname "$(dirname "$(command -v "$1")")"; }

# The build of the HDF5 bindings wants one folder with include/ and lib/. Where headers and libraries of the MPI flavour
# lie apart, such a folder is made of links.
parallel_hdf5() {
    local prefix headers
    prefix=$(prefix_of h5pcc)
    headers=/usr/include/openmpi-$(uname -m)
    if [ -e "$prefix/include/H5pubconf.h" ] || ! [ -d "$headers" ]; then
        echo "$prefix"
    else
        mkdir -p target/hdf5
        ln -sfn "$headers" target/hdf5/include
        ln -sfn "$prefix/lib" target/hdf5/lib
        echo "$PWD/target/hdf5"
    fi
}

# Sets parallel_netcdf_dir and parallel_hdf5_dir, or fails.
find_parallel_netcdf() {
    local multiarch
    if [ -n "${NETCDF_DIR:-}" ] && [ -n "${HDF5_DIR:-}" ]; then
        parallel_netcdf_dir=$NETCDF_DIR parallel_hdf5_dir=$HDF5_DIR
        return 0
    fi
    # A site's own library, or Fedora's: the one netCDF on the PATH is parallel, and both builds use it.
    if have nc-config && have h5pcc && [ "$(nc-config --has-parallel4 2>/dev/null)" = yes ]; then
        NETCDF_DIR=${NETCDF_DIR:-$(prefix_of nc-config)}
        HDF5_DIR=${HDF5_DIR:-$(parallel_hdf5)}
        export NETCDF_DIR HDF5_DIR
        parallel_netcdf_dir=$NETCDF_DIR parallel_hdf5_dir=$HDF5_DIR
        return 0
    fi
    # Debian and Ubuntu keep the parallel library beside the serial one.
    if have pkg-config && have cc && pkg-config --exists netcdf-mpi 2>/dev/null; then
        multiarch=$(cc -print-multiarch)
        parallel_netcdf_dir=$(pkg-config --variable=prefix netcdf-mpi)
        parallel_hdf5_dir=/usr/lib/$multiarch/hdf5/openmpi
        [ -d "$parallel_hdf5_dir" ] && return 0
    fi
    return 1
}

# Bindings of MPI and of ecCodes are generated during the build, which takes libclang.
have_libclang() {
    ls "${LIBCLANG_PATH:-/nonexistent}"/libclang* >/dev/null 2>&1 && return 0
    if have llvm-config; then ls "$(llvm-config --libdir)"/libclang.* >/dev/null 2>&1 && return 0; fi
    compgen -G '/usr/lib/llvm-*/lib/libclang*.so*' >/dev/null || compgen -G '/usr/lib*/libclang*.so*' >/dev/null \
        || compgen -G '/usr/lib/*/libclang*.so*' >/dev/null || compgen -G '/opt/homebrew/opt/llvm/lib/libclang.dylib' >/dev/null
}

# Flags of cargo for the parts of the program that need a library of their own and find it: GRIB files, by ecCodes.
optional_features() {
    if have pkg-config && pkg-config --atleast-version=2.24 eccodes 2>/dev/null && have_libclang; then
        echo "--features grib"
    fi
}

can_build_mpi() { have mpicc && have mpirun && find_parallel_netcdf; }

# cargo_mpi COMMAND ARGUMENTS...: cargo for the program with MPI, in a build folder of its own.
cargo_mpi() {
    local command=$1
    shift
    find_parallel_netcdf || { echo "error: no parallel netCDF found" >&2; return 1; }
    NETCDF_DIR=$parallel_netcdf_dir HDF5_DIR=$parallel_hdf5_dir \
        cargo "$command" --features mpi --target-dir target/mpi "$@"
}

# CUDA's compilers as scripts/setup.sh installs them for tests. They need no GPU; a toolkit of the machine comes first.
use_cuda_compilers() {
    local folder
    for folder in "$PWD"/target/python/lib/python*/site-packages/nvidia; do
        [ -d "$folder/cuda_nvrtc/lib" ] || continue
        export LD_LIBRARY_PATH="${LD_LIBRARY_PATH:+$LD_LIBRARY_PATH:}$folder/cuda_nvrtc/lib"
        export PATH="$PATH:$folder/cuda_nvcc/bin"
    done
}

# Open MPI refuses root, and more ranks than cores, unless told; in containers its copying between processes by the
# kernel is often forbidden. Other MPIs ignore these.
if [ "$(id -u)" = 0 ]; then
    export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
fi
export OMPI_MCA_rmaps_base_oversubscribe=1 OMPI_MCA_mpi_yield_when_idle=1
export OMPI_MCA_btl_vader_single_copy_mechanism=none
export PRTE_MCA_rmaps_default_mapping_policy=:oversubscribe

cargo_bin=${CARGO_HOME:-${HOME:-/nonexistent}/.cargo}/bin
if [ -d "$cargo_bin" ]; then export PATH="$cargo_bin:$PATH"; fi
use_fedora_openmpi
