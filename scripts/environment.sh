# Sourced by the Makefile's recipes: finds MPI and parallel netCDF and tells cargo where they are.
# Site modules win: whatever mpicc, nc-config and pkg-config answer is used before any package is installed.

have() { command -v "$1" >/dev/null 2>&1; }

# Parallel netCDF: Debian keeps it beside the serial one, most sites and Fedora have their own nc-config.
find_parallel_netcdf() {
    if [ -n "${NETCDF_DIR:-}" ] && [ -n "${HDF5_DIR:-}" ]; then return 0; fi
    if have pkg-config && pkg-config --exists netcdf-mpi 2>/dev/null; then
        NETCDF_DIR=$(pkg-config --variable=prefix netcdf-mpi)
        HDF5_DIR=/usr/lib/$(gcc -print-multiarch)/hdf5/openmpi
        export NETCDF_DIR HDF5_DIR
        return 0
    fi
    if have nc-config && [ "$(nc-config --has-parallel4 2>/dev/null || nc-config --has-parallel)" = yes ]; then
        NETCDF_DIR=$(nc-config --prefix)
        if have h5pcc; then HDF5_DIR=$(dirname "$(dirname "$(command -v h5pcc)")"); else HDF5_DIR=$NETCDF_DIR; fi
        export NETCDF_DIR HDF5_DIR
        return 0
    fi
    return 1
}

# OpenMPI refuses root and more ranks than cores unless told; harmless elsewhere.
if [ "$(id -u)" = 0 ]; then
    export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
fi
export OMPI_MCA_rmaps_base_oversubscribe=1 OMPI_MCA_mpi_yield_when_idle=1 PRTE_MCA_rmaps_default_mapping_policy=:oversubscribe
if [ -d "$HOME/.cargo/bin" ]; then PATH=$HOME/.cargo/bin:$PATH; export PATH; fi
find_parallel_netcdf || true
