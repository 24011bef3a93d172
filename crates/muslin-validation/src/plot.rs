//! Line plots as SVG, which needs no font and no library.

use std::fmt::Write as _;

/// How an axis counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Scale {
    /// In equal steps.
    Linear,
    /// In equal factors.
    Log,
}

/// One set of points.
#[derive(Clone, Debug)]
pub struct Series {
    /// Its name in the legend.
    pub name: String,
    /// Its points.
    pub points: Vec<[f64; 2]>,
    /// Whether they are joined.
    pub line: bool,
    /// Whether they are marked.
    pub marks: bool,
}

impl Series {
    /// A line without marks: a reference.
    pub fn line(name: impl Into<String>, points: Vec<[f64; 2]>) -> Self {
        Self { name: name.into(), points, line: true, marks: false }
    }

    /// Marks alone, beside a curve.
    pub fn marks(name: impl Into<String>, points: Vec<[f64; 2]>) -> Self {
        Self { name: name.into(), points, line: false, marks: true }
    }

    /// Marks joined by a line: measurements.
    pub fn points(name: impl Into<String>, points: Vec<[f64; 2]>) -> Self {
        Self { name: name.into(), points, line: true, marks: true }
    }
}

/// A plot and the file that it is written to.
#[derive(Clone, Debug)]
pub struct Plot {
    /// File name without its ending.
    pub stem: String,
    /// What it shows.
    pub title: String,
    /// Names of the axes.
    pub axes: [String; 2],
    /// How they count.
    pub scales: [Scale; 2],
    /// What is drawn.
    pub series: Vec<Series>,
}

const COLORS: [&str; 8] = ["#4d4d4d", "#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9", "#8c5e2b"];
const WIDTH: f64 = 760.0;
const HEIGHT: f64 = 430.0;
const LEFT: f64 = 78.0;
const RIGHT: f64 = 560.0;
const TOP: f64 = 40.0;
const BOTTOM: f64 = 370.0;

/// A range of numbers and where it lies on the page.
struct Axis {
    scale: Scale,
    low: f64,
    high: f64,
    start: f64,
    end: f64,
}

impl Axis {
    fn new(scale: Scale, values: impl Iterator<Item = f64>, start: f64, end: f64) -> Self {
        let usable = values.filter(|v| v.is_finite() && (scale == Scale::Linear || *v > 0.0));
        let (mut low, mut high) = usable.fold((f64::INFINITY, f64::NEG_INFINITY), |(l, h), v| (l.min(v), h.max(v)));
        if low > high {
            (low, high) = (1.0, 10.0);
        }
        if scale == Scale::Log {
            (low, high) = (libm::floor(libm::log10(low) + 1e-9), libm::ceil(libm::log10(high) - 1e-9));
            high = high.max(low + 1.0);
        } else {
            let margin = if high > low { 0.05 * (high - low) } else { 0.5 * low.abs().max(1.0) };
            (low, high) = (low - margin, high + margin);
        }
        Self { scale, low, high, start, end }
    }

    /// Where a number lies; `None` if it has no place.
    fn place(&self, value: f64) -> Option<f64> {
        let value = if self.scale == Scale::Log { libm::log10(value) } else { value };
        let part = (value - self.low) / (self.high - self.low);
        part.is_finite().then_some(self.start + part * (self.end - self.start))
    }

    /// Numbers to write beside it.
    fn ticks(&self) -> Vec<f64> {
        if self.scale == Scale::Log {
            let step = ((self.high - self.low) / 8.0).ceil().max(1.0) as usize;
            return (self.low as i32..=self.high as i32).step_by(step).map(|e| libm::pow(10.0, f64::from(e))).collect();
        }
        let rough = (self.high - self.low) / 6.0;
        let power = libm::pow(10.0, libm::floor(libm::log10(rough)));
        let step = [1.0, 2.0, 5.0, 10.0].into_iter().map(|s| s * power).find(|s| *s >= rough).unwrap_or(rough);
        let first = libm::ceil(self.low / step) as i64;
        (0..20).map(|i| (first + i) as f64 * step).take_while(|t| *t <= self.high + 1e-9 * step).collect()
    }
}

impl Plot {
    /// The name of its file.
    pub fn file(&self) -> String {
        format!("{}.svg", self.stem)
    }

