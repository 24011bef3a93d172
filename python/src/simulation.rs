//! `muslin.Simulation`.

use std::sync::{Mutex, PoisonError};

use muslin_cli::embed::World;
use numpy::PyArray2;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::PyBytes;

use crate::arrays::{Fill, Which, cloth_of, collider_of, flat_triangles, indices, rows, triples, vectors};
use crate::errors::{action_error, log_warnings, raise, step_error, to_python};
use crate::source::{frame_count, source_of, thread_count};

/// A scene that is stepped, frame by frame.
///
/// Lengths are in m, times in s, velocities in m/s, turns in degrees. Vertices are numbered as in the mesh. A cloth is named by its name or its
/// number; a scene with one cloth needs neither. Threads of Python may share a simulation: they wait for each other.
#[pyclass(frozen, module = "muslin")]
pub(crate) struct Simulation {
    world: Mutex<World>,
}

impl Simulation {
    /// Does something with the world, without Python's lock.
    fn with<T: Send>(&self, py: Python<'_>, act: impl FnOnce(&mut World) -> T + Send) -> T {
        py.detach(|| act(&mut self.world.lock().unwrap_or_else(PoisonError::into_inner)))
    }

    fn array<'py>(&self, py: Python<'py>, cloth: Option<Which>, fill: Fill) -> PyResult<Bound<'py, PyArray2<f32>>> {
        let vectors = self.with(py, |world| {
            let (simulation, mut vectors) = (world.simulation(), Vec::new());
            fill(simulation, cloth_of(simulation, cloth.as_ref())?, &mut vectors);
            Ok::<_, PyErr>(vectors)
        })?;
        rows(py, vectors)
    }

    /// The number of a cloth, of its vertices, and its name.
    fn cloth(&self, py: Python<'_>, which: Option<Which>) -> PyResult<(usize, usize, String)> {
        self.with(py, |world| {
            let cloth = cloth_of(world.simulation(), which.as_ref())?;
            let piece = &world.simulation().model().cloths[cloth];
            Ok((cloth, piece.vertices.len(), piece.name.clone()))
        })
    }
}

#[pymethods]
impl Simulation {
    #[new]
    #[pyo3(signature = (scene, threads=None))]
    fn new(scene: &Bound<'_, PyAny>, threads: Option<i64>) -> PyResult<Self> {
        let py = scene.py();
        let (source, threads) = (source_of(scene)?, thread_count("threads", threads)?);
        let source = &source.get().inner;
        let world = py.detach(|| World::new(source, &[], threads)).map_err(|trouble| raise(py, trouble))?;
        log_warnings(py, world.warnings())?;
        Ok(Self { world: Mutex::new(world) })
    }

    /// Advances by frames, one if nothing is said. Raises `StepError` where a frame cannot be done; the state is then that of the frame before.
    ///
    /// Other threads of Python run meanwhile. Ctrl-C ends it after the frame that it is in.
    #[pyo3(signature = (frames=1))]
    fn advance(&self, py: Python<'_>, frames: i64) -> PyResult<()> {
        for _ in 0..frame_count(frames)? {
            let step = self.with(py, |world| {
                let at = (world.simulation().frame() + 1, world.simulation().state().time);
                world.advance().map_err(|error| format!("frame {}, after {:.4} s: {error}", at.0, at.1))
            });
            step.map_err(|message| step_error(py, &message, &[0]))?;
            py.check_signals()?;
        }
        Ok(())
    }

    /// Simulated time, in s.
    #[getter]
    fn time(&self, py: Python<'_>) -> f64 {
        self.with(py, |world| world.simulation().state().time)
    }

    /// Frames done.
    #[getter]
    fn frame(&self, py: Python<'_>) -> usize {
        self.with(py, |world| world.simulation().frame())
    }

    /// Frames that the scene asks for. Nothing keeps a simulation from going on.
    #[getter]
    fn frame_count(&self, py: Python<'_>) -> usize {
        self.with(py, |world| world.frame_count())
    }

    /// The state's hash, as in `report.json`: 16 hexadecimal digits over every bit of it.
    #[getter]
    fn hash(&self, py: Python<'_>) -> String {
        self.with(py, |world| format!("{:016x}", world.simulation().state().hash()))
    }

    /// Threads that it may use. No result depends on them.
    #[getter]
    fn threads(&self, py: Python<'_>) -> usize {
        self.with(py, |world| world.simulation().threads())
    }

    /// The scene's name.
    #[getter]
    fn name(&self, py: Python<'_>) -> String {
        self.with(py, |world| world.name().to_owned())
    }

    /// What will not be as the scene says; it was logged too.
    #[getter]
    fn warnings(&self, py: Python<'_>) -> Vec<String> {
        self.with(py, |world| world.warnings().to_vec())
    }

