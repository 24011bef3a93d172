//! NumPy arrays in and out, and names of cloths and colliders.

use muslin::Simulation;
use numpy::ndarray::{Array2, Array3};
use numpy::{IntoPyArray, PyArray2, PyArray3, PyReadonlyArray2, PyUntypedArray, PyUntypedArrayMethods};
use pyo3::exceptions::{PyIndexError, PyTypeError, PyValueError};
use pyo3::prelude::*;

/// A cloth or a collider, by its name or its number.
pub(crate) enum Which {
    Name(String),
    Number(usize),
}

impl<'py> FromPyObject<'_, 'py> for Which {
    type Error = PyErr;

    fn extract(value: Borrowed<'_, 'py, PyAny>) -> PyResult<Self> {
        if let Ok(name) = value.extract() {
            return Ok(Self::Name(name));
        }
        let number: i64 = value.extract().map_err(|_| {
            PyTypeError::new_err(format!("it is named by a str or an int, not by {}", value.get_type()))
        })?;
        let below = |_| PyIndexError::new_err(format!("there is no number {number}; they count from 0"));
        usize::try_from(number).map(Self::Number).map_err(below)
    }
}

/// The number of a cloth; without a word, of the only one.
pub(crate) fn cloth_of(simulation: &Simulation, which: Option<&Which>) -> PyResult<usize> {
    let names: Vec<&str> = simulation.model().cloths.iter().map(|cloth| cloth.name.as_str()).collect();
    match which {
        None if names.len() == 1 => Ok(0),
        None => Err(PyValueError::new_err(format!("the scene has {} cloths: say which, of {names:?}", names.len()))),
        Some(which) => find("cloth", which, &names),
    }
}

/// The number of a collider.
pub(crate) fn collider_of(simulation: &Simulation, which: &Which) -> PyResult<usize> {
    let names: Vec<&str> = simulation.collider_names().iter().map(String::as_str).collect();
    find("collider", which, &names)
}

fn find(what: &str, which: &Which, names: &[&str]) -> PyResult<usize> {
    match which {
        Which::Name(name) => names
            .iter()
            .position(|other| other == name)
            .ok_or_else(|| PyValueError::new_err(format!("there is no {what} {name:?}; the scene has {names:?}"))),
        Which::Number(number) if *number < names.len() => Ok(*number),
        Which::Number(number) => {
            let count = names.len();
            Err(PyIndexError::new_err(format!("there is no {what} {number}; the scene has {count}")))
        }
    }
}

/// What writes an array of one cloth: positions, velocities or normals.
pub(crate) type Fill = fn(&Simulation, usize, &mut Vec<[f32; 3]>);

/// The triangles of a cloth, one after the other.
pub(crate) fn flat_triangles(simulation: &Simulation, which: Option<&Which>) -> PyResult<Vec<i32>> {
    let triangles = simulation.triangles(cloth_of(simulation, which)?).as_flattened();
    Ok(triangles.iter().map(|vertex| *vertex as i32).collect())
}

/// Whole numbers as an array of rows of three, without a copy.
pub(crate) fn triples<'py>(py: Python<'py>, flat: Vec<i32>) -> PyResult<Bound<'py, PyArray2<i32>>> {
    let array = Array2::from_shape_vec((flat.len() / 3, 3), flat);
    Ok(array.map_err(|error| PyValueError::new_err(error.to_string()))?.into_pyarray(py))
}

/// Vectors as an array of rows, without a copy: the array owns them from now on.
pub(crate) fn rows<'py>(py: Python<'py>, vectors: Vec<[f32; 3]>) -> PyResult<Bound<'py, PyArray2<f32>>> {
    let count = vectors.len();
    let array = Array2::from_shape_vec((count, 3), vectors.into_flattened());
    Ok(array.map_err(|error| PyValueError::new_err(error.to_string()))?.into_pyarray(py))
}

/// The same of several worlds with as many vectors each.
pub(crate) fn stacked<'py>(
    py: Python<'py>,
    worlds: usize,
    count: usize,
    vectors: Vec<[f32; 3]>,
) -> PyResult<Bound<'py, PyArray3<f32>>> {
    let array = Array3::from_shape_vec((worlds, count, 3), vectors.into_flattened());
    Ok(array.map_err(|error| PyValueError::new_err(error.to_string()))?.into_pyarray(py))
}

