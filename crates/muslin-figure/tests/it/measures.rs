//! Other measures.

use muslin_figure::{Figure, Measures, girth};

use super::surface::{assert_is_a_sphere, smallest_angle};
use super::{cuts::cuts, figure};

#[test]
fn measures_out_of_their_limits_are_refused() {
    let with = |change: fn(&mut Measures)| {
        let mut measures = Measures::default();
        change(&mut measures);
        Figure::to_measure(measures).unwrap_err().to_string()
    };
    assert_eq!(with(|m| m.height = 2.5), "height is 2.5 m, but must be from 1.5 to 2 m");
    assert_eq!(with(|m| m.chest = 0.5), "chest is 0.5 m, but must be from 0.8 to 1.1 m");
    assert_eq!(with(|m| m.waist = f64::NAN), "waist is NaN m, but must be from 0.6 to 1 m");
    assert_eq!(with(|m| m.hip = -1.0), "hip is -1 m, but must be from 0.84 to 1.12 m");
}

/// All ends of all limits, and what lies between.
#[test]
fn figures_of_all_measures_are_sound() {
    let ends = Measures::LIMITS.map(|(_, limits)| [*limits.start(), *limits.end()]);
    for corner in 0..16_usize {
        let pick = |k: usize| ends[k][corner >> k & 1];
        let measures = Measures { height: pick(0), chest: pick(1), waist: pick(2), hip: pick(3) };
        let figure = Figure::to_measure(measures).unwrap();
        let what = format!("{measures:?}");
        assert_is_a_sphere(&figure, &what);
        assert!(smallest_angle(&figure) > 15.0, "{what}: {}°", smallest_angle(&figure));
        assert_eq!(cuts(figure.rest_positions(), figure.triangles()), 0, "{what}");
        let levels = figure.landmarks();
        for (y, wanted) in [(levels.chest, measures.chest), (levels.waist, measures.waist), (levels.hip, measures.hip)]
        {
            let around = girth(figure.rest_positions(), figure.triangles(), [0.0, y, 0.0], [0.0, 1.0, 0.0]).unwrap();
            assert!((around / wanted - 1.0).abs() < 0.01, "{what}: {around} m at {y} m, not {wanted} m");
        }
    }
}

/// The first net of this figure has an edge with four triangles, between thumb and hand.
#[test]
fn a_net_that_touches_itself_is_made_again() {
    let measures = Measures {
        height: 1.9888753162231296,
        chest: 1.0223512522410603,
        waist: 0.7268929122015834,
        hip: 0.8785987563803792,
    };
    assert_is_a_sphere(&Figure::to_measure(measures).unwrap(), "with other cells");
}

#[test]
fn a_larger_figure_has_larger_triangles_and_as_many() {
    let tall = Figure::to_measure(Measures { height: 1.9, ..Measures::default() }).unwrap();
    let ratio = tall.rest_positions().len() as f64 / figure().rest_positions().len() as f64;
    assert!((0.9..1.1).contains(&ratio), "{ratio}");
}
