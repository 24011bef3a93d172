//! A fabric, and how it is simulated: what all tests start from.

use std::fmt;
use std::sync::Arc;

use muslin::Simulation;
use muslin::catalog;
use muslin::description::{ClothShape, Pin, RestShape, Scene};
use muslin::material::fabric::Fabric;
use muslin::mesh::Mesh;
use muslin::scene::parse;
use muslin::solver::{Need, StepError, find};

use crate::LabError;

/// Acceleration of free fall, in m/s².
pub const GRAVITY: f64 = 9.81;
/// Edge lengths that may be asked for, in m.
pub const EDGE_LENGTHS: [f64; 2] = [2e-3, 20e-3];

/// Says whether to go on; asked from any thread.
pub type StopCheck = Arc<dyn Fn() -> bool + Send + Sync>;

/// A fabric, and how it is simulated.
#[derive(Clone)]
pub struct Sample {
    /// A fabric of the catalogue.
    pub fabric: &'static Fabric,
    /// A solver, with settings after colons: `xpbd:substeps=100`.
    pub solver: String,
    /// A stretch model, with settings likewise: `spring:compression=0.1`.
    pub stretch: String,
    /// A bend model, with settings likewise.
    pub bend: String,
    /// Length of the edges of the mesh, in m; `None` for what the test takes by itself.
    pub edge_length: Option<f64>,
    /// Threads to use; the result does not depend on it.
    pub threads: usize,
    /// Whether to stop inside of a frame.
    pub stop: Option<StopCheck>,
}

impl fmt::Debug for Sample {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { fabric, solver, stretch, bend, edge_length, threads, .. } = self;
        write!(f, "{} by {solver}, {stretch}, {bend}, {edge_length:?} m, {threads} threads", fabric.name)
    }
}

/// What a test does with the cloth.
pub(crate) struct Rig {
    /// The cloth when nothing pulls at it.
    pub(crate) rest: Mesh,
    /// Where its vertices start.
    pub(crate) start: Vec<[f64; 3]>,
    /// Those that are held there.
    pub(crate) held: Vec<u32>,
    /// Areal density, in kg/m²; `None` for that of the fabric.
    pub(crate) density: Option<f64>,
    /// In m/s².
    pub(crate) gravity: f64,
    /// Frames a second.
    pub(crate) fps: f64,
    /// Decay rate of the velocities, in 1/s.
    pub(crate) damping: f64,
}

impl Sample {
    /// A fabric by its name, with the defaults of a scene.
    pub fn new(fabric: &str) -> Result<Self, LabError> {
        let found = catalog::fabrics().find(|known| known.name == fabric).ok_or_else(|| {
            let names: Vec<&str> = catalog::fabrics().map(|fabric| fabric.name).collect();
            LabError::Setting(format!("--fabric {fabric}: there is no such fabric; choose one of {}", names.join(", ")))
        })?;
        let [solver, stretch, bend] = ["explicit", "spring", "isometric"].map(str::to_owned);
        Ok(Self { fabric: found, solver, stretch, bend, edge_length: None, threads: 1, stop: None })
    }

    /// Says what is wrong with the settings, before anything is simulated.
    pub fn check(&self) -> Result<(), LabError> {
        if let Some(found) = self.edge_length.filter(|length| !(EDGE_LENGTHS[0]..=EDGE_LENGTHS[1]).contains(length)) {
            let [low, high] = EDGE_LENGTHS;
            return Err(LabError::Setting(format!(
                "--edge-length {found}: must be from {low} m to {high} m; 0.005 is 5 mm"
            )));
        }
        self.scene(1.0, 60.0, 0.0).map(drop)
    }

    /// The in-plane stiffness Y that its stretch model has, in N/m; `None` where the model has another.
    pub fn stiffness(&self) -> Result<Option<f64>, LabError> {
        Ok(self.scene(1.0, 60.0, 0.0)?.cloths[0].material.stretch.settings.number("stiffness"))
    }

