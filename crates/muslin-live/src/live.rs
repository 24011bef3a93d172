//! A simulation that is told what to do while it runs.

use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;

use muslin::output::fields;
use muslin::parallel::{Team, TeamError};
use muslin::scene::{ColliderShape, Override, Scene, parse};
use muslin::solver::{StepError, StepReport};
use muslin::{SetupError, Simulation};
use muslin_io::{Clip, Frames, RestMesh, Uv, glb_bytes};
use muslin_scenes::builtin::{self, BUILTINS, Builtin};
use muslin_scenes::mesh_files::{MeshFiles, uv_by_vertex};
use muslin_scenes::{listing, memory};
use serde_json::{Map, Value, json};

use crate::buffer::{Numbers, encode};
use crate::reply::{self, Refusal};
use crate::{edit, finished, surfaces};

/// Makes a team of threads for a simulation.
pub type MakeTeam = Box<dyn Fn(usize) -> Result<Team, TeamError> + Send>;

/// Bytes that a simulation may still take; `None` where nobody knows.
pub type Available = fn() -> Option<usize>;

/// A simulation that a person touches.
///
/// It takes requests as JSON objects with a key `do` and answers each; docs/page.md lists them. Nothing that it is sent makes it panic, and
/// what it refuses has changed nothing; frames that were done before a step failed stay done.
pub struct Live {
    folder: PathBuf,
    make_team: MakeTeam,
    clock: fn() -> f64,
    threads: usize,
    available: Available,
    /// Of a confined one: files that it may read wherever they are.
    named: Option<BTreeSet<String>>,
    /// Files that scenes may name.
    given: BTreeMap<String, Vec<u8>>,
    open: Option<Open>,
}

/// A scene that runs.
struct Open {
    scene: Scene,
    files: MeshFiles,
    simulation: Simulation,
    /// How far the scene has its colliders from where the simulation was compiled with them, in m.
    shifted: BTreeMap<usize, [f64; 3]>,
    /// Where drags that have not ended yet want colliders, in m from where the scene has them.
    aims: BTreeMap<usize, [f64; 3]>,
    last: StepReport,
    /// Of the last frame, in s.
    seconds: f64,
}

type Answer = Result<Value, Refusal>;

impl Live {
    /// Mesh files are looked for in `folder`; `clock` tells seconds since some moment.
    pub fn new(folder: PathBuf, make_team: MakeTeam, clock: fn() -> f64, threads: usize) -> Self {
        Self { folder, make_team, clock, threads, available: || None, named: None, given: BTreeMap::new(), open: None }
    }

    /// Refuses scenes that take more memory than there is, which would end the process.
    #[must_use]
    pub fn with_limit(mut self, available: Available) -> Self {
        self.available = available;
        self
    }

    /// Reads nothing from disk but what lies in the folder, and what is `named`: for those whose requests come from elsewhere.
    #[must_use]
    pub fn confined(mut self, named: BTreeSet<String>) -> Self {
        self.named = Some(named);
        self
    }

    /// Keeps a file that a scene names, for scenes that are opened from now on; or says why not.
    pub fn put_file(&mut self, name: &str, bytes: Vec<u8>) -> Result<(), String> {
        let others = self.given.iter().filter(|(known, _)| *known != name).map(|(_, bytes)| bytes.len()).sum::<usize>();
        if others + bytes.len() > MOST_GIVEN {
            return Err(format!("the files together have more than {} bytes, which is the most", MOST_GIVEN));
        }
        self.given.insert(name.to_owned(), bytes);
        Ok(())
    }

    /// Answers a request.
    pub fn call(&mut self, request: &str) -> String {
        let answer = read(request).and_then(|request| self.answer(&request));
        well(answer.unwrap_or_else(|refusal| refusal.to_json())).to_string()
    }