    /// The picture.
    pub fn svg(&self) -> String {
        let all = || self.series.iter().flat_map(|s| &s.points);
        let x = Axis::new(self.scales[0], all().map(|p| p[0]), LEFT, RIGHT);
        let y = Axis::new(self.scales[1], all().map(|p| p[1]), BOTTOM, TOP);
        let mut out = format!(
            "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {WIDTH} {HEIGHT}\" width=\"{WIDTH}\" \
             height=\"{HEIGHT}\" font-family=\"sans-serif\" font-size=\"13\">\n\
             <rect width=\"{WIDTH}\" height=\"{HEIGHT}\" fill=\"white\"/>\n\
             <text x=\"{LEFT}\" y=\"22\" font-size=\"15\">{}</text>\n",
            escape(&self.title)
        );
        self.draw_axes(&x, &y, &mut out);
        for (i, series) in self.series.iter().enumerate() {
            draw_series(series, COLORS[i % COLORS.len()], &x, &y, &mut out);
            let (top, color) = (TOP + 14.0 + 20.0 * i as f64, COLORS[i % COLORS.len()]);
            let _ = writeln!(
                out,
                "<rect x=\"{}\" y=\"{}\" width=\"18\" height=\"4\" fill=\"{color}\"/><text x=\"{}\" y=\"{}\">{}</text>",
                RIGHT + 12.0,
                top - 6.0,
                RIGHT + 36.0,
                top,
                escape(&series.name)
            );
        }
        out + "</svg>\n"
    }

    fn draw_axes(&self, x: &Axis, y: &Axis, out: &mut String) {
        for tick in x.ticks() {
            if let Some(at) = x.place(tick) {
                let _ = writeln!(
                    out,
                    "<path d=\"M{at:.1} {TOP}V{BOTTOM}\" stroke=\"#ddd\"/>\
                     <text x=\"{at:.1}\" y=\"{}\" text-anchor=\"middle\">{}</text>",
                    BOTTOM + 18.0,
                    label(tick)
                );
            }
        }
        for tick in y.ticks() {
            if let Some(at) = y.place(tick) {
                let _ = writeln!(
                    out,
                    "<path d=\"M{LEFT} {at:.1}H{RIGHT}\" stroke=\"#ddd\"/>\
                     <text x=\"{}\" y=\"{:.1}\" text-anchor=\"end\">{}</text>",
                    LEFT - 6.0,
                    at + 4.0,
                    label(tick)
                );
            }
        }
        let (w, h) = (RIGHT - LEFT, BOTTOM - TOP);
        let _ = writeln!(
            out,
            "<rect x=\"{LEFT}\" y=\"{TOP}\" width=\"{w}\" height=\"{h}\" fill=\"none\" stroke=\"#444\"/>\n\
             <text x=\"{}\" y=\"{}\" text-anchor=\"middle\">{}</text>\n\
             <text transform=\"translate(16 {}) rotate(-90)\" text-anchor=\"middle\">{}</text>",
            0.5 * (LEFT + RIGHT),
            BOTTOM + 42.0,
            escape(&self.axes[0]),
            0.5 * (TOP + BOTTOM),
            escape(&self.axes[1])
        );
    }
}

fn draw_series(series: &Series, color: &str, x: &Axis, y: &Axis, out: &mut String) {
    let placed: Vec<[f64; 2]> = series.points.iter().filter_map(|p| Some([x.place(p[0])?, y.place(p[1])?])).collect();
    if series.line && placed.len() > 1 {
        let path: Vec<String> = placed.iter().map(|p| format!("{:.1},{:.1}", p[0], p[1])).collect();
        let path = path.join(" ");
        let _ = writeln!(out, "<polyline points=\"{path}\" fill=\"none\" stroke=\"{color}\" stroke-width=\"1.6\"/>");
    }
    if series.marks {
        for p in placed {
            let _ = writeln!(out, "<circle cx=\"{:.1}\" cy=\"{:.1}\" r=\"3.4\" fill=\"{color}\"/>", p[0], p[1]);
        }
    }
}

fn label(tick: f64) -> String {
    let size = tick.abs();
    if size != 0.0 && !(1e-3..1e5).contains(&size) { format!("{tick:.0e}") } else { crate::row::number(tick) }
}

fn escape(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_plot_has_its_series_and_skips_what_has_no_place() {
        let plot = Plot {
            stem: "a".to_owned(),
            title: "x < y".to_owned(),
            axes: ["x".to_owned(), "y".to_owned()],
            scales: [Scale::Log, Scale::Log],
            series: vec![Series::points("one", vec![[1.0, 1.0], [10.0, 0.0], [100.0, 1e-3]])],
        };
        let svg = plot.svg();
        assert_eq!(svg.matches("<circle").count(), 2, "{svg}");
        assert!(svg.contains("x &lt; y") && !svg.contains("NaN") && !svg.contains("inf"), "{svg}");
    }
}