    /// The shear stiffness G that its stretch model has, in N/m; `None` where nobody says it.
    ///
    /// Springs on the edges of equilateral triangles have ν = 1/3 [Van Gelder 1998], isotropic sheets G = Y/(2(1 + ν)).
    pub fn shear_stiffness(&self) -> Result<Option<f64>, LabError> {
        let scene = self.scene(1.0, 60.0, 0.0)?;
        let stretch = &scene.cloths[0].material.stretch;
        let number = |key: &str| stretch.settings.number(key);
        let Some(stiffness) = number("stiffness") else { return Ok(None) };
        Ok(match stretch.entry.name {
            "spring" => Some(0.375 * stiffness),
            "baraff_witkin" => Some(number("shear").unwrap_or(0.5 * stiffness)),
            _ => number("poisson").map(|poisson| 0.5 * stiffness / (1.0 + poisson)),
        })
    }

    /// The bending rigidity B that its bend model has, in N·m.
    pub(crate) fn rigidity(&self) -> Result<f64, LabError> {
        let scene = self.scene(1.0, 60.0, 0.0)?;
        let missing = || {
            LabError::Setting(format!("--bend {}: has no bending rigidity; give it as bend:stiffness=1e-5", self.bend))
        };
        scene.cloths[0].material.bend.settings.number("stiffness").ok_or_else(missing)
    }

    /// A scene of it, whose cloth is still a placeholder.
    fn scene(&self, gravity: f64, fps: f64, damping: f64) -> Result<Scene, LabError> {
        let solver = table("--solver", "kind", &self.solver)?;
        let stretch = table("--stretch", "model", &self.stretch)?;
        let bend = table("--bend", "model", &self.bend)?;
        let text = format!(
            "name = \"lab\"\nduration = 1.0\nfps = {fps:?}\ngravity = [0.0, {:?}, 0.0]\nsolver = {solver}\n\
             contact = {{ self_contact = false }}\n[[cloth]]\nname = \"sample\"\n\
             grid = {{ size = [1.0, 1.0], cells = [1, 1] }}\n\
             material = {{ fabric = \"{}\", damping = {damping:?}, stretch = {stretch}, bend = {bend} }}\n",
            -gravity, self.fabric.name
        );
        let outcome = parse(&text, &[]);
        let option = |path: &str| match path {
            path if path.starts_with("solver") => format!("--solver {}", self.solver),
            path if path.contains(".stretch") => format!("--stretch {}", self.stretch),
            path if path.contains(".bend") => format!("--bend {}", self.bend),
            path => path.to_owned(),
        };
        match (outcome.findings.iter().find(|finding| finding.is_error()), outcome.scene) {
            (None, Some(scene)) => {
                let kind = find(scene.solver.entry.name);
                if kind.is_some_and(|kind| kind.reads_k || kind.needs == Need::Nothing) {
                    return Err(LabError::Setting(format!(
                        "--solver {}: has a stiffness of its own, so that it says nothing of a fabric; use explicit, newton, vbd, xpbd or auto",
                        self.solver
                    )));
                }
                Ok(scene)
            }
            (Some(finding), _) => {
                Err(LabError::Setting(format!("{}: {}", option(&finding.place.path), finding.message)))
            }
            (None, None) => Err(LabError::Failed("the scene of the test cannot be read".to_owned())),
        }
    }

    /// The simulation of a test, at time zero.
    pub(crate) fn simulation(&self, rig: &Rig) -> Result<Simulation, LabError> {
        let mut scene = self.scene(rig.gravity, rig.fps, rig.damping)?;
        let cloth = &mut scene.cloths[0];
        let start = Mesh { positions: rig.start.clone(), ..rig.rest.clone() };
        cloth.shape = ClothShape::Given(Arc::new(start));
        if rig.start != rig.rest.positions {
            cloth.rest = RestShape::Given(Arc::new(rig.rest.positions.clone()));
        }
        cloth.material.density = rig.density.unwrap_or(cloth.material.density);
        cloth.pins = vec![Pin::vertices(rig.held.clone())];
        let mut none = |file: &str| Err(format!("a test reads no files, but {file} was asked for"));
        let simulation = Simulation::new(&scene, self.threads, &mut none);
        let simulation = simulation.map_err(|error| LabError::Setting(error.to_string()))?;
        Ok(match self.stop.clone() {
            Some(stop) => simulation.with_stop(move || stop()),
            None => simulation,
        })
    }
}

