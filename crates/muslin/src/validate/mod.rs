//! One validation for scene files and for code: the same limits, the same words.
//!
//! A scene file is checked value by value as it is read, so that every finding has its line. [`check`] looks at a
//! [`Scene`] that somebody has put together, and says the same of the same values. Both use the limits of this module and the
//! tables of the catalogue; a test walks through all of them and compares.

pub(crate) mod choice;
pub(crate) mod limits;
pub(crate) mod suggest;

use crate::catalog;
use crate::contact::{ShapeFlaw, ShapeKind};
use crate::description::{
    Choice, Cloth, ClothShape, Collider, ColliderShape, Material, Path, Pin, Problem, Problems, RestShape, Scene,
    Selection, View, Wind,
};
use crate::material::fabric::Fabric;
use crate::parameter::{Kind, Setting, Settings};
use choice::{ChoiceFault, Family};
use limits::{
    CELLS, COLOR, EYE_AND_DIRECTION, FIELD_OF_VIEW, FPS, FRAME_RATE, NOT_NEGATIVE, Names, PIXELS, Range, THICKNESS,
    WELD, whole,
};

/// Everything that is wrong with the values of a scene, each with its key; empty for one that was read from a file.
///
/// What a scene refers to (meshes, vertices) shows once it is built.
///
/// ```
/// let mut scene = muslin::scene::parse("[[cloth]]\ngrid = { size = [1, 1], cells = [8, 8] }\n", &[]).into_result()?;
/// scene.fps = 0.0;
/// let problems = muslin::validate::check(&scene);
/// assert_eq!(problems[0].to_string(), "fps: must be a number from 1 to 1000, got 0.0");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn check(scene: &Scene) -> Vec<Problem> {
    let mut checker = Checker::default();
    checker.scene(scene);
    checker.0.into_list()
}

/// The fabric of a name, or what to say of it.
pub(crate) fn fabric(name: &str) -> Result<&'static Fabric, String> {
    let names: Vec<&str> = catalog::fabrics().map(|fabric| fabric.name).collect();
    catalog::fabrics().find(|fabric| fabric.name == name).ok_or_else(|| suggest::unknown_name("fabric", name, &names))
}

/// Reports faults of a choice at a place, such as `cloth[0].material.bend`.
pub(crate) fn report(place: &str, faults: Vec<ChoiceFault>, problems: &mut Problems) {
    for ChoiceFault { key, message } in faults {
        problems.error(key.map_or_else(|| place.to_owned(), |key| format!("{place}.{key}")), message);
    }
}

#[derive(Default)]
struct Checker(Problems);

impl Checker {
    fn verdict<T>(&mut self, place: &str, outcome: Result<T, String>) {
        if let Err(message) = outcome {
            self.0.error(place, message);
        }
    }

    /// Whether a number is inside its limits.
    fn number(&mut self, place: &str, kind: Kind, x: f64) -> bool {
        let outcome = kind.check(Setting::Number(x));
        let is_fine = outcome.is_ok();
        self.verdict(place, outcome);
        is_fine
    }

    /// A number inside its limits with which physics can be computed.
    fn ranged(&mut self, place: &str, kind: Kind, range: Range, x: f64) {
        if self.number(place, kind, x) {
            self.verdict(place, range.holds(x));
        }
    }

    /// Three of them, either way.
    fn ranged_each(&mut self, place: &str, range: Range, v: [f64; 3]) {
        if self.vector(place, Kind::BOUNDED, &v) {
            self.verdict(place, range.holds_each(v));
        }
    }

    /// Whether all of the numbers are.
    fn vector(&mut self, place: &str, kind: Kind, v: &[f64]) -> bool {
        let bad = v.iter().enumerate().filter(|(i, x)| !self.number(&format!("{place}[{i}]"), kind, **x)).count();
        bad == 0
    }

