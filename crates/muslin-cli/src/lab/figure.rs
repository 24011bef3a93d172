//! Plots: force over strain or angle, and the outline of a shadow.

use std::f64::consts::TAU;

use muslin_lab::cusick::{DISC, RADIUS};
use muslin_lab::{Cusick, Shear, Tensile};
use plotters::prelude::DrawingBackend;
use plotters::style::RGBColor;

use crate::plot::{Axis, COLORS, Curve, Drawn, Figure, Frame, GRAY, INK, Look, Mark, Panel, Pen, Point, Words};

const SIDE: usize = 800;
const SHADE: RGBColor = RGBColor(190, 190, 190);

/// Curves in one diagram, with their names.
pub(super) struct Curves {
    panel: Panel,
    curves: Vec<(String, Curve)>,
}

impl Curves {
    pub(super) fn of_tensile(done: &Tensile) -> Self {
        let named = |curve: &muslin_lab::tensile::Curve| {
            let points = curve.pulls.iter().map(|pull| (100.0 * pull.strain, pull.force));
            (curve.direction.name().to_owned(), [(0.0, 0.0)].into_iter().chain(points).collect::<Vec<Point>>())
        };
        let mut curves: Vec<(String, Vec<Point>)> = done.curves.iter().map(named).collect();
        let end = curves.iter().flat_map(|(_, points)| points).map(|point| point.0).fold(0.0, f64::max);
        if let Some(y) = done.stiffness {
            curves.push((format!("material, {y:.0} N/m"), vec![(0.0, 0.0), (end, 0.01 * end * y)]));
        }
        Self::new("Tension", "strain [%]", "force per width [N/m]", curves, done.stiffness.is_some())
    }

    pub(super) fn of_shear(done: &Shear) -> Self {
        let points = done.curve.iter().map(|[angle, force]| (*angle, *force));
        let mut curves = vec![("simulated".to_owned(), [(0.0, 0.0)].into_iter().chain(points).collect())];
        if let (Some(g), Some([end, _])) = (done.expected, done.curve.last()) {
            curves.push((format!("material, {g:.0} N/m"), vec![(0.0, 0.0), (*end, g * end.to_radians())]));
        }
        Self::new("Shear", "angle [°]", "force per length [N/m]", curves, done.expected.is_some())
    }

    /// The last curve is what the material says, if `has_material`.
    fn new(
        title: &'static str,
        across: &'static str,
        along: &'static str,
        curves: Vec<(String, Vec<Point>)>,
        has_material: bool,
    ) -> Self {
        let largest = |pick: fn(&Point) -> f64| curves.iter().flat_map(|(_, c)| c).map(pick).fold(0.0, f64::max);
        let (x, y) = (Axis::linear(0.0, largest(|p| p.0), false), Axis::linear(0.0, 1.05 * largest(|p| p.1), false));
        let side = SIDE as f64;
        let frame = Frame { left: 112.0, top: 60.0, right: side - 30.0, bottom: side - 76.0 };
        let (last, marks) = (curves.len(), [Mark::Circle, Mark::Square, Mark::Triangle]);
        let look = |i: usize| {
            let is_material = has_material && i + 1 == last;
            let (color, mark) = if is_material { (INK, Mark::None) } else { (COLORS[i % 6], marks[i % 3]) };
            Look { color, width: 2.5, is_dashed: is_material, mark }
        };
        let curve = |(i, (name, points))| (name, Curve { look: look(i), points, has_failed: false });
        let curves = curves.into_iter().enumerate().map(curve).collect();
        Self { panel: Panel { frame, title, across, along, x, y }, curves }
    }
}

impl Figure for Curves {
    fn size(&self) -> [usize; 2] {
        [SIDE; 2]
    }

    fn paint<B: DrawingBackend>(&self, pen: &Pen<'_, B>) -> Drawn {
        self.panel.lay_out(pen)?;
        let Frame { left, top, .. } = self.panel.frame;
        let turns = self.curves.len();
        for (turn, (name, curve)) in self.curves.iter().enumerate() {
            self.panel.curve(pen, curve, (turn, turns))?;
            let y = top + 24.0 + 28.0 * turn as f64;
            pen.path(&[(left + 20.0, y), (left + 64.0, y)], &curve.look)?;
            pen.mark((left + 42.0, y), &curve.look, 6.0, true)?;
            pen.words(name, (left + 74.0, y), &Words::new(17.0, INK))?;
        }
        Ok(())
    }
}

/// The shadow of a drape as seen from above, in the flat sample and around the disc.
pub(super) struct Outline<'a> {
    pub(super) drape: &'a Cusick,
}

impl Figure for Outline<'_> {
    fn size(&self) -> [usize; 2] {
        [SIDE; 2]
    }

    fn paint<B: DrawingBackend>(&self, pen: &Pen<'_, B>) -> Drawn {
        let Cusick { shadow, coefficient, folds, measured, .. } = self.drape;
        let scale = 0.42 * SIDE as f64 / RADIUS;
        let middle = 0.5 * SIDE as f64;
        let ring = |radius: &dyn Fn(usize) -> f64| -> Vec<Point> {
            let count = shadow.radii.len();
            let at = |i: usize| {
                let (angle, r) = (TAU * i as f64 / count as f64, scale * radius(i % count));
                (middle + r * libm::cos(angle), middle + 24.0 + r * libm::sin(angle))
            };
            (0..=count).map(at).collect()
        };
        let outline = ring(&|i| shadow.radii[i]);
        pen.fill(&outline, SHADE)?;
        pen.line(&outline, COLORS[0], 2.5)?;
        pen.line(&ring(&|_| DISC), GRAY, 1.5)?;
        pen.dashes(&ring(&|_| RADIUS), GRAY, 1.5, 9.0)?;
        let simulated = format!("simulated: {coefficient:.1} %, {} folds", folds.number);
        pen.words(&simulated, (24.0, 26.0), &Words::new(22.0, INK))?;
        let words = measured.map_or_else(
            || "measured: nobody did".to_owned(),
            |m| format!("measured: {:.1} %, {} folds", m.coefficient, m.folds),
        );
        pen.words(&words, (24.0, 56.0), &Words::new(18.0, GRAY))?;
        pen.words("shadow, flat sample of 30 cm, disc of 18 cm", (24.0, SIDE as f64 - 20.0), &Words::new(16.0, GRAY))
    }
}
