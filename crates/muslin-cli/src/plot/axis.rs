//! Ranges and ticks.

use libm::{floor, log10, pow};

/// Decades that a logarithmic axis shows at most: what is smaller by more is as good as zero.
const MOST_DECADES: f64 = 6.0;

/// An axis: what it shows from one end to the other.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Axis {
    is_log: bool,
    /// Of the values, or of their decimal logarithms.
    min: f64,
    max: f64,
}

/// A line of the grid.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Tick {
    /// Where it is, 0 to 1.
    pub(crate) place: f64,
    /// Empty for one between those with numbers.
    pub(crate) label: String,
}

impl Axis {
    /// A linear axis from `min` to `max`, a bit longer than that if `roomy`.
    pub(crate) fn linear(min: f64, max: f64, roomy: bool) -> Self {
        let width = if max > min { max - min } else { max.abs().max(1.0) };
        let room = if roomy { 0.05 * width } else { 0.0 };
        Self { is_log: false, min: min - room, max: min + width + room }
    }

    /// A logarithmic axis for some values, of which it leaves out what is not positive; `None` if nothing is left.
    /// `room` is how much longer it is, in decades, at each end; `shortest` how long it is at least.
    pub(crate) fn log(values: impl IntoIterator<Item = f64>, room: f64, shortest: f64) -> Option<Self> {
        let logs = values.into_iter().filter(|value| *value > 0.0 && value.is_finite()).map(log10);
        let (min, max) = logs.map(|x| (x, x)).reduce(|a, b| (a.0.min(b.0), a.1.max(b.1)))?;
        let min = min.max(max - MOST_DECADES);
        let missing = 0.5 * (shortest - (max - min)).max(0.0);
        Some(Self { is_log: true, min: min - room - missing, max: max + room + missing })
    }

    /// Where a value is: 0 to 1, or outside; `None` for what has no place, as zero has none among logarithms.
    pub(crate) fn place(&self, value: f64) -> Option<f64> {
        let value = match self.is_log {
            true if value <= 0.0 => return None,
            true => log10(value),
            false => value,
        };
        let place = (value - self.min) / (self.max - self.min);
        place.is_finite().then_some(place)
    }

    pub(crate) fn ticks(&self) -> Vec<Tick> {
        if self.is_log { self.log_ticks() } else { self.linear_ticks() }
    }

    /// Some five round numbers.
    fn linear_ticks(&self) -> Vec<Tick> {
        let rough = (self.max - self.min) / 5.0;
        let power = pow(10.0, floor(log10(rough)));
        let step = [1.0, 2.0, 5.0, 10.0].map(|digit| digit * power).into_iter().find(|step| *step >= 0.999 * rough);
        let step = step.unwrap_or(rough);
        let decimals = (-floor(log10(step) + 1e-9)).max(0.0) as usize;
        let largest = self.min.abs().max(self.max.abs());
        let label = |value: f64| match value {
            _ if value.abs() < 1e-9 * step => "0".to_owned(),
            _ if decimals > 4 || largest >= 1e5 => format!("{value:.1e}").replace('-', "\u{2212}"),
            _ => format!("{value:.decimals$}").replace('-', "\u{2212}"),
        };
        let first = (self.min / step).ceil() as i64;
        let last = floor(self.max / step) as i64;
        let tick = |i: i64| {
            let value = i as f64 * step;
            Some(Tick { place: self.place(value)?, label: label(value) })
        };
        (first..=last).filter_map(tick).collect()
    }

    /// The powers of ten, and what is between them: with numbers where there are few of them.
    fn log_ticks(&self) -> Vec<Tick> {
        let span = self.max - self.min;
        let every = (span / 7.0).ceil().max(1.0) as i64;
        let digits: &[f64] = if span > 4.0 { &[1.0] } else { &[1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0, 9.0] };
        let decades = floor(self.min) as i64..=floor(self.max) as i64;
        let mut ticks = Vec::new();
        for decade in decades {
            for &digit in digits {
                let value = digit * pow(10.0, decade as f64);
                let is_named = match digit {
                    1.0 => decade.rem_euclid(every) == 0,
                    2.0 | 5.0 => span < 2.0,
                    3.0 => span < 0.7,
                    _ => false,
                };
                let label = if is_named { power_label(value, digit, decade) } else { String::new() };
                if let Some(place) = self.place(value).filter(|place| (-1e-9..=1.0 + 1e-9).contains(place)) {
                    ticks.push(Tick { place, label });
                }
            }
        }
        ticks
    }
}

/// `0.02`, `500`, and `10⁻⁶` where zeros would have to be counted.
fn power_label(value: f64, digit: f64, decade: i64) -> String {
    if (-3..=4).contains(&decade) {
        let decimals = (-decade).max(0) as usize;
        return format!("{value:.decimals$}");
    }
    const SUPERSCRIPTS: [char; 10] = ['⁰', '¹', '²', '³', '⁴', '⁵', '⁶', '⁷', '⁸', '⁹'];
    let raised = |c: char| c.to_digit(10).map_or('⁻', |digit| SUPERSCRIPTS[digit as usize]);
    let exponent: String = decade.to_string().chars().map(raised).collect();
    if digit == 1.0 { format!("10{exponent}") } else { format!("{digit}·10{exponent}") }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn labels(axis: Axis) -> Vec<String> {
        axis.ticks().into_iter().map(|tick| tick.label).filter(|label| !label.is_empty()).collect()
    }

    #[test]
    fn linear_ticks_are_round() {
        assert_eq!(labels(Axis::linear(0.0, 1.0, false)), ["0", "0.2", "0.4", "0.6", "0.8", "1.0"]);
        assert_eq!(labels(Axis::linear(-0.05, 0.0, false)), ["−0.05", "−0.04", "−0.03", "−0.02", "−0.01", "0"]);
        assert_eq!(labels(Axis::linear(0.0, 3e-6, false)), ["0", "1.0e−6", "2.0e−6", "3.0e−6"]);
        assert_eq!(labels(Axis::linear(0.0, 0.0, false)).len(), 6, "no width is some width");
    }

    #[test]
    fn log_ticks_are_powers() {
        let labels = |values: [f64; 2]| labels(Axis::log(values, 0.0, 0.0).unwrap());
        assert_eq!(labels([1e-3, 1.0]), ["0.001", "0.01", "0.1", "1"]);
        assert_eq!(labels([10.0, 99.0]), ["10", "20", "50"]);
        assert_eq!(labels([1e-6, 1.01e-5]), ["10⁻⁶", "2·10⁻⁶", "5·10⁻⁶", "10⁻⁵"]);
    }

    #[test]
    fn what_has_no_logarithm_has_no_place() {
        assert_eq!(Axis::log([0.0, -1.0, f64::NAN, f64::INFINITY], 0.1, 1.0), None);
        let axis = Axis::log([0.0, 1.0, 100.0], 0.0, 0.0).unwrap();
        assert_eq!((axis.place(0.0), axis.place(-1.0), axis.place(f64::NAN)), (None, None, None));
        assert_eq!(axis.place(10.0), Some(0.5));
        let axis = Axis::log([1e-12, 1.0], 0.0, 0.0).unwrap();
        assert_eq!(axis.place(1e-6), Some(0.0), "six decades and no more");
        assert!(
            Axis::log([5.0], 0.1, 1.0).unwrap().place(5.0).is_some_and(|place| (place - 0.5).abs() < 1e-12),
            "one value"
        );
    }
}