    /// Names of the cloths.
    #[getter]
    fn cloths(&self, py: Python<'_>) -> Vec<String> {
        self.with(py, |world| world.simulation().model().cloths.iter().map(|cloth| cloth.name.clone()).collect())
    }

    /// Names of the colliders.
    #[getter]
    fn colliders(&self, py: Python<'_>) -> Vec<String> {
        self.with(py, |world| world.simulation().collider_names().to_vec())
    }

    /// Positions of a cloth, in m: float32 of shape (n, 3).
    ///
    /// They are rounded once from the float64 of the state, into memory that the array owns: there is no other copy, and later frames do not change it.
    #[pyo3(signature = (cloth=None))]
    fn positions<'py>(&self, py: Python<'py>, cloth: Option<Which>) -> PyResult<Bound<'py, PyArray2<f32>>> {
        self.array(py, cloth, |simulation, cloth, out| simulation.positions(cloth, out))
    }

    /// Velocities of a cloth, in m/s: float32 of shape (n, 3), owned as `positions()` are.
    #[pyo3(signature = (cloth=None))]
    fn velocities<'py>(&self, py: Python<'py>, cloth: Option<Which>) -> PyResult<Bound<'py, PyArray2<f32>>> {
        self.array(py, cloth, |simulation, cloth, out| simulation.velocities(cloth, out))
    }

    /// Unit normals of the vertices of a cloth, weighted by area: float32 of shape (n, 3), owned as `positions()` are.
    #[pyo3(signature = (cloth=None))]
    fn normals<'py>(&self, py: Python<'py>, cloth: Option<Which>) -> PyResult<Bound<'py, PyArray2<f32>>> {
        self.array(py, cloth, |simulation, cloth, out| simulation.normals(cloth, out))
    }

    /// Triangles of a cloth: int32 of shape (m, 3), counter-clockwise seen from outside. A copy; they never change.
    #[pyo3(signature = (cloth=None))]
    fn triangles<'py>(&self, py: Python<'py>, cloth: Option<Which>) -> PyResult<Bound<'py, PyArray2<i32>>> {
        let flat = self.with(py, |world| flat_triangles(world.simulation(), cloth.as_ref()))?;
        triples(py, flat)
    }

    /// Puts the vertices of a cloth elsewhere at once, in m: shape (n, 3), float32 or float64. Velocities stay.
    ///
    /// Positions in which cloth cuts or touches what contact keeps apart are refused. What a pin holds goes back to it in the first substep.
    fn set_positions(&self, py: Python<'_>, cloth: Option<Which>, positions: &Bound<'_, PyAny>) -> PyResult<()> {
        let (cloth, count, name) = self.cloth(py, cloth)?;
        let values = vectors(positions, count, "positions", &format!("a row a vertex of cloth {name:?}"))?;
        self.with(py, |world| world.simulation_mut().set_positions(cloth, &values)).map_err(|e| action_error(&e))
    }

    /// Gives the vertices of a cloth other velocities at once, in m/s: shape (n, 3), float32 or float64.
    fn set_velocities(&self, py: Python<'_>, cloth: Option<Which>, velocities: &Bound<'_, PyAny>) -> PyResult<()> {
        let (cloth, count, name) = self.cloth(py, cloth)?;
        let values = vectors(velocities, count, "velocities", &format!("a row a vertex of cloth {name:?}"))?;
        self.with(py, |world| world.simulation_mut().set_velocities(cloth, &values)).map_err(|e| action_error(&e))
    }

    /// Holds vertices of a cloth, each at its target at the end of the next frame, in m: shape (k, 3). Without targets they are held where they are.
    ///
    /// They go there evenly, however far that is, and contact sees it as motion; then they stay until they are pinned elsewhere or released.
    #[pyo3(signature = (cloth, vertices, targets=None))]
    fn pin(
        &self,
        py: Python<'_>,
        cloth: Option<Which>,
        vertices: &Bound<'_, PyAny>,
        targets: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<()> {
        let (cloth, count, name) = self.cloth(py, cloth)?;
        let vertices = indices(vertices, count, &format!("vertices of cloth {name:?}"))?;
        let targets = targets.map(|targets| vectors(targets, vertices.len(), "targets", "a row a vertex"));
        let targets = targets.transpose()?;
        let done = self.with(py, |world| {
            let simulation = world.simulation_mut();
            let led = leads(simulation, cloth, &vertices, targets.as_deref());
            simulation.lead_vertices(cloth, &led)
        });
        done.map_err(|error| action_error(&error))
    }

    /// Frees vertices of a cloth from whatever holds them, pins of the scene among it.
    fn release(&self, py: Python<'_>, cloth: Option<Which>, vertices: &Bound<'_, PyAny>) -> PyResult<()> {
        let (cloth, count, name) = self.cloth(py, cloth)?;
        let vertices = indices(vertices, count, &format!("vertices of cloth {name:?}"))?;
        self.with(py, |world| world.simulation_mut().free_vertices(cloth, &vertices)).map_err(|e| action_error(&e))
    }

    /// Moves a collider: where it is to be at the end of the next frame, from where its path in the scene has it.
    ///
    /// `offset` is in m; `turn` in degrees about the axis of its path, which is +y through its centre where the scene gives none. What is left out
    /// stays as it is.
    #[pyo3(name = "move", signature = (collider, offset=None, turn=None))]
    fn move_collider(
        &self,
        py: Python<'_>,
        collider: Which,
        offset: Option<&Bound<'_, PyAny>>,
        turn: Option<f64>,
    ) -> PyResult<()> {
        let offset = offset.map(|offset| vector(offset, "offset")).transpose()?;
        self.with(py, |world| {
            let simulation = world.simulation_mut();
            let collider = collider_of(simulation, &collider)?;
            lead_collider(simulation, collider, offset, turn)
        })
    }

    /// Bytes that continue to the same bits, in this simulation or another of the same scene. What is pinned and moved is in them.
    fn state<'py>(&self, py: Python<'py>) -> Bound<'py, PyBytes> {
        let bytes = self.with(py, |world| world.snapshot());
        PyBytes::new(py, &bytes)
    }

    /// Goes on from the bytes of `state()`. Raises `ValueError` for others; nothing has changed then.
    fn restore(&self, py: Python<'_>, state: &[u8]) -> PyResult<()> {
        self.with(py, |world| world.restore(state)).map_err(PyValueError::new_err)
    }

    /// Back to time zero, as the scene says.
    fn reset(&self, py: Python<'_>) {
        self.with(py, |world| world.reset());
    }

    /// Measures the state: a dict with the keys of a frame in `report.json`.
    fn diagnose<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        let frame = self.with(py, |world| world.diagnose());
        to_python(py, &frame)
    }

    /// A picture of the cloths, for a notebook.
    fn _repr_html_<'py>(slf: &Bound<'py, Self>) -> PyResult<Bound<'py, PyAny>> {
        slf.py().import("muslin._picture")?.call_method1("page", (slf,))
    }

    fn __repr__(&self, py: Python<'_>) -> String {
        self.with(py, |world| {
            let simulation = world.simulation();
            let cloths: Vec<String> = simulation
                .model()
                .cloths
                .iter()
                .map(|cloth| format!("{} with {} vertices", cloth.name, cloth.vertices.len()))
                .collect();
            format!(
                "Simulation({:?}, frame {} at {:.4} s, {}, threads={})",
                world.name(),
                simulation.frame(),
                simulation.state().time,
                cloths.join(", "),
                simulation.threads()
            )
        })
    }
}

