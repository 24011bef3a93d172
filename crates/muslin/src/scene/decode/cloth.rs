//! `[[cloth]]`: shape, placement, material and pins.

use crate::description::{Cloth, ClothShape, Material, Pin, RestShape, Selection};
use crate::material::fabric::Fabric;
use crate::mesh::Diagonals;
use crate::parameter::{Entry, Kind};
use crate::scene::cursor::{Item, Table};

use crate::scene::decode::choice::choice;
use crate::scene::decode::{motion, name, one_key, ranged, ranged_each};
use crate::validate;
use crate::validate::choice::Family;
use crate::validate::limits::{self, CELLS, COLOR, NOT_NEGATIVE, Names, WELD};

/// When a pattern is sewn, in s, unless a scene says otherwise.
const CLOSE_BY: f64 = 1.0;

/// Reads all cloths: at least one, with distinct names.
pub(super) fn cloths(t: &mut Table<'_, '_>, solver: Option<&'static Entry>) -> Option<Vec<Cloth>> {
    let mut names = Names::default();
    let cloths = match t.get("cloth") {
        Some(item) => item.tables("cloth", |i, t| cloth(t, i, &mut names, solver)),
        None => Some(Vec::new()),
    }?;
    if cloths.is_empty() {
        t.error("a scene needs at least one [[cloth]]");
    }
    Some(cloths)
}

fn cloth(t: &mut Table<'_, '_>, index: usize, names: &mut Names, solver: Option<&'static Entry>) -> Option<Cloth> {
    let name = t.get("name").and_then(name).unwrap_or_else(|| format!("cloth{index}"));
    if let Err(message) = names.take(&name, format!("cloth[{index}]")) {
        t.value_error("name", message);
    }
    let shape = shape(t);
    let is_pattern = !t.given(&["pattern"]).is_empty();
    let rest = if is_pattern { rest_of_pattern(t) } else { rest(t) };
    let close_by = close_by(t, is_pattern, rest.as_ref());
    let settle_by = settle_by(t, close_by);
    let weld = t.get("weld").and_then(|v| v.number(WELD));
    let repair = t.get("repair").and_then(Item::boolean).unwrap_or(false);
    let translate = t.get("translate").and_then(|v| v.vector(Kind::BOUNDED)).unwrap_or_default();
    let rotate = t.get("rotate").and_then(|v| v.vector(Kind::BOUNDED)).unwrap_or_default();
    let scale = t.get("scale").and_then(|v| v.number(Kind::EXTENT)).unwrap_or(1.0);
    let velocity = t.get("velocity").and_then(|v| ranged_each(v, limits::VELOCITY)).unwrap_or_default();
    let material = t.section("material", |t| material(t, solver));
    let pins = match t.get("pins") {
        Some(item) => item.tables("cloth.pins", |_, t| pin(t)),
        None => Some(Vec::new()),
    };
    let color = t.get("color").and_then(|v| v.vector(COLOR));
    let (shape, rest, material, pins) = (shape?, rest?, material?, pins?);
    Some(Cloth {
        name,
        shape,
        rest,
        close_by,
        settle_by,
        weld,
        repair,
        translate,
        rotate,
        scale,
        velocity,
        material,
        pins,
        color,
    })
}

fn shape(t: &mut Table<'_, '_>) -> Option<ClothShape> {
    let grid = t.get("grid").and_then(|v| v.table(grid));
    let tube = t.get("tube").and_then(|v| v.table(tube));
    let mesh = t.get("mesh").and_then(mesh);
    let pattern = pattern(t);
    one_key(t, &["grid", "tube", "mesh", "pattern"], "a cloth needs one shape: grid, tube, mesh or pattern")?;
    grid.or(tube).or(mesh).or(pattern)
}

fn pattern(t: &mut Table<'_, '_>) -> Option<ClothShape> {
    let file = t.get("pattern").map(|v| v.refine(|v| v.text(), |file| limits::file_name(file).map(str::to_owned)));
    let resolution = t.get("resolution").map(|v| v.number(limits::RESOLUTION));
    let Some(file) = file else {
        if resolution.is_some() {
            t.value_error("resolution", "is the length of edges in a pattern; give that, or leave this out");
        }
        return None;
    };
    Some(ClothShape::Pattern { file: file?, resolution: resolution.unwrap_or(Some(0.01))? })
}

/// What is sewn of a pattern is flat in its pieces.
fn rest_of_pattern(t: &mut Table<'_, '_>) -> Option<RestShape> {
    for key in ["rest", "uv_scale"] {
        if t.get(key).is_some() {
            t.value_error(key, "a pattern is its own rest shape; leave this out");
        }
    }
    Some(RestShape::Uv { scale: 1.0 })
}

/// Seconds; a pattern is sewn, other cloth that starts elsewhere than at rest may be.
fn close_by(t: &mut Table<'_, '_>, is_pattern: bool, rest: Option<&RestShape>) -> Option<f64> {
    let Some(item) = t.get("close_by") else { return is_pattern.then_some(CLOSE_BY) };
    let time = item.number(NOT_NEGATIVE);
    if let Err(message) = rest.map_or(Ok(()), limits::starts_elsewhere) {
        t.value_error("close_by", message);
    }
    time
}

