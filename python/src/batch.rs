//! `muslin.Batch`: worlds that are stepped together, each on one thread.

use std::sync::{Mutex, PoisonError};

use muslin::simulation::ActionError;
use muslin_cli::embed::World;
use numpy::{IntoPyArray, PyArray1, PyArray2, PyArray3};
use pyo3::exceptions::{PyIndexError, PyOSError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyList};
use rayon::prelude::*;
use rayon::{ThreadPool, ThreadPoolBuilder};

use crate::arrays::{
    Fill, Which, cloth_of, collider_of, flat_triangles, indices, rows, stacked, triples, vectors, vectors_of_worlds,
};
use crate::errors::{action_error, log_warnings, raise, step_error, to_python};
use crate::simulation::{lead_collider, leads, vector};
use crate::source::{frame_count, source_of, thread_count};

/// The compiled part of `muslin.Batch`, which takes the values of each world as `KEY=VALUE`.
#[pyclass(frozen, subclass, module = "muslin._muslin")]
pub(crate) struct Batch {
    worlds: Mutex<Vec<World>>,
    pool: ThreadPool,
}

/// What sets values of a cloth.
type Put = fn(&mut muslin::Simulation, usize, &[[f64; 3]]) -> Result<(), ActionError>;

impl Batch {
    /// Does something with the worlds, without Python's lock.
    fn with<T: Send>(&self, py: Python<'_>, act: impl FnOnce(&mut [World]) -> T + Send) -> T {
        py.detach(|| act(&mut self.worlds.lock().unwrap_or_else(PoisonError::into_inner)))
    }

    /// Does something with each world that is chosen, over the cores.
    fn each<T: Send>(
        &self,
        py: Python<'_>,
        chosen: &[bool],
        act: impl Fn(usize, &mut World) -> T + Sync,
    ) -> Vec<Option<T>> {
        let pool = &self.pool;
        self.with(py, |worlds| {
            let one = |((i, world), chosen): ((usize, &mut World), &bool)| chosen.then(|| act(i, world));
            pool.install(|| worlds.par_iter_mut().enumerate().zip(chosen).with_max_len(1).map(one).collect())
        })
    }

    /// The worlds that a mask or a list of numbers chooses; all without one.
    fn chosen(&self, py: Python<'_>, mask: Option<&Bound<'_, PyAny>>) -> PyResult<Vec<bool>> {
        let count = self.with(py, |worlds| worlds.len());
        let Some(mask) = mask else { return Ok(vec![true; count]) };
        let mut chosen = vec![false; count];
        indices(mask, count, "worlds")?.into_iter().for_each(|world| chosen[world] = true);
        Ok(chosen)
    }

    fn array<'py>(
        &self,
        py: Python<'py>,
        cloth: Option<Which>,
        world: Option<usize>,
        fill: Fill,
    ) -> PyResult<Bound<'py, PyAny>> {
        if let Some(world) = world {
            let vectors = self.with(py, |worlds| {
                let simulation = worlds.get(world).ok_or_else(|| no_world(world, worlds.len()))?.simulation();
                let mut vectors = Vec::new();
                fill(simulation, cloth_of(simulation, cloth.as_ref())?, &mut vectors);
                Ok::<_, PyErr>(vectors)
            })?;
            return Ok(rows(py, vectors)?.into_any());
        }
        let (worlds, count, vectors) = self.with(py, |worlds| {
            let (cloth, count) = self.cloth(worlds, cloth.as_ref())?;
            let mut vectors = vec![[0.0; 3]; worlds.len() * count];
            // An empty cloth has no chunks.
            self.pool.install(|| {
                vectors.par_chunks_mut(count.max(1)).zip(&*worlds).for_each(|(out, world)| {
                    let mut own = Vec::with_capacity(count);
                    fill(world.simulation(), cloth, &mut own);
                    out.copy_from_slice(&own);
                });
            });
            Ok::<_, PyErr>((worlds.len(), count, vectors))
        })?;
        let array: Bound<'py, PyArray3<f32>> = stacked(py, worlds, count, vectors)?;
        Ok(array.into_any())
    }

    /// The number of a cloth and of its vertices, which is the same in all worlds.
    fn cloth(&self, worlds: &[World], which: Option<&Which>) -> PyResult<(usize, usize)> {
        let count = |cloth: usize, world: &World| world.simulation().model().cloths[cloth].vertices.len();
        let cloth = cloth_of(worlds[0].simulation(), which)?;
        let first = count(cloth, &worlds[0]);
        match worlds.iter().position(|world| count(cloth, world) != first) {
            None => Ok((cloth, first)),
            Some(other) => Err(PyValueError::new_err(format!(
                "the worlds have different meshes: {first} vertices in world 0 and {} in world {other}; ask for one world with world={other}",
                count(cloth, &worlds[other])
            ))),
        }
    }
}

