//! `compare.png` and `compare.svg`: what each method trades, in one picture.
//!
//! ```text
//! title, reference
//! legend: line, mark, label, cost
//! energy error over time      largest strain over time
//! distance to the reference   error against cost, one point a run
//! ```
//!
//! Marks and dashes tell runs apart without colours.

use plotters::prelude::DrawingBackend;
use plotters::style::BLACK;

use super::record::{Record, Row};
use super::trial::Series;
use crate::plot::{Axis, COLORS, Curve, Drawing, Drawn, Figure, Frame, GRAY, INK, Look, Mark, Panel, Pen, Spot, Words};

const WIDTH: usize = 1600;
/// Of a panel with all that is around it.
const PANEL_HEIGHT: f64 = 520.0;
const HEADER: f64 = 76.0;
const LEGEND_ROW: f64 = 30.0;
const MARGIN: f64 = 30.0;
const MARKS: [Mark; 4] = [Mark::Circle, Mark::Square, Mark::Triangle, Mark::Diamond];
/// Letters of a label that are shown.
const LONGEST_LABEL: usize = 44;
/// A run whose energy leaves the range of the reference by more than this many times that range is cut off.
const OUTLIER: f64 = 1.5;
/// A logarithmic axis begins at this share of the lowest peak: the way up from zero at the start says little.
const FOOT: f64 = 0.01;
/// Strains that differ by more than this factor are shown by their logarithm.
const WIDE: f64 = 20.0;

/// Draws a comparison.
pub(crate) fn draw(record: &Record) -> Result<Drawing, String> {
    let runs = runs(record);
    let legend = legend(&runs);
    let rows = legend.iter().map(|entry| entry.row + 1).max().unwrap_or(0);
    crate::plot::draw(&Sheet { record, runs, legend, top: HEADER + rows as f64 * LEGEND_ROW })
}

/// The whole picture.
struct Sheet<'a> {
    record: &'a Record,
    runs: Vec<Run<'a>>,
    legend: Vec<Entry>,
    /// Where the diagrams begin.
    top: f64,
}

impl Figure for Sheet<'_> {
    fn size(&self) -> [usize; 2] {
        [WIDTH, (self.top + 2.0 * PANEL_HEIGHT) as usize]
    }

    fn paint<B: DrawingBackend>(&self, pen: &Pen<'_, B>) -> Drawn {
        header(pen, self.record)?;
        for entry in &self.legend {
            let Run { look, .. } = &self.runs[entry.run];
            let (x, y) = (entry.x, HEADER + (entry.row as f64 + 0.3) * LEGEND_ROW);
            pen.path(&[(x, y), (x + 44.0, y)], look)?;
            pen.mark((x + 22.0, y), look, 6.0, true)?;
            pen.words(&entry.words, (x + 54.0, y), &Words::new(17.0, INK))?;
        }
        over_time(pen, &self.runs, self.top)?;
        error_and_cost(pen, &self.runs, frame(1, 1, self.top))
    }
}

/// A run, and how it looks.
struct Run<'a> {
    row: &'a Row,
    series: &'a Series,
    look: Look,
    label: String,
}

fn runs(record: &Record) -> Vec<Run<'_>> {
    let mut next = 0;
    let mut look = |row: &Row| {
        if row.is_reference {
            return Look { color: BLACK, width: 2.5, is_dashed: true, mark: Mark::None };
        }
        let i = next;
        next += 1;
        let is_dashed = i / COLORS.len() % 2 == 1;
        Look { color: COLORS[i % COLORS.len()], width: 2.5, is_dashed, mark: MARKS[(i + i / 12) % MARKS.len()] }
    };
    let run = |row| Some(Run { row, series: row.series.as_ref()?, look: look(row), label: shortened(&row.label) });
    let mut runs: Vec<Run<'_>> = record.solvers.iter().filter_map(run).collect();
    runs.sort_by_key(|run| run.row.is_reference); // last, so that its dashes are seen on what it agrees with
    runs
}

/// A label that leaves room for others, without what the font does not have.
fn shortened(label: &str) -> String {
    let plain = |c: char| if c.is_ascii_graphic() || c == ' ' { c } else { '?' };
    let letters: Vec<char> = label.chars().map(plain).collect();
    match letters.get(..LONGEST_LABEL - 1).filter(|_| letters.len() > LONGEST_LABEL) {
        Some(start) => start.iter().chain(&['…']).collect(),
        None => letters.into_iter().collect(),
    }
}

/// An entry of the legend: the run, its words, and where it is.
struct Entry {
    run: usize,
    words: String,
    row: usize,
    x: f64,
}