    fn integers(&mut self, place: &str, range: [u32; 2], v: &[u32]) -> bool {
        let mut is_fine = true;
        for (i, &x) in v.iter().enumerate() {
            let outcome = whole(range).check(Setting::Integer(i64::from(x)));
            is_fine &= outcome.is_ok();
            self.verdict(&format!("{place}[{i}]"), outcome);
        }
        is_fine
    }

    fn direction(&mut self, place: &str, v: [f64; 3]) {
        if self.vector(place, Kind::BOUNDED, &v) {
            self.verdict(place, Kind::Direction.check(Setting::Vector(v)));
        }
    }

    fn scene(&mut self, scene: &Scene) {
        self.verdict("name", limits::name(&scene.name));
        let has_duration = self.number("duration", Kind::Positive, scene.duration);
        if has_duration {
            self.verdict("duration", limits::duration(scene.duration));
        }
        if self.number("fps", FPS, scene.fps) && has_duration {
            self.verdict("duration", limits::frames(scene.duration, scene.fps));
        }
        self.ranged_each("gravity", limits::GRAVITY, scene.gravity);
        if let Some(speed) = scene.stop_at_rest {
            self.number("stop_at_rest", Kind::Positive, speed);
        }
        self.wind(&scene.wind);
        self.choice("solver", &scene.solver, &Family::solvers());
        self.number("contact.thickness", THICKNESS, scene.contact.thickness);
        self.ranged("contact.friction", NOT_NEGATIVE, limits::FRICTION, scene.contact.friction);
        if scene.cloths.is_empty() {
            self.0.error("cloth", "a scene needs at least one [[cloth]]");
        }
        let mut names = Names::default();
        for (i, cloth) in scene.cloths.iter().enumerate() {
            self.cloth(&format!("cloth[{i}]"), cloth, &scene.solver, &mut names);
        }
        for (i, collider) in scene.colliders.iter().enumerate() {
            self.collider(&format!("collider[{i}]"), collider, &mut names);
        }
        self.view(&scene.view);
    }

    fn wind(&mut self, wind: &Wind) {
        self.ranged_each("wind.velocity", limits::WIND, wind.velocity);
        self.ranged("wind.drag", NOT_NEGATIVE, limits::COEFFICIENT, wind.drag);
        self.ranged("wind.lift", NOT_NEGATIVE, limits::COEFFICIENT, wind.lift);
        self.ranged("wind.air_density", NOT_NEGATIVE, limits::AIR_DENSITY, wind.air_density);
    }

    fn choice(&mut self, place: &str, choice: &Choice, family: &Family) {
        report(place, family.check(choice), &mut self.0);
    }

    fn cloth(&mut self, place: &str, cloth: &Cloth, solver: &Choice, names: &mut Names) {
        let at = |key: &str| format!("{place}.{key}");
        self.verdict(&at("name"), limits::name(&cloth.name));
        self.verdict(&at("name"), names.take(&cloth.name, place.to_owned()));
        self.shape(place, &cloth.shape);
        match &cloth.rest {
            RestShape::Uv { scale } => {
                self.number(&at("uv_scale"), Kind::EXTENT, *scale);
            }
            RestShape::File(file) => self.verdict(&at("rest"), limits::file_name(file)),
            // What is wrong with it is found when the model is built.
            RestShape::Mesh | RestShape::Given(_) => {}
        }
        if let Some(time) = cloth.close_by {
            self.number(&at("close_by"), NOT_NEGATIVE, time);
            self.verdict(&at("close_by"), limits::starts_elsewhere(&cloth.rest));
        }
        if let Some(time) = cloth.settle_by
            && self.number(&at("settle_by"), NOT_NEGATIVE, time)
        {
            self.verdict(&at("settle_by"), limits::settles_after(cloth.close_by, time));
        }
        if let Some(distance) = cloth.weld {
            self.number(&at("weld"), WELD, distance);
        }
        self.vector(&at("translate"), Kind::BOUNDED, &cloth.translate);
        self.vector(&at("rotate"), Kind::BOUNDED, &cloth.rotate);
        self.number(&at("scale"), Kind::EXTENT, cloth.scale);
        self.ranged_each(&at("velocity"), limits::VELOCITY, cloth.velocity);
        self.material(&at("material"), &cloth.material, solver);
        for (i, pin) in cloth.pins.iter().enumerate() {
            self.pin(&format!("{place}.pins[{i}]"), pin);
        }
        if let Some(color) = &cloth.color {
            self.vector(&at("color"), COLOR, color);
        }
    }