#[pymethods]
impl Batch {
    #[new]
    fn new(scene: &Bound<'_, PyAny>, sets: Vec<Vec<String>>, threads: Option<i64>) -> PyResult<Self> {
        let py = scene.py();
        let (source, threads) = (source_of(scene)?, thread_count("threads", threads)?);
        let source = &source.get().inner;
        let pool = ThreadPoolBuilder::new().num_threads(threads).build();
        let pool = pool.map_err(|error| PyOSError::new_err(error.to_string()))?;
        let built: Vec<_> = py.detach(|| {
            pool.install(|| sets.par_iter().with_max_len(1).map(|sets| World::new(source, sets, 1)).collect())
        });
        let mut worlds = Vec::with_capacity(built.len());
        for world in built {
            worlds.push(world.map_err(|trouble| raise(py, trouble))?);
        }
        let mut warnings: Vec<String> = worlds.iter().flat_map(|world: &World| world.warnings()).cloned().collect();
        warnings.sort_unstable();
        warnings.dedup();
        log_warnings(py, &warnings)?;
        Ok(Self { worlds: Mutex::new(worlds), pool })
    }

    fn __len__(&self, py: Python<'_>) -> usize {
        self.with(py, |worlds| worlds.len())
    }

    /// Worlds that are stepped at a time.
    #[getter]
    fn threads(&self) -> usize {
        self.pool.current_num_threads()
    }

    /// The scene's name.
    #[getter]
    fn name(&self, py: Python<'_>) -> String {
        self.with(py, |worlds| worlds[0].name().to_owned())
    }

    /// Names of the cloths.
    #[getter]
    fn cloths(&self, py: Python<'_>) -> Vec<String> {
        self.with(py, |worlds| worlds[0].simulation().model().cloths.iter().map(|cloth| cloth.name.clone()).collect())
    }

    /// Advances all worlds, or those chosen, by frames. Where worlds fail, all others are a frame further, and `StepError.worlds` names those that failed.
    #[pyo3(signature = (frames=1, worlds=None))]
    fn advance(&self, py: Python<'_>, frames: i64, worlds: Option<&Bound<'_, PyAny>>) -> PyResult<()> {
        let chosen = self.chosen(py, worlds)?;
        for _ in 0..frame_count(frames)? {
            let steps = self.each(py, &chosen, |_, world| world.advance().map_err(|error| error.to_string()));
            let failed: Vec<(usize, String)> =
                steps.into_iter().enumerate().filter_map(|(i, step)| Some((i, step?.err()?))).collect();
            if let Some((first, error)) = failed.first() {
                let more = failed.len() - 1;
                let more = if more == 0 { String::new() } else { format!(" (and {more} more worlds failed)") };
                let failed: Vec<usize> = failed.iter().map(|(world, _)| *world).collect();
                return Err(step_error(py, &format!("world {first}: {error}{more}"), &failed));
            }
            py.check_signals()?;
        }
        Ok(())
    }

    /// Puts all worlds, or those chosen, back to time zero, as the scene says.
    #[pyo3(signature = (worlds=None))]
    fn reset(&self, py: Python<'_>, worlds: Option<&Bound<'_, PyAny>>) -> PyResult<()> {
        let chosen = self.chosen(py, worlds)?;
        self.each(py, &chosen, |_, world| world.reset());
        Ok(())
    }

