//! A run in one line.

use serde::Serialize;

use super::trial::{Fate, Series, Trial};

/// The numbers of the table. `None` is what there is not: a run that failed has no end, and without a reference there
/// are no distances.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub(crate) struct Summary {
    /// Of the simulation alone, over its frames, in ms.
    pub(crate) mean_wall_ms: Option<f64>,
    pub(crate) median_wall_ms: Option<f64>,
    pub(crate) max_strain_end: Option<f64>,
    pub(crate) mean_strain_end: Option<f64>,
    pub(crate) max_strain_run: Option<f64>,
    /// E(end) − E(0), in J.
    pub(crate) energy_change: Option<f64>,
    /// The most energy from nowhere of any frame, in J.
    pub(crate) energy_error: Option<f64>,
    /// The same as a share of the energy that the reference turned over.
    pub(crate) energy_drift: Option<f64>,
    pub(crate) residual_end: Option<f64>,
    /// Distances to the reference, in m: at the end, and over all vertices and frames.
    pub(crate) distance_rms_end: Option<f64>,
    pub(crate) distance_max_end: Option<f64>,
    pub(crate) distance_rms_run: Option<f64>,
    pub(crate) distance_max_run: Option<f64>,
}

impl Summary {
    /// Of a run; `turnover` is that of the reference.
    pub(crate) fn of(trial: &Trial, turnover: Option<f64>) -> Self {
        let series = &trial.series;
        let times: Vec<f64> = series.wall_ms.iter().flatten().copied().collect();
        let whole = Self {
            mean_wall_ms: mean(&times),
            median_wall_ms: median(&times),
            max_strain_run: series.max_strain.iter().copied().reduce(f64::max),
            distance_rms_run: root_mean_square(&series.distance_rms),
            distance_max_run: series.distance_max.iter().flatten().copied().reduce(f64::max),
            ..Self::default()
        };
        if trial.fate != Fate::Done {
            return whole;
        }
        let change = series.total_energy.last().zip(series.total_energy.first()).map(|(end, start)| end - start);
        Self {
            max_strain_end: series.max_strain.last().copied(),
            mean_strain_end: series.mean_strain.last().copied(),
            energy_change: change,
            energy_error: series.energy_error.iter().flatten().copied().reduce(f64::max),
            energy_drift: change.zip(turnover).map(|(change, turnover)| change / turnover),
            residual_end: series.residual.last().copied().flatten(),
            distance_rms_end: series.distance_rms.last().copied().flatten(),
            distance_max_end: series.distance_max.last().copied().flatten(),
            ..whole
        }
    }
}

/// The energy that a motion moves from one form to another: the widest range of its kinetic, elastic or gravity energy,
/// in J. `None` if nothing moves.
pub(crate) fn turnover(series: &Series) -> Option<f64> {
    let range = |values: &[f64]| {
        let bounds = values.iter().map(|&value| (value, value)).reduce(|a, b| (a.0.min(b.0), a.1.max(b.1)));
        bounds.map_or(0.0, |(min, max)| max - min)
    };
    let forms = [&series.kinetic_energy, &series.elastic_energy, &series.gravity_energy];
    let widest = forms.into_iter().map(|form| range(form)).fold(0.0, f64::max);
    (widest > 0.0 && widest.is_finite()).then_some(widest)
}

fn mean(values: &[f64]) -> Option<f64> {
    (!values.is_empty()).then(|| values.iter().sum::<f64>() / values.len() as f64)
}

/// The upper of the two in the middle.
fn median(values: &[f64]) -> Option<f64> {
    let mut sorted = values.to_vec();
    sorted.sort_by(f64::total_cmp);
    sorted.get(sorted.len() / 2).copied()
}

fn root_mean_square(values: &[Option<f64>]) -> Option<f64> {
    let squares: Vec<f64> = values.iter().flatten().map(|value| value * value).collect();
    mean(&squares).map(f64::sqrt)
}

#[cfg(test)]
mod tests {
    use muslin::parameter::Settings;

    use super::*;

    fn trial(fate: Fate) -> Trial {
        let series = Series {
            time: vec![0.0, 0.1, 0.2],
            wall_ms: vec![None, Some(1.0), Some(5.0)],
            kinetic_energy: vec![0.0, 2.0, 1.0],
            elastic_energy: vec![0.0, 0.5, 0.25],
            gravity_energy: vec![10.0, 7.0, 8.0],
            total_energy: vec![10.0, 9.5, 9.25],
            energy_error: vec![Some(0.0), Some(-0.5), Some(-0.25)],
            max_strain: vec![0.0, 0.3, 0.2],
            mean_strain: vec![0.0, 0.02, 0.01],
            residual: vec![None, Some(1e-3), Some(1e-4)],
            distance_rms: vec![Some(0.0), Some(3.0), Some(4.0)],
            distance_max: vec![Some(0.0), Some(9.0), Some(8.0)],
        };
        let settings = Settings::default();
        Trial {
            label: "a".into(),
            is_reference: false,
            solver: "xpbd".into(),
            settings,
            fate,
            series,
            state_hash: None,
        }
    }

    #[test]
    fn a_run_is_summed_up() {
        let done = trial(Fate::Done);
        assert_eq!(turnover(&done.series), Some(3.0), "of gravity energy");
        let summary = Summary::of(&done, turnover(&done.series));
        let expected = Summary {
            mean_wall_ms: Some(3.0),
            median_wall_ms: Some(5.0),
            max_strain_end: Some(0.2),
            mean_strain_end: Some(0.01),
            max_strain_run: Some(0.3),
            energy_change: Some(-0.75),
            energy_error: Some(0.0),
            energy_drift: Some(-0.25),
            residual_end: Some(1e-4),
            distance_rms_end: Some(4.0),
            distance_max_end: Some(8.0),
            distance_rms_run: Some((25.0_f64 / 3.0).sqrt()),
            distance_max_run: Some(9.0),
        };
        assert_eq!(summary, expected);
    }

    #[test]
    fn a_run_that_failed_has_no_end() {
        let summary = Summary::of(&trial(Fate::Failed("x".into())), Some(1.0));
        assert_eq!((summary.max_strain_end, summary.distance_rms_end, summary.energy_drift), (None, None, None));
        assert_eq!(summary.max_strain_run, Some(0.3), "but what it did before that counts");
    }

    #[test]
    fn without_motion_there_is_no_share() {
        assert_eq!(turnover(&Series::default()), None);
    }
}