    fn shape(&mut self, place: &str, shape: &ClothShape) {
        match shape {
            ClothShape::Grid { size, cells, .. } => {
                self.vector(&format!("{place}.grid.size"), Kind::EXTENT, size);
                self.integers(&format!("{place}.grid.cells"), CELLS, cells);
            }
            ClothShape::Tube { radius, height, cells } => {
                self.number(&format!("{place}.tube.radius"), Kind::EXTENT, *radius);
                self.number(&format!("{place}.tube.height"), Kind::EXTENT, *height);
                let place = format!("{place}.tube.cells");
                if self.integers(&place, CELLS, cells) {
                    self.verdict(&place, limits::closed(*cells));
                }
            }
            ClothShape::Mesh { file } => self.verdict(&format!("{place}.mesh"), limits::file_name(file)),
            ClothShape::Pattern { file, resolution } => {
                self.verdict(&format!("{place}.pattern"), limits::file_name(file));
                self.number(&format!("{place}.resolution"), limits::RESOLUTION, *resolution);
            }
            // What is wrong with a mesh is found when the model is built, from a file or not.
            ClothShape::Given(_) => {}
        }
    }

    fn material(&mut self, place: &str, material: &Material, solver: &Choice) {
        self.ranged(&format!("{place}.density"), Kind::Positive, limits::DENSITY, material.density);
        self.ranged(&format!("{place}.damping"), NOT_NEGATIVE, limits::DAMPING, material.damping);
        // A model is judged beside a solver that is one.
        let solver = Family::solvers().find(solver.entry.name).ok();
        self.choice(&format!("{place}.stretch"), &material.stretch, &Family::stretch_models(solver, None));
        self.choice(&format!("{place}.bend"), &material.bend, &Family::bend_models(solver, None));
    }

    fn pin(&mut self, place: &str, pin: &Pin) {
        match &pin.selection {
            Selection::Vertices(vertices) if vertices.is_empty() => {
                let message = crate::parameter::refusal("an array of vertex indices, at least one", "an array of 0");
                self.0.error(format!("{place}.vertices"), message);
            }
            Selection::Vertices(_) | Selection::Named(_) => {}
            Selection::Sphere { center, radius } => {
                self.vector(&format!("{place}.within.center"), Kind::BOUNDED, center);
                self.number(&format!("{place}.within.radius"), Kind::EXTENT, *radius);
            }
            Selection::Box { min, max } => {
                let has_min = self.vector(&format!("{place}.within.min"), Kind::BOUNDED, min);
                if self.vector(&format!("{place}.within.max"), Kind::BOUNDED, max) && has_min {
                    self.verdict(&format!("{place}.within.max"), limits::ordered(*min, *max));
                }
            }
        }
        if let Some(until) = pin.until {
            self.number(&format!("{place}.until"), NOT_NEGATIVE, until);
        }
        self.path(place, &pin.path);
    }

