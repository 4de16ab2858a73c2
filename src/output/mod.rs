//! NetCDF output, comparison and maps.