/// A word, or the name of a file.
fn rest(t: &mut Table<'_, '_>) -> Option<RestShape> {
    let named = |text: &str| match text {
        "mesh" => Ok(RestShape::Mesh),
        "uv" => Ok(RestShape::Uv { scale: 1.0 }),
        file => limits::file_name(file).map(|file| RestShape::File(file.to_owned())),
    };
    let rest = t.get("rest").map_or(Some(RestShape::Mesh), |v| v.refine(|v| v.text(), named));
    let scale = t.get("uv_scale").map(|v| v.number(Kind::EXTENT));
    match (rest?, scale) {
        (RestShape::Uv { .. }, Some(scale)) => Some(RestShape::Uv { scale: scale? }),
        (rest, None) => Some(rest),
        (rest, Some(_)) => {
            t.value_error("uv_scale", "has no effect without rest = \"uv\"; give that too, or leave this out");
            Some(rest)
        }
    }
}

/// Seconds; not before it is sewn.
fn settle_by(t: &mut Table<'_, '_>, close_by: Option<f64>) -> Option<f64> {
    let time = t.get("settle_by")?.number(NOT_NEGATIVE)?;
    if let Err(message) = limits::settles_after(close_by, time) {
        t.value_error("settle_by", message);
    }
    Some(time)
}

fn grid(t: &mut Table<'_, '_>) -> Option<ClothShape> {
    let size = t.need("size", "[1.0, 1.0]").and_then(|v| v.vector(Kind::EXTENT));
    let cells = t.need("cells", "[32, 32]").and_then(|v| v.integers(CELLS));
    let diagonals = t.get("diagonals").and_then(Item::word).unwrap_or(Diagonals::Alternating);
    Some(ClothShape::Grid { size: size?, cells: cells?, diagonals })
}

fn tube(t: &mut Table<'_, '_>) -> Option<ClothShape> {
    let radius = t.need("radius", "0.2").and_then(|v| v.number(Kind::EXTENT));
    let height = t.need("height", "1.0").and_then(|v| v.number(Kind::EXTENT));
    let cells = t.need("cells", "[48, 32]").and_then(|v| v.refine(|v| v.integers(CELLS), limits::closed));
    Some(ClothShape::Tube { radius: radius?, height: height?, cells: cells? })
}

fn mesh(item: Item<'_, '_>) -> Option<ClothShape> {
    let named = |file: &str| Ok(ClothShape::Mesh { file: limits::file_name(file)?.to_owned() });
    item.refine(|v| v.text(), named)
}

/// Reads a material; a fabric supplies what the scene does not give.
fn material(t: &mut Table<'_, '_>, solver: Option<&'static Entry>) -> Option<Material> {
    let fabric = t.get("fabric").and_then(fabric);
    let density = t.get("density").and_then(|v| ranged(v, Kind::Positive, limits::DENSITY));
    let damping = t.get("damping").and_then(|v| ranged(v, NOT_NEGATIVE, limits::DAMPING)).unwrap_or(0.0);
    let stretch_preset = fabric.and_then(|fabric| fabric.stretch);
    let stretch = t.section("stretch", |t| choice(t, &Family::stretch_models(solver, stretch_preset)));
    let bend_preset = fabric.map(|fabric| fabric.bend);
    let bend = t.section("bend", |t| choice(t, &Family::bend_models(solver, bend_preset)));
    Some(Material {
        fabric,
        density: density.or(fabric.map(|fabric| fabric.density)).unwrap_or(0.2),
        damping,
        stretch: stretch?,
        bend: bend?,
    })
}

fn fabric(item: Item<'_, '_>) -> Option<&'static Fabric> {
    item.refine(|v| v.text(), validate::fabric)
}

fn pin(t: &mut Table<'_, '_>) -> Option<Pin> {
    let selection = selection(t);
    let until = t.get("until").and_then(|v| v.number(NOT_NEGATIVE));
    let path = motion::path(t);
    Some(Pin { selection: selection?, until, path: path? })
}

fn selection(t: &mut Table<'_, '_>) -> Option<Selection> {
    let vertices = t.get("vertices").and_then(|v| v.list("vertex indices", |v| v.integer([0, u32::MAX])));
    let select = t.get("select").and_then(Item::word);
    let within = t.get("within").and_then(|v| v.table(within));
    one_key(t, &["vertices", "select", "within"], "a pin needs one of vertices, select or within")?;
    vertices.map(Selection::Vertices).or(select.map(Selection::Named)).or(within)
}

fn within(t: &mut Table<'_, '_>) -> Option<Selection> {
    let ball_keys = t.given(&["center", "radius"]);
    let box_keys = t.given(&["min", "max"]);
    if ball_keys.is_empty() == box_keys.is_empty() {
        t.error("must be a sphere, { center, radius }, or a box, { min, max }");
        t.forgive();
        None
    } else if box_keys.is_empty() {
        let center = t.need("center", "[0.0, 1.0, 0.0]").and_then(|v| v.vector(Kind::BOUNDED));
        let radius = t.need("radius", "0.1").and_then(|v| v.number(Kind::EXTENT));
        Some(Selection::Sphere { center: center?, radius: radius? })
    } else {
        let min: Option<[f64; 3]> = t.need("min", "[-0.1, 0.9, -0.1]").and_then(|v| v.vector(Kind::BOUNDED));
        let max: Option<[f64; 3]> = t.need("max", "[0.1, 1.1, 0.1]").and_then(|v| v.vector(Kind::BOUNDED));
        let (min, max) = (min?, max?);
        if let Err(message) = limits::ordered(min, max) {
            t.value_error("max", message);
        }
        Some(Selection::Box { min, max })
    }
}