/// One line and as many below it as there must be.
fn legend(runs: &[Run<'_>]) -> Vec<Entry> {
    let mut entries = Vec::new();
    let (mut row, mut x) = (0, MARGIN);
    for (run, Run { row: result, label, .. }) in runs.iter().enumerate() {
        let role = if result.is_reference { ", reference" } else { "" };
        let cost = result.summary.median_wall_ms.map_or(String::new(), |ms| format!(", {} ms", three_digits(ms)));
        let failed = if result.is_done() { "" } else { ", failed" };
        let words = format!("{label}{role}{cost}{failed}");
        // A letter of 17 pixels is about 9 wide; the rest is the line before it and room after it.
        let width = 90.0 + 9.2 * words.chars().count() as f64;
        if x + width > WIDTH as f64 && x > MARGIN {
            (row, x) = (row + 1, MARGIN);
        }
        entries.push(Entry { run, words, row, x });
        x += width;
    }
    entries
}

/// `0.0123`, `1.23`, `12.3`, `1234`.
fn three_digits(value: f64) -> String {
    let decimals = (2.0 - libm::floor(libm::log10(value.max(1e-9)))).clamp(0.0, 6.0) as usize;
    format!("{value:.decimals$}")
}

fn header<B: DrawingBackend>(pen: &Pen<'_, B>, record: &Record) -> Drawn {
    let Record { scene, vertices, frames, frame_time, threads, .. } = record;
    let (title, small) = (Words::new(24.0, INK), Words::new(16.0, GRAY));
    let scene = shortened(scene);
    let threads = crate::words::count(*threads, "thread");
    let seconds = three_digits(*frames as f64 * frame_time);
    pen.words(
        &format!("{scene}: {vertices} vertices, {frames} frames ({seconds} s), {threads}"),
        (MARGIN, 26.0),
        &title,
    )?;
    let reference = record.reference().map(|row| format!("reference: {}; ", row.in_words())).unwrap_or_default();
    pen.words(&format!("{reference}legend: median ms a frame"), (MARGIN, 54.0), &small)
}

/// Where the diagram in a column and a row is.
fn frame(column: usize, row: usize, top: f64) -> Frame {
    let width = WIDTH as f64 / 2.0;
    let (left, top) = (column as f64 * width, top + row as f64 * PANEL_HEIGHT);
    Frame { left: left + 112.0, top: top + 46.0, right: left + width - 24.0, bottom: top + PANEL_HEIGHT - 66.0 }
}

/// The three diagrams over time.
fn over_time<B: DrawingBackend>(pen: &Pen<'_, B>, runs: &[Run<'_>], top: f64) -> Drawn {
    let energy = curves(runs, |series| {
        let first = series.total_energy.first().copied().unwrap_or(0.0);
        let both = series.energy_error.iter().zip(&series.total_energy);
        both.map(|(error, total)| error.or(Some(total - first))).collect()
    });
    let strain = curves(runs, |series| series.max_strain.iter().map(|strain| Some(100.0 * strain)).collect());
    let mut distance = curves(runs, |series| series.distance_rms.iter().map(|d| d.map(|d| 1e3 * d)).collect());
    distance.retain(|(run, _)| !run.row.is_reference); // it is nowhere but at zero

    let end = runs.iter().filter_map(|run| run.series.time.last().copied()).fold(0.0, f64::max);
    let time = Axis::linear(0.0, end, false);
    let panel = |place: (usize, usize), title, along, y: Option<Axis>| {
        let y_axis = y.unwrap_or(Axis::linear(0.0, 1.0, false));
        let frame = frame(place.0, place.1, top);
        (Panel { frame, title, across: "time [s]", along, x: time, y: y_axis }, y.is_some())
    };
    let diagrams = [
        (
            panel((0, 0), "Energy beyond what it began with and was given", "energy [J]", Some(energy_axis(&energy))),
            energy,
        ),
        (panel((1, 0), "Largest strain of an edge", "strain [%]", strain_axis(&strain)), strain),
        (panel((0, 1), "Distance to the reference", "rms over vertices [mm]", tall_axis(&distance)), distance),
    ];
    for ((panel, has_data), curves) in diagrams {
        panel.lay_out(pen)?;
        if !has_data {
            panel.remark(pen, "nothing but zeros")?;
            continue;
        }
        let turns = curves.len();
        for (turn, (_, curve)) in curves.iter().enumerate() {
            panel.curve(pen, curve, (turn, turns))?;
        }
    }
    Ok(())
}

/// The runs as curves of some value over time.
fn curves<'a>(runs: &'a [Run<'a>], values: impl Fn(&Series) -> Vec<Option<f64>>) -> Vec<(&'a Run<'a>, Curve)> {
    let curve = |run: &'a Run<'a>| {
        let values = run.series.time.iter().copied().zip(values(run.series));
        let points = values.map(|(time, value)| (time, value.unwrap_or(f64::NAN))).collect();
        (run, Curve { look: run.look, points, has_failed: !run.row.is_done() })
    };
    runs.iter().map(curve).collect()
}