    /// Answers a request for numbers.
    pub fn binary(&mut self, request: &str) -> Vec<u8> {
        let answer = read(request).and_then(|request| self.numbers(&request));
        let (head, sections) = answer.unwrap_or_else(|refusal| (refusal.to_json(), Vec::new()));
        encode(well(head), &sections)
    }

    fn answer(&mut self, request: &Map<String, Value>) -> Answer {
        match word(request, "do")? {
            "scenes" => {
                let scene = |scene: &Builtin| json!({ "name": scene.name, "summary": scene.summary() });
                Ok(json!({ "scenes": BUILTINS.iter().map(scene).collect::<Vec<_>>() }))
            }
            "models" => Ok(json!({ "models": listing::to_json() })),
            "open" => self.open(request),
            "set" => self.set(request),
            "reset" => self.reset(),
            "toml" => Ok(json!({ "toml": self.opened()?.scene.to_toml() })),
            "hash" => {
                let simulation = &self.opened()?.simulation;
                Ok(json!({ "hash": format!("{:016x}", simulation.state().hash()), "frame": simulation.frame() }))
            }
            "grab" => {
                let vertices = list(request, "vertices")?;
                if vertices.len() > MOST_GRABBED {
                    return Err(Refusal::new(format!(
                        "a grab takes at most {MOST_GRABBED} vertices, got {}",
                        vertices.len()
                    )));
                }
                let open = self.opened()?;
                let vertices: Result<Vec<usize>, _> =
                    vertices.iter().map(|v| open.vertex(v).map(|(_, _, in_state)| in_state)).collect();
                open.simulation.grab(&vertices?);
                Ok(json!({}))
            }
            "drag" => {
                let offset = vector(request, "offset")?;
                self.opened()?.simulation.drag(offset);
                Ok(json!({}))
            }
            "release" => {
                self.opened()?.simulation.release();
                Ok(json!({}))
            }
            "pin" => self.pin(request, true),
            "unpin" => self.pin(request, false),
            "move" => {
                let offset = vector(request, "offset")?;
                let open = self.opened()?;
                let collider = open.collider(request)?;
                let base = open.shifted.get(&collider).copied().unwrap_or_default();
                open.simulation.shift_collider(collider, sum(base, offset));
                open.aims.insert(collider, offset);
                Ok(json!({}))
            }
            "drop" => self.settle(request),
            "npy" => {
                let bytes = request.get("bytes").and_then(Value::as_u64);
                let bytes = bytes.ok_or_else(|| Refusal::new("bytes is missing: the length of the whole file"))?;
                let (name, start) = self.take_file(request)?;
                finished::npy(&name, &start, bytes)
            }
            other => Err(Refusal::new(format!(
                "there is no request {other:?}; there are scenes, models, open, set, reset, toml, hash, grab, drag, release, pin, \
                 unpin, move, drop and npy"
            ))),
        }
    }

    fn opened(&mut self) -> Result<&mut Open, Refusal> {
        self.open.as_mut().ok_or_else(nothing_open)
    }

    fn open(&mut self, request: &Map<String, Value>) -> Answer {
        let sets = sets(request)?;
        let (text, files): (&str, &[(&str, &[u8])]) = match (request.get("scene"), request.get("toml")) {
            (Some(Value::String(name)), None) => match Builtin::find(name) {
                Some(scene) => (scene.text, scene.files),
                None => return Err(Refusal::new(builtin::unknown(name, "not a built-in scene"))),
            },
            (None, Some(Value::String(text))) => (text, &[]),
            _ => {
                return Err(Refusal::new(
                    "open needs either scene, the name of a built-in one, or toml, the text of one",
                ));
            }
        };
        let overrides: Result<Vec<Override>, String> = sets.iter().map(|set| Override::parse(set)).collect();
        let outcome = parse(text, &overrides.map_err(Refusal::new)?);
        let Some(scene) = outcome.scene else { return Err(Refusal::of_findings(&outcome.findings)) };
        let embedded = files;
        let mut files = MeshFiles::new(self.folder.clone(), &[]);
        if let Some(named) = &self.named {
            files.confine(named.clone());
        }
        self.given.iter().for_each(|(name, bytes)| files.put(name, bytes.clone()));
        embedded.iter().for_each(|(name, bytes)| files.put(name, bytes.to_vec()));
        let simulation = self.simulate(&scene, &mut files)?;
        let warnings = reply::warnings(&outcome.findings, simulation.warnings());
        let open = self.open.insert(Open::new(scene, files, simulation));
        Ok(json!({ "scene": open.describe(), "warnings": warnings }))
    }

