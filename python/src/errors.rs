//! Errors of Rust as exceptions of Python. `SceneError` and `StepError` are classes of `muslin._errors`: the stable interface of Python 3.11 cannot
//! extend a built-in exception.

use muslin::simulation::ActionError;
use muslin_cli::embed::Trouble;
use pyo3::exceptions::{PyIndexError, PyOSError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyList};
use serde_json::Value;

const ERRORS: &str = "muslin._errors";

/// The exception that says what went wrong.
pub(crate) fn raise(py: Python<'_>, trouble: Trouble) -> PyErr {
    match trouble {
        Trouble::Scene { message, findings } => {
            made(py, "SceneError", |class| class.call1((message, to_python(py, &findings)?)))
        }
        Trouble::Step(message) => step_error(py, &message, &[]),
        Trouble::Usage(message) => PyValueError::new_err(message),
        Trouble::Failed(message) => PyOSError::new_err(message),
    }
}

/// A step that could not be done: of these worlds of a batch, or of the only one.
pub(crate) fn step_error(py: Python<'_>, message: &str, worlds: &[usize]) -> PyErr {
    made(py, "StepError", |class| class.call1((message, worlds.to_vec())))
}

/// Something that could not be done to a simulation.
pub(crate) fn action_error(error: &ActionError) -> PyErr {
    let message = error.to_string();
    if message.contains("out of range") { PyIndexError::new_err(message) } else { PyValueError::new_err(message) }
}

fn made<'py>(
    py: Python<'py>,
    class: &str,
    make: impl FnOnce(Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>>,
) -> PyErr {
    let error = py.import(ERRORS).and_then(|module| module.getattr(class)).and_then(make);
    error.map_or_else(|failed| failed, PyErr::from_value)
}

/// Hands warnings to `logging`.
pub(crate) fn log_warnings(py: Python<'_>, warnings: &[String]) -> PyResult<()> {
    if warnings.is_empty() {
        return Ok(());
    }
    let warn = py.import(ERRORS)?.getattr("LOG")?.getattr("warning")?;
    warnings.iter().try_for_each(|warning| warn.call1(("%s", warning)).map(|_| ()))
}

/// JSON as Python has it.
pub(crate) fn to_python<'py>(py: Python<'py>, value: &Value) -> PyResult<Bound<'py, PyAny>> {
    Ok(match value {
        Value::Null => py.None().into_bound(py),
        Value::Bool(is) => is.into_pyobject(py)?.to_owned().into_any(),
        Value::Number(number) => match number.as_i64() {
            Some(whole) => whole.into_pyobject(py)?.into_any(),
            None => number.as_f64().into_pyobject(py)?.into_any(),
        },
        Value::String(text) => text.into_pyobject(py)?.into_any(),
        Value::Array(items) => {
            let items: Vec<Bound<'py, PyAny>> =
                items.iter().map(|item| to_python(py, item)).collect::<PyResult<_>>()?;
            PyList::new(py, items)?.into_any()
        }
        Value::Object(fields) => {
            let dict = PyDict::new(py);
            fields.iter().try_for_each(|(key, field)| dict.set_item(key, to_python(py, field)?))?;
            dict.into_any()
        }
    })
}
