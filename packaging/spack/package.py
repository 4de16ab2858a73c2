# Spack package. In a repository of packages it is packages/atmostr/package.py.
#
#   spack install atmostr +mpi +grib
from spack.package import *


class Atmostr(Package):
    """Global trace-gas transport on the cubed sphere, driven by archived winds."""

    homepage = "https://github.com/atmostr/atmostr"
    git = "https://github.com/atmostr/atmostr.git"

    license("MIT OR Apache-2.0")

    version("main", branch="main")

    variant("mpi", default=True, description="Runs on several ranks, parallel output")
    variant("grib", default=False, description="Reads ERA5 in GRIB")

    depends_on("c", type="build")
    depends_on("rust@1.90:", type="build")
    depends_on("pkgconfig", type="build")
    # Bindings of MPI and ecCodes are generated during the build.
    depends_on("llvm+clang", type="build", when="+mpi")
    depends_on("llvm+clang", type="build", when="+grib")

    depends_on("mpi", when="+mpi")
    depends_on("netcdf-c+mpi", when="+mpi")
    depends_on("hdf5+mpi", when="+mpi")
    depends_on("netcdf-c~mpi", when="~mpi")
    depends_on("hdf5~mpi", when="~mpi")
    depends_on("eccodes@2.24:", when="+grib")

    def setup_build_environment(self, env):
        env.set("NETCDF_DIR", self.spec["netcdf-c"].prefix)
        env.set("HDF5_DIR", self.spec["hdf5"].prefix)
        if self.spec.satisfies("+mpi"):
            env.set("MPICC", self.spec["mpi"].mpicc)
        if self.spec.satisfies("+mpi") or self.spec.satisfies("+grib"):
            env.set("LIBCLANG_PATH", self.spec["llvm"].prefix.lib)

    def install(self, spec, prefix):
        features = [name for name in ("mpi", "grib") if spec.satisfies(f"+{name}")]
        cargo = which("cargo")
        arguments = ["install", "--locked", "--path", ".", "--root", prefix]
        if features:
            arguments += ["--features", ",".join(features)]
        cargo(*arguments)

    @run_after("install")
    @on_package_attributes(run_tests=True)
    def check_install(self):
        atmostr = Executable(self.prefix.bin.atmostr)
        atmostr("synth", "winds.bin", "--nc", "4", "--levels", "3", "--windows", "1")
        atmostr("inspect", "winds.bin", "--stats")
