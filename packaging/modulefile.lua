-- Module file for Lmod. Place it at <modulefiles>/atmostr/<version>.lua; set `root` to where the program lies (root/bin/atmostr).
-- It loads what the program was built with: the names of these modules are the site's.

local version = myModuleVersion()
local root = pathJoin("/opt/atmostr", version)

help([[
Global trace-gas transport on the cubed sphere, driven by archived winds.
  atmostr --help                 commands
  atmostr check run.toml         every error of a configuration
  srun --mpi=pmix atmostr run run.toml
]])

whatis("Name: atmostr")
whatis("Version: " .. version)
whatis("Description: transport of trace gases on the cubed sphere")

conflict("atmostr")
depends_on("openmpi")
depends_on("netcdf-c-parallel")

prepend_path("PATH", pathJoin(root, "bin"))
setenv("ATMOSTR", pathJoin(root, "bin", "atmostr"))
