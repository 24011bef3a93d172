//! A scene as text, every default written out.
//!
//! The text reads back as an equal scene: numbers are written with the shortest digits that give the same bits.

use std::fmt::{self, Write};

use crate::description::{
    BodyFrames, BodyMesh, Choice, Cloth, ClothShape, Collider, ColliderShape, Material, Path, Pin, RestShape, Scene,
    Selection, View, Waypoint,
};
use crate::scene::words::Word;

impl Scene {
    /// The text of a scene file that describes this scene.
    pub fn to_toml(&self) -> String {
        let mut out = String::new();
        // A `String` takes whatever is written to it.
        let written = scene(&mut out, self);
        debug_assert!(written.is_ok(), "a string cannot fail to be written");
        out
    }
}

fn scene(out: &mut String, scene: &Scene) -> fmt::Result {
    writeln!(out, "name = {}", Quoted(&scene.name))?;
    writeln!(out, "duration = {:?}", scene.duration)?;
    writeln!(out, "fps = {:?}", scene.fps)?;
    writeln!(out, "gravity = {:?}", scene.gravity)?;
    optional(out, "stop_at_rest", scene.stop_at_rest)?;
    let wind = &scene.wind;
    writeln!(
        out,
        "wind = {{ velocity = {:?}, drag = {:?}, lift = {:?}, air_density = {:?} }}",
        wind.velocity, wind.drag, wind.lift, wind.air_density
    )?;
    writeln!(out, "\n[solver]\nkind = {}", Quoted(scene.solver.entry.name))?;
    for (name, value) in scene.solver.settings.iter() {
        writeln!(out, "{name} = {value}")?;
    }
    let contact = &scene.contact;
    writeln!(out, "\n[contact]\nself_contact = {}", contact.self_contact)?;
    writeln!(out, "thickness = {:?}\nfriction = {:?}", contact.thickness, contact.friction)?;
    writeln!(out, "start = \"{}\"", contact.start.word())?;
    view(out, &scene.view)?;
    for piece in &scene.cloths {
        cloth(out, piece)?;
    }
    for body in &scene.colliders {
        collider(out, body)?;
    }
    Ok(())
}

fn view(out: &mut String, view: &View) -> fmt::Result {
    writeln!(out, "\n[view]\nsize = {:?}", view.size)?;
    optional(out, "eye", view.eye)?;
    optional(out, "target", view.target)?;
    optional(out, "direction", view.direction)?;
    writeln!(out, "fov = {:?}\nground = {}", view.fov, view.ground)?;
    optional(out, "ground_height", view.ground_height)
}

fn cloth(out: &mut String, cloth: &Cloth) -> fmt::Result {
    writeln!(out, "\n[[cloth]]\nname = {}", Quoted(&cloth.name))?;
    shape(out, &cloth.shape, &cloth.name)?;
    if !matches!(cloth.shape, ClothShape::Pattern { .. }) {
        rest(out, &cloth.rest, &cloth.name)?;
    }
    optional(out, "close_by", cloth.close_by)?;
    optional(out, "settle_by", cloth.settle_by)?;
    optional(out, "weld", cloth.weld)?;
    writeln!(out, "repair = {}", cloth.repair)?;
    writeln!(out, "translate = {:?}\nrotate = {:?}", cloth.translate, cloth.rotate)?;
    writeln!(out, "scale = {:?}\nvelocity = {:?}", cloth.scale, cloth.velocity)?;
    optional(out, "color", cloth.color)?;
    material(out, &cloth.material)?;
    cloth.pins.iter().try_for_each(|p| pin(out, p))
}

/// A mesh in memory has a file of the cloth's name.
fn shape(out: &mut String, shape: &ClothShape, name: &str) -> fmt::Result {
    match shape {
        ClothShape::Grid { size, cells, diagonals } => {
            let diagonals = diagonals.word();
            writeln!(out, "grid = {{ size = {size:?}, cells = {cells:?}, diagonals = \"{diagonals}\" }}")
        }
        ClothShape::Tube { radius, height, cells } => {
            writeln!(out, "tube = {{ radius = {radius:?}, height = {height:?}, cells = {cells:?} }}")
        }
        ClothShape::Mesh { file } => writeln!(out, "mesh = {}", Quoted(file)),
        ClothShape::Pattern { file, resolution } => {
            writeln!(out, "pattern = {}\nresolution = {resolution:?}", Quoted(file))
        }
        ClothShape::Given(_) => writeln!(out, "mesh = {}", Quoted(&format!("{name}.obj"))),
    }
}