    fn simulate(&self, scene: &Scene, files: &mut MeshFiles) -> Result<Simulation, Refusal> {
        let shortage = (self.available)().and_then(|bytes| memory::shortage(scene, &|name| files.length(name), bytes));
        if let Some(problem) = shortage {
            return Err(SetupError::Scene(vec![problem]).into());
        }
        let team = (self.make_team)(self.threads).map_err(|error| Refusal::new(error.to_string()))?;
        Ok(files.simulation_on(scene, team)?.with_clock(self.clock))
    }

    fn set(&mut self, request: &Map<String, Value>) -> Answer {
        let sets = sets(request)?;
        let mut open = self.open.take().ok_or_else(nothing_open)?;
        let answer = self.change(&mut open, &sets);
        self.open = Some(open);
        answer
    }

    fn change(&self, open: &mut Open, sets: &[String]) -> Answer {
        let mut scene = open.scene.clone();
        // One after the other: each may bring others with it that depend on what the scene has by then.
        let mut findings = Vec::new();
        for set in sets {
            let change = edit::change(&scene, set).map_err(Refusal::new)?;
            let outcome = parse(&scene.to_toml(), &[change]);
            findings = outcome.findings;
            scene = outcome.scene.ok_or_else(|| Refusal::of_findings(&findings))?;
        }
        let why = edit::restart_reason(&open.scene, &scene);
        let simulation = self.simulate(&scene, &mut open.files)?;
        let warnings = reply::warnings(&findings, simulation.warnings());
        let why = open.replace(scene, simulation, why);
        let applied = if why.is_some() { "restart" } else { "now" };
        Ok(json!({ "applied": applied, "why": why, "scene": open.describe(), "warnings": warnings }))
    }

    fn reset(&mut self) -> Answer {
        let mut open = self.open.take().ok_or_else(nothing_open)?;
        let simulation = self.simulate(&open.scene, &mut open.files);
        let answer = simulation.map(|simulation| {
            open.replace(open.scene.clone(), simulation, Some("reset"));
            json!({ "scene": open.describe() })
        });
        self.open = Some(open);
        answer
    }

    /// Writes into the scene where a collider was moved to. Where nothing could start there, it goes back to where it was.
    fn settle(&mut self, request: &Map<String, Value>) -> Answer {
        let mut open = self.open.take().ok_or_else(nothing_open)?;
        let answer = self.settled(&mut open, request);
        self.open = Some(open);
        answer
    }

    fn settled(&self, open: &mut Open, request: &Map<String, Value>) -> Answer {
        let collider = open.collider(request)?;
        let Some(offset) = open.aims.remove(&collider) else { return Ok(json!({ "scene": open.describe() })) };
        let mut scene = open.scene.clone();
        edit::shift(&mut scene, collider, offset);
        let shifted = open.shifted.entry(collider).or_default();
        // A mesh that cuts the cloth where it starts would have every later change refused.
        if matches!(scene.colliders[collider].shape, ColliderShape::Mesh(_))
            && let Err(refusal) = self.simulate(&scene, &mut open.files)
        {
            open.simulation.shift_collider(collider, *shifted);
            return Err(refusal);
        }
        open.scene = scene;
        *shifted = sum(*shifted, offset);
        Ok(json!({ "scene": open.describe() }))
    }

