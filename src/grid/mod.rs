//! Cubed-sphere geometry and the vertical coordinate.