    /// Simulated times, in s: float64 of shape (worlds,).
    #[getter]
    fn time<'py>(&self, py: Python<'py>) -> Bound<'py, PyArray1<f64>> {
        let times: Vec<f64> =
            self.with(py, |worlds| worlds.iter().map(|world| world.simulation().state().time).collect());
        times.into_pyarray(py)
    }

    /// Frames done: int64 of shape (worlds,).
    #[getter]
    fn frame<'py>(&self, py: Python<'py>) -> Bound<'py, PyArray1<i64>> {
        let frames: Vec<i64> =
            self.with(py, |worlds| worlds.iter().map(|world| world.simulation().frame() as i64).collect());
        frames.into_pyarray(py)
    }

    /// The hash of each world's state, as in `report.json`.
    #[getter]
    fn hash(&self, py: Python<'_>) -> Vec<String> {
        self.with(py, |worlds| {
            worlds.iter().map(|world| format!("{:016x}", world.simulation().state().hash())).collect()
        })
    }

    /// Positions of a cloth, in m: float32 of shape (worlds, n, 3), or (n, 3) of one world. The array owns them; later frames do not change it.
    #[pyo3(signature = (cloth=None, world=None))]
    fn positions<'py>(
        &self,
        py: Python<'py>,
        cloth: Option<Which>,
        world: Option<usize>,
    ) -> PyResult<Bound<'py, PyAny>> {
        self.array(py, cloth, world, |simulation, cloth, out| simulation.positions(cloth, out))
    }

    /// Velocities of a cloth, in m/s: float32 of shape (worlds, n, 3), or (n, 3) of one world.
    #[pyo3(signature = (cloth=None, world=None))]
    fn velocities<'py>(
        &self,
        py: Python<'py>,
        cloth: Option<Which>,
        world: Option<usize>,
    ) -> PyResult<Bound<'py, PyAny>> {
        self.array(py, cloth, world, |simulation, cloth, out| simulation.velocities(cloth, out))
    }

    /// Unit normals of the vertices of a cloth: float32 of shape (worlds, n, 3), or (n, 3) of one world.
    #[pyo3(signature = (cloth=None, world=None))]
    fn normals<'py>(&self, py: Python<'py>, cloth: Option<Which>, world: Option<usize>) -> PyResult<Bound<'py, PyAny>> {
        self.array(py, cloth, world, |simulation, cloth, out| simulation.normals(cloth, out))
    }

    /// Triangles of a cloth in a world: int32 of shape (m, 3). A copy; they never change.
    #[pyo3(signature = (cloth=None, world=0))]
    fn triangles<'py>(
        &self,
        py: Python<'py>,
        cloth: Option<Which>,
        world: usize,
    ) -> PyResult<Bound<'py, PyArray2<i32>>> {
        let flat = self.with(py, |worlds| {
            let simulation = worlds.get(world).ok_or_else(|| no_world(world, worlds.len()))?.simulation();
            flat_triangles(simulation, cloth.as_ref())
        })?;
        triples(py, flat)
    }

    /// Puts the vertices of a cloth elsewhere at once, in m: shape (worlds, n, 3), float32 or float64. A world in which cloth would cut keeps its own, and is an error.
    fn set_positions(&self, py: Python<'_>, cloth: Option<Which>, positions: &Bound<'_, PyAny>) -> PyResult<()> {
        self.set(py, cloth, positions, "positions", |simulation, cloth, own| simulation.set_positions(cloth, own))
    }

    /// Gives the vertices of a cloth other velocities at once, in m/s: shape (worlds, n, 3).
    fn set_velocities(&self, py: Python<'_>, cloth: Option<Which>, velocities: &Bound<'_, PyAny>) -> PyResult<()> {
        self.set(py, cloth, velocities, "velocities", |simulation, cloth, own| simulation.set_velocities(cloth, own))
    }

    /// Holds vertices of a cloth in every world, each at its target at the end of the next frame, in m: shape (worlds, k, 3), or (k, 3) for all worlds. Without targets they are held where they are.
    #[pyo3(signature = (cloth, vertices, targets=None))]
    fn pin(
        &self,
        py: Python<'_>,
        cloth: Option<Which>,
        vertices: &Bound<'_, PyAny>,
        targets: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<()> {
        let (worlds, cloth, count) = self.with(py, |worlds| {
            let (cloth, count) = self.cloth(worlds, cloth.as_ref())?;
            Ok::<_, PyErr>((worlds.len(), cloth, count))
        })?;
        let vertices = indices(vertices, count, "vertices")?;
        let targets = match targets {
            None => None,
            Some(targets) => {
                let axes: usize = targets.py().import("numpy")?.call_method1("ndim", (targets,))?.extract()?;
                Some(match axes {
                    2 => vectors(targets, vertices.len(), "targets", "a row a vertex")?.repeat(worlds),
                    _ => vectors_of_worlds(targets, (worlds, vertices.len()), "targets")?,
                })
            }
        };
        let act = |i: usize, world: &mut World| {
            let own = targets.as_ref().map(|targets| &targets[i * vertices.len()..(i + 1) * vertices.len()]);
            let led = leads(world.simulation(), cloth, &vertices, own);
            world.simulation_mut().lead_vertices(cloth, &led)
        };
        first_error(self.each(py, &vec![true; worlds], act))
    }

    /// Frees vertices of a cloth in every world from whatever holds them.
    fn release(&self, py: Python<'_>, cloth: Option<Which>, vertices: &Bound<'_, PyAny>) -> PyResult<()> {
        let (worlds, cloth, count) = self.with(py, |worlds| {
            let (cloth, count) = self.cloth(worlds, cloth.as_ref())?;
            Ok::<_, PyErr>((worlds.len(), cloth, count))
        })?;
        let vertices = indices(vertices, count, "vertices")?;
        let act = |_: usize, world: &mut World| world.simulation_mut().free_vertices(cloth, &vertices);
        first_error(self.each(py, &vec![true; worlds], act))
    }

    /// Moves a collider: where it is to be at the end of the next frame, in m from where its path has it, of shape (3,) or (worlds, 3); and how far turned, in degrees, a number or one a world.
    #[pyo3(name = "move", signature = (collider, offset=None, turn=None))]
    fn move_collider(
        &self,
        py: Python<'_>,
        collider: Which,
        offset: Option<&Bound<'_, PyAny>>,
        turn: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<()> {
        let worlds = self.with(py, |worlds| worlds.len());
        let offsets = match offset {
            None => None,
            Some(offset) => {
                let axes: usize = offset.py().import("numpy")?.call_method1("ndim", (offset,))?.extract()?;
                Some(match axes {
                    1 => vec![vector(offset, "offset")?; worlds],
                    _ => vectors(offset, worlds, "offsets", "a row a world")?,
                })
            }
        };
        let turns: Option<Vec<f64>> = match turn {
            None => None,
            Some(turn) => Some(turn.extract::<f64>().map_or_else(|_| turn.extract(), |turn| Ok(vec![turn; worlds]))?),
        };
        if turns.as_ref().is_some_and(|turns| turns.len() != worlds) {
            return Err(PyValueError::new_err(format!("turn must be one number, or {worlds}: one a world")));
        }
        self.with(py, |worlds| {
            worlds.iter_mut().enumerate().try_for_each(|(i, world)| {
                let simulation = world.simulation_mut();
                let collider = collider_of(simulation, &collider)?;
                let (offset, turn) = (offsets.as_ref().map(|all| all[i]), turns.as_ref().map(|all| all[i]));
                lead_collider(simulation, collider, offset, turn)
            })
        })
    }

    /// For each world, bytes that continue to the same bits.
    fn state<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyList>> {
        let states: Vec<Vec<u8>> = self.with(py, |worlds| worlds.iter().map(World::snapshot).collect());
        PyList::new(py, states.iter().map(|state| PyBytes::new(py, state)))
    }

    /// Goes on from the states of all worlds, or of those chosen out of them.
    #[pyo3(signature = (states, worlds=None))]
    fn restore(&self, py: Python<'_>, states: Vec<Vec<u8>>, worlds: Option<&Bound<'_, PyAny>>) -> PyResult<()> {
        let chosen = self.chosen(py, worlds)?;
        if states.len() != chosen.len() {
            let (given, count) = (states.len(), chosen.len());
            return Err(PyValueError::new_err(format!("{given} states for {count} worlds; give one a world")));
        }
        let restored = self.each(py, &chosen, |i, world| world.restore(&states[i]));
        match restored.into_iter().enumerate().find_map(|(i, done)| Some((i, done?.err()?))) {
            None => Ok(()),
            Some((i, error)) => Err(PyValueError::new_err(format!("world {i}: {error}"))),
        }
    }

    /// Measures each world: dicts with the keys of a frame in `report.json`.
    fn diagnose<'py>(&self, py: Python<'py>) -> PyResult<Vec<Bound<'py, PyAny>>> {
        let worlds = self.with(py, |worlds| worlds.len());
        let frames = self.each(py, &vec![true; worlds], |_, world| world.diagnose());
        frames.iter().flatten().map(|frame| to_python(py, frame)).collect()
    }
}

impl Batch {
    fn set(
        &self,
        py: Python<'_>,
        cloth: Option<Which>,
        values: &Bound<'_, PyAny>,
        what: &str,
        act: Put,
    ) -> PyResult<()> {
        let (worlds, cloth, count) = self.with(py, |worlds| {
            let (cloth, count) = self.cloth(worlds, cloth.as_ref())?;
            Ok::<_, PyErr>((worlds.len(), cloth, count))
        })?;
        let values = vectors_of_worlds(values, (worlds, count), what)?;
        let own = |i: usize, world: &mut World| act(world.simulation_mut(), cloth, &values[i * count..(i + 1) * count]);
        first_error(self.each(py, &vec![true; worlds], own))
    }
}

fn first_error(done: Vec<Option<Result<(), ActionError>>>) -> PyResult<()> {
    let error = done.into_iter().flatten().find_map(Result::err);
    error.map_or(Ok(()), |error| Err(action_error(&error)))
}

fn no_world(world: usize, count: usize) -> PyErr {
    PyIndexError::new_err(format!("there is no world {world}; the batch has {count}"))
}