    fn pin(&mut self, request: &Map<String, Value>, is_held: bool) -> Answer {
        let number = request.get("vertex").ok_or_else(|| Refusal::new("vertex is missing: the number of one"))?;
        let open = self.opened()?;
        let (cloth, vertex, in_state) = open.vertex(number)?;
        edit::pin(&mut open.scene, open.simulation.model(), cloth, vertex, is_held);
        open.simulation.hold(in_state, is_held);
        Ok(json!({ "scene": open.describe() }))
    }

    /// A file that was put here to be read once.
    fn take_file(&mut self, request: &Map<String, Value>) -> Result<(String, Vec<u8>), Refusal> {
        let name = word(request, "file")?;
        self.given.remove_entry(name).ok_or_else(|| Refusal::new(format!("there is no file {name} here; put it first")))
    }

    fn numbers(&mut self, request: &Map<String, Value>) -> Result<(Value, Sections), Refusal> {
        let clock = self.clock;
        if word(request, "do")? == "obj" {
            let (name, bytes) = self.take_file(request)?;
            return Ok((json!({}), finished::obj(&name, &bytes)?));
        }
        let open = self.opened()?;
        match word(request, "do")? {
            "geometry" => {
                let (surfaces, numbers) = surfaces::of_colliders(open.simulation.model());
                Ok((json!({ "surfaces": surfaces }), open.geometry().into_iter().chain(numbers).collect()))
            }
            "frame" => {
                let color = match request.get("color") {
                    None => "none",
                    Some(color) => color.as_str().unwrap_or_default(),
                };
                if !["none", "strain", "speed", "contact"].contains(&color) {
                    return Err(Refusal::new(format!(
                        "color must be one of \"none\", \"strain\", \"speed\", \"contact\", got {color:?}"
                    )));
                }
                let frames = match request.get("advance") {
                    None => 0,
                    Some(frames) => frames.as_u64().filter(|&n| n <= MOST_FRAMES).ok_or_else(|| {
                        Refusal::new(format!("advance must be a whole number from 0 to {MOST_FRAMES}, got {frames}"))
                    })?,
                };
                let failed = open.advance(frames, clock).err();
                let mut head = open.measured(color);
                if let Some(error) = failed {
                    head["ok"] = false.into();
                    head["message"] = error.to_string().into();
                }
                Ok((head, open.frame(color)))
            }
            "glb" => Ok((json!({}), vec![("file", Numbers::Bytes(open.glb()?))])),
            "poses" => {
                let frames = request.get("frames").and_then(Value::as_u64);
                open.poses(frames.ok_or_else(|| Refusal::new("frames is missing: a whole number"))?)
            }
            other => Err(Refusal::new(format!(
                "there are no numbers {other:?}; there are geometry, frame, glb, poses and obj"
            ))),
        }
    }
}

/// Vertices of a grab: each is led through every substep.
const MOST_GRABBED: usize = 256;

/// Bytes of files that were put here.
const MOST_GIVEN: usize = 512 << 20;

/// Frames in one request: a second or two of most scenes.
const MOST_FRAMES: u64 = 100;

/// Numbers of all poses in one answer, 64 MB.
const MOST_POSE_NUMBERS: u64 = 1 << 24;