/// Numbers of any kind that float64 holds, as it: float64 as it is, anything else as a copy. `what` names it in errors.
pub(crate) fn as_doubles<'py>(values: &Bound<'py, PyAny>, what: &str) -> PyResult<Bound<'py, PyAny>> {
    let numpy = values.py().import("numpy")?;
    let array = numpy.call_method1("asarray", (values,)).map_err(|error| {
        PyTypeError::new_err(format!("{what} must be an array of numbers: {}", error.value(values.py())))
    })?;
    let kind: String = array.getattr("dtype")?.getattr("kind")?.extract()?;
    if !["f", "i", "u"].contains(&kind.as_str()) {
        let dtype = array.getattr("dtype")?.str()?;
        return Err(PyTypeError::new_err(format!("{what} must be of float32 or float64, but are of {dtype}")));
    }
    numpy.call_method1("ascontiguousarray", (array, "float64"))
}

/// Rows of three numbers, as many as there must be.
pub(crate) fn vectors(values: &Bound<'_, PyAny>, count: usize, what: &str, whose: &str) -> PyResult<Vec<[f64; 3]>> {
    let array = as_doubles(values, what)?;
    let shape = array.cast::<PyUntypedArray>()?.shape().to_vec();
    if shape != [count, 3] {
        let words = format!("{what} must have the shape ({count}, 3), {whose}, but have {}", tuple(&shape));
        return Err(PyValueError::new_err(words));
    }
    let array: PyReadonlyArray2<'_, f64> = array.extract()?;
    let (rows, _) = array.as_slice()?.as_chunks::<3>();
    refuse_what_is_not_finite(rows, what)?;
    Ok(rows.to_vec())
}

/// The same with a first axis of so many worlds.
pub(crate) fn vectors_of_worlds(
    values: &Bound<'_, PyAny>,
    (worlds, count): (usize, usize),
    what: &str,
) -> PyResult<Vec<[f64; 3]>> {
    let array = as_doubles(values, what)?;
    let shape = array.cast::<PyUntypedArray>()?.shape().to_vec();
    if shape != [worlds, count, 3] {
        let words = format!("{what} must have the shape ({worlds}, {count}, 3), but have {}", tuple(&shape));
        return Err(PyValueError::new_err(words));
    }
    let flat = array.call_method1("reshape", ((worlds * count, 3),))?;
    vectors(&flat, worlds * count, what, "")
}

fn refuse_what_is_not_finite(rows: &[[f64; 3]], what: &str) -> PyResult<()> {
    match rows.iter().position(|row| row.iter().any(|x| !x.is_finite())) {
        None => Ok(()),
        Some(row) => Err(PyValueError::new_err(format!("{what} must be finite, but row {row} is {:?}", rows[row]))),
    }
}

fn tuple(shape: &[usize]) -> String {
    let sides: Vec<String> = shape.iter().map(usize::to_string).collect();
    if let [side] = &sides[..] { format!("({side},)") } else { format!("({})", sides.join(", ")) }
}

/// Numbers of vertices, or a mask over them.
pub(crate) fn indices(values: &Bound<'_, PyAny>, count: usize, what: &str) -> PyResult<Vec<usize>> {
    let numpy = values.py().import("numpy")?;
    let array = numpy.call_method1("atleast_1d", (values,))?;
    let length = array.cast::<PyUntypedArray>()?.shape().to_vec();
    let kind: String = array.getattr("dtype")?.getattr("kind")?.extract()?;
    let array = match kind.as_str() {
        "b" if length == [count] => numpy.call_method1("flatnonzero", (array,))?,
        "b" => {
            let words = format!("a mask of {what} must have the shape ({count},), but has {}", tuple(&length));
            return Err(PyValueError::new_err(words));
        }
        "i" | "u" => array,
        _ if length == [0] => return Ok(Vec::new()),
        _ => {
            let dtype = array.getattr("dtype")?.str()?;
            return Err(PyTypeError::new_err(format!("{what} must be whole numbers or a mask, but are of {dtype}")));
        }
    };
    if length.len() != 1 {
        return Err(PyValueError::new_err(format!("{what} must have one axis, but have the shape {}", tuple(&length))));
    }
    let numbers: Vec<i64> = array.call_method0("tolist")?.extract()?;
    let check = |number: i64| {
        let index = usize::try_from(number).ok().filter(|index| *index < count);
        index.ok_or_else(|| {
            let last = count.saturating_sub(1);
            PyIndexError::new_err(format!("{what}: {number} is out of range, they are 0 to {last}"))
        })
    };
    numbers.into_iter().map(check).collect()
}
