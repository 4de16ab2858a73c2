//! Vectorised loops over rows, columns and seams.