pub(crate) type Sections = Vec<(&'static str, Numbers)>;

impl Open {
    fn new(scene: Scene, files: MeshFiles, simulation: Simulation) -> Self {
        let (shifted, last) = (BTreeMap::new(), StepReport::default());
        Self { scene, files, simulation, shifted, aims: BTreeMap::new(), last, seconds: 0.0 }
    }

    /// Goes on with another scene and its simulation: from where it is, unless there is a reason to begin again. Answers with that reason.
    fn replace(&mut self, scene: Scene, mut simulation: Simulation, why: Option<&'static str>) -> Option<&'static str> {
        let taken = why.is_none().then(|| simulation.take_over(&self.simulation, &self.shifted));
        let why = if let Some(Err(_)) = taken { Some("the number of vertices has changed") } else { why };
        (self.scene, self.simulation) = (scene, simulation);
        self.shifted.clear();
        if why.is_some() {
            self.aims.clear();
        }
        self.last = StepReport::default();
        self.seconds = 0.0;
        why
    }

    fn describe(&self) -> Value {
        reply::scene(&self.scene, &self.simulation)
    }

    /// A vertex as it is numbered in a request, all cloths one after the other: its cloth, its number there, and its place in the state.
    fn vertex(&self, number: &Value) -> Result<(usize, u32, usize), Refusal> {
        let model = self.simulation.model();
        let count = model.masses.len();
        let index = number.as_u64().filter(|&v| v < count as u64).ok_or_else(|| {
            Refusal::new(format!("a vertex must be a whole number from 0 to {}, got {number}", count.saturating_sub(1)))
        })? as usize;
        let cloth = model.cloth_of(index as u32);
        let first = model.cloths[cloth].vertices.start;
        let new = model.cloths[cloth].ordering.new_from_old[index - first];
        Ok((cloth, (index - first) as u32, first + new as usize))
    }

    fn collider(&self, request: &Map<String, Value>) -> Result<usize, Refusal> {
        let count = self.scene.colliders.len();
        let given = request.get("collider").unwrap_or(&Value::Null);
        let index = given.as_u64().filter(|&c| c < count as u64).ok_or_else(|| {
            Refusal::new(format!("collider must be the number of one of the {count} colliders, got {given}"))
        })?;
        Ok(index as usize)
    }

    fn advance(&mut self, frames: u64, clock: fn() -> f64) -> Result<(), StepError> {
        for _ in 0..frames {
            let start = clock();
            self.last = self.simulation.advance()?;
            self.seconds = clock() - start;
        }
        Ok(())
    }

    /// What is to be said of the current state.
    fn measured(&self, color: &str) -> Value {
        let (model, state) = (self.simulation.model(), self.simulation.state());
        let glance = self.simulation.glance();
        let mut poses = vec![Value::Null; self.scene.colliders.len()];
        for collider in &model.colliders {
            poses[collider.index] = json!(collider.motion.pose(state.time).to_rows().concat());
        }
        let ms = |seconds: f64| 1e3 * seconds;
        let last = &self.last;
        let stages: Map<String, Value> =
            last.stages.iter().map(|(stage, seconds)| (stage.key().to_owned(), json!(ms(seconds)))).collect();
        // Of a pair that is pushed apart in every substep, one.
        let pairs = last.contacts.checked_div(u64::from(last.substeps)).unwrap_or(0);
        let unit = match color {
            "speed" => "m/s",
            "contact" => "m",
            _ => "",
        };
        json!({
            "frame": self.simulation.frame(),
            "time": state.time,
            "ended": self.simulation.frame() >= self.scene.frame_count(),
            "poses": poses,
            "color": { "by": color, "unit": unit },
            "stats": {
                "kinetic_energy": glance.kinetic_energy,
                "elastic_energy": glance.elastic_energy,
                "potential_energy": glance.gravity_energy,
                "energy_error": glance.energy_error,
                "max_strain": glance.max_strain,
                "mean_strain": glance.mean_strain,
                "max_speed": glance.max_speed,
                "contacts": glance.contacts as u64 + pairs,
                "min_gap": glance.min_gap,
                "residual": last.residual,
                "unsolved": self.simulation.unsolved(),
                "substeps": last.substeps,
                "iterations": last.iterations,
                "cut_vertices": last.contact_stats.cut,
                "held_vertices": last.contact_stats.held,
                "stages": stages,
                "total": ms(self.seconds),
            },
        })
    }

    /// Where the colliders that follow a path are in each of so many frames, the initial state included; meshes are not among them. This is
    /// for runs that are finished: what a person did is not in it.
    fn poses(&self, frames: u64) -> Result<(Value, Sections), Refusal> {
        let colliders = &self.simulation.model().colliders;
        let moving: Vec<_> = colliders
            .iter()
            .filter(|collider| !self.scene.colliders[collider.index].path.waypoints.is_empty())
            .collect();
        if frames.saturating_mul(12 * moving.len() as u64) > MOST_POSE_NUMBERS {
            return Err(Refusal::new(format!(
                "the poses of {} colliders in {frames} frames are too many",
                moving.len()
            )));
        }
        let frames = if moving.is_empty() { 0 } else { frames };
        let mut numbers = Vec::new();
        for frame in 0..frames {
            let time = frame as f64 / self.scene.fps;
            let rows = moving.iter().flat_map(|collider| collider.motion.pose(time).to_rows());
            numbers.extend(rows.flatten().map(|x| x as f32));
        }
        let indices: Vec<usize> = moving.iter().map(|collider| collider.index).collect();
        Ok((json!({ "colliders": indices }), vec![("poses", Numbers::Floats(numbers))]))
    }

    fn frame(&self, color: &str) -> Sections {
        let (model, state) = (self.simulation.model(), self.simulation.state());
        let mut sections = vec![("positions", Numbers::Floats(self.positions()))];
        let mut bodies = Vec::new();
        let mut body_positions = Vec::new();
        for body in 0..model.bodies.len() {
            self.simulation.body_positions(body, &mut body_positions);
            bodies.extend(body_positions.iter().flatten());
        }
        sections.push(("bodies", Numbers::Floats(bodies)));
        let paint = match color {
            "strain" => fields::strain,
            "speed" => fields::speed,
            "contact" => fields::gap,
            _ => return sections,
        };
        let mut field = Vec::new();
        paint(model, state, &mut field);
        let in_user_order = (0..model.cloths.len()).flat_map(|cloth| self.simulation.in_user_order(cloth, &field));
        sections.push(("color", Numbers::Floats(in_user_order.collect())));
        sections
    }

    /// Of all cloths one after the other, as the user numbers them.
    fn positions(&self) -> Vec<f32> {
        let (mut all, mut of_cloth) = (Vec::new(), Vec::new());
        for cloth in 0..self.simulation.model().cloths.len() {
            self.simulation.positions(cloth, &mut of_cloth);
            all.extend(of_cloth.iter().flatten());
        }
        all
    }

    fn geometry(&self) -> Sections {
        let model = self.simulation.model();
        let (mut triangles, mut rest, mut uv) = (Vec::new(), Vec::new(), Some(Vec::new()));
        for cloth in &model.cloths {
            let first = cloth.vertices.start as u32;
            triangles.extend(cloth.mesh.triangles.iter().flatten().map(|v| v + first));
            rest.extend(cloth.mesh.positions.iter().flatten().map(|&x| x as f32));
            uv = uv.zip(uv_by_vertex(&cloth.mesh)).map(|(mut all, own): (Vec<f32>, _)| {
                all.extend(own.iter().flatten());
                all
            });
        }
        let mut body_triangles: Vec<u32> = Vec::new();
        for body in &model.bodies {
            let first = (body.vertices.start - model.masses.len()) as u32;
            body_triangles.extend(body.mesh.triangles.iter().flatten().map(|v| v + first));
        }
        let mut sections = vec![("triangles", Numbers::Indices(triangles)), ("rest", Numbers::Floats(rest))];
        sections.extend(uv.map(|uv| ("uv", Numbers::Floats(uv))));
        sections.push(("body_triangles", Numbers::Indices(body_triangles)));
        sections
    }

    /// All cloths as they are, as one mesh of a binary glTF file.
    fn glb(&self) -> Result<Vec<u8>, Refusal> {
        let model = self.simulation.model();
        let positions: Vec<[f32; 3]> = self.positions().chunks_exact(3).map(|p| [p[0], p[1], p[2]]).collect();
        let (mut triangles, mut coordinates, mut uv_triangles) = (Vec::new(), Vec::new(), Vec::new());
        for cloth in &model.cloths {
            let first = cloth.vertices.start as u32;
            triangles.extend(cloth.mesh.triangles.iter().map(|t| t.map(|v| v + first)));
            if let Some(uv) = &cloth.mesh.uv {
                let first = coordinates.len() as u32;
                coordinates.extend(uv.coordinates.iter().map(|c| c.map(|x| x as f32)));
                uv_triangles.extend(uv.triangles.iter().map(|t| t.map(|v| v + first)));
            }
        }
        let uv = (uv_triangles.len() == triangles.len())
            .then_some(Uv { coordinates: &coordinates, triangles: &uv_triangles });
        let rest = RestMesh { name: &self.scene.name, positions: &positions, triangles: &triangles, uv, groups: &[] };
        let mut frames = Frames::new(positions.len());
        let written = frames
            .push(positions.clone())
            .map_err(|error| error.to_string())
            .and_then(|()| glb_bytes(&rest, &mut frames, Clip { fps: self.scene.fps }).map_err(|e| e.to_string()));
        written.map_err(Refusal::new)
    }
}

/// An answer that does not say otherwise is a good one.
fn well(mut answer: Value) -> Value {
    if answer.get("ok").is_none() {
        answer["ok"] = true.into();
    }
    answer
}

fn nothing_open() -> Refusal {
    Refusal::new("no scene is open; send open first")
}

fn sum(a: [f64; 3], b: [f64; 3]) -> [f64; 3] {
    [a[0] + b[0], a[1] + b[1], a[2] + b[2]]
}

fn read(request: &str) -> Result<Map<String, Value>, Refusal> {
    match serde_json::from_str(request) {
        Ok(Value::Object(request)) => Ok(request),
        Ok(other) => Err(Refusal::new(format!("a request is a JSON object with a key \"do\", got {other}"))),
        Err(error) => Err(Refusal::new(format!("the request is not JSON: {error}"))),
    }
}

fn word<'a>(request: &'a Map<String, Value>, key: &str) -> Result<&'a str, Refusal> {
    request.get(key).and_then(Value::as_str).ok_or_else(|| Refusal::new(format!("{key} is missing: a word")))
}

