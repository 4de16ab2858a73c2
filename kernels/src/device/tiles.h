/* How the state lies in memory: level after level; per level tile after tile; per tile air, then the tracers, one padded
 * plane each. Fields that are not packed have one plane per tile. */

#define TILE_INTS 8
/* Positions of a tile's first plane within a level: in the packed state, in a field. */
#define TILE_STATE(t) tiles[TILE_INTS * (t)]
#define TILE_FIELD(t) tiles[TILE_INTS * (t) + 1]
#define TILE_NI(t) tiles[TILE_INTS * (t) + 2]
#define TILE_NJ(t) tiles[TILE_INTS * (t) + 3]
#define TILE_HALO(t) tiles[TILE_INTS * (t) + 4]
#define TILE_PITCH(t) tiles[TILE_INTS * (t) + 5]
#define TILE_PLANE(t) tiles[TILE_INTS * (t) + 6]
/* Whether the low and high ends of the axes are closed, one bit each: seams carry the flux there. */
#define TILE_CLOSED(t) tiles[TILE_INTS * (t) + 7]
#define CLOSED_WEST 1
#define CLOSED_EAST 2
#define CLOSED_SOUTH 4
#define CLOSED_NORTH 8

/* A list of rows: tile and j of each. */
#define ROW_TILE(r) rows[2 * (r)]
#define ROW_J(r) rows[2 * (r) + 1]

/* Position of interior cell (i, j) in a plane. */
#define CELL(t, i, j) (((j) + TILE_HALO(t)) * TILE_PITCH(t) + TILE_HALO(t) + (i))
