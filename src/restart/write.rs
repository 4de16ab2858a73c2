//! Writing a restart file.

use std::path::Path;
use std::sync::Arc;

use kernels::Scalar;
use netcdf::AttributeValue;

use super::whole::seal;
use super::{CHECKSUM, Checksum, FieldLevels, LAYOUT, RestartError, STATE_BYTES, VERSION, state_attribute};
use crate::comm::{Communicator, agree};
use crate::files::{folder, sync_folder};
use crate::grid::CubedSphere;
use crate::output::{
    Attributes, Channel, Compression, Pieces, Provenance, Rectangle, Sharing, Storage, Values, VariableDef, WriteMode,
    storage,
};
use crate::state::{Slabs, TileSet};

/// Most bytes of one variable that rank 0 holds at a time; at least one level.
const BLOCK_BYTES: usize = 16 << 20;
/// Parts of the fields of a rank that a block of levels of all ranks takes at most: rank 0 holds a block up to four times, and
/// all that a restart file takes is to be less than the fields of a rank.
const BLOCKS: usize = 8;

/// Levels of a variable on panels of `nc` × `nc` cells that are written at a time, for `planes` fields of `levels` levels on
/// `ranks` ranks; `value_bytes` of a value.
pub(crate) fn block_levels(nc: usize, levels: usize, planes: usize, value_bytes: usize, ranks: usize) -> usize {
    let level = 6 * nc * nc * value_bytes;
    let of_a_rank = level * levels * planes / ranks.max(1);
    ((of_a_rank / BLOCKS).min(BLOCK_BYTES) / level.max(1)).clamp(1, levels.max(1))
}

/// A field of the state: one plane of a storage.
#[derive(Clone, Copy, Debug)]
pub struct RestartField<'a, R> {
    /// Name of the variable.
    pub name: &'a str,
    /// What it is.
    pub long_name: &'a str,
    /// Where the values are, kg.
    pub slabs: &'a Slabs<R>,
    /// Plane of the storage.
    pub plane: usize,
    /// Its levels.
    pub levels: FieldLevels,
}