fn list<'a>(request: &'a Map<String, Value>, key: &str) -> Result<&'a [Value], Refusal> {
    let list = request.get(key).and_then(Value::as_array);
    list.map(Vec::as_slice).ok_or_else(|| Refusal::new(format!("{key} is missing: a list")))
}

fn vector(request: &Map<String, Value>, key: &str) -> Result<[f64; 3], Refusal> {
    /// Beyond this nobody meant it, in m.
    const FARTHEST: f64 = 1e6;
    let wrong = || Refusal::new(format!("{key} must be a list of three numbers of at most {FARTHEST:e}"));
    let numbers: Vec<f64> = list(request, key).map_err(|_| wrong())?.iter().filter_map(Value::as_f64).collect();
    match numbers[..] {
        [x, y, z] if numbers.iter().all(|n| n.abs() <= FARTHEST) => Ok([x, y, z]),
        _ => Err(wrong()),
    }
}

fn sets(request: &Map<String, Value>) -> Result<Vec<String>, Refusal> {
    let Some(sets) = request.get("sets") else { return Ok(Vec::new()) };
    let words =
        sets.as_array().map(|sets| sets.iter().filter_map(Value::as_str).map(str::to_owned).collect::<Vec<_>>());
    match (sets.as_array(), words) {
        (Some(sets), Some(words)) if sets.len() == words.len() => Ok(words),
        _ => Err(Refusal::new("sets must be a list of words like \"solver.substeps=40\"")),
    }
}