    fn path(&mut self, place: &str, path: &Path) {
        let mut before = None;
        for (i, waypoint) in path.waypoints.iter().enumerate() {
            let at = |key: &str| format!("{place}.path[{i}].{key}");
            if self.number(&at("time"), NOT_NEGATIVE, waypoint.time) {
                self.verdict(&at("time"), limits::later(before.replace(waypoint.time), waypoint.time));
            }
            self.vector(&at("offset"), Kind::BOUNDED, &waypoint.offset);
            self.number(&at("turn"), Kind::BOUNDED, waypoint.turn);
        }
        self.direction(&format!("{place}.axis"), path.axis);
        if let Some(center) = &path.center {
            self.vector(&format!("{place}.center"), Kind::BOUNDED, center);
        }
    }

    fn collider(&mut self, place: &str, collider: &Collider, names: &mut Names) {
        self.verdict(&format!("{place}.name"), limits::name(&collider.name));
        self.ranged(&format!("{place}.friction"), NOT_NEGATIVE, limits::FRICTION, collider.friction);
        self.path(place, &collider.path);
        // Only meshes have files, so only their names have to be free where none is given.
        let is_mesh = matches!(collider.shape, ColliderShape::Mesh(_));
        if is_mesh || place != format!("collider[{}]", collider.name.trim_start_matches("collider")) {
            self.verdict(&format!("{place}.name"), names.take(&collider.name, place.to_owned()));
        }
        self.collider_shape(place, &collider.shape);
    }

    fn collider_shape(&mut self, place: &str, shape: &ColliderShape) {
        match shape {
            ColliderShape::Solid(Choice { entry, settings }) => {
                let place = format!("{place}.{}", entry.name);
                match ShapeKind::find(entry.name) {
                    Some(kind) => kind
                        .flaws(settings)
                        .into_iter()
                        .for_each(|flaw| self.flaw(&format!("{place}.{}", flaw.key), kind, settings, flaw)),
                    None => self.0.error(place, "there is no such shape"),
                }
            }
            // A shape from outside the library says nothing of its limits.
            ColliderShape::Custom(_) => {}
            ColliderShape::Mesh(mesh) => {
                self.verdict(&format!("{place}.mesh.file"), limits::file_name(&mesh.file));
                self.vector(&format!("{place}.mesh.translate"), Kind::BOUNDED, &mesh.translate);
                self.vector(&format!("{place}.mesh.rotate"), Kind::BOUNDED, &mesh.rotate);
                self.number(&format!("{place}.mesh.scale"), Kind::EXTENT, mesh.scale);
                if let Some(frames) = &mesh.frames {
                    self.verdict(&format!("{place}.mesh.frames"), limits::file_name(&frames.file));
                    self.number(&format!("{place}.mesh.fps"), FRAME_RATE, frames.fps);
                }
            }
        }
    }

    /// A flaw of a shape, at the components that are out of range where there are such: the reader of files says these alone.
    fn flaw(&mut self, place: &str, kind: &ShapeKind, settings: &Settings, flaw: ShapeFlaw) {
        let parameter = kind.entry.parameters.iter().find(|parameter| parameter.name == flaw.key);
        let component = parameter.and_then(|parameter| parameter.kind.component());
        let components = component.zip(settings.vector(flaw.key));
        if components.is_none_or(|(component, v)| self.vector(place, component, &v)) {
            self.0.error(place, flaw.message);
        }
    }

    fn view(&mut self, view: &View) {
        if self.integers("view.size", PIXELS, &view.size) {
            self.verdict("view.size", limits::even(view.size));
        }
        for (place, v) in [("view.eye", &view.eye), ("view.target", &view.target)] {
            if let Some(v) = v {
                self.vector(place, Kind::BOUNDED, v);
            }
        }
        if let Some(direction) = view.direction {
            self.direction("view.direction", direction);
            if view.eye.is_some() {
                self.0.error("view.direction", EYE_AND_DIRECTION);
            }
        }
        self.verdict("view.target", limits::apart(view.eye, view.target));
        self.number("view.fov", FIELD_OF_VIEW, view.fov);
        if let Some(height) = view.ground_height {
            self.number("view.ground_height", Kind::BOUNDED, height);
        }
    }
}
