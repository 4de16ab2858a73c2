"""Compares a synthesis from spherical harmonics with pyshtools: values at points, winds on a regular grid."""

import sys

import netCDF4
import numpy as np
import pyshtools as pysh

TOLERANCE = 1e-12


def real_coefficients(values, truncation):
    """Coefficients of pyshtools (4-pi normalised cosines and sines) from the waves of a file, m outermost."""
    cilm = np.zeros((2, truncation + 1, truncation + 1))
    place = 0
    for m in range(truncation + 1):
        scale = 1.0 if m == 0 else np.sqrt(2.0)
        for n in range(m, truncation + 1):
            cilm[0, n, m] = scale * values[place]
            cilm[1, n, m] = -scale * values[place + 1]
            place += 2
    assert place == len(values)
    return cilm


def compare(name, found, expected):
    error = np.abs(found - expected).max() / np.abs(expected).max()
    print(f"{name}: {error:.2e} of the largest value")
    assert error <= TOLERANCE, name


def main(path):
    with netCDF4.Dataset(path) as ds:
        truncation = int(ds["truncation"][...])
        expected = pysh.expand.MakeGridPoint(
            real_coefficients(ds["scalar_spectrum"][:], truncation), lat=ds["lat"][:].data, lon=ds["lon"][:].data
        )
        compare("scalar", ds["scalar"][:].data, expected)

        # Winds are the gradients of velocity potential and streamfunction, the inverse Laplacians of divergence and vorticity.
        radius = float(ds["radius"][...])
        n = np.arange(truncation + 1)
        inverse = np.where(n > 0, -(radius**2) / np.maximum(n * (n + 1), 1), 0.0)[None, :, None]
        psi = real_coefficients(ds["vorticity_spectrum"][:], truncation) * inverse
        chi = real_coefficients(ds["divergence_spectrum"][:], truncation) * inverse
        psi_theta, psi_phi = pysh.expand.MakeGradientDH(psi, sampling=2, radius=radius)
        chi_theta, chi_phi = pysh.expand.MakeGradientDH(chi, sampling=2, radius=radius)
        u, v = chi_phi + psi_theta, psi_phi - chi_theta
        # The other library has no wind at the pole, its first row.
        compare("u", ds["u"][:].reshape(u.shape)[1:].data, u[1:])
        compare("v", ds["v"][:].reshape(v.shape)[1:].data, v[1:])


if __name__ == "__main__":
    main(sys.argv[1])
