//! What to launch when: advection sweeps over all tiles of a rank.