/// Vertices with their targets, or with where they are.
pub(crate) fn leads(
    simulation: &muslin::Simulation,
    cloth: usize,
    vertices: &[usize],
    targets: Option<&[[f64; 3]]>,
) -> Vec<(usize, [f64; 3])> {
    match targets {
        Some(targets) => vertices.iter().copied().zip(targets.iter().copied()).collect(),
        None => {
            let x: Vec<[f64; 3]> =
                simulation.in_user_order(cloth, &simulation.state().positions).map(|x| x.to_array()).collect();
            vertices.iter().map(|&vertex| (vertex, x[vertex])).collect()
        }
    }
}

/// Leads a collider by what is given.
pub(crate) fn lead_collider(
    simulation: &mut muslin::Simulation,
    collider: usize,
    offset: Option<[f64; 3]>,
    turn: Option<f64>,
) -> PyResult<()> {
    if turn.is_some_and(|turn| !turn.is_finite()) {
        return Err(PyValueError::new_err("turn must be finite, in degrees"));
    }
    let offset = offset.map_or(Ok(()), |offset| simulation.move_collider(collider, offset));
    offset.map_err(|error| action_error(&error))?;
    let turn = turn.map_or(Ok(()), |turn| simulation.turn_collider(collider, turn));
    turn.map_err(|error| action_error(&error))
}

/// Three numbers.
pub(crate) fn vector(values: &Bound<'_, PyAny>, what: &str) -> PyResult<[f64; 3]> {
    let numpy = values.py().import("numpy")?;
    let row = numpy.call_method1("atleast_2d", (values,))?;
    Ok(vectors(&row, 1, what, "or be three numbers")?[0])
}