/// Writes the state after `seconds` s of the run to `path`: fields, and `state`, a JSON text. Collective. A file at `path`
/// stays until the new one is complete and on disk. `about` are further attributes, names and texts, the same on all ranks.
///
/// # Errors
/// The file cannot be written.
pub fn write<R: Scalar>(
    path: &Path,
    grid: &CubedSphere,
    tiles: &Arc<TileSet>,
    hours: f64,
    state: &str,
    fields: &[RestartField<'_, R>],
    about: &[(&str, String)],
    comm: &dyn Communicator,
) -> Result<(), RestartError> {
    let partial = path.with_extension("nc.partial");
    let nc = grid.nc();
    let mut sums = vec![Checksum::default(); fields.len()];
    for (sum, field) in sums.iter_mut().zip(fields) {
        sum.add_plane(field.slabs, field.plane, field.levels.count(field.slabs), nc);
    }
    let sums = Checksum::reduce(&sums, comm);
    let sharing = Sharing::new(tiles, nc, comm)?;
    let made = || -> Result<(), RestartError> {
        let mut channel = Channel::create(&partial, WriteMode::Collective, comm)?;
        let result = fill(&mut channel, &partial, grid, tiles, hours, state, fields, about, &sums, &sharing, comm);
        if let Err(error) = result {
            channel.abandon();
            return Err(error);
        }
        agree(comm, channel.close().map_err(netcdf_error(&partial, "close")))?;
        let publish = || -> Result<(), std::io::Error> {
            seal(&partial)?;
            std::fs::rename(&partial, path)?;
            sync_folder(folder(path))
        };
        let published = if comm.rank() == 0 { publish() } else { Ok(()) };
        Ok(agree(comm, published.map_err(RestartError::io(path, "complete")))?)
    };
    made().inspect_err(|_| {
        // The disk may be full: what is incomplete must not keep its room.
        let _ = if comm.rank() == 0 { std::fs::remove_file(&partial) } else { Ok(()) };
    })
}

fn netcdf_error(path: &Path, action: &str) -> impl Fn(netcdf::Error) -> RestartError {
    let (path, action) = (path.to_path_buf(), action.to_owned());
    move |source| RestartError::NetCdf { path: path.clone(), action: action.clone(), source }
}

fn text(pairs: &[(&str, &str)]) -> Attributes {
    pairs.iter().map(|(key, value)| ((*key).to_owned(), AttributeValue::from(*value))).collect()
}

fn fill<R: Scalar>(
    channel: &mut Channel,
    path: &Path,
    grid: &CubedSphere,
    tiles: &TileSet,
    hours: f64,
    state: &str,
    fields: &[RestartField<'_, R>],
    about: &[(&str, String)],
    sums: &[Checksum],
    sharing: &Sharing,
    comm: &dyn Communicator,
) -> Result<(), RestartError> {
    let nc = grid.nc();
    let levels = fields.iter().map(|f| f.levels.count(f.slabs)).max().unwrap_or(1);
    let dims = [("time", Some(1)), ("lev", Some(levels)), ("nf", Some(6)), ("Ydim", Some(nc)), ("Xdim", Some(nc))];
    let mut variables = vec![VariableDef {
        name: "time".into(),
        storage: Storage::Double,
        dims: vec!["time"],
        attributes: text(&[("units", "hours"), ("long_name", "time since the start of the run")]),
        field: false,
    }];
    variables.extend(fields.iter().zip(sums).map(|(field, sum)| VariableDef {
        name: field.name.into(),
        storage: storage::<R>(),
        dims: field.levels.dims(),
        attributes: text(&[("long_name", field.long_name), ("units", "kg"), (CHECKSUM, &sum.to_text())]),
        field: true,
    }));
    let program = Provenance::detect().agreed(comm);
    let mut globals = text(&[
        ("Conventions", "CF-1.8"),
        ("title", "atmostr restart file"),
        ("framework", &program.framework),
        ("framework_commit", &program.commit),
        ("framework_dirty", &program.dirty),
        ("hostname", &program.hostname),
        ("user", &program.user),
    ]);
    globals.extend(about.iter().map(|(key, value)| ((*key).to_owned(), AttributeValue::from(value.as_str()))));
    // The text is plain ASCII: other characters of names are escaped in JSON.
    let pieces = state.as_bytes().chunks(STATE_BYTES).map(String::from_utf8_lossy);
    globals.extend(pieces.enumerate().map(|(n, piece)| (state_attribute(n), AttributeValue::from(&*piece))));
    globals.push((VERSION.into(), LAYOUT.into()));
    let defined = channel.define(&dims, &variables, &globals, Compression::default(), (nc, nc));
    agree(comm, defined.map_err(netcdf_error(path, "define the variables of")))?;
    let timed = channel.put_root("time", (vec![0], vec![1]), Values::Double(&[hours]), comm);
    agree(comm, timed.map_err(netcdf_error(path, "write to")))?;
    let whole = fields.iter().filter(|field| field.levels == FieldLevels::All).count();
    for field in fields {
        let written = put_field(channel, field, whole, tiles, sharing, nc, comm);
        agree(comm, written.map_err(netcdf_error(path, &format!("write `{}` to", field.name))))?;
    }
    agree(comm, channel.sync().map_err(netcdf_error(path, "write to")))?;
    Ok(())
}

fn put_field<R: Scalar>(
    channel: &mut Channel,
    field: &RestartField<'_, R>,
    planes: usize,
    tiles: &TileSet,
    sharing: &Sharing,
    nc: usize,
    comm: &dyn Communicator,
) -> Result<(), netcdf::Error> {
    let mut own = Pieces::new();
    let collect = |levels: std::ops::Range<usize>, own: &mut Pieces<R>| {
        own.clear();
        for (tile, (place, shape)) in tiles.tiles().iter().zip(tiles.shapes()).enumerate() {
            let rectangle = Rectangle::of(place);
            own.add(rectangle, |values| {
                values.reserve(levels.len() * rectangle.cells());
                for level in levels.clone() {
                    let plane = field.slabs.plane(level, tile, field.plane);
                    (0..rectangle.nj).for_each(|j| values.extend(&plane[shape.row_start(j)..][..rectangle.ni]));
                }
            });
        }
    };
    if field.levels == FieldLevels::One {
        collect(0..1, &mut own);
        return channel.put_pieces(field.name, &[0], None, &mut own, sharing, nc, comm);
    }
    let levels = field.slabs.levels();
    let block = block_levels(nc, levels, planes, size_of::<R>(), comm.size());
    let mut result = Ok(());
    for first in (0..levels).step_by(block) {
        let range = first..(first + block).min(levels);
        let count = Some(range.len());
        collect(range, &mut own);
        result = result.and(channel.put_pieces(field.name, &[0, first], count, &mut own, sharing, nc, comm));
    }
    result
}
