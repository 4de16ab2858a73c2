"""Opens a snapshot file with xarray and checks what a user relies on: decoded times, coordinates, budgets."""

import sys
import warnings

import numpy as np
import xarray as xr

warnings.simplefilter("error")


def main(path):
    with xr.open_dataset(path, engine="netcdf4") as ds:
        times = ds["time"].values.astype("datetime64[s]")
        expected = np.array(["2021-12-01T00:00:00", "2021-12-01T03:00:00"], dtype="datetime64[s]")
        assert (times == expected).all(), times
        assert ds["co2"].dims == ("time", "lev", "nf", "Ydim", "Xdim")
        assert {"lons", "lats"} <= set(ds["co2"].coords), ds["co2"].coords
        assert "cubed_sphere" in (ds["co2"].attrs.get("grid_mapping"), ds["co2"].encoding.get("grid_mapping"))
        assert list(ds["lev_selected"].values) == [1.0, 3.0]
        assert not ds["co2"].isnull().any()

        # Column mean from layers, and air from mass per area, in double precision.
        air = ds["air_mass"].astype("f8")
        mean = (ds["co2"].astype("f8") * air).sum("lev") / air.sum("lev")
        assert np.allclose(mean, ds["co2_column_mean"], rtol=1e-6, atol=0)
        total = (ds["column_air_mass_per_area"].astype("f8") * ds["cell_area"]).sum()
        assert np.isclose(total, air.sum(), rtol=1e-6)

        # Every cell centre lies nearer to its four corners than half the sphere is wide.
        def vector(lon, lat):
            lon, lat = np.deg2rad(lon), np.deg2rad(lat)
            return np.stack([np.cos(lat) * np.cos(lon), np.cos(lat) * np.sin(lon), np.sin(lat)])

        centre = vector(ds["lons"].values, ds["lats"].values)
        corner = vector(ds["corner_lons"].values, ds["corner_lats"].values)
        around = corner[..., :-1, :-1] + corner[..., 1:, :-1] + corner[..., :-1, 1:] + corner[..., 1:, 1:]
        around /= np.linalg.norm(around, axis=0)
        assert np.allclose(centre, around, atol=1e-12)


if __name__ == "__main__":
    main(sys.argv[1])