/// What a step could not do, in words.
pub(crate) fn step_error(error: &StepError) -> LabError {
    match error {
        StepError::Stopped => LabError::Stopped,
        error => LabError::Failed(format!("{error}; try another --solver, or a longer --edge-length")),
    }
}

/// `xpbd:substeps=40` as a table of TOML: `{ kind = "xpbd", substeps = 40 }`.
fn table(option: &str, key: &str, text: &str) -> Result<String, LabError> {
    let is_word =
        |word: &str| !word.is_empty() && word.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_' || b == b'.');
    let mut parts = text.split(':').map(str::trim);
    let name = parts.next().unwrap_or_default();
    let mut table = format!("{{ {key} = {name:?}");
    let mut is_sound = is_word(name);
    for part in parts {
        let (setting, value) = part.split_once('=').unwrap_or((part, ""));
        let is_number = value.parse::<f64>().is_ok();
        let is_plain = is_number || matches!(value, "true" | "false");
        is_sound &= is_word(setting) && setting != key && (is_plain || is_word(value));
        table.push_str(&if is_plain { format!(", {setting} = {value}") } else { format!(", {setting} = {value:?}") });
    }
    if is_sound {
        return Ok(format!("{table} }}"));
    }
    Err(LabError::Setting(format!(
        "{option} {text}: write NAME or NAME:KEY=VALUE:…; `muslin models` lists names and keys"
    )))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn settings_are_read_or_refused() {
        assert_eq!(table("--solver", "kind", "xpbd:substeps=40").unwrap(), "{ kind = \"xpbd\", substeps = 40 }");
        let with = |change: fn(&mut Sample)| {
            let mut sample = Sample::new("cotton").unwrap();
            change(&mut sample);
            sample.check().map_err(|error| error.to_string())
        };
        with(|s| s.stretch = "spring:compression=0.1:stiffness=2000".to_owned()).unwrap();
        with(|s| s.bend = "shell:poisson=0.2".to_owned()).unwrap();
        for (wrong, words) in [
            (with(|s| s.solver = "shape_matching".to_owned()), "has a stiffness of its own"),
            (with(|s| s.solver = "xpbt".to_owned()), "--solver xpbt: unknown solver"),
            (with(|s| s.solver = "xpbd:substeps".to_owned()), "write NAME or NAME:KEY=VALUE"),
            (with(|s| s.bend = "shell:poison=0.2".to_owned()), "did you mean `poisson`?"),
            (with(|s| s.edge_length = Some(0.05)), "--edge-length 0.05: must be from 0.002 m to 0.02 m"),
        ] {
            let said = wrong.unwrap_err();
            assert!(said.contains(words), "{said}");
        }
        let said = Sample::new("coton").unwrap_err().to_string();
        assert!(said.starts_with("--fabric coton: there is no such fabric; choose one of cotton, wool,"), "{said}");
    }

    #[test]
    fn the_material_says_what_it_is_made_of() {
        let mut sample = Sample::new("cotton").unwrap();
        assert_eq!((sample.stiffness().unwrap(), sample.shear_stiffness().unwrap()), (Some(1000.0), Some(375.0)));
        assert_eq!(sample.rigidity().unwrap(), 11.57e-6);
        sample.stretch = "stvk:poisson=0.25".to_owned();
        assert_eq!(sample.shear_stiffness().unwrap(), Some(400.0));
    }
}
