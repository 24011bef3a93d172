//! The measures that a figure is made to, and their limits.

use std::ops::RangeInclusive;

/// Height and girths of a figure, in m.
///
/// ```
/// use muslin_figure::{Figure, Measures};
///
/// let tall = Figure::to_measure(Measures { height: 1.85, ..Measures::default() })?;
/// assert!(tall.rest_positions().iter().any(|position| position[1] > 1.84));
///
/// let error = Figure::to_measure(Measures { waist: 0.2, ..Measures::default() }).unwrap_err();
/// assert_eq!(error.to_string(), "waist is 0.2 m, but must be from 0.6 to 1 m");
/// # Ok::<(), muslin_figure::MeasureError>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Measures {
    /// From the floor to the top of the head.
    pub height: f64,
    /// Around the chest, below the armpits.
    pub chest: f64,
    /// Around the waist.
    pub waist: f64,
    /// Around the hips, at their widest.
    pub hip: f64,
}

impl Default for Measures {
    fn default() -> Self {
        Self { height: 1.75, chest: 0.94, waist: 0.74, hip: 0.96 }
    }
}

/// A measure out of its limits.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[error("{name} is {value} m, but must be from {} to {} m", .limits.start(), .limits.end())]
pub struct MeasureError {
    /// The measure: `height`, `chest`, `waist` or `hip`.
    pub name: &'static str,
    /// What was given, in m.
    pub value: f64,
    /// What is allowed, in m.
    pub limits: RangeInclusive<f64>,
}

impl Measures {
    /// Every measure with its limits, in m: within them, arms and legs stay apart (tested).
    pub const LIMITS: [(&'static str, RangeInclusive<f64>); 4] =
        [("height", 1.5..=2.0), ("chest", 0.8..=1.1), ("waist", 0.6..=1.0), ("hip", 0.84..=1.12)];

    pub(crate) fn check(&self) -> Result<(), MeasureError> {
        let values = [self.height, self.chest, self.waist, self.hip];
        let bad = values.into_iter().zip(Self::LIMITS).find(|(value, (_, limits))| !limits.contains(value));
        bad.map_or(Ok(()), |(value, (name, limits))| Err(MeasureError { name, value, limits }))
    }
}