/// Positions in memory have a file of the cloth's name.
fn rest(out: &mut String, rest: &RestShape, name: &str) -> fmt::Result {
    match rest {
        RestShape::Mesh => writeln!(out, "rest = \"mesh\""),
        RestShape::Uv { scale } => writeln!(out, "rest = \"uv\"\nuv_scale = {scale:?}"),
        RestShape::File(file) => writeln!(out, "rest = {}", Quoted(file)),
        RestShape::Given(_) => writeln!(out, "rest = {}", Quoted(&format!("{name}_rest.obj"))),
    }
}

fn material(out: &mut String, material: &Material) -> fmt::Result {
    writeln!(out, "\n[cloth.material]")?;
    if let Some(fabric) = material.fabric {
        writeln!(out, "fabric = {}", Quoted(fabric.name))?;
    }
    writeln!(out, "density = {:?}\ndamping = {:?}", material.density, material.damping)?;
    model(out, "stretch", &material.stretch)?;
    model(out, "bend", &material.bend)
}

fn model(out: &mut String, key: &str, choice: &Choice) -> fmt::Result {
    write!(out, "{key} = {{ model = {}", Quoted(choice.entry.name))?;
    for (name, value) in choice.settings.iter() {
        write!(out, ", {name} = {value}")?;
    }
    writeln!(out, " }}")
}

fn pin(out: &mut String, pin: &Pin) -> fmt::Result {
    writeln!(out, "\n[[cloth.pins]]")?;
    match &pin.selection {
        Selection::Vertices(vertices) => writeln!(out, "vertices = {vertices:?}")?,
        Selection::Named(select) => writeln!(out, "select = \"{}\"", select.word())?,
        Selection::Sphere { center, radius } => {
            writeln!(out, "within = {{ center = {center:?}, radius = {radius:?} }}")?;
        }
        Selection::Box { min, max } => writeln!(out, "within = {{ min = {min:?}, max = {max:?} }}")?,
    }
    optional(out, "until", pin.until)?;
    path(out, &pin.path)
}

fn collider(out: &mut String, collider: &Collider) -> fmt::Result {
    writeln!(out, "\n[[collider]]\nname = {}", Quoted(&collider.name))?;
    match &collider.shape {
        ColliderShape::Solid(Choice { entry, settings }) => {
            let settings: Vec<String> = settings.iter().map(|(name, value)| format!("{name} = {value}")).collect();
            writeln!(out, "{} = {{ {} }}", entry.name, settings.join(", "))?;
        }
        ColliderShape::Custom(_) => writeln!(out, "# a shape of the program, which no scene file can say")?,
        ColliderShape::Mesh(BodyMesh { file, frames, translate, rotate, scale, given: _ }) => {
            write!(out, "mesh = {{ file = {}", Quoted(file))?;
            if let Some(BodyFrames { file, fps }) = frames {
                write!(out, ", frames = {}, fps = {fps:?}", Quoted(file))?;
            }
            writeln!(out, ", translate = {translate:?}, rotate = {rotate:?}, scale = {scale:?} }}")?;
        }
    }
    writeln!(out, "friction = {:?}", collider.friction)?;
    path(out, &collider.path)
}

/// The other keys of a motion have no meaning without waypoints, and are refused there.
fn path(out: &mut String, path: &Path) -> fmt::Result {
    if path.is_still() {
        return Ok(());
    }
    writeln!(out, "path = [")?;
    for Waypoint { time, offset, turn } in &path.waypoints {
        writeln!(out, "    {{ time = {time:?}, offset = {offset:?}, turn = {turn:?} }},")?;
    }
    writeln!(out, "]\naxis = {:?}", path.axis)?;
    optional(out, "center", path.center)?;
    writeln!(out, "ease = \"{}\"", path.ease.word())
}

fn optional<T: fmt::Debug>(out: &mut String, key: &str, value: Option<T>) -> fmt::Result {
    match value {
        Some(value) => writeln!(out, "{key} = {value:?}"),
        None => Ok(()),
    }
}

/// A TOML basic string: Rust's own escapes differ for what is not ASCII.
struct Quoted<'a>(&'a str);

impl fmt::Display for Quoted<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_char('"')?;
        for c in self.0.chars() {
            match c {
                '"' | '\\' => write!(f, "\\{c}")?,
                c if c.is_control() => write!(f, "\\u{:04X}", u32::from(c))?,
                c => f.write_char(c)?,
            }
        }
        f.write_char('"')
    }
}