/// All values of those runs that came to their end, or of all if none did.
fn values(curves: &[(&Run<'_>, Curve)]) -> Vec<f64> {
    let any_done = curves.iter().any(|(run, _)| run.row.is_done());
    let chosen = curves.iter().filter(|(run, _)| run.row.is_done() || !any_done);
    chosen.flat_map(|(_, curve)| curve.points.iter().map(|(_, y)| *y)).filter(|y| y.is_finite()).collect()
}

fn bounds(values: impl IntoIterator<Item = f64>) -> Option<(f64, f64)> {
    values.into_iter().filter(|y| y.is_finite()).map(|y| (y, y)).reduce(|a, b| (a.0.min(b.0), a.1.max(b.1)))
}

fn energy_axis(curves: &[(&Run<'_>, Curve)]) -> Axis {
    let (mut min, mut max) = bounds(values(curves)).unwrap_or((0.0, 1.0));
    let reference = curves.iter().find(|(run, _)| run.row.is_reference && run.row.is_done());
    let reference = reference.and_then(|(_, curve)| bounds(curve.points.iter().map(|(_, y)| *y)));
    if let Some((low, high)) = reference.filter(|(low, high)| high > low) {
        min = min.max(low - OUTLIER * (high - low));
        max = max.min(high + OUTLIER * (high - low));
    }
    Axis::linear(min, max, true)
}

/// Logarithmic where strains are far apart.
fn strain_axis(curves: &[(&Run<'_>, Curve)]) -> Option<Axis> {
    let (_, max) = bounds(values(curves)).filter(|(_, max)| *max > 0.0)?;
    match lowest_peak(curves) {
        Some(lowest) if max > WIDE * lowest => tall_axis(curves),
        _ => Some(Axis::linear(0.0, 1.05 * max, false)),
    }
}

/// A logarithmic axis on which all peaks are seen.
fn tall_axis(curves: &[(&Run<'_>, Curve)]) -> Option<Axis> {
    let foot = FOOT * lowest_peak(curves)?;
    Axis::log(values(curves).into_iter().filter(|value| *value >= foot), 0.1, 1.0)
}

/// The smallest of the largest values of the runs, of those that have any.
fn lowest_peak(curves: &[(&Run<'_>, Curve)]) -> Option<f64> {
    let peak = |curve: &Curve| bounds(curve.points.iter().map(|(_, y)| *y)).map(|(_, peak)| peak);
    let any_done = curves.iter().any(|(run, _)| run.row.is_done());
    let chosen = curves.iter().filter(|(run, _)| run.row.is_done() || !any_done);
    chosen.filter_map(|(_, curve)| peak(curve)).filter(|peak| *peak > 0.0).reduce(f64::min)
}

/// What a run is off by, and what it costs: the reference is an upright line, since its error is zero by definition.
fn error_and_cost<B: DrawingBackend>(pen: &Pen<'_, B>, runs: &[Run<'_>], frame: Frame) -> Drawn {
    let at = |run: &Run<'_>| {
        let summary = &run.row.summary;
        run.row.is_done().then_some((summary.median_wall_ms?, 1e3 * summary.distance_rms_run?))
    };
    let of = |run: &Run<'_>| Some(Spot { look: run.look, at: at(run)?, label: run.label.clone() });
    let spots: Vec<Spot> = runs.iter().filter(|run| !run.row.is_reference).filter_map(of).collect();
    let reference = runs.iter().find(|run| run.row.is_reference).and_then(at).map(|(cost, _)| cost);
    let costs = spots.iter().map(|spot| spot.at.0).chain(reference);
    let (x, y) = (Axis::log(costs, 0.35, 1.0), Axis::log(spots.iter().map(|spot| spot.at.1), 0.25, 1.0));
    let has_data = x.is_some() && !spots.is_empty();
    let nothing = Axis::linear(0.0, 1.0, false);
    let panel = Panel {
        frame,
        title: "Error against cost: lower left is better",
        across: "median time of a frame [ms]",
        along: "rms over vertices and frames [mm]",
        x: x.unwrap_or(nothing),
        y: y.or(Axis::log([1.0], 0.25, 1.0)).unwrap_or(nothing),
    };
    panel.lay_out(pen)?;
    if !has_data {
        return panel.remark(pen, "nobody has a distance to the reference");
    }
    let line = reference.map(|cost| (cost, format!("reference, {} ms", three_digits(cost))));
    panel.spots(pen, &spots, line)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_have_three_digits() {
        for (value, words) in
            [(0.01234, "0.0123"), (1.234, "1.23"), (12.34, "12.3"), (1234.5, "1234"), (0.0, "0.000000")]
        {
            assert_eq!(three_digits(value), words);
        }
    }

    #[test]
    fn labels_are_cut_and_have_letters_of_the_font() {
        assert_eq!(shortened("naïve=xpbd"), "na?ve=xpbd");
        assert_eq!(shortened(&"x".repeat(LONGEST_LABEL)).len(), LONGEST_LABEL);
        assert_eq!(shortened(&"x".repeat(100)).chars().count(), LONGEST_LABEL);
    }
}
